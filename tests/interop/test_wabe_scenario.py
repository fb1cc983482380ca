"""The tables of a WABE scenario: TOML that holds what the tasks say, whatever that is."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.cli.main import run
from replaykit.interop.toml_text import toml_text
from replaykit.interop.wabe.wabe_scenario import scenario_tables
from replaykit.tasks.task import Task

ROOT = Path(__file__).resolve().parents[2]


@given(st.text())
def test_any_text_survives(text: str) -> None:
    said = toml_text(text)
    assert "\n" not in said
    assert tomllib.loads(f"a = {said}")["a"] == text


@given(st.text(st.characters(categories=["Cs"]), min_size=1))
def test_half_characters_are_replaced(text: str) -> None:
    assert tomllib.loads(f"a = {toml_text(text)}")["a"] == "\ufffd" * len(text)


def test_levels_have_their_order_and_tasks_theirs() -> None:
    levels = ["hard", "odd", "Medium", "easy", "", "easy"]
    tasks = [Task(id=str(n), intent="Act.", metadata={"level": level}) for n, level in enumerate(levels)]
    text = scenario_tables(tasks, {}, 7)
    assert text.startswith("# 6 tasks, sampled with --seed 7\n")
    assert [row["task_id"] for row in tomllib.loads(text)["tasks"]] == ["3", "5", "2", "0", "4", "1"]


def test_only_what_an_agent_may_see_is_written() -> None:
    task = Task(
        id='a"b',
        intent="Buy\ntea at __SHOP__.",
        start_urls=("__SHOP__/tea",),
        sites=("shop",),
        reference="Earl Grey",
        max_steps=9,
        metadata={"level": "easy", "reference_length": 4, "answer": "Earl Grey"},
    )
    text = scenario_tables([task], {"shop": ("http://shop.test",)}, 1)
    assert "Earl" not in text
    assert tomllib.loads(text)["tasks"] == [
        {
            "task_id": 'a"b',
            "confirmed_task": "Buy\ntea at http://shop.test.",
            "website": "http://shop.test/tea",
            "level": "easy",
            "reference_length": 4,
            "max_steps": 9,
        }
    ]


def test_a_scenario_has_three_tasks_of_a_level_and_a_seed_that_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = ["easy"] * 5 + ["hard"] * 2
    tasks = [{"id": f"t{n}", "intent": "Act.", "metadata": {"level": one}} for n, one in enumerate(levels)]
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"schema": "replaykit.suite/1", "tasks": tasks}), "utf-8")
    assert run(["tasks", "sample", str(suite), "--toml"]) == 0
    drawn = capsys.readouterr()
    assert [row["level"] for row in tomllib.loads(drawn.out)["tasks"]] == ["easy"] * 3 + ["hard"] * 2
    assert drawn.err == "level hard: 2 of 3 tasks, there are no more\n"
    seed = drawn.out.splitlines()[0].rpartition(" ")[2]
    assert run(["tasks", "sample", str(suite), "--toml", "--seed", seed]) == 0
    assert capsys.readouterr().out == drawn.out


def test_on_the_command_line_the_same_seed_gives_the_same_tables(capsys: pytest.CaptureFixture[str]) -> None:
    suite = str(ROOT / "fixtures" / "tasks" / "shop.yaml")
    arguments = ["tasks", "sample", suite, "--toml", "--by", "level", "--count", "1"]
    texts = []
    for seed in ("1", "1", "2"):
        assert run([*arguments, "--seed", seed]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]
    found = tomllib.loads(texts[0])["tasks"]
    assert len(found) == len({row.get("level") for row in found})
    assert all(row["website"].startswith(("http", "__SHOP__")) for row in found)
