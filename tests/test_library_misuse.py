"""Calls that cannot mean anything are errors of the family, at once, and lose nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import replaykit
from replaykit.testing import trajectory

TASK = {"id": "t", "intent": "?"}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return trajectory(task=TASK).goto("http://a.test/", "<p>").answer("x").write(tmp_path / "run.zst")


@pytest.mark.parametrize(
    "use",
    [
        lambda opened: len(opened.trajectory.events),
        replaykit.grade,
        lambda opened: [state.dom for state in replaykit.Replay(opened)],
    ],
)
def test_a_closed_bundle_says_that_it_is_closed(use: Callable[[Any], Any], bundle: Path) -> None:
    opened = replaykit.open_bundle(bundle)
    opened.close()
    opened.close()
    with pytest.raises(replaykit.BundleError, match="it was closed"):
        use(opened)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda path: replaykit.grade(path, nope=1),
            "no option 'nope'; there are suite, policies, sites, mode",
        ),
        (lambda path: replaykit.grade(None), "grade takes a bundle, or its path or URL, got NoneType"),
        (lambda path: asyncio.run(replaykit.grade_async(3)), "grade takes a bundle.*got int"),
        (
            lambda path: replaykit.grade(path, task="tasks.yaml#x"),
            r"got 'tasks.yaml#x': read the file and pass suite=replaykit.load_suite\('tasks.yaml#x'\)",
        ),
        (lambda path: replaykit.grade(path, 3), "task is a Task or its plain values, got int"),
        (
            lambda path: replaykit.Recorder(path, screenshot="off"),
            r"unknown field `screenshot`; did you mean screenshots\? \(there are secrets, mask,",
        ),
        (
            lambda path: replaykit.Recorder(path, screenshots="jpg"),
            r"'jpg'; did you mean png\? \(there are off, png\) - at `screenshots`",
        ),
        (
            lambda path: replaykit.grade(path, suite="s.yaml"),
            "option suite: expected a suite, as `load_suite",
        ),
        (
            lambda path: replaykit.grade(path, policies="p.yaml"),
            "option policies: expected policies, as `load",
        ),
        (lambda path: replaykit.grade(path, judges="webvoyager"), "option judges: expected a tuple of names"),
        (lambda path: replaykit.grade(path, sites=["a"]), "option sites: expected names with tuples"),
        (
            lambda path: replaykit.grade(path, sites={"a": "http://a.test"}),
            "a tuple of roots for 'a', got 'http",
        ),
        (
            lambda path: replaykit.grade(path, sites={"a": ("a.test",)}),
            "option sites.a: 'a.test' is not a root",
        ),
        (lambda path: replaykit.grade(path, judge_mode="New"), "option judge_mode: 'New' is not one of none"),
        (
            lambda path: replaykit.grade_many(path, {"mode": "strict"}),
            r"options are GradeOptions\(...\), got dict",
        ),
        (lambda path: replaykit.Replay(None), "Replay takes an open bundle: got NoneType"),
        (lambda path: replaykit.OfflinePage(3), "takes an open bundle: got int"),
        (lambda path: replaykit.OfflinePage(str(path)), "takes an open bundle: `with open_bundle"),
        (lambda path: replaykit.grade_many(path, jobs=0), "processes from 1 on, got 0"),
        (lambda path: replaykit.write_report({}, path.with_suffix(".json")), "takes a Report.*got dict"),
        (lambda path: replaykit.Recorder(path, sites=["http://a.test"]), "expected names with their roots"),
        (
            lambda path: replaykit.Recorder(path, sites={"a": "a.test"}),
            "sites.a: 'a.test' is not a root: begin with",
        ),
        (
            lambda path: replaykit.Recorder(path, task=[TASK]),
            r"found a list of 1; give one, such as load_tasks",
        ),
        (
            lambda path: replaykit.Recorder(path).end("done"),
            "end: kind 'done' is not one of answered, crashed",
        ),
        (
            lambda path: replaykit.Recorder(path).end(validity="ok"),
            "end: validity 'ok' is not one of blocked",
        ),
        (
            lambda path: replaykit.Recorder(path).end(cause="me"),
            "end: cause 'me' is not one of agent, browser",
        ),
        (lambda path: replaykit.Recorder(path, mask=("p[",)), "mask: not a CSS selector: 'p\\['"),
        (lambda path: replaykit.AsyncRecorder(path, mask=("p:visible",)), "unknown pseudo-class :visible"),
        (lambda path: replaykit.Recorder(path).attach(object()), "attach inside of `with Recorder"),
        (lambda path: replaykit.Recorder(path).answer("x"), "answer inside of `with Recorder"),
    ],
)
def test_a_call_that_means_nothing_is_a_usage_error(
    call: Callable[[Path], Any], said: str, bundle: Path
) -> None:
    before = bundle.read_bytes()
    with pytest.raises(replaykit.ReplaykitError, match=said) as caught:
        call(bundle)
    assert caught.value.exit_code == 2
    assert bundle.read_bytes() == before


def test_the_folder_of_a_recording_is_made(tmp_path: Path) -> None:
    with replaykit.Recorder(tmp_path / "new" / "runs" / "run.zst") as run:
        run.answer("x")
    assert run.path.exists()
    (tmp_path / "file").touch()
    with pytest.raises(replaykit.BundleError, match="cannot create the bundle: Not a directory"):
        replaykit.Recorder(tmp_path / "file" / "run.zst").__enter__()


def test_a_recorder_records_once(tmp_path: Path) -> None:
    run = replaykit.Recorder(tmp_path / "run.zst", force=True)
    with run:
        run.answer("the first")
    recorded = run.path.read_bytes()
    with pytest.raises(replaykit.ReplaykitError, match="make a new one for each run"), run:
        pass
    with pytest.raises(replaykit.ReplaykitError, match="is not open"):
        run.answer("too late")
    assert run.path.read_bytes() == recorded


def test_a_recording_that_is_cancelled_was_stopped_and_has_not_crashed(tmp_path: Path) -> None:
    async def record() -> None:
        async with asyncio.timeout(0.2), replaykit.AsyncRecorder(tmp_path / "run.zst"):
            await asyncio.sleep(30)

    with pytest.raises(TimeoutError):
        asyncio.run(record())
    with replaykit.open_bundle(tmp_path / "run.zst") as recorded:
        ending = recorded.trajectory.ending
    assert ending is not None
    assert (ending.kind, ending.cause, ending.error) == ("stopped", "harness", None)
