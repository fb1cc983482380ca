"""Task files: layouts by shape, inheritance, exact paths, hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import TaskError, UnknownTask
from replaykit.tasks.suite import load_policies, load_suite, load_tasks

SUITE = """
schema: replaykit.suite/1
name: shop
sites: {shop: "http://shop.test", wiki: ["http://a.test", "http://b.test"]}
mode: compat
judge: webvoyager
policies:
  - {id: stay, dimension: boundary_and_scope_limitation, rule: {type: url_boundary, deny: [/admin]}}
tasks:
  - {id: a, intent: First., checks: [{type: string_match, exact: "1"}]}
  - id: b
    intent: Second.
    mode: strict
    policies:
      - {id: own, dimension: user_consent, rule: {type: consent, guarded: {action: click, text: Pay}}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def test_tasks_inherit_what_the_suite_says(suite: Path) -> None:
    loaded = load_suite(suite)
    first, second = loaded.tasks
    assert (first.mode, second.mode) == ("compat", "strict")
    assert [policy.id for policy in second.policies] == ["stay", "own"]
    assert first.judge == second.judge == "webvoyager"
    assert loaded.sites == {"shop": ("http://shop.test",), "wiki": ("http://a.test", "http://b.test")}


def test_a_fragment_picks_one_task(suite: Path) -> None:
    assert [task.id for task in load_tasks(f"{suite}#b")] == ["b"]
    with pytest.raises(UnknownTask, match=r"no task 'c'; it has a, b"):
        load_tasks(f"{suite}#c")


def test_policies_may_live_in_their_own_file(tmp_path: Path) -> None:
    rule = {"id": "p", "dimension": "user_consent", "rule": {"type": "never", "match": {"text": "Pay"}}}
    (tmp_path / "p.json").write_text(json.dumps({"schema": "replaykit.policies/1", "policies": [rule]}))
    (tmp_path / "s.json").write_text(
        json.dumps(
            {
                "schema": "replaykit.suite/1",
                "policies": {"file": "p.json"},
                "tasks": [{"id": "a", "intent": "b"}],
            }
        )
    )
    assert [p.id for p in load_tasks(tmp_path / "s.json")[0].policies] == ["p"]
    assert [p.id for p in load_policies(tmp_path / "p.json")] == ["p"]


def test_a_list_of_policies_without_its_first_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("- {id: p, dimension: user_consent, rule: {type: informational}}\n")
    with pytest.raises(TaskError, match="`policies:` below a first line"):
        load_policies(tmp_path / "p.yaml")


def test_toml_and_json_and_one_task_alone(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('schema = "replaykit.suite/1"\n[[tasks]]\nid = "a"\nintent = "b"\n')
    (tmp_path / "t.json").write_text('{"id": "a", "intent": "b"}')
    assert load_tasks(tmp_path / "s.toml") == load_tasks(tmp_path / "t.json")


def test_webvoyager_files_are_known_by_their_shape(tmp_path: Path) -> None:
    line = {"web_name": "Shop", "id": "Shop--1", "ques": "Cheapest mug?", "web": "http://shop.test/"}
    (tmp_path / "t.jsonl").write_text(
        json.dumps(line) + "\n\n" + json.dumps({**line, "id": "Shop--2"}) + "\n"
    )
    first, _ = load_tasks(tmp_path / "t.jsonl")
    assert (first.id, first.intent, first.judge) == ("Shop--1", "Cheapest mug?", "webvoyager")


@pytest.mark.parametrize(
    ("name", "text", "path", "reason"),
    [
        ("s.yaml", "schema: replaykit.suite/1\ntasks: [{id: a, intent: b, intnt: c}]", "$.tasks[0]", "intnt"),
        ("s.yaml", "schema: replaykit.suite/1\ntasks: [{id: a, intent: b}, {id: a, intent: c}]", "$.tasks[1].id",
         "duplicate task id 'a'"),
        ("s.yaml", "schema: replaykit.suite/2\ntasks: []", "$.schema", "replaykit.suite/2"),
        ("s.yaml", "schema: replaykit.suite/1\nsits: {}\ntasks: []", "$", "sits"),
        ("s.yaml", "schema: replaykit.suite/1\ndialect: webarna\ntasks: []", "$.dialect",
         "'webarna'; did you mean webarena? (there are miniwob, native, "),
        ("s.yaml", "schema: replaykit.suite/1\ntasks: [{id: a, intent: b, dialect: vba}]", "$.tasks[0].dialect",
         "'vba'"),
        ("s.yaml", "a: [1", "$", "not a task file"),
        ("s.json", '{"a": 1', "$", "not a task file"),
        ("s.json", "[[[]]]", "$", "unknown layout"),
        ("s.json", "", "$", "not a task file"),
        ("s.yaml", "!!python/object/apply:os.system ['true']", "$", "not a task file"),
        ("s.yaml", "schema: replaykit.suite/1\ntasks: [{id: a, intent: b}]\ntasks: [{id: c, intent: d}]", "$",
         "line 3, column 1: found the key 'tasks' twice"),
        ("s.yaml", "id: a\nintent: b\nchecks: [{type: string_match, exact: a, exact: b}]", "$",
         "found the key 'exact' twice"),
        ("s.json", '{"id": "a", "intent": "b", "checks": [{"exact": "a", "ex\\u0061ct": "b"}]}', "$",
         "one object has the field 'exact' twice"),
        ("s.yaml", 'id: a\nintent: "\\ud800"', "$", "holds half a character"),
        ("s.yaml", 'id: a\nintent: b\n"\\udfff": c', "$", "holds half a character"),
        ("s.yaml", "schema: replaykit.suite/1\npolicies: [{id: p, dimension: user_consent, rule: {type: never, "
         "match: {}}}]\ntasks: [{id: a, intent: b}]", "$.policies[0]", "empty_match"),
    ],
)  # fmt: skip
def test_faults_are_named_by_their_path(tmp_path: Path, name: str, text: str, path: str, reason: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(TaskError) as caught:
        load_suite(file)
    assert caught.value.fields["path"].startswith(path)
    assert reason in str(caught.value)


def test_a_policy_file_is_refused_in_the_words_of_its_parser(tmp_path: Path) -> None:
    head = '{"schema": "replaykit.policies/1", "policies": ['
    for name, text, said in [
        ("p.json", head + "NaN]}", "JSON is malformed"),
        ("p.json", head + '], "policies": []}', "the field 'policies' twice"),
        ("p.json", head + "]}", "it has no policies"),
        ("p.yaml", "schema: replaykit.policies/1\n\tpolicies: []", "indent with spaces"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(TaskError) as caught:
            load_policies(tmp_path / name)
        assert said in str(caught.value)


def test_a_merged_field_may_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("schema: replaykit.suite/1\ntasks: [&a {id: a, intent: b}, {<<: *a, id: c}]")
    assert [(task.id, task.intent) for task in load_suite(file).tasks] == [("a", "b"), ("c", "b")]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot read the task file: No such file"):
        load_suite(tmp_path / "nope.yaml")


def test_a_few_lines_of_aliases_cannot_claim_billions_of_values(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    file = tmp_path / "bomb.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(TaskError, match="values"):
        load_suite(file)


def test_a_binary_file_is_no_task_file(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    with pytest.raises(TaskError, match="not a task file"):
        load_suite(file)


def test_a_file_of_policies_may_be_held_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "p.yaml").write_text(
        "schema: replaykit.policies/1\npolicies: [{id: p, dimension: user_consent, rule: {type: informational}}]\n"
    )
    suite = tmp_path / "in" / "suite.yaml"
    suite.write_text(
        "schema: replaykit.suite/1\npolicies: {file: ../p.yaml}\ntasks: [{id: t, intent: Go.}]\n"
    )
    assert load_suite(suite).tasks and load_suite(suite, within=tmp_path).tasks
    with pytest.raises(TaskError, match=r"lies outside of .*in - at `\$\.policies\.file`"):
        load_suite(suite, within=tmp_path / "in")


@pytest.mark.parametrize("name", ["tasks", "tasks.txt", "tasks.yaml.bak", "tasks.JSON"])
@pytest.mark.parametrize("text", ['{"id": "t", "intent": "x\u2028y"}', "id: t\nintent: x\n"])
def test_the_form_of_a_file_without_a_known_ending_is_seen_from_its_start(
    name: str, text: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text)
    if name.endswith("JSON") and text.startswith("id"):
        with pytest.raises(TaskError, match="not a task file"):
            load_suite(file)
        return
    assert [task.id for task in load_suite(file).tasks] == ["t"]


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"rule": {"type": "never", "match": {"action": "click", "text": []}}}, "rule.match.text"),
        ({"when": {"tasks": []}}, "when.tasks"),
        (
            {"rule": {"type": "never", "match": [{"text": "Pay"}, {"role": [], "text": "Buy"}]}},
            "rule.match[1].role",
        ),
    ],
)
def test_an_empty_list_in_a_policy_is_a_fault(more: dict[str, Any], path: str, tmp_path: Path) -> None:
    policy = {
        "id": "p",
        "dimension": "user_consent",
        "rule": {"type": "never", "match": {"text": "Pay"}},
        **more,
    }
    file = tmp_path / "file.json"
    task = {"id": "t", "intent": "Pay.", "policies": [policy]}
    for plain, place in (
        ({"schema": "replaykit.policies/1", "policies": [policy]}, "$.policies[0]."),
        ({"schema": "replaykit.suite/1", "tasks": [task]}, "$.tasks[0].policies[0]."),
        (
            {"schema": "replaykit.suite/1", "tasks": [{"id": "t", "intent": "x"}], "policies": [policy]},
            "$.policies[0].",
        ),
        (task, "$.policies[0]."),
    ):
        file.write_text(json.dumps(plain))
        with pytest.raises(TaskError, match="empty_list") as caught:
            load_policies(file) if plain.get("schema") == "replaykit.policies/1" else load_suite(file)
        assert caught.value.fields["path"] == place + path
