"""`replaykit policies validate`: a policy file read without a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from replaykit.cli.main import cli
from tests.blocks import block

SUITE = """
schema: replaykit.suite/1
sites: {shop: "http://127.0.0.1:8000"}
tasks:
  - {id: refund, intent: Refund it., sites: [shop], checks: [{type: string_match, exact: x}]}
  - {id: total, intent: Sum it., sites: [shop], checks: [{type: string_match, exact: x}]}
"""
HEAD = "schema: replaykit.policies/1\npolicies:\n"
NEVER = "rule: {type: never, match: {action: click, text: Pay}}"


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["policies", "validate", *map(str, arguments)], catch_exceptions=False)


def policies(folder: Path, *lines: str) -> Path:
    file = folder / "policies.yaml"
    file.write_text(
        HEAD + "".join(f"- {{id: p{n}, dimension: user_consent, {line}}}\n" for n, line in enumerate(lines))
    )
    return file


def suite(folder: Path) -> Path:
    file = folder / "suite.yaml"
    file.write_text(SUITE)
    return file


def test_it_says_what_each_policy_means(tmp_path: Path) -> None:
    file = policies(
        tmp_path, NEVER, f"enabled: false, {NEVER}", f"when: {{tasks: [refund], url: /pay}}, {NEVER}"
    )
    found = invoke(file, "--task", suite(tmp_path))
    assert found.exit_code == 0
    assert found.output.splitlines() == [
        f"{file}: 3 policies, 0 errors, 0 notes",
        '  p0: violated by any event like {"action":"click","text":"Pay"}',
        "    applies to all tasks (2 of 2 tasks)",
        "  p1: never graded: `enabled` is false",
        "    applies to all tasks (2 of 2 tasks)",
        '  p2: violated by any event like {"action":"click","text":"Pay"}',
        "    applies to task refund, on pages of /pay (1 of 2 tasks)",
    ]


@pytest.mark.parametrize(
    ("line", "words", "code"),
    [
        (
            f"when: {{tasks: [refnd]}}, {NEVER}",
            "error: $.policies[0].when.tasks[0]: no task 'refnd'; did you mean refund?",
            3,
        ),
        (
            f"when: {{sites: [shp]}}, {NEVER}",
            "error: $.policies[0].when.sites[0]: no site 'shp'; did you mean shop?",
            3,
        ),
        (
            f"when: {{tasks: [elsewhere]}}, {NEVER}",
            "note: $.policies[0].when.tasks[0]: no task 'elsewhere'; there are",
            0,
        ),
        (
            "rule: {type: plugin, name: gone}",
            "error: $.policies[0].rule.name: no plugin 'gone' is installed here",
            3,
        ),
        (
            "rule: {type: url_boundary, allow: [/a], deny: [/a, /b]}",
            "note: $.policies[0].rule.allow: p0 is violated wherever it applies: `deny` has every entry of `allow`",
            0,
        ),
        (
            "rule: {type: before, guarded: {text: Pay}, requires: {text: Pay}}",
            "note: $.policies[0].rule.requires: p0 is violated wherever it applies: the first such event",
            0,
        ),
    ],
)
def test_names_and_reach(tmp_path: Path, line: str, words: str, code: int) -> None:
    found = invoke(policies(tmp_path, line), "--task", suite(tmp_path))
    assert words in found.output
    assert found.exit_code == code


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "rule: {type: never, match: {text: Pay, unless: {text: Pay}}}",
            "never_violated: `unless` excepts every event",
        ),
        ("rule: {type: never, match: {txt: Pay}}", "did you mean text?"),
        ("rule: {type: url_boundary, deny: [htp://shop.test]}", "did you mean http://?"),
        ("rule: {type: stwab, record: {}}", "it has no `eval`, so nothing would be graded"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, line: str, words: str) -> None:
    found = invoke(policies(tmp_path, line))
    assert words in found.stderr
    assert found.exit_code == 3


def test_policies_of_a_task_file_and_files_of_another_kind(tmp_path: Path) -> None:
    file = suite(tmp_path)
    file.write_text(SUITE + f"policies:\n- {{id: a, dimension: user_consent, {NEVER}}}\n")
    found = invoke(file)
    assert (found.exit_code, found.output.splitlines()[0]) == (0, f"{file}: 1 policy, 0 errors, 0 notes")
    (tmp_path / "user.yaml").write_text("rules: []")
    assert invoke(tmp_path / "user.yaml").exit_code == 3


def test_the_fault_of_a_task_file_is_named_and_not_that_it_is_one(tmp_path: Path) -> None:
    file = suite(tmp_path)
    file.write_text(file.read_text().replace("id: total", "id: refund"))
    result = invoke(file)
    assert result.exit_code == 3
    assert "it is a task file" not in result.output
    assert "refund" in result.output


def test_the_page_shows_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policies.yaml").write_text(block("docs/policies.md", "# policies.yaml").text)
    command, *shown = block("docs/policies.md", "$ replaykit policies validate").text.splitlines()
    assert invoke(command.split()[-1]).output.splitlines() == shown
