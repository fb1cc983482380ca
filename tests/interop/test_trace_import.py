"""Traces of Playwright: one made by hand, the public ones of versions 4, 6 and 7, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.errors import MalformedSource, UnsupportedVersion
from replaykit.interop.playwright_trace.trace_snapshots import BrokenSnapshot, FrameSnapshots, build
from replaykit.interop.playwright_trace.trace_versions import upgrade
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.trajectory.action import Unknown, tag_of
from replaykit.trajectory.exchange import Console, Dialog, Exchange, TabChange
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import PAGE_HTML, call, shown, trace, trace_events, write


def test_calls_become_steps_and_reads_do_not(tmp_path: Path, imported: Importing) -> None:
    run = imported("playwright-trace", trace(tmp_path)).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "fill", "type", "handle_dialog", "click"]
    assert [(step.t, step.end) for step in run.steps][:2] == [(5, 35), (45, 65)]
    assert run.steps[1].url == "http://shop.test/" and run.steps[1].log == ('  fill("Ann")',)
    assert run.steps[4].end is None  # the trace was saved before it ended
    assert run.header.created == "2026-03-02T09:00:00.000Z" and run.header.clock == "source"
    assert run.header.environment.driver_version == "1.65.1"


def test_targets_are_found_where_the_tracer_marked_them(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("playwright-trace", trace(tmp_path))
    fill, click = bundle.trajectory.steps[1], bundle.trajectory.steps[4]
    target = fill.action.element
    assert target is not None
    assert (target.ref, target.tag, target.point, target.box) == ("#name", "input", (10, 20), (1, 2, 3, 4))
    assert target.attributes == {"id": "name", "aria-label": "Name"}
    assert target.node is not None and fill.before is not None
    assert target.node.snapshot == fill.before.snapshot
    inner = click.action.element
    assert inner is not None and (inner.tag, inner.text, inner.frame) == ("a", "Inside", (0,))
    assert inner.frame_url == "http://shop.test/in"


@pytest.mark.parametrize("mark", ["", "c2"])
@pytest.mark.parametrize("is_over", [True, False])
def test_calls_at_the_same_time_share_an_empty_mark(
    mark: str, is_over: bool, tmp_path: Path, imported: Importing
) -> None:
    # The snapshot of one call then shows what the other call acted on.
    events = trace_events()
    page = ["HTML", {}, ["BODY", {}, ["INPUT", {"__playwright_target__": mark}]]]
    at = next(at for at, one in enumerate(events) if one.get("callId") == "c2")
    other = call("c9", "Frame", "click", 55 if is_over else 72, 76, selector="#go")
    events = [
        *events[:at],
        events[at],
        *other,
        shown("c2", "action", page, 53),
        call("c2", "Frame", "fill", 50, 70)[1],
    ]
    step = next(
        one
        for one in imported(
            "playwright-trace", trace(tmp_path, [*events, shown("c9", "before", page, 60)])
        ).trajectory.steps
        if tag_of(one.action) == "fill"
    )
    assert step.action.element is not None and step.action.element.ref == "#name"
    assert (step.action.element.tag is None) is (is_over and not mark)


def test_a_call_that_took_too_long_failed_as_the_runner_says(tmp_path: Path, imported: Importing) -> None:
    runner: list[dict[str, Any]] = [
        {"version": 10, "type": "context-options", "origin": "testRunner", "monotonicTime": 5, "wallTime": 1},
        {"type": "after", "callId": "c5", "endTime": 120, "error": {"name": "", "message": "Test timeout"}},
        {"type": "after", "callId": "c1", "endTime": 120, "error": {"name": "", "message": "of the runner"}},
    ]
    lines = b"\n".join(map(msgspec.json.encode, runner))
    steps = imported("playwright-trace", trace(tmp_path, **{"test.trace": lines})).trajectory.steps
    assert [one.error.message for one in (steps[0], steps[4]) if one.error is not None] == ["Test timeout"]
    assert tag_of(steps[4].action) == "click"


def test_a_call_that_never_ended_is_no_success(tmp_path: Path, imported: Importing) -> None:
    steps = imported("playwright-trace", trace(tmp_path)).trajectory.steps
    assert steps[4].error is not None and steps[4].error.name == "Unfinished"
    assert steps[0].error is None


def test_pages_are_resolved_with_their_live_state(tmp_path: Path, imported: Importing) -> None:
    replay = Replay(imported("playwright-trace", trace(tmp_path)))
    first = replay[0].after
    assert first is not None and first.dom is not None
    dom = first.dom
    assert dom.select("title") is not None
    name, select = dom.select("#name"), dom.select("#s")
    assert name is not None and select is not None
    assert dom.snapshot.state[select.row].selected == [1]
    assert dom.select("svg path") is not None and dom.select("#b") is not None
    before = replay[1].before
    assert before is not None and before.dom is not None
    assert before.dom.select("#b") is None and before.dom.select("#pw") is not None  # the page at the action


def test_a_typed_password_is_nowhere(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("playwright-trace", trace(tmp_path))
    everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
    assert b"hunter22secret" not in everything
    assert bundle.trajectory.steps[2].action.value == "⟦masked⟧"  # type: ignore[union-attr]
    kept = imported("playwright-trace", trace(tmp_path), keeps_secrets=True)
    assert kept.trajectory.steps[2].action.value == "hunter22secret"  # type: ignore[union-attr]


def test_a_password_that_a_page_prints_is_masked_there_too(tmp_path: Path, imported: Importing) -> None:
    events = trace_events()
    page = ["HTML", {}, ["BODY", {}, ["P", {}, "Log in as Ann with hunter22secret"]]]
    events += [shown("c5", "after", page, 102)]
    events += [{**one, "text": "hunter22secret is right"} for one in events if one["type"] == "console"]
    bundle = imported("playwright-trace", trace(tmp_path, events))
    everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
    assert b"Log in as Ann with" in everything and b"hunter22secret" not in everything


def test_what_the_browser_did_is_kept(tmp_path: Path, imported: Importing) -> None:
    run = imported("playwright-trace", trace(tmp_path)).trajectory
    (dialog,), (line,), (tab,) = run.of_type(Dialog), run.of_type(Console), run.of_type(TabChange)
    assert (dialog.kind, dialog.message, dialog.accepted, dialog.t) == ("confirm", "Sure?", True, 92)
    assert (line.level, line.text, line.source) == ("warning", "careful", "http://shop.test/:3")
    assert (tab.state, tab.page) == ("opened", 0)
    (exchange,) = run.of_type(Exchange)
    assert (exchange.t, exchange.url) == (20, "http://shop.test/")
    assert run.steps[2].error is not None and run.steps[2].error.name == "TimeoutError"


def test_screenshots_are_the_nearest_in_time_and_say_so(tmp_path: Path, imported: Importing) -> None:
    run = imported("playwright-trace", trace(tmp_path)).trajectory
    looks = [*run.of_type(Observation), *(step.before for step in run.steps if step.before)]
    assert looks and all(look.screenshot and not look.shot_exact for look in looks)
    assert run.channel("screenshots") == "partial" and run.channel("urls") == "partial"


def test_a_reference_that_leads_nowhere_makes_the_channel_partial(
    tmp_path: Path, imported: Importing
) -> None:
    run = imported("playwright-trace", trace(tmp_path)).trajectory
    assert run.channel("snapshots") == "partial"  # the sample holds [[1, 99]]


def test_a_sidecar_says_what_a_trace_cannot(tmp_path: Path, imported: Importing) -> None:
    said = {
        "task": {"id": "t1", "intent": "Buy."},
        "answer": "Bought.",
        "thoughts": {"c2": "A name is needed."},
        "messages": [{"role": "agent", "kind": "ask", "text": "May I?"}],
    }
    run = imported("playwright-trace", trace(tmp_path), sidecar=write(tmp_path, "side.json", said)).trajectory
    assert run.answer == "Bought." and run.header.task == {"id": "t1", "intent": "Buy."}
    assert run.steps[1].thought == "A name is needed."
    with pytest.raises(MalformedSource, match=r"side\.json answer is int; expected str"):
        imported("playwright-trace", trace(tmp_path), sidecar=write(tmp_path, "side.json", {"answer": 4}))


@pytest.mark.parametrize("version", [2, 11, 10000, "ten", 9.5, None, True])
def test_other_versions_are_refused(version: Any, tmp_path: Path, imported: Importing) -> None:
    events = trace_events()
    events[0]["version"] = version
    with pytest.raises(UnsupportedVersion, match=r"trace\.trace line 1 has version .*expected 3 to 10"):
        imported("playwright-trace", trace(tmp_path, events))


def test_an_archive_without_a_trace(tmp_path: Path, imported: Importing) -> None:
    with pytest.raises(MalformedSource, match=r"trace\.trace line 1 is not JSON"):
        imported("playwright-trace", trace(tmp_path, [], **{"trace.trace": b"{"}))


@pytest.mark.parametrize("text", [b"{}", b'{"type": 4}\n{"a": 1}', b'{"events": []}'])
def test_lines_without_a_type_are_no_trace(text: bytes, tmp_path: Path, imported: Importing) -> None:
    with pytest.raises(MalformedSource, match=r"trace\.trace is without an event that has a type"):
        imported("playwright-trace", trace(tmp_path, [], **{"trace.trace": text}))


def test_references_that_multiply_are_bounded() -> None:
    frames = FrameSnapshots()
    html: Any = ["HTML", {}, ["BODY", {}, *["x"] * 10]]
    frames.add("f", html)
    frames.add("f", ["HTML", {}, ["BODY", {}, *[[[1, 10]]] * 10]])
    for _ in range(11):
        frames.add("f", ["HTML", {}, ["BODY", {}, *[[[1, 0]]] * 10]])
    with pytest.raises(BrokenSnapshot, match="more than"):
        build(frames, "f", 12, url="", call="", keeps_secrets=False)


@pytest.mark.parametrize("html", [None, "text", [], {}, [[1, 2]], [["x"]], [[0, 0]], [[0, 5]], 7])
def test_what_is_no_tree_is_left_out(html: Any) -> None:
    frames = FrameSnapshots()
    frames.add("f", html)
    with pytest.raises(BrokenSnapshot):
        build(frames, "f", 0, url="", call="", keeps_secrets=False)


def test_a_deep_page_costs_no_stack() -> None:
    html: Any = "bottom"
    for _ in range(20_000):
        html = ["DIV", {}, html]
    frames = FrameSnapshots()
    frames.add("f", ["HTML", {}, html])
    assert Dom(build(frames, "f", 0, url="", call="", keeps_secrets=False).data).select("div div") is not None


def test_only_passwords_are_masked() -> None:
    frames = FrameSnapshots()
    frames.add("f", PAGE_HTML)
    made = build(frames, "f", 0, url="http://x.test/", call="", keeps_secrets=False)
    assert made.passwords == ("hunter22secret",) and b"hunter22secret" not in made.data
    assert made.fields == ("pw",)
    assert b"hunter22secret" in build(frames, "f", 0, url="", call="", keeps_secrets=True).data


def test_old_versions_are_lifted_step_by_step() -> None:
    old: list[dict[str, Any]] = [
        {"type": "context-options", "version": 4, "wallTime": 1000},
        {
            "type": "object",
            "class": "ConsoleMessage",
            "guid": "m1",
            "initializer": {"type": "log", "text": "hi"},
        },
        {"type": "before", "callId": "c1", "startTime": 50, "apiName": "page.goto", "wallTime": 2000},
        {
            "type": "event",
            "method": "console",
            "params": {"message": {"guid": "m1"}},
            "time": 55,
            "pageId": "p",
        },
        {"type": "frame-snapshot", "snapshot": {"snapshotName": "input@c1"}},
        {"type": "screencast-frame", "sha1": "a.jpeg"},
        {"type": "after", "callId": "c1", "log": ["one", "two"]},
    ]
    new = upgrade(old, 4)
    assert (new[0]["wallTime"], new[0]["monotonicTime"]) == (2000, 50)
    assert [event["type"] for event in new[1:]] == [
        "before", "console", "frame-snapshot", "screencast-frame", "log", "log", "after",
    ]  # fmt: skip
    assert new[2]["text"] == "hi" and new[3]["snapshot"]["phase"] == "action"
    assert new[4]["file"] == "resources/a.jpeg" and new[1]["title"] == "page.goto"


PUBLIC = {
    "trace-1.31": ("4", ["new_tab", "setContent", "click"]),
    "test-trace1": ("6", ["new_tab", "goto"]),
    "trace-library-1.46": ("7", ["setContent"]),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_traces(name: str, public: Callable[[str], Path], imported: Importing) -> None:
    run = imported("playwright-trace", public(f"playwright-traces/{name}.zip")).trajectory
    assert run.header.source is not None and run.header.source.version == PUBLIC[name][0]
    assert [tag_of(step.action) for step in run.steps] == PUBLIC[name][1]


def test_the_public_trace_of_version_4_in_full(public: Callable[[str], Path], imported: Importing) -> None:
    bundle = imported("playwright-trace", public("playwright-traces/trace-1.31.zip"))
    click = bundle.trajectory.steps[2]
    assert isinstance(bundle.trajectory.steps[1].action, Unknown)
    target = click.action.element
    assert target is not None and (target.tag, target.text, target.point) == ("button", "Submit", (37, 18))
    after = Replay(bundle)[2].after
    assert after is not None and after.dom is not None and after.dom.select("button") is not None
    assert bundle.header.created == "2023-03-23T18:21:00.222Z"


def test_the_public_trace_from_the_future(public: Callable[[str], Path], imported: Importing) -> None:
    with pytest.raises(UnsupportedVersion, match="10000"):
        imported("playwright-trace", public("playwright-traces/trace-from-the-future.zip"))
