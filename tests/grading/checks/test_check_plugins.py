"""Checks of installed packages: found by name, trusted, and alone in their failures."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.checks import check_plugins
from replaykit.grading.verdict import CheckResult, Outcome

CODE = """
from replaykit import Outcome, Ruling
from replaykit.errors import PageNotRecorded, Unsupported

def answer(params, replay, task):
    is_met = replay.trajectory.answer == params["wanted"]
    return Ruling(outcome=Outcome.PASS if is_met else Outcome.FAIL, rule=task.id)

def elsewhere(params, replay, task):
    raise PageNotRecorded(url="http://s.test/orders")

def beyond(params, replay, task):
    raise Unsupported(locator="x", reason="no such form")

def broken(params, replay, task):
    return params["wanted"]

def silent(params, replay, task):
    return True
"""


@pytest.fixture
def said(
    grade: Callable[..., CheckResult], run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., CheckResult]:
    """Grade an answer `42` by one function of an installed module."""
    (tmp_path / "house_checks.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ("answer", "elsewhere", "beyond", "broken", "silent")
    points = [EntryPoint(name, f"house_checks:{name}", check_plugins.GROUP) for name in names]

    def installed(group: str, name: str | None = None) -> list[EntryPoint]:
        return [point for point in points if group == check_plugins.GROUP and name in (None, point.name)]

    monkeypatch.setattr(check_plugins, "entry_points", installed)

    def ask(name: str, **params: Any) -> CheckResult:
        return grade(run().answer("42"), {"type": "plugin", "name": name, "params": params})

    return ask


@pytest.mark.parametrize(("wanted", "outcome"), [("42", Outcome.PASS), ("43", Outcome.FAIL)])
def test_a_plugin_decides(said: Callable[..., CheckResult], wanted: str, outcome: Outcome) -> None:
    found = said("answer", wanted=wanted)
    assert (found.outcome, found.type, found.dialect) == (outcome, "plugin", "native")


@pytest.mark.parametrize(
    ("name", "missing"), [("elsewhere", "page:http://s.test/orders"), ("beyond", "plugin:beyond")]
)
def test_what_the_recording_does_not_show_is_undecided(
    said: Callable[..., CheckResult], name: str, missing: str
) -> None:
    found = said(name)
    assert (found.outcome, found.missing) == (Outcome.UNDECIDED, (missing,))


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("broken", "plugin_raised", "KeyError: 'wanted'"),
        ("silent", "plugin_raised", "it returned bool, not a Ruling"),
        (
            "absent",
            "no_plugin",
            "no plugin 'absent'; installed are answer, beyond, broken, elsewhere, silent",
        ),
    ],
)
def test_a_plugin_that_breaks_is_an_error_that_says_why(
    said: Callable[..., CheckResult], name: str, reason: str, words: str
) -> None:
    found = said(name)
    assert (found.outcome, found.reason) == (Outcome.ERROR, reason)
    (evidence,) = found.evidence
    assert evidence.found is not None and evidence.found.raw == words
