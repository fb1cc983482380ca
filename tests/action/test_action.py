"""action.yml and its scripts, in an environment such as GitHub's: a fake `gh`, files for outputs and summary."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from replaykit.testing import trajectory
from tests.blocks import block

ROOT = Path(__file__).resolve().parents[2]
SET = ROOT / "recordings" / "conformance"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w.-]+@[0-9a-f]{40}")

GH = """#!/bin/sh
printf '%s\\n' "$*" >>"$CALLS"
case "$*" in
*--paginate*) [ -z "${READ_FAILS:-}" ] || exit 1; printf '%s' "${MINE:-}" ;;
*) [ -z "${WRITE_FAILS:-}" ] || exit 1 ;;
esac
"""

Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with runs, programs on the path and the files of GitHub."""
    (tmp_path / "my runs").mkdir()
    for name in ("deal-won--good", "refund-order--no_consent"):
        shutil.copy(SET / f"{name}.zst", tmp_path / "my runs")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (programs / "replaykit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m replaykit "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    (tmp_path / "event.json").write_text('{"number": 7}')
    for name in ("output", "summary", "calls"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.fixture
def script(place: Path) -> Script:
    def run(name: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(place / "event.json"),
            "GITHUB_REPOSITORY": "o/r",
            "RUNNER_TEMP": str(place),
            "CALLS": str(place / "calls"),
            "FOLDER": str(place / "replaykit-report"),
            **variables,
        }
        argv = ["sh", str(ROOT / ".ci" / "action" / f"{name}.sh")]
        return subprocess.run(argv, cwd=place, env=environ, capture_output=True, text=True, check=False)

    return run


def outputs(place: Path) -> dict[str, str]:
    lines = (place / "output").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_runs_are_graded_once_into_every_report(script: Script, place: Path) -> None:
    done = script("grade", BUNDLES="my runs\n")
    assert done.returncode == 0, done.stderr
    written = outputs(place)
    assert written["code"] == "1"
    assert {path.name for path in Path(written["folder"]).iterdir()} == {
        "report.json", "report.html", "junit.xml", "summary.md",
    }  # fmt: skip
    assert len(json.loads(Path(written["report"]).read_text())["verdicts"]) == 2
    assert (place / "summary").read_text().startswith("## replaykit: gate failed")


def test_options_reach_grading_and_change_its_code(script: Script, place: Path) -> None:
    script(
        "grade", BUNDLES="my runs/deal-won--good.zst\nmy runs/refund-order--no_consent.zst", FAIL_ON="error"
    )
    assert outputs(place)["code"] == "0"
    script("grade", BUNDLES="my runs", FAIL_ON="error", FAIL_UNDER="CuP=0.9\nCR=0.1")
    assert outputs(place)["code"] == "1"


@pytest.mark.parametrize("name", ["$(touch ran)", "`touch ran`", "; touch ran", "--help", "*"])
def test_an_input_is_never_a_command_an_option_or_a_pattern(name: str, script: Script, place: Path) -> None:
    done = script("grade", BUNDLES=name, TASK=name, FAIL_ON=name, FAIL_UNDER=name)
    assert done.returncode == 0
    assert outputs(place)["code"] in ("2", "3")
    assert not (place / "ran").exists()


def test_a_baseline_is_compared_in_the_summary(script: Script, place: Path) -> None:
    script("grade", BUNDLES="my runs/refund-order--no_consent.zst")
    shutil.copy(place / "replaykit-report" / "report.json", place / "before.json")
    done = script("grade", BUNDLES="my runs", BASELINE="before.json")
    assert done.returncode == 0, done.stderr
    assert "### Compared with the baseline" in (place / "summary").read_text()
    assert "::warning" in script("grade", BUNDLES="my runs", BASELINE="nothing.json").stdout


def summary(place: Path, text: str) -> None:
    (place / "replaykit-report").mkdir(exist_ok=True)
    (place / "replaykit-report" / "summary.md").write_text(text)


def body(place: Path) -> str:
    return str(json.loads((place / "replaykit-report" / "comment.json").read_text())["body"])


@pytest.mark.parametrize(
    ("mine", "called"),
    [
        ("", "--method POST repos/o/r/issues/7/comments"),
        ("41\n42\n", "--method PATCH repos/o/r/issues/comments/41"),
    ],
)
def test_one_comment_is_written_and_then_replaced(
    mine: str, called: str, script: Script, place: Path
) -> None:
    summary(place, "## replaykit: gate failed\n")
    done = script("comment", MINE=mine)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert called in (place / "calls").read_text()
    assert body(place).startswith("<!-- replaykit -->\n## replaykit: gate failed")


def test_a_long_comment_ends_at_a_whole_line(script: Script, place: Path) -> None:
    summary(place, "".join(f"| row {number} | {'&#42;' * 10} |\n" for number in range(5000)))
    script("comment")
    assert len(body(place)) <= 60_000
    *rows, blank, last = body(place).splitlines()
    assert (blank, last) == ("", "The rest is in the summary of the job.")
    assert all(row.endswith("|") for row in rows[1:])


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"GITHUB_EVENT_NAME": "pull_request_target"}, "the event is pull_request_target"),
        ({"GITHUB_EVENT_NAME": "push"}, "the event is push"),
        ({"READ_FAILS": "1"}, "comments cannot be read"),
        ({"WRITE_FAILS": "1"}, "the token may not write (pull-requests: write)"),
    ],
)
def test_without_a_comment_a_notice_says_why(
    variables: dict[str, str], words: str, script: Script, place: Path
) -> None:
    summary(place, "x\n")
    done = script("comment", **variables)
    assert done.returncode == 0
    assert f"::notice title=replaykit::no comment: {words}" in done.stdout


def test_recorded_text_mentions_no_account_and_adds_no_markup_in_a_comment(
    script: Script, place: Path
) -> None:
    check = {"type": "string_match", "exact": "x"}
    trajectory({"id": "t", "intent": "Go.", "checks": [check]}).answer("@all <img src=x> ::error::").write(
        place / "evil.zst"
    )
    script("grade", BUNDLES="evil.zst")
    script("comment")
    assert "@all" in body(place) and "<img" not in body(place)
    assert "@all" not in re.sub(r"(?s)<pre>.*?</pre>", "", body(place))  # GitHub mentions nobody inside of it


@pytest.mark.parametrize(("code", "expected"), [("0", 0), ("1", 1), ("4", 4), ("", 3)])
def test_the_job_ends_with_the_code_of_grading(code: str, expected: int, script: Script) -> None:
    assert script("finish", CODE=code).returncode == expected


@pytest.mark.parametrize("version", ["1.0; touch ran", "1.0 --index-url=x", "-e ."])
def test_a_version_is_nothing_but_a_version(version: str, script: Script, place: Path) -> None:
    assert script("install", VERSION=version).returncode == 2
    assert not (place / "ran").exists()


def test_inputs_reach_scripts_only_as_variables() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        if "run" in step:
            (path,) = re.findall(r"\.ci/action/\w+\.sh", step["run"])
            assert (ROOT / path).is_file()
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])


def test_the_page_names_every_input_and_uses_known_ones() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    table = page.partition("| input | meaning | default |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, flags=re.M) == list(ACTION["inputs"])
    workflow = yaml.safe_load(block("docs/ci.md", "# .github/workflows/graded.yml").text)
    (step,) = [one for one in workflow["jobs"]["grade"]["steps"] if "replaykit@" in one["uses"]]
    assert set(step["with"]) <= set(ACTION["inputs"])


def uses(document: Any) -> list[str]:
    """Every foreign action that a document names."""
    if isinstance(document, dict):
        own = [document["uses"]] if isinstance(document.get("uses"), str) else []
        return own + [one for value in document.values() for one in uses(value)]
    return [one for value in document for one in uses(value)] if isinstance(document, list) else []


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: str(path.name))
def test_foreign_actions_are_pinned_by_digest(path: Path) -> None:
    found = uses(yaml.safe_load(path.read_text("utf-8")))
    assert found
    assert [one for one in found if not PINNED.fullmatch(one)] == []
