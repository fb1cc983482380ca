"""`state.verifier`: an existing `verify(server_url)`, asked about the server as it was recorded.

The program is trusted code, run only where whoever grades names the folder that it lies in, never because a
bundle names it. It runs in a process of its own, with no environment, no host but loopback and 30 s.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from replaykit.bundle.reader import Bundle
from replaykit.errors import UsageError
from replaykit.grading.checks import verifier_child
from replaykit.grading.checks.requirement import Graded, Ruling, Terms, error, graded, undecided
from replaykit.grading.verdict import Evidence, Outcome, Value
from replaykit.http_replay.http_server import Served, serve
from replaykit.replay.player import Replay
from replaykit.tasks.state_checks import StateVerifier

SECONDS_MAX = 30.0
"""Seconds that a verifier may take."""

MISSES_MAX = 10
"""Requests not recorded that a result names."""

_ITEM = "verify"
_RULE = "the verifier reports it"


def grade_verifier(check: StateVerifier, replay: Replay, terms: Terms) -> Graded:
    """Grade by what a verifier returns; a request not recorded leaves it undecided, whatever it returns."""
    ruling, assumed = _ruling(check, replay, terms.verifiers)
    if assumed and terms.require_strong:
        ruling = undecided("weak_evidence", *(f"state:{path}" for path in assumed))
    evidence = Evidence(
        source="exchange",
        strength="weak" if assumed else "strong",
        note=f"what a POST sent last was taken for the state: {', '.join(assumed)}" if assumed else None,
    )
    return graded(_ITEM, ruling, None, terms.mode, evidence)


def _beside(folder: Path, name: str) -> Path | None:
    """Return a file of a folder; None if it is missing, or if a link leads out of the folder."""
    with suppress(RuntimeError):  # Python 3.11 and 3.12 raise it for links in a circle
        file = (folder / name).resolve()
        return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
    return None


def _ruling(check: StateVerifier, replay: Replay, folder: str | None) -> tuple[Ruling, tuple[str, ...]]:
    """Return the verifier's result, and the unnamed paths that were answered with the content of a POST."""
    if folder is None or not isinstance(replay.bundle, Bundle):
        return undecided("not_allowed", f"verifier:{check.file}"), ()
    file = _beside(Path(folder), check.file)
    if file is None:
        return _error("no_verifier", f"no such file beside the tasks: {check.file}"), ()
    try:
        with serve(replay.bundle, site=check.site, states=check.states) as served:
            result = _asked(file, check.function, served)
            misses, assumed = served.misses, served.assumed
    except UsageError as fault:
        return _error("not_served", str(fault)), ()
    if misses:
        named = dict.fromkeys(f"request:{miss.method} {miss.target}" for miss in misses)
        return undecided("not_recorded", *list(named)[:MISSES_MAX]), ()
    return _of_words(result), assumed[:MISSES_MAX]


def _asked(file: Path, function: str, served: Served) -> dict[str, Any]:
    """Return the verifier's result, its server's address without the port, which differs each time."""
    # -s and -P: neither the user's packages nor the child's own folder shadow its imports.
    command = [sys.executable, "-s", "-P", verifier_child.__file__, str(file), function, served.url]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=file.parent,
        env={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "*", **_of_system()},
        start_new_session=True,
    )
    try:
        out, _ = child.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return {"error": f"it took more than {SECONDS_MAX:g} s"}
    finally:
        _end(child)
    try:
        result: dict[str, Any] = json.loads(re.sub(rb"(127\.0\.0\.1):[0-9]+", rb"\1", out))
    except ValueError:
        return {"error": f"it ended with exit code {child.returncode} and no word"}
    return result


def _of_system() -> dict[str, str]:
    """Return what Windows needs to open a socket."""
    return {name: value for name, value in os.environ.items() if name.upper() == "SYSTEMROOT"}


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        if sys.platform == "win32":
            child.kill()
        else:
            # The whole group: what it may have started ends with it.
            os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _of_words(result: dict[str, Any]) -> Ruling:
    if "error" in result:
        return _error("verifier_raised", result["error"])
    passed = result["passed"]
    return Ruling(
        outcome=Outcome.PASS if passed else Outcome.FAIL,
        rule=_RULE,
        reason=None if passed else "differs",
        expected=Value(raw=True, type="boolean"),
        found=Value(raw=result["message"] or passed, type="text" if result["message"] else "boolean"),
    )


def _error(reason: str, what: str) -> Ruling:
    return error(reason, _RULE, found=Value(raw=what, type="text"))
