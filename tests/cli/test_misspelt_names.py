"""Names of sites, files and variables that are misspelt: what has the name, and which one may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from replaykit.cli.main import cli
from replaykit.cli.main import run as run_cli
from replaykit.testing import trajectory

SUITE = """schema: replaykit.suite/1
sites: {inn: "http://inn.test"}
tasks:
  - {id: t, intent: Book., sites: [SITE], checks: [{type: string_match, exact: x}]}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)])


@pytest.mark.parametrize(
    ("site", "code", "said"),
    [
        ("in", 3, "error: t: $.sites[0]: site 'in' has no URL in `sites` of the file; did you mean inn?"),
        ("inn", 0, "0 errors, 0 notes"),
        ("shopping", 0, "note: t: $.sites[0]: site 'shopping' has no URL in `sites` of the file; give it"),
    ],
)
def test_a_site_that_the_file_has_not(site: str, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE.replace("SITE", site))
    found = run("tasks", "validate", tmp_path / "s.yaml")
    assert (found.exit_code, said in found.output) == (code, True)


def test_sites_of_a_file_without_urls_come_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE.replace('sites: {inn: "http://inn.test"}\n', ""))
    assert "0 errors, 0 notes" in run("tasks", "validate", tmp_path / "s.yaml").output


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "in",
            "--site in: no task and no recording has a site of this name; did you mean inn? (there are inn)",
        ),
        ("inn", ""),
        ("listed", ""),
        ("other", ""),  # a placeholder of the task
    ],
)
@pytest.mark.parametrize("is_suite", [True, False])
def test_a_site_that_no_task_has(
    name: str, said: str, is_suite: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    task = {"id": "t", "intent": "x", "checks": [{"type": "url_match", "url": "__OTHER__/a"}]}
    task |= {"sites": ["listed"]} if name == "listed" else {}
    path = trajectory(task, sites={"inn": ("http://inn.test",)}).answer("x").write(tmp_path / "a.zst")
    (tmp_path / "s.yaml").write_text(SUITE.replace("SITE", name if name != "in" else "inn"))
    named = ["--task", str(tmp_path / "s.yaml")] if is_suite else []
    run_cli(["grade", str(path), str(tmp_path / "gone.zst"), "--site", f"{name}=http://h.test", *named])
    run_cli(["grade", str(path), "--site", f"{name}=http://h.test", *named])
    assert [line for line in capfd.readouterr().err.splitlines() if line.startswith("--site")] == [
        said
    ] * bool(said)


@pytest.mark.parametrize("command", [["tasks", "validate"], ["tasks", "list"], ["grade", "a.zst", "--task"]])
def test_a_policy_file_that_is_not_there(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trajectory().answer("x").write(tmp_path / "a.zst")
    Path("policies.yaml").write_text("schema: replaykit.policies/1\npolicies: []\n")
    Path("s.yaml").write_text("policies: {file: polices.yaml}\n" + SUITE.replace("SITE", "inn"))
    assert run_cli([*command, "s.yaml"]) == 3
    error = capfd.readouterr().err
    assert "polices.yaml: cannot read the policy file that s.yaml names in `policies.file`: No such" in error
    assert "did you mean policies.yaml?" in error


def test_a_policy_file_with_a_mistake_is_no_task_file(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("policies: [1")
    (tmp_path / "s.yaml").write_text("policies: {file: p.yaml}\n" + SUITE.replace("SITE", "inn"))
    assert "p.yaml: not a policy file: line 1" in run("tasks", "validate", tmp_path / "s.yaml").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a: b: c",
            "line 1, column 5: mapping values are not allowed here (indent the line as those beside it",
        ),
        ("tasks:\n  - id: x\n   intent: y", "(indent the line as those beside it"),
        ('a: "x" y', "quote a text as a whole or not at all)"),
        ("a:\n\t- b", "(indent with spaces, not with tabs)"),
        ("a: @x", "(quote a text that begins with this character)"),
        ("a: {b: c", "(a bracket is not closed)"),
        ("a: 'x", "(a quote is not closed)"),
        ("a: 1\nb", "(a key needs a colon and a space behind it)"),
    ],
)
def test_what_the_parser_of_yaml_says_has_a_hint(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(text)
    assert said in run("tasks", "validate", tmp_path / "s.yaml").stderr


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("#a ..b", "expected a class name, found '.'"),
        ("a,,b", "expected a compound selector, found ','"),
        ("a[", "expected attribute name, found the end"),
        ("a:", "unexpected end"),
        ("a!b", "unexpected '!'"),
    ],
)
def test_what_the_parser_of_selectors_says_names_no_token(selector: str, said: str, tmp_path: Path) -> None:
    check = f"{{type: page, selector: '{selector}', expect: {{equals: x}}}}"
    (tmp_path / "s.yaml").write_text(
        SUITE.replace("SITE", "inn").replace("{type: string_match, exact: x}", check)
    )
    assert (
        f"not a CSS selector: '{selector}': {said}\n" in run("tasks", "validate", tmp_path / "s.yaml").output
    )


def test_a_variable_with_a_wrong_value_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["grade", "a.zst", "--jobs", "two"]) == 2
    assert "variable" not in capfd.readouterr().err
    monkeypatch.setenv("REPLAYKIT_GRADE_JOBS", "two")
    assert run_cli(["grade", "a.zst"]) == 2
    assert "It is the value of the variable REPLAYKIT_GRADE_JOBS." in capfd.readouterr().err


def test_a_run_without_a_task_id_asks_for_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    two = SUITE.replace("SITE", "inn") + "  - {id: u, intent: Leave.}\n"
    (tmp_path / "s.yaml").write_text(two)
    path = str(trajectory(task={}).answer("x").write(tmp_path / "a.zst"))
    assert run_cli(["grade", path, "--task", str(tmp_path / "s.yaml")]) == 3
    error = capfd.readouterr().err
    assert "the run has no task id, by which its task is found: name the task with --task FILE#ID" in error
    assert "the file has t, u" in error
