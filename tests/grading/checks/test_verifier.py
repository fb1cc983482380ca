"""`state.verifier`: programs that judge a run by asking its server, over recorded runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import cli
from replaykit.grading.checks import verifier
from replaykit.grading.grader import grade
from replaykit.grading.verdict import CheckResult
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory

S = "http://s.test"
HEADERS = (("content-type", "application/json"),)
ASKING = """
import json, urllib.request
from beside import WANTED

def state(server_url):
    with urllib.request.urlopen(server_url + "/api/state") as reply:
        return json.load(reply)

def verify(server_url):
    print("this is no answer")
    found = state(server_url)["theme"]
    return found == WANTED, f"{server_url} says {found}"
"""


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Record a run that sends its whole state, as single-page apps do."""
    return sending(tmp_path, "PUT")


def sending(folder: Path, method: str) -> str:
    """Record a run that sends its whole state so."""
    built = trajectory("t", sites={"app": [S]}).goto(f"{S}/", "<p>Hi</p>")
    body = built.keep("application/json", json.dumps({"theme": "dark"}))
    built.request("GET", f"{S}/api/state", 200, body=body, response_headers=HEADERS)
    changed = built.keep("application/json", json.dumps({"theme": "light"}))
    built.request(method, f"{S}/api/state", 200, post=changed, response_headers=HEADERS)
    (folder / "beside.py").write_text("WANTED = 'light'\n")
    return str(built.answer("Done.").write(folder / "run.zst"))


def asked(run: str, program: str, *, allowed: bool = True, **check: Any) -> CheckResult:
    file = Path(run).with_name("check.py")
    file.write_text(program)
    rule = {"type": "state.verifier", "file": "check.py", "states": ["/api/state"], **check}
    task = decode_task({"id": "t", "intent": "Turn it light.", "checks": [rule]})
    with open_bundle(run) as bundle:
        (found,) = grade(bundle, task, verifiers=str(file.parent) if allowed else None).checks
    return found


def test_an_unmodified_verifier_gives_the_live_verdict(run: str) -> None:
    found = asked(run, ASKING)
    assert (found.outcome, found.evidence[0].found.raw) == ("PASS", "http://127.0.0.1 says light")
    assert asked(run, ASKING) == found
    assert asked(run, ASKING.replace("== WANTED", "!= WANTED")).outcome == "FAIL"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return True", "PASS"),
        ("return {'passed': False}", "FAIL"),
        ("return True, 'well'", "PASS"),
        ("return 1", "ERROR"),
        ("raise SystemExit(0)", "ERROR"),
        ("import os; os._exit(0)", "ERROR"),
        ("import subprocess; subprocess.run(['true']); return True", "ERROR"),
        ("return 'x' * 2**31 != ''", "ERROR"),
    ],
)
def test_what_it_may_return(run: str, body: str, outcome: str) -> None:
    assert asked(run, f"def verify(server_url):\n    {body}\n").outcome == outcome


def test_no_other_host_is_reached_even_where_the_verifier_would_not_mind(run: str) -> None:
    program = """
import socket

def verify(server_url):
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    except OSError:
        pass
    return True
"""
    found = asked(run, program)
    assert (found.outcome, found.reason) == ("ERROR", "verifier_raised")
    assert "192.0.2.1" in str(found.evidence[0].found)
    assert asked(run, program.replace('"192.0.2.1", 80', '"example.invalid", 80')).outcome == "ERROR"


def test_it_sees_nothing_of_the_environment(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "hidden")
    assert asked(run, "import os\ndef verify(u): return 'SOME_KEY' not in os.environ\n").outcome == "PASS"


def test_an_unnamed_state_is_found(run: str) -> None:
    found = asked(run, ASKING, states=[])
    assert (found.outcome, found.evidence[0].strength) == ("PASS", "strong")


def test_a_state_that_was_posted_is_weak_evidence(tmp_path: Path) -> None:
    run = sending(tmp_path, "POST")
    found = asked(run, ASKING, states=[])
    assert (found.outcome, found.evidence[0].strength) == ("PASS", "weak")
    assert found.evidence[0].note == "what a POST sent last was taken for the state: /api/state"
    task = decode_task({
        "id": "t", "intent": "x", "checks": [{"type": "state.verifier", "file": "check.py"}],
    })  # fmt: skip
    with open_bundle(run) as bundle:
        (strong,) = grade(bundle, task, verifiers=str(tmp_path), require_strong=True).checks
    assert (strong.outcome, strong.reason, strong.missing) == (
        "UNDECIDED", "weak_evidence", ("state:/api/state",),
    )  # fmt: skip
    assert asked(run, ASKING).evidence[0].strength == "strong"


def test_a_request_that_was_not_recorded_leaves_it_undecided(run: str) -> None:
    found = asked(run, ASKING.replace("/api/state", "/api/users") + "\n")
    assert (found.outcome, found.missing) == ("UNDECIDED", ("request:GET /api/users",))


def test_it_has_to_end(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "SECONDS_MAX", 0.5)
    found = asked(run, "import threading\ndef verify(u): threading.Event().wait()\n")
    assert (found.outcome, found.evidence[0].found.raw) == ("ERROR", "it took more than 0.5 s")


def test_nothing_runs_unasked(run: str) -> None:
    mark = Path(run).with_name("mark")
    program = f"open({str(mark)!r}, 'w')\ndef verify(u): return True\n"
    found = asked(run, program, allowed=False)
    assert (found.outcome, found.missing) == ("UNDECIDED", ("verifier:check.py",))
    assert not mark.exists()
    assert asked(run, program).outcome == "PASS"
    assert mark.exists()


@pytest.mark.parametrize("file", ["../check.py", "/etc/hosts", "none.py", "."])
def test_a_file_elsewhere_is_no_verifier(run: str, file: str) -> None:
    found = asked(run, "def verify(u): return True\n", file=file)
    assert (found.outcome, found.reason) == ("ERROR", "no_verifier")


def test_a_bundle_names_no_verifier_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text("def verify(u): return True\n")
    task = {"id": "t", "intent": "Go.", "checks": [{"type": "state.verifier", "file": "check.py"}]}
    path = trajectory(task).goto(f"{S}/", "<p>Hi</p>").answer("Done.").write(tmp_path / "run.zst")
    with open_bundle(str(path)) as bundle:
        (found,) = grade(bundle, verifiers=str(tmp_path)).checks
    assert (found.outcome, found.reason) == ("UNDECIDED", "not_allowed")


def test_the_command_line_allows_those_of_its_task_file(run: str) -> None:
    folder = Path(run).parent
    (folder / "check.py").write_text(ASKING)
    check = {"type": "state.verifier", "file": "check.py", "states": ["/api/state"]}
    task = {"id": "t", "intent": "Turn it light.", "checks": [check]}
    (folder / "task.json").write_text(json.dumps(task))
    named = ["grade", run, "--task", str(folder / "task.json")]
    assert CliRunner().invoke(cli, named).exit_code == 3
    assert CliRunner().invoke(cli, [*named, "--allow-verifiers"]).exit_code == 0
    bare = CliRunner().invoke(cli, ["grade", run, "--allow-verifiers"])
    assert "bundles bring no programs" in str(bare.exception)
