"""Online-Mind2Web's task files and WABE scenarios: what becomes a task, and what is found wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.cli.main import run
from replaykit.errors import TaskError
from replaykit.interop.wabe.wabe_scenario import scenario_tables
from replaykit.tasks.benchmarks.mind2web import mind2web_faults, mind2web_records, read_mind2web, totals
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task

RECORD = {
    "task_id": "b-1",
    "confirmed_task": "Find the cheapest tea.",
    "website": "https://www.tea.test/",
    "level": "easy",
    "reference_length": 4,
}
SCENARIO = """
max_steps = 30
[[participants]]
role = "agent"
[[tasks]]
id = "b-1"
description = "Find the cheapest tea."
start_url = "https://www.tea.test/"
level = "easy"
reference_length = 4
max_steps = 9
"""


@pytest.mark.parametrize("lines", [False, True])
def test_a_task_file(lines: bool, tmp_path: Path) -> None:
    file = tmp_path / ("tasks.jsonl" if lines else "tasks.json")
    file.write_text(json.dumps(RECORD) if lines else json.dumps([RECORD]))
    (task,) = load_suite(file).tasks
    assert task == Task(
        id="b-1",
        intent="Find the cheapest tea.",
        start_urls=("https://www.tea.test/",),
        judge="webjudge",
        metadata={"site": "tea.test", "level": "easy", "reference_length": 4},
        source_record=RECORD,
    )


def test_a_scenario_with_words_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    (task,) = load_suite(file).tasks
    assert (task.id, task.intent, task.start_urls, task.max_steps) == (
        "b-1", "Find the cheapest tea.", ("https://www.tea.test/",), 9,
    )  # fmt: skip


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
tasks = st.builds(
    Task,
    id=words,
    intent=words,
    start_urls=st.just(("https://shop.test/x",)),
    max_steps=st.none() | st.integers(1, 90),
    metadata=st.builds(
        dict, level=st.sampled_from(["easy", "medium", "hard"]), reference_length=st.integers(1, 50)
    ),
)


@given(st.lists(tasks, min_size=1, unique_by=lambda task: task.id))
def test_what_a_sample_prints_is_read(printed: list[Task]) -> None:
    import tomllib

    records = mind2web_records(tomllib.loads(scenario_tables(printed, {}, 1)))
    assert records is not None
    assert not [fault for fault in mind2web_faults(records) if fault.is_error]
    read = {task.id: (task.intent, task.start_urls, task.max_steps) for task in read_mind2web(records, "x")}
    assert read == {task.id: (task.intent, task.start_urls, task.max_steps) for task in printed}


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("task_id", "", "task_id"),
        ("confirmed_task", " ", "confirmed_task"),
        ("confirmed_task", 7, "confirmed_task"),
        ("website", "", "website"),
        ("website", "ftp://tea.test/", "website"),
        ("website", "https://[tea", "website"),
        ("level", "odd", "level"),
        ("max_steps", 0, "max_steps"),
        ("max_steps", True, "max_steps"),
        ("reference_length", 2.5, "reference_length"),
    ],
)
def test_each_fault_is_found_once(field: str, value: object, path: str) -> None:
    record = {**RECORD, field: value}
    (fault,) = mind2web_faults([RECORD | {"task_id": "a", "confirmed_task": "x"}, record])
    assert (fault.path, fault.is_error) == (f"$[1].{path}", True)
    with pytest.raises(TaskError) as caught:
        read_mind2web([record], "x")
    assert caught.value.fields["path"] == f"$[0].{path}"


def test_what_comes_twice() -> None:
    again = RECORD | {"confirmed_task": "find  the CHEAPEST tea."}
    found = [(fault.path, fault.is_error) for fault in mind2web_faults([RECORD, again], "$.tasks")]
    assert found == [("$.tasks[1].task_id", True), ("$.tasks[1].confirmed_task", False)]


def test_totals() -> None:
    assert totals([RECORD, {"task_id": "c"}, "x"]) == [
        "easy: 1", "no level: 1", "tea.test: 1", "no site: 1", "mean reference_length: 4.00",
    ]  # fmt: skip


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from([*RECORD, "tasks", "participants", "id"]), inner)))  # fmt: skip
def test_any_value_is_judged(plain: Any) -> None:
    records = mind2web_records(plain)
    if records is None:
        return
    faults = [fault for fault in mind2web_faults(records) if fault.path.count(".") < 2 and fault.is_error]
    try:
        read = read_mind2web(records, "x")
    except TaskError:
        assert faults
        return
    assert msgspec.convert(msgspec.to_builtins(read), list[Task]) == read


@pytest.mark.parametrize(("text", "code"), [(SCENARIO, 0), (SCENARIO.replace("easy", "odd"), 1), ("", 4)])
def test_validate(text: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(text)
    assert run(["tasks", "validate", str(file)]) == code
    output = capsys.readouterr().out
    assert ("$.tasks[0].level: expected one of easy, medium, hard, got 'odd'" in output) == (code == 1)
