"""Peculiarities of single releases of Playwright, as traces of them showed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import Bundle
from replaykit.interop.bundle_export import export_run
from replaykit.replay.player import Replay
from replaykit.trajectory.action import UploadFile, tag_of
from replaykit.trajectory.exchange import Dialog, Exchange, TabChange
from replaykit.trajectory.step import Trajectory
from tests.interop.conftest import Importing
from tests.interop.samples import PAGE_HTML, call, entry, shown, trace

WALL = 1_772_442_000_000
"""Wall time of the first moment, ms."""


def options(version: int, **changes: Any) -> dict[str, Any]:
    plain = {"type": "context-options", "version": version, "browserName": "chromium", "wallTime": WALL}
    clock = {"origin": "library", "monotonicTime": 0} if version > 6 else {}
    return {**plain, **clock, **changes}


def event(kind: str, method: str, at: float, page: str | None = None, **params: Any) -> dict[str, Any]:
    found = {"type": "event", "class": kind, "method": method, "time": at, "params": params}
    return found if page is None else {**found, "pageId": page}


def old(id: str, kind: str, method: str, start: float, **params: Any) -> list[dict[str, Any]]:
    """A call as it was before version 7: with a wall time of its own, and its page."""
    begin, end = call(id, kind, method, start, start + 5, **params)
    return [{**begin, "apiName": f"page.{method}", "wallTime": WALL + start, "pageId": "page@1"}, end]


def resources(*entries: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps({"type": "resource-snapshot", "snapshot": one}) for one in entries).encode()


def run_of(imported: Importing, folder: Path, *events: dict[str, Any], **members: bytes) -> Trajectory:
    return imported("playwright-trace", trace(folder, list(events), **members)).trajectory


def test_files_of_uploads_had_another_name(tmp_path: Path, imported: Importing) -> None:
    files = [{"name": "logo.png", "buffer": "eA=="}]
    (step,) = run_of(
        imported, tmp_path, options(4), *old("c1", "Frame", "setInputFiles", 10, selector="#f", files=files)
    ).steps
    assert isinstance(step.action, UploadFile)
    assert [one.name for one in step.action.files] == ["logo.png"]


@pytest.mark.parametrize(("version", "kind"), [(4, "Page"), (6, "BrowserContext")])
def test_dialogs_were_objects_that_events_named(
    version: int, kind: str, tmp_path: Path, imported: Importing
) -> None:
    said = {"type": "prompt", "message": "Who?", "defaultValue": "me"}
    events = [
        event("Dialog", "__create__", 20, "page@1", guid="dialog@1", initializer=said),
        event(kind, "dialog", 20, "page@1", dialog={"guid": "dialog@1"}),
        event(kind, "dialog", 60, "page@1", dialog={"guid": "gone"}),
        event("Page", "close", 70, "page@1"),
    ]
    run = run_of(
        imported, tmp_path, options(version), *old("c1", "Frame", "click", 10, selector="#b"),
        *old("c2", "Dialog", "accept", 30, promptText="Ann"), *events,
    )  # fmt: skip
    first, second = run.of_type(Dialog)
    assert (first.kind, first.message, first.default, first.accepted) == ("prompt", "Who?", "me", True)
    assert (first.input, second.kind, second.accepted) == ("Ann", "unknown", None)
    assert [(one.state, one.page) for one in run.of_type(TabChange)] == [("closed", 0)]
    assert run.channel("dialogs") == "recorded"


@pytest.mark.parametrize(
    ("version", "events", "state"),
    [
        (4, [], "recorded"),
        (6, [event("BrowserContext", "pageError", 20, error={})], "partial"),
        (7, [], "partial"),
        (7, [event("BrowserContext", "page", 1, pageId="page@1")], "recorded"),
        (8, [], "recorded"),
    ],
)
def test_releases_without_dialog_events_leave_the_channel_open(
    version: int, events: list[dict[str, Any]], state: str, tmp_path: Path, imported: Importing
) -> None:
    actions = old("c1", "Frame", "click", 10, selector="#b")
    assert run_of(imported, tmp_path, options(version), *actions, *events).channel("dialogs") == state


def test_a_page_that_a_call_closed_is_not_the_last(tmp_path: Path, imported: Importing) -> None:
    popup = {"pageId": "page@2", "frameId": "frame@2", "frameUrl": "http://shop.test/popup"}
    close = old("c3", "Page", "close", 50)
    close[0]["pageId"] = "page@2"
    events = [
        *old("c1", "Frame", "goto", 10, url="http://shop.test/"), shown("c1", "after", PAGE_HTML, 16),
        *old("c2", "Frame", "click", 30, selector="a"), shown("c2", "after", PAGE_HTML, 36, **popup), *close,
    ]  # fmt: skip
    final = Replay(imported("playwright-trace", trace(tmp_path, [options(6), *events]))).final
    assert final is not None and final.url == "http://shop.test/"


def test_what_only_a_test_runner_wrote_holds_no_action(tmp_path: Path, imported: Importing) -> None:
    run = run_of(
        imported, tmp_path, options(8, origin="testRunner"), *call("h1", "Test", "hook", 1, 2, name="Before")
    )
    assert not run.steps
    assert {run.channel(name) for name in ("actions", "console", "dialogs", "urls")} == {"absent"}


@pytest.mark.parametrize("version", [5, 8])
def test_what_was_asked_before_a_chunk_is_not_of_the_run(
    version: int, tmp_path: Path, imported: Importing
) -> None:
    # Version 5: the context has no clock; its first call, at 100 on its own, came 40 ms after it.
    start = options(version) if version == 8 else options(version, wallTime=WALL + 60)
    zero = {"monotonicTime": 60} if version == 8 else {}
    asked = resources(
        entry("http://shop.test/login", _monotonicTime=10, _resourceType="document"),
        entry("http://shop.test/a.css", _monotonicTime=20, _resourceType="stylesheet"),
        entry("http://shop.test/poll", _monotonicTime=61, _resourceType="xhr"),
    )
    actions = old("c1", "Frame", "click", 100, selector="#b")
    run = run_of(imported, tmp_path, {**start, **zero}, *actions, **{"trace.network": asked})
    urls = [one.url for one in run.of_type(Exchange)]
    assert urls == ["http://shop.test/a.css", "http://shop.test/poll"]
    assert run.channel("network") == "recorded"


def test_a_chunk_without_requests_of_its_own_has_a_network(tmp_path: Path, imported: Importing) -> None:
    asked = resources(entry("http://shop.test/login", _monotonicTime=-10, _resourceType="document"))
    actions = [
        *call("c1", "Frame", "fill", 1, 2, selector="#n", value="x"),
        shown("c1", "after", PAGE_HTML, 2),
    ]
    run = run_of(imported, tmp_path, options(8), *actions, **{"trace.network": asked})
    assert not run.of_type(Exchange) and run.channel("network") == "recorded"


def test_version_10_leaves_the_page_of_a_call_to_events(tmp_path: Path, imported: Importing) -> None:
    asked = {"pageId": "page@1", "type": "alert", "message": "", "defaultValue": ""}
    events = [
        *(event("BrowserContext", "page", at, pageId=f"page@{at}") for at in (1, 2)),
        event("BrowserContext", "dialog", 20, **asked), *call("c1", "Dialog", "dismiss", 21, 22),
        *call("c2", "Page", "close", 30, 35), event("BrowserContext", "pageClosed", 34, pageId="page@2"),
        *call("c3", "Page", "close", 40, 45), *call("c4", "Frame", "goto", 50, 55, url="http://x.test/"),
    ]  # fmt: skip
    run = run_of(imported, tmp_path, options(10), *events)
    assert [step.page for step in run.steps] == [0, 1, None, None]


def test_buttons_go_down_where_the_mouse_is(tmp_path: Path, imported: Importing) -> None:
    page = {"pageId": "page@1"}
    calls = [
        call("c1", "Page", "mouseDown", 1, 2), call("c2", "Page", "mouseMove", 3, 4, x=20, y=30),
        call("c3", "Page", "mouseDown", 5, 6), call("c4", "Frame", "hover", 7, 8, selector="#b"),
        call("c5", "Page", "mouseUp", 9, 10),
    ]  # fmt: skip
    point = {"type": "input", "callId": "c4", "point": {"x": 7, "y": 8}}
    lines = [{**begin, **page} for begin, _ in calls] + [end for _, end in calls] + [point]
    run = run_of(imported, tmp_path, options(8), *lines)
    points = {step.index: getattr(step.action, "point", None) for step in run.steps}
    assert (points[0], points[2], points[4]) == ((0, 0), (20, 30), (7, 8))


@pytest.mark.parametrize(
    "selector", ["[name=password]", "input[type='Password']", 'internal:label="Passwd"i']
)
def test_a_password_is_masked_where_no_page_was_shown(
    selector: str, tmp_path: Path, imported: Importing
) -> None:
    fills = [
        *call("c1", "Frame", "fill", 1, 2, selector=selector, value="harbour-42"),
        {"type": "log", "callId": "c1", "time": 1, "message": 'fill("harbour-42")'},
        *call("c2", "Frame", "fill", 3, 4, selector="#passenger", value="Ines"),
    ]
    path = trace(tmp_path, [options(8), *fills])
    bundle = imported("playwright-trace", path)
    assert b"harbour-42" not in b"".join(bundle.lines)
    assert [getattr(one.action, "value", None) for one in bundle.trajectory.steps] == ["⟦masked⟧", "Ines"]
    kept = imported("playwright-trace", path, keeps_secrets=True).trajectory
    assert getattr(kept.steps[0].action, "value", None) == "harbour-42"


def exported(bundle: Path, folder: Path, imported: Importing) -> Bundle:
    export_run("playwright-trace", bundle, folder / "again.zip")
    return imported("playwright-trace", folder / "again.zip")


def test_dialogs_tabs_and_lost_bodies_come_back(tmp_path: Path, imported: Importing) -> None:
    lost = entry("http://shop.test/a.js", _monotonicTime=40, _resourceType="script")
    lost["response"] |= {"content": {"size": -1, "mimeType": "text/javascript"}, "bodySize": -1}
    asked = {"pageId": "page@1", "type": "confirm", "message": "Sure?", "defaultValue": ""}
    events = [
        event("BrowserContext", "page", 1, pageId="page@1"), *call("c0", "BrowserContext", "newPage", 2, 3),
        *call("c1", "Frame", "goto", 10, 15, url="http://shop.test/"), shown("c1", "after", PAGE_HTML, 16),
        event("BrowserContext", "dialog", 20, **asked), *call("c2", "Dialog", "accept", 21, 22),
        *call("c3", "Page", "close", 30, 35), event("BrowserContext", "pageClosed", 34, pageId="page@1"),
    ]  # fmt: skip
    path = trace(tmp_path, [options(10), *events], **{"trace.network": resources(lost)})
    first = imported("playwright-trace", path)
    second = exported(tmp_path / "out" / "0.zst", tmp_path, imported).trajectory
    assert facts(first.trajectory) == facts(second) and len(facts(second)) == 3
    (body,) = second.of_type(Exchange)
    assert body.body == first.trajectory.of_type(Exchange)[0].body and body.body is not None
    assert [(tag_of(one.action), one.page) for one in second.steps] == [
        (tag_of(one.action), one.page) for one in first.trajectory.steps
    ]


def facts(run: Trajectory) -> list[tuple[Any, ...]]:
    dialogs = [(one.page, one.kind, one.message, one.accepted) for one in run.of_type(Dialog)]
    return [*dialogs, *((one.page, one.state) for one in run.of_type(TabChange))]


def test_an_export_keeps_which_channels_were_partial(tmp_path: Path, imported: Importing) -> None:
    path = trace(tmp_path, [options(7), *old("c1", "Frame", "click", 10, selector="#b")])
    assert imported("playwright-trace", path).trajectory.channel("dialogs") == "partial"
    again = exported(tmp_path / "out" / "0.zst", tmp_path, imported).trajectory
    assert again.channel("dialogs") == "partial" and again.channel("console") == "recorded"
