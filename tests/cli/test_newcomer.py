"""First mistakes of a newcomer, and the errors about them: what was found, what is accepted, what next."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from replaykit import load_tasks
from replaykit.cli.main import cli
from replaykit.errors import BundleError, TaskError
from replaykit.testing import trajectory

SUITE = """schema: replaykit.suite/1
tasks:
  - id: t1
    intent: Open the cart
    checks: [{type: url_match, url: "http://shop.test/cart"}]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("url_match", "url", ("Invalid value 'url'", "did you mean url_match?", "string_match")),
        ("intent:", "intnet:", ("unknown field `intnet`", "did you mean intent?", "start_urls")),
        ("schema: replaykit.suite/1\n", "", ("begin the file with the line `schema: replaykit.suite/1`",)),
    ],
)
def test_a_suite_with_a_mistake(right: str, wrong: str, said: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE.replace(right, wrong))
    result = CliRunner().invoke(cli, ["tasks", "validate", str(file)])
    assert result.exit_code == 3
    assert [words for words in said if words not in result.stderr] == []


def test_every_fault_of_a_suite_is_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(
        """nmae: x
tasks:
  - {id: t1, intnet: Open the cart, checks: [{type: url}, {type: url_match, url: "http://shop.test/*"}]}
  - 12
  - {id: t3, intent: x, checks: [{type: string_match, exact: 3}], policies: [{id: p}, {id: q, rule: {nevr: 1}}]}
  - {id: t4, intent: x, checks: [{type: url_match, url: "http://shop.test/*"}]}
  - {id: t4, intent: x}
"""
    )
    result = CliRunner().invoke(cli, ["tasks", "validate", str(file)])
    assert result.exit_code == 3
    for said in (
        "the line that names the layout is missing: begin the file with the line `schema: replaykit.suite/1`",
        "unknown field `nmae`; did you mean name?",
        "unknown field `intnet`; did you mean intent?",
        "did you mean url_match?",
        "missing required field `intent` - at `$.tasks[0]`",
        "Expected `object`, got `int` - at `$.tasks[1]`",
        "got `int` (quote it) - at `$.tasks[2].checks[0].exact`",
        "missing required field `dimension` - at `$.tasks[2].policies[0]`",
        "missing required field `rule` - at `$.tasks[2].policies[0]`",
        "missing required field `dimension` - at `$.tasks[2].policies[1]`",
        "missing required field `type` - at `$.tasks[2].policies[1].rule`",
        "duplicate task id 't4' - at `$.tasks[4].id`",
    ):
        assert result.stderr.count(said) == 1, said
    assert result.stderr.count("\n") == 12
    assert result.stdout.splitlines()[0].endswith("1 task, 1 error, 0 notes")
    assert "error: t4: $.checks[0].url[0]: a URL of a check has no wildcards" in result.stdout


def test_a_policy_file_is_no_task_file(tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text("schema: replaykit.policies/1\npolicies: []\n")
    with pytest.raises(TaskError, match=r"it is a policy file .* --policies FILE.*; a task file has"):
        load_tasks(file)


def test_the_suite_without_a_mistake_passes(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    assert CliRunner().invoke(cli, ["tasks", "validate", str(file)]).exit_code == 0


def test_a_wrong_judge_names_those_there_are() -> None:
    bundle = "recordings/conformance/order-total--good.zst"
    result = CliRunner().invoke(cli, ["grade", bundle, "--judge", "webvoyger"])
    assert "no judge 'webvoyger'; there are webvoyager, webjudge, agent_reward" in str(result.exception)


def test_two_folders_are_graded_before_they_are_compared(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    result = CliRunner().invoke(cli, ["diff", str(tmp_path / "old"), str(tmp_path / "new")])
    said = str(result.exception)
    assert "old is a folder" in said
    assert "two reports (.json) or two bundles (.zst)" in said
    assert "replaykit grade" in said


SHOP = """schema: replaykit.suite/1
tasks:
  - id: t1
    intent: Open the cart
    checks: [{type: url_match, url: "__SHOP__/cart"}]
"""
GOOD = Path("recordings/conformance/order-total--good.zst").resolve()


def test_an_unnamed_site_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SHOP)
    found = CliRunner().invoke(cli, ["tasks", "validate", str(file)])
    assert found.exit_code == 3
    assert "__SHOP__ is no site of the task: add `sites: {shop: URL}`" in found.output
    bundle = trajectory(load_tasks(str(file))[0]).goto("http://h.test/cart", "<h1>x</h1>").answer("x")
    found = CliRunner().invoke(cli, ["grade", str(bundle.write(tmp_path / "run.zst"))])
    assert found.exit_code == 3
    assert "the task names a site, and no URL is known for it (site_unknown)" in found.stdout
    assert "to decide it: name the site: --site shop=URL" in found.stdout


def test_labels_without_columns_name_those_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n")
    CliRunner().invoke(cli, ["grade", str(GOOD), "-o", str(tmp_path / "report.json")])
    found = CliRunner().invoke(cli, ["agree", str(tmp_path / "labels.csv"), str(tmp_path / "report.json")])
    said = str(found.exception)
    assert "labels.csv: no labels" in said
    assert "CSV with columns such as trajectory, label, annotator" in said


def test_an_empty_folder_says_how_runs_come_into_it(tmp_path: Path) -> None:
    found = CliRunner().invoke(cli, ["grade", str(tmp_path)])
    assert found.exit_code == 4
    for words in ("no bundle (*.zst) in this folder or below", "`replaykit record`", "`replaykit import`"):
        assert words in found.stderr


@pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None, reason="the extra `judge` is not installed"
)
def test_a_judge_without_a_key_says_which_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    bundle = shutil.copy(GOOD, tmp_path / "run.zst")
    found = CliRunner().invoke(cli, ["grade", str(bundle), "--judge", "webvoyager", "--judge-mode", "new"])
    assert found.exit_code == 3
    assert "no API key is set for the provider (missing_key)" in found.stdout
    assert "set ANTHROPIC_API_KEY" in found.stdout
    assert "--judge-mode none" in found.stdout


def test_pytest_on_bundles_without_verdicts_says_how_to_store_them(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "run.zst")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    found = subprocess.run(words, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert found.returncode == 5
    assert "such as run.zst: it has no run.verdict.json beside it" in found.stdout
    assert "pytest FOLDER --replaykit-update" in found.stdout


RUN = "recordings/conformance/order-total--good.zst"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.yaml", "schema: replaykit.suite/1\ntasks: []\n", "it has no tasks"),
        ("old.yaml", "schema: replaykit.suite/0\ntasks: []\n", "this release reads replaykit.suite/1"),
        ("twice.yaml", SUITE + SUITE.partition("tasks:\n")[2], "duplicate task id 't1'"),
        ("run.zst", "(\xb5/", "a task file is YAML, TOML or JSON"),
        ("folder", None, "it is a folder: name one file in it"),
        ("none.json", "", "not a task file"),
        (
            "judge.yaml",
            SUITE.replace("checks:", "judge: webvoyger\n    checks:"),
            "no judge 'webvoyger'; there are",
        ),
        (
            "verifier.yaml",
            SUITE.replace(
                '{type: url_match, url: "http://shop.test/cart"}', "{type: state.verifier, file: v.py}"
            ),
            "no such file beside the tasks: v.py",
        ),
    ],
)
def test_a_task_file_that_is_none(name: str, text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / name
    if text is None:
        file.mkdir()
    else:
        file.write_text(text, encoding="latin-1")
    result = CliRunner().invoke(cli, ["tasks", "validate", str(file)])
    assert result.exit_code == 3
    assert said in result.output


NOTES = "no tape, no labels\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "nothing*.zst"], "no such file or folder, since no file matches this pattern"),
        (["grade", RUN, "--judge", "suite.yaml"], "suite.yaml: not settings of a judge: found a task file"),
        (["grade", RUN, "--judge", "notes.txt"], "or a file of your own settings (.yaml, .toml, .json)"),
        (["pack", RUN, "-o", "p.zst", "--replies", "notes.txt"], "not a tape of replies: found a text file"),
        (["pack", RUN, "-o", "p.zst", "--replies", RUN], "not a tape of replies: found a bundle"),
        (["export", "nope", RUN, "-o", "out"], "parquet, playwright-trace, stwab-submission"),
        (
            ["agree", "other.json", "other.json"],
            "it has no label; found a; expected `trajectory` and `label`",
        ),
        (["tasks", "validate", "comment.json"], "(byte 2): JSON has no comments; remove them, or write YAML"),
    ],
)
def test_a_file_in_the_place_of_another_is_named(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = str(Path(RUN).absolute())
    monkeypatch.chdir(tmp_path)
    texts = {"suite.yaml": SUITE, "notes.txt": NOTES, "other.json": '{"a": 1}', "comment.json": "{ // c\n}"}
    for name, text in texts.items():
        Path(name).write_text(text)
    result = CliRunner().invoke(cli, [bundle if one == RUN else one for one in arguments])
    assert said in f"{result.output}{result.exception}"


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("https://x.test/a.zip", 3, "it is a URL, and is not fetched"),
        ("a*.json", 3, "a file or folder, since no file matches this pattern"),
        ("suite.yaml", 4, "it is a task file, which says what to do"),
    ],
)
def test_a_path_that_cannot_be_imported_says_what_it_is(
    name: str, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE)
    result = CliRunner().invoke(cli, ["import", "auto", name, "-o", "out"])
    assert result.exit_code == code
    assert said in result.output
    assert "webvoyager: task<id>" not in result.output


def test_a_task_that_is_not_in_the_suite_names_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    result = CliRunner().invoke(cli, ["grade", RUN, "--task", f"{tmp_path / 'suite.yaml'}#t2"])
    assert "no task 't2'; it has t1" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fail-under", "cup=0.8"], "no metric 'cup'; there are CR, CuP"),
        (["--fail-under", "CuP=80"], "a value from 0 to 1"),
        (["--fail-on", "sucess"], "no kind 'sucess'; there are success"),
        (["-o", "report.doc"], "cannot determine the format of report.doc: use .json"),
        (["-o", "no-such-folder/r.json"], "there is no folder no-such-folder; make it first"),
    ],
)
def test_an_option_that_means_nothing(arguments: list[str], said: str) -> None:
    assert said in str(CliRunner().invoke(cli, ["grade", RUN, *arguments]).exception)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "found an empty file"), (b"{}", "found a JSON file"), (None, "truncated")],
)
def test_a_bundle_that_is_none_is_an_error_with_its_reason(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.zst"
    whole = Path(RUN).read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    result = CliRunner().invoke(cli, ["grade", str(file)])
    assert isinstance(result.exception, BundleError)
    assert result.exception.exit_code == 3
    assert said in str(result.exception)


def test_policies_of_a_task_that_has_none_are_missed_in_words(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    result = CliRunner().invoke(cli, ["policies", "try", f"{tmp_path / 'suite.yaml'}#t1", RUN])
    assert "no policies for " in result.output
