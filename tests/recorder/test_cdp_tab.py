"""Protocol events of one tab become inputs of the session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaykit.recorder.browser.tab.cdp_frames import TARGETS_MAX, TargetFacts
from replaykit.recorder.browser.tab.cdp_network import _initiator
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.page.page_script import BINDING, WORLD, PageNode
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    MAIN,
    ConsoleLine,
    DialogClosed,
    DialogOpened,
    DownloadChanged,
    FrameLeft,
    FrameOwned,
    Input,
    Navigated,
    PageMessage,
    SnapshotPushed,
)

EPOCH_MS = 1_000_000.0
PAGE = "http://shop.test/"
TREE = {"frame": {"id": "M", "loaderId": "L0", "url": "about:blank"}}


def seated(tree: dict[str, Any] = TREE, **options: Any) -> CdpTab:
    tab = CdpTab(0, Clock(wall=lambda: EPOCH_MS / 1000, ticks=lambda: 0.0), **options)
    tab.seat(tree)
    return tab


def receive(tab: CdpTab, *events: tuple[str, dict[str, Any]]) -> list[Input]:
    return [item for method, params in events for item in tab.translate(method, params)]


def world(number: int, frame: str = "M", name: str = WORLD) -> tuple[str, dict[str, Any]]:
    about = {"isDefault": name == "", "frameId": frame}
    return "Runtime.executionContextCreated", {"context": {"id": number, "name": name, "auxData": about}}


def page_messages(number: int, *messages: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    payload = "\n".join(map(json.dumps, messages))
    return "Runtime.bindingCalled", {"name": BINDING, "executionContextId": number, "payload": payload}


def committed(loader: str, url: str = PAGE, frame: str = "M", **more: Any) -> tuple[str, dict[str, Any]]:
    return "Page.frameNavigated", {"frame": {"id": frame, "loaderId": loader, "url": url, **more}}


CLICK = {"k": "event", "seq": 3, "at": EPOCH_MS + 70, "name": "click", "trusted": True, "data": {}}


def test_event_of_the_page_has_the_page_s_time_less_its_lead() -> None:
    tab = seated()
    tab.ahead = 20
    (message,) = receive(tab, world(1), page_messages(1, CLICK))
    assert isinstance(message, PageMessage)
    assert (message.at, message.page, message.document, message.frame) == (50, 0, 0, ())
    assert (message.event.name, message.event.seq, message.event.trusted) == ("click", 3, True)


def test_late_message_belongs_to_the_document_that_sent_it() -> None:
    tab = seated()
    found = receive(
        tab, world(1), committed("L1"), world(2), page_messages(1, CLICK), page_messages(2, CLICK)
    )
    assert [item.document for item in found if isinstance(item, PageMessage)] == [0, 1]


OPEN = {"k": "open", "seq": 0, "at": EPOCH_MS + 1, "role": "main", "touched": False}
CLOSE = {
    "k": "close",
    "leaving": True,
    "seq": 4,
    "at": EPOCH_MS + 71,
    "windows": 1,
    "received": 1,
    "missed": 0,
}


@pytest.mark.parametrize(
    ("words", "gaps"),
    [
        ([OPEN, CLOSE], []),
        ([OPEN, CLOSE, CLICK], [("actions", "document.unclosed", 1)]),
        ([OPEN, CLOSE, CLICK, CLOSE], []),
        ([OPEN, (CLICK, CLOSE)], []),
        ([OPEN, (CLICK, CLOSE), CLICK], [("actions", "document.unclosed", 1)]),
        ([OPEN, (CLOSE, CLICK)], [("actions", "document.unclosed", 1)]),
        ([OPEN, (CLOSE, CLICK, CLOSE)], []),
    ],
)
def test_document_is_closed_by_its_last_message(words: list[Any], gaps: list[Any]) -> None:
    tab = seated()
    found = receive(
        tab, world(1), *(page_messages(1, *((word,) if isinstance(word, dict) else word)) for word in words)
    )
    receive(tab, ("Runtime.executionContextDestroyed", {"executionContextId": 1}))
    tab.documents.finish()
    assert [gap[:3] for gap in tab.gaps] == gaps
    clicks = sum(CLICK in (word if isinstance(word, tuple) else [word]) for word in words)
    assert len([item for item in found if isinstance(item, PageMessage)]) == clicks


def test_message_of_an_unknown_world_is_ignored() -> None:
    assert receive(seated(), page_messages(9, CLICK)) == []


def test_a_world_older_than_its_document_sees_no_causes() -> None:
    tab = seated()
    tab.frames.attach("F", "M")
    first, second, own = world(1, "F"), world(2, "F"), world(3, "F", "")
    for made, origin in ((first, "http://a.test"), (second, "http://b.test"), (own, "http://b.test")):
        made[1]["context"]["origin"] = origin
    change = {**CLICK, "name": "change", "trusted": False, "cause": ""}
    focus, press = {**CLICK, "name": "focusin"}, {**CLICK, "name": "keydown"}
    own_doing = {**change, "cause": "page"}
    found = receive(tab, first, own, *(page_messages(1, one) for one in (change, focus, press, own_doing)))
    assert [one.event.cause for one in found if isinstance(one, PageMessage)] == [
        "unseen",
        "unseen",
        "",
        "page",
    ]
    found = receive(tab, second, page_messages(2, change), page_messages(2, focus))
    assert [one.event.cause for one in found if isinstance(one, PageMessage)] == ["", ""]


def test_push_holds_the_viewport() -> None:
    push = {
        "k": "push",
        "seq": 1,
        "at": EPOCH_MS,
        "purpose": "rest",
        "snapshot": "{}",
        "viewport": [800, 600],
    }
    tab = seated()
    (pushed,) = receive(tab, world(1), page_messages(1, push))
    assert isinstance(pushed, SnapshotPushed)
    assert tab.viewport == (800, 600)


def test_long_message_comes_in_parts() -> None:
    text = json.dumps(CLICK)
    parts = [{"k": "part", "id": 1, "i": i, "of": 2, "text": text[i::2]} for i in (0, 1)]
    parts[0]["text"], parts[1]["text"] = text[:20], text[20:]
    (message,) = receive(seated(), world(1), page_messages(1, parts[0]), page_messages(1, parts[1]))
    assert isinstance(message, PageMessage)


@pytest.mark.parametrize("touched", [False, True])
@pytest.mark.parametrize("is_existing", [False, True])
def test_action_in_a_tab_before_the_script_was_in_it_is_a_gap(touched: bool, is_existing: bool) -> None:
    tab = seated()
    tab.is_existing = is_existing
    receive(tab, world(1), page_messages(1, {**OPEN, "touched": touched}))
    gaps = [("actions", "armed.late", 1)] if touched and not is_existing else []
    assert [gap[:3] for gap in tab.gaps] == gaps


@pytest.mark.parametrize(("seen_at", "gaps"), [(0.0, [("actions", "document.unopened", 1)]), (20.0, [])])
def test_a_document_of_a_new_tab_is_as_old_as_the_tab(seen_at: float, gaps: list[Any]) -> None:
    tab = seated()
    tab.seen_at = seen_at
    tab.documents.may_have_acted = lambda document, until: document.sure_at <= 10
    receive(tab, world(1, name=""))
    tab.is_watched = True
    tab.documents.gone(())
    assert [gap[:3] for gap in tab.gaps] == gaps


def test_a_gap_says_which_event_was_missed_and_nothing_that_a_page_wrote() -> None:
    tab = seated()
    missed = {
        "k": "gap",
        "seq": 5,
        "why": "events.missed",
        "count": 2,
        "detail": "input in about:blank complete",
    }
    failed = {"k": "gap", "seq": 6, "why": "failed", "detail": "Error: hunter2 is not a selector"}
    receive(tab, world(1), page_messages(1, missed), page_messages(1, failed))
    assert [(gap.why, gap.detail) for gap in tab.gaps] == [
        ("events.missed", missed["detail"]),
        ("failed", ""),
    ]


def test_nonsense_and_floods_are_gaps() -> None:
    tab = seated()
    flood = {"k": "gap", "seq": 5, "why": "flood", "count": 12}
    assert receive(tab, world(1), page_messages(1, {"k": "fake"}), page_messages(1, flood)) == []
    assert [gap[:3] for gap in tab.gaps] == [("actions", "message.invalid", 1), ("actions", "flood", 12)]


def test_probe_tab_listens_to_nothing() -> None:
    assert receive(seated(actor="probe"), world(1), page_messages(1, CLICK)) == []


def test_navigation_by_a_link() -> None:
    tab = seated()
    requested, started, done = receive(
        tab,
        (
            "Page.frameRequestedNavigation",
            {"frameId": "M", "reason": "anchorClick", "url": PAGE, "disposition": "currentTab"},
        ),
        (
            "Page.frameStartedNavigating",
            {"frameId": "M", "url": PAGE, "loaderId": "L1", "navigationType": "differentDocument"},
        ),
        committed("L1", urlFragment="#top"),
    )
    assert isinstance(requested, Navigated)
    assert isinstance(started, Navigated)
    assert isinstance(done, Navigated)
    assert (requested.stage, requested.reason, requested.document) == ("requested", "anchorClick", 1)
    assert (started.stage, started.navigation_type, started.document) == ("started", "differentDocument", 1)
    assert (done.stage, done.navigation_type, done.document) == ("committed", "differentDocument", 1)
    assert done.url == tab.url == PAGE + "#top"
    assert tab.moves.take_moved()
    assert not tab.moves.take_moved()


def test_link_that_opens_a_tab_navigates_nothing_here() -> None:
    params = {"frameId": "M", "reason": "anchorClick", "url": PAGE, "disposition": "newTab"}
    (asked,) = receive(seated(), ("Page.frameRequestedNavigation", params))
    assert (asked.stage, asked.url, asked.frame) == ("elsewhere", PAGE, ())


@pytest.mark.parametrize("has_event", [False, True])
def test_document_of_the_frame_tree_is_not_counted_twice(has_event: bool) -> None:
    tab = seated({"frame": {"id": "M", "loaderId": "L1", "url": PAGE}})
    params = {"frameId": "M", "url": PAGE, "loaderId": "L1", "navigationType": "differentDocument"}
    began = [("Page.frameStartedNavigating", params)]
    assert receive(tab, *began, *([committed("L1")] if has_event else [])) == []
    assert tab.document == 0


def test_history_change_within_the_document_keeps_it() -> None:
    tab = seated()
    (pushed,) = receive(
        tab, ("Page.navigatedWithinDocument", {"frameId": "M", "url": PAGE, "navigationType": "historyApi"})
    )
    assert isinstance(pushed, Navigated)
    assert (pushed.stage, pushed.document, pushed.navigation_type) == ("within", 0, "historyApi")
    _, back = receive(
        tab,
        (
            "Page.frameStartedNavigating",
            {"frameId": "M", "url": PAGE, "loaderId": "", "navigationType": "historySameDocument"},
        ),
        ("Page.navigatedWithinDocument", {"frameId": "M", "url": PAGE, "navigationType": "fragment"}),
    )
    assert isinstance(back, Navigated)
    assert (back.document, back.navigation_type) == (0, "historySameDocument")


def test_failed_navigation_is_reported_once_and_its_error_page_is_a_document() -> None:
    tab = seated()
    request = {"url": PAGE, "method": "GET", "headers": {}}
    found = receive(
        tab,
        (
            "Page.frameStartedNavigating",
            {"frameId": "M", "url": PAGE, "loaderId": "L1", "navigationType": "reload"},
        ),
        (
            "Network.requestWillBeSent",
            {
                "requestId": "L1",
                "loaderId": "L1",
                "frameId": "M",
                "type": "Document",
                "request": request,
                "wallTime": EPOCH_MS / 1000,
                "timestamp": 1.0,
            },
        ),
        (
            "Network.loadingFailed",
            {"requestId": "L1", "timestamp": 1.05, "errorText": "net::ERR_CONNECTION_REFUSED"},
        ),
        committed("L1", "chrome-error://chromewebdata/", unreachableUrl=PAGE),
    )
    stages = [(item.stage, item.error) for item in found if isinstance(item, Navigated)]
    assert stages == [("started", None), ("failed", "net::ERR_CONNECTION_REFUSED")]
    assert tab.document == 1


def test_frames_are_named_by_their_place_among_siblings() -> None:
    tree = {**TREE, "childFrames": [{"frame": {"id": "A", "url": ""}}, {"frame": {"id": "B", "url": ""}}]}
    tab = seated(tree)
    receive(tab, ("Page.frameAttached", {"frameId": "C", "parentFrameId": "B"}))
    assert [tab.frame(name) for name in ("M", "A", "B", "C", "unknown", None)] == [
        (),
        (0,),
        (1,),
        (1, 0),
        (),
        (),
    ]
    receive(tab, ("Page.frameDetached", {"frameId": "A", "reason": "swap"}))
    assert tab.frame("C") == (1, 0)
    receive(tab, ("Page.frameDetached", {"frameId": "A", "reason": "remove"}))
    assert tab.frame("C") == (0, 0)


def test_message_and_navigation_of_a_frame_say_which() -> None:
    tab = seated({**TREE, "childFrames": [{"frame": {"id": "A", "url": ""}}]})
    message, moved = receive(
        tab, world(1, "A"), page_messages(1, CLICK), committed("L9", frame="A", parentId="M")
    )
    assert isinstance(message, PageMessage)
    assert isinstance(moved, Navigated)
    assert message.frame == moved.frame == (0,)
    assert moved.document == tab.document == 0


ABOUT = {"type": "iframe", "targetId": "A", "parentFrameId": "M", "url": ""}
FRAME = {"sessionId": "S", "targetInfo": ABOUT}
HELLO = {"k": "open", "seq": 0, "at": EPOCH_MS, "role": "frame"}


def below(tab: CdpTab, *events: tuple[str, dict[str, Any]], via: tuple[str, ...] = ("S",)) -> list[Input]:
    return [item for method, params in events for item in tab.translate(method, params, via)]


def with_frame(**options: Any) -> CdpTab:
    """A tab with a frame A in a process of its own, session S, whose script has spoken."""
    tab = seated(**options)
    tab.is_watched = True
    receive(tab, world(1), ("Target.attachedToTarget", FRAME))
    below(tab, world(1, "A"), page_messages(1, HELLO))
    return tab


def test_frame_in_another_process_reports_for_itself() -> None:
    tab = with_frame()
    target = tab.targets["S",]
    assert tab.take_unhandled() == [target, "A", "A"]
    assert tab.take_unhandled() == []
    target.ahead = 50
    (message,) = below(tab, page_messages(1, CLICK))
    assert isinstance(message, PageMessage)
    assert (message.frame, message.source, message.document, message.at) == ((0,), ("A", 0), 0, 20)
    assert tab.worlds.place(frame="A") == (("S",), 1)
    assert tab.worlds.place() == ((), 1)


def test_frame_says_where_those_inside_of_it_stand() -> None:
    tab = with_frame()
    receive(tab, ("Page.frameAttached", {"frameId": "B", "parentFrameId": "A"}))
    push = {"k": "push", "seq": 1, "at": EPOCH_MS, "purpose": "rest", "snapshot": "", "viewport": [3, 4]}
    inner = {"number": 1, "path": [5], "id": "B"}
    (pushed,) = below(tab, page_messages(1, {**push, "frames": [inner]}))
    assert isinstance(pushed, SnapshotPushed)
    assert pushed.source == ("A", 0)
    assert tab.frame("B") == (0, 5)
    assert tab.viewport is None


def test_next_document_of_a_frame_is_another_source() -> None:
    tab = with_frame()
    found = below(
        tab,
        ("Runtime.executionContextsCleared", {}),
        world(2, "A"),
        page_messages(2, HELLO),
        page_messages(2, CLICK),
    )
    left, message = found
    assert (left.source, left.why) == (("A", 0), "left")
    assert message.source == ("A", 1)


@pytest.mark.parametrize(
    ("event", "via", "why"),
    [
        (("Target.detachedFromTarget", {"sessionId": "S"}), (), "left"),
        (("Inspector.targetCrashed", {}), ("S",), "crashed"),
        (("Page.frameDetached", {"frameId": "A", "reason": "remove"}), (), "left"),
    ],
)
def test_frame_that_goes_is_reported(
    event: tuple[str, dict[str, Any]], via: tuple[str, ...], why: str
) -> None:
    tab = with_frame(is_doubled=True)
    (left,) = below(tab, event, via=via)
    assert isinstance(left, FrameLeft)
    assert (left.source, left.why) == (("A", 0), why)
    assert tab.frames.reporters == {}
    crashed = [("snapshots", "frame.crashed", 1), ("actions", "document.crashed", 1)]
    unclosed = [("actions", "document.unclosed", 1)] if event[0] == "Target.detachedFromTarget" else []
    assert [gap[:3] for gap in tab.gaps] == (crashed if why == "crashed" else unclosed)


LATE = ("network", "target.late", 1)


@pytest.mark.parametrize(
    ("about", "options", "gaps"),
    [
        ({}, {}, [("actions", "target.late", 1), LATE]),
        ({}, {"is_doubled": True}, [("actions", "target.late", 1)]),
        ({"url": "about:srcdoc"}, {"is_doubled": True}, [("actions", "target.late", 1), LATE]),
        ({"type": "worker", "url": "http://a.test/w.js"}, {}, [LATE]),
        ({"type": "worker", "url": "http://a.test/w.js"}, {"is_doubled": True}, [LATE]),
        ({"type": "service_worker"}, {"is_doubled": True}, [LATE]),
        ({"type": "service_worker"}, {"is_doubled": True, "actor": "probe"}, []),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
def test_target_that_goes_before_anybody_listened_may_have_done_anything(
    about: dict[str, str], options: dict[str, Any], gaps: list[tuple[str, str, int]], waits: bool
) -> None:
    tab = seated(**options)
    tab.is_watched = True
    event = {"sessionId": "S", "targetInfo": {**ABOUT, **about}, "waitingForDebugger": waits}
    receive(tab, ("Target.attachedToTarget", event))
    receive(tab, ("Target.detachedFromTarget", {"sessionId": "S"}))
    assert [gap[:3] for gap in tab.gaps] == ([] if waits else gaps)
    assert (tab.census.seen, tab.census.late) == (1, int(not waits and tab.actor == "agent"))


@pytest.mark.parametrize(("touched_at", "gaps"), [(-5000, []), (-1000, [("actions", "target.late", 1)])])
def test_frame_that_the_agent_can_not_have_reached_has_missed_no_action(
    touched_at: float, gaps: list[tuple[str, str, int]]
) -> None:
    tab = seated(is_doubled=True)
    tab.is_watched = True
    tab.census.touched_at = touched_at
    receive(tab, ("Target.attachedToTarget", FRAME))
    receive(tab, ("Target.detachedFromTarget", {"sessionId": "S"}))
    assert [gap[:3] for gap in tab.gaps] == gaps


@pytest.mark.parametrize("kind", ["worker", "service_worker"])
@pytest.mark.parametrize("is_doubled", [False, True])
def test_short_worker_that_opened_no_socket_is_covered_by_the_driver(kind: str, is_doubled: bool) -> None:
    tab = seated(is_doubled=is_doubled)
    receive(tab, ("Target.attachedToTarget", {"sessionId": "S", "targetInfo": {**ABOUT, "type": kind}}))
    tab.targets["S",].is_armed = tab.targets["S",].is_socketless = True
    receive(tab, ("Target.detachedFromTarget", {"sessionId": "S"}))
    assert [gap[:3] for gap in tab.gaps] == ([] if is_doubled else [LATE])


@pytest.mark.parametrize(
    ("url", "after", "gaps"), [("about:srcdoc", 10, [LATE]), ("about:srcdoc", 2000, []), ("", 10, [])]
)
def test_frame_that_goes_soon_may_have_asked_for_something_before(
    url: str, after: float, gaps: list[tuple[str, str, int]]
) -> None:
    ticks = [0.0]
    tab = CdpTab(0, Clock(wall=lambda: 1000.0, ticks=lambda: ticks[0]), is_doubled=True)
    tab.seat(TREE)
    tab.is_watched = True
    receive(tab, ("Target.attachedToTarget", {"sessionId": "S", "targetInfo": {**ABOUT, "url": url}}))
    tab.targets["S",].is_armed = True
    ticks[0] = after / 1000
    receive(tab, ("Target.detachedFromTarget", {"sessionId": "S"}))
    assert [gap[:3] for gap in tab.gaps] == gaps


def test_frame_that_only_changes_its_process_stays() -> None:
    tab = with_frame()
    assert receive(tab, ("Page.frameDetached", {"frameId": "A", "reason": "swap"})) == []
    assert tab.frames.knows("A")


@pytest.mark.parametrize(("is_existing", "gaps"), [(False, [("actions", "target.late", 1)]), (True, [])])
def test_action_before_the_recorder_listened_is_a_gap(is_existing: bool, gaps: list[Any]) -> None:
    tab = seated()
    tab.is_existing = is_existing
    receive(tab, ("Target.attachedToTarget", FRAME))
    below(tab, world(1, "A"), page_messages(1, {**HELLO, "touched": True}))
    assert [gap[:3] for gap in tab.gaps] == gaps


def test_targets_below_one_that_was_there_were_there_as_well() -> None:
    tab = seated()
    tab.is_existing = True
    receive(tab, ("Target.attachedToTarget", FRAME))
    tab.is_watched = True
    inner = {"sessionId": "T", "targetInfo": {"type": "iframe", "targetId": "B", "parentFrameId": "A"}}
    below(tab, ("Target.attachedToTarget", inner))
    assert tab.targets["S", "T"].is_existing
    tab.targets["S",].is_armed = True
    later = {"sessionId": "U", "targetInfo": {"type": "iframe", "targetId": "C", "parentFrameId": "A"}}
    below(tab, ("Target.attachedToTarget", later))
    assert not tab.targets["S", "U"].is_existing


def test_more_targets_than_can_be_followed_are_a_gap() -> None:
    tab = seated()
    for number in range(TARGETS_MAX + 2):
        about = {"type": "worker", "targetId": f"W{number}"}
        receive(tab, ("Target.attachedToTarget", {"sessionId": f"S{number}", "targetInfo": about}))
    assert len(tab.targets) == TARGETS_MAX
    assert [gap[:3] for gap in tab.gaps] == [("network", "targets.cut", 1)] * 2
    other = {"sessionId": "X", "targetInfo": {"type": "browser_ui", "targetId": "X"}}
    assert receive(tab, ("Target.attachedToTarget", other)) == []


def test_reported_owner_has_its_place_in_the_snapshot() -> None:
    tab = with_frame()
    tab.own("A", '{"push": 7, "number": 12}')
    assert tab.found == [
        FrameOwned(at=0, page=0, source=MAIN, node=PageNode(push=7, number=12), id="A"),
    ]
    tab.own("A", "null")
    assert len(tab.found) == 1


def test_dialog_of_a_frame_is_reported_once() -> None:
    tab = with_frame()
    opening = ("Page.javascriptDialogOpening", {"type": "alert", "message": "Hi", "url": PAGE})
    closed = ("Page.javascriptDialogClosed", {"result": True, "userInput": ""})
    assert len([*below(tab, opening), *receive(tab, opening)]) == 1
    assert len([*below(tab, closed), *receive(tab, closed)]) == 1


def test_navigation_of_a_frame_that_is_gone_is_none_of_the_page() -> None:
    tab = seated()
    assert receive(tab, committed("L9", frame="GONE", parentId="M")) == []
    assert list(tab.moves.failed("GONE", PAGE, "net::ERR_ABORTED", 1.0, "L9")) == []


def test_dialog() -> None:
    tab = seated()
    opening = {"type": "prompt", "message": "Name?", "defaultPrompt": "Ann", "url": PAGE}
    (opened,) = receive(tab, ("Page.javascriptDialogOpening", opening))
    assert opened == DialogOpened(at=0, page=0, kind="prompt", message="Name?", default="Ann")
    assert tab.has_dialog
    (closed,) = receive(tab, ("Page.javascriptDialogClosed", {"result": True, "userInput": "Bob"}))
    assert closed == DialogClosed(at=0, page=0, accepted=True, input="Bob")
    assert not tab.has_dialog


def test_confirm_has_no_default() -> None:
    opening = {"type": "confirm", "message": "Sure?", "defaultPrompt": "", "url": PAGE}
    (opened,) = receive(seated(), ("Page.javascriptDialogOpening", opening))
    assert isinstance(opened, DialogOpened)
    assert opened.default is None


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([{"type": "string", "value": "a"}, {"type": "number", "value": 2}], "a 2"),
        (
            [{"type": "boolean", "value": True}, {"type": "object", "subtype": "null", "value": None}],
            "true null",
        ),
        ([{"type": "undefined"}, {"type": "number", "unserializableValue": "NaN"}], "undefined NaN"),
        ([{"type": "object", "description": "Array(2)"}], "Array(2)"),
    ],
)
def test_console_line(args: list[dict[str, Any]], text: str) -> None:
    trace = {"callFrames": [{"url": PAGE + "a.js", "lineNumber": 6}]}
    params = {
        "type": "warning",
        "args": args,
        "timestamp": EPOCH_MS + 7,
        "executionContextId": 1,
        "stackTrace": trace,
    }
    (line,) = receive(seated(), world(1, name=""), ("Runtime.consoleAPICalled", params))
    assert line == ConsoleLine(at=7, page=0, level="warning", text=text, source=PAGE + "a.js:7")


def test_console_of_an_isolated_world_is_not_the_page_s() -> None:
    params = {"type": "log", "args": [], "timestamp": EPOCH_MS, "executionContextId": 1}
    assert receive(seated(), world(1), ("Runtime.consoleAPICalled", params)) == []


def test_uncaught_error() -> None:
    details = {"text": "Uncaught", "exception": {"description": "Error: no\n  at x"}}
    (line,) = receive(
        seated(), ("Runtime.exceptionThrown", {"timestamp": EPOCH_MS, "exceptionDetails": details})
    )
    assert isinstance(line, ConsoleLine)
    assert (line.level, line.text) == ("pageerror", "Error: no\n  at x")


def test_download_is_reported_at_its_start_and_at_its_end() -> None:
    begun, done = receive(
        seated(),
        (
            "Page.downloadWillBegin",
            {"guid": "g", "url": PAGE + "r.csv", "suggestedFilename": "r.csv", "frameId": "M"},
        ),
        ("Page.downloadProgress", {"guid": "g", "state": "inProgress", "receivedBytes": 3, "totalBytes": 9}),
        ("Page.downloadProgress", {"guid": "g", "state": "completed", "receivedBytes": 9, "totalBytes": 9}),
    )
    assert isinstance(begun, DownloadChanged)
    assert isinstance(done, DownloadChanged)
    assert (begun.state, begun.suggested, begun.size) == ("started", "r.csv", None)
    assert (done.state, done.suggested, done.size) == ("completed", "r.csv", 9)


def test_events_received_while_arming_are_noted_and_translated_later() -> None:
    tab = seated()
    tab.note(*world(1))
    tab.note("Page.javascriptDialogOpening", {"type": "alert", "message": ""})
    tab.note(*page_messages(1, CLICK))
    assert tab.worlds.place() == ((), 1)
    assert tab.has_dialog


def test_unknown_event_means_nothing() -> None:
    assert receive(seated(), ("Page.somethingNew", {}), ("Network.somethingNew", {})) == []


@pytest.mark.parametrize(
    ("calls", "word"),
    [
        ([PAGE, ""], "evaluated"),
        ([PAGE, PAGE, "__playwright_evaluation_script__3", ""], "evaluated"),
        ([""], "agent"),
        (["__playwright_evaluation_script__3", ""], "agent"),
        (["", PAGE], "script"),
        ([PAGE], "script"),
        ([], "script"),
    ],
)
def test_a_request_that_a_script_of_the_agent_has_the_page_make(calls: list[str], word: str) -> None:
    frames = [{"functionName": "", "url": url, "lineNumber": 0, "columnNumber": 0} for url in calls]
    assert _initiator({"type": "script", "stack": {"callFrames": frames}}) == word


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize(("waits", "gaps"), [(False, [LATE]), (True, [])])
def test_worker_that_a_worker_makes_may_have_sent_unseen_requests(
    waits: bool, gaps: list[Any], is_apart: bool
) -> None:
    tab = seated(is_doubled=True)
    tab.is_watched = True
    about = {"type": "worker", "targetId": "W", "parentFrameId": "M", "url": "http://a.test/w.js"}
    receive(tab, ("Target.attachedToTarget", {"sessionId": "W", "targetInfo": about}))
    inner = {"targetInfo": {**about, "targetId": "N", "parentId": "W"}, "waitingForDebugger": waits}
    # The browser's own session has attached to it, or that of the worker above.
    below(tab, ("Target.attachedToTarget", {"sessionId": "N", **inner}), via=() if is_apart else ("W",))
    for target in tab.targets.values():
        tab.looked_into(target, TargetFacts())
    assert [gap[:3] for gap in tab.gaps] == gaps
