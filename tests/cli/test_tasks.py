"""`replaykit tasks` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from replaykit.cli.main import cli

SUITE = """
schema: replaykit.suite/1
sites: {shop: "http://s.test"}
tasks:
  - {id: a, intent: Find it., checks: [{type: string_match, exact: x}], metadata: {level: easy}}
  - {id: b, intent: "Buy\tit.", checks: [{type: url_match, url: __SHOP__/b}], metadata: {level: hard}}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["tasks", *map(str, arguments)])


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    return file


def test_a_good_file(suite: Path) -> None:
    found = run("validate", suite)
    assert (found.exit_code, found.output) == (0, f"{suite}: 2 tasks, 0 errors, 0 notes\n")


def test_faults_are_all_named(suite: Path) -> None:
    suite.write_text(SUITE.replace("exact: x", "must_include: ['']").replace("__SHOP__", "__SHIP__"))
    found = run("validate", suite)
    assert found.exit_code == 3
    assert "error: a: $.checks[0].must_include[0]: an empty reference" in found.output
    assert "error: b: $: __SHIP__ is no site of the task" in found.output


def test_places_and_patterns_of_states_that_cannot_be_read_are_named(suite: Path) -> None:
    where = (
        "[{at: '$.todos[0].done'}, {at: '$.todos[?(@.id = 7)]'}, {at: todos},"
        " {at: /a, op: matches, value: '('}]"
    )
    check = f"type: state.http, exchange: {{method: PUT, path: /api/state}}, where: {where}"
    suite.write_text(SUITE.replace("type: string_match, exact: x", check))
    found = run("validate", suite)
    assert found.exit_code == 3
    errors = [line for line in found.output.splitlines() if line.startswith("  error")]
    assert "$.checks[0].where[1].at: '$.todos[?(@.id = 7)]' cannot be read: not a path" in found.output
    assert (
        "$.checks[0].where[2].at: 'todos' cannot be read: not a path: 'todos'; it begins with" in found.output
    )
    assert "$.checks[0].where[3].value: " in found.output
    assert len(errors) == 3


def test_policies_that_exclude_each_other_are_noted_once(suite: Path) -> None:
    never = "{type: never, match: {action: click, text: Save}}"
    always = "{type: eventually, match: {action: click, text: Save}}"
    policies = (
        f"policies: [{{id: low, source: task, dimension: user_consent, rule: {always}}},"
        f" {{id: high, dimension: user_consent, rule: {never}}}]"
    )
    suite.write_text(f"{SUITE}{policies}\n")
    found = run("validate", suite)
    assert (found.exit_code, found.output.splitlines()) == (
        0,
        [
            f"{suite}: 2 tasks, 0 errors, 1 note",
            "  note: a: $.policies[0]: 'high' (organization) and 'low' (task): the one forbids what the other"
            " demands; let one yield (and in 1 more task)",
        ],
    )


def test_counts(suite: Path) -> None:
    assert run("list", suite).output.startswith("2 tasks, 0 policies\n")
    assert json.loads(run("list", suite, "--json").output)["checks"] == {"string_match": 1, "url_match": 1}
    assert run("list", suite, "--ids").output.splitlines()[0] == "a\tstring_match\tFind it."


def test_a_sample(suite: Path) -> None:
    assert run("sample", suite, "--by", "level", "--count", "1").output.split() == ["a", "b"]
    assert json.loads(run("sample", suite, "--json").output) == ["a", "b"]


def test_schemas() -> None:
    assert json.loads(run("schema").output)["$ref"].endswith("SuiteFile")
    assert json.loads(run("schema", "report").output)
    assert run("schema", "nothing").exit_code == 2


def test_every_file_is_reported_though_one_is_none(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("id: [1")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\x00")
    result = run("validate", tmp_path / "broken.yaml", suite, tmp_path / "binary.yaml")
    assert result.exit_code == 3
    assert "suite.yaml: 2 tasks, 0 errors" in result.stdout
    assert "broken.yaml: not a task file: line 1, column 7: expected ',' or ']'" in result.stderr
    assert "binary.yaml: not a task file: found a file of another kind" in result.stderr


def test_what_grading_would_refuse_is_found_before(tmp_path: Path) -> None:
    checks = [
        {"type": "page", "selector": "p:has-text('x')", "expect": {"equals": "y"}},
        {"type": "page", "selector": "p", "expect": {}},
        {"type": "string_match", "required_values": "700"},
        {"type": "string_match", "exact": "soon", "as": "date"},
        {"type": "string_match", "must_include": "soon", "as": "date"},
        {"type": "url_match", "url": "http://s.test/*"},
        {"type": "network", "expected": {"url": "http://s.test/*"}},
    ]
    file = tmp_path / "suite.json"
    task = {"id": "t", "intent": "Try it.", "checks": checks}
    file.write_text(json.dumps({"schema": "replaykit.suite/1", "tasks": [task]}))
    found = run("validate", file)
    assert found.exit_code == 3
    for number in range(len(checks)):
        assert f"$.checks[{number}]" in found.output


def test_a_blank_intent_and_an_unknown_helper_are_errors(tmp_path: Path) -> None:
    target = {"url": "func:shopping_get_last_order()", "locator": "", "must_include": ["x"]}
    task = {"id": "t", "intent": " ", "checks": [{"type": "program_html", "targets": [target]}]}
    file = tmp_path / "t.json"
    file.write_text(json.dumps(task))
    result = run("validate", file)
    assert result.exit_code == 3
    assert "$.intent: it is empty" in result.stdout
    assert (
        "$.checks[0].targets[0].url: it calls no known helper; there are reddit_get_post_url" in result.stdout
    )
