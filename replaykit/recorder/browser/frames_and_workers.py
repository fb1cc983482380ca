"""Frames that a page cannot read, and workers: armed, given their owners, asked together with the page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import convert, decode
from replaykit.recorder.browser.command_effects import (
    CallBrowser,
    CallMethod,
    CommandRefused,
    Effect,
    Sleep,
    Together,
    ask,
    evaluate,
)
from replaykit.recorder.browser.instrumentation import (
    BUFFER_MAX,
    CLOCK_SAMPLES,
    OPTIONAL,
    POST_MAX,
    REPORTS,
    following,
)
from replaykit.recorder.browser.opened_sockets import may_have_sockets
from replaykit.recorder.browser.tab.cdp_documents import Place
from replaykit.recorder.browser.tab.cdp_frames import DOUBLED, PAGES, WORKERS, Target, TargetFacts
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.tab.tab_state import Missed
from replaykit.recorder.browser.witnesses.own_workers import LOOKUPS, count_of
from replaykit.recorder.browser.witnesses.target_census import LATE
from replaykit.recorder.page.page_script import PagePush, decode_message
from replaykit.recorder.session.clock import Clock, offset

CLOSING_MAX_MS = 3000
"""The documents of a page get this long for their closing message."""

OPENING_MAX_MS = 500
"""A document that is there already gets so long for its first."""

FRAMES_MAX = 64
"""Frames that are asked with one page."""

FRAME_MAX_MS = 500
"""One frame's answer: a stuck one holds up neither its page nor the others."""

ARMING_MAX_MS = 500
"""A page waits so long for its frames to be armed before it is looked at."""

TREE = "Page.getFrameTree"

POLL_MS = 10
"""Between two questions whether they are."""


class ClosingReply(Struct, frozen=True, kw_only=True):
    """Reply of a document to the request for its closing message; the rest is in its messages."""

    sent: int
    """Messages that it has sent."""


_FACTS = (
    "[performance.timeOrigin + performance.now(), globalThis.document?.readyState ?? '',"
    " performance.getEntriesByType('resource').map((entry) => entry.name),"
    " Boolean(globalThis.document?.querySelector('script:not([src])'))]"
)
"""Clock, state, requests so far, and whether the document holds a script of its own."""

_LOOK_UP = "navigator.serviceWorker.getRegistrations().then((found) => found.length > 0)"

_OWN = """function (id) {
  let view = globalThis;
  while (view.API === undefined && view !== view.parent) view = view.parent;
  return view.API.own(this, id);
}"""


def arm_target(
    tab: CdpTab, target: Target, script: str, clock: Clock, *, has_network: bool
) -> Generator[Effect, Any, None]:
    """Put the script into a frame's process, or listen to a worker; what lies below comes by itself."""
    calls = _calls(tab, target, script, has_network=has_network)
    try:
        if target.is_held:
            # At one go: it waits for the last of them.
            answers = yield Together(sends=(*calls, _call(tab, target, "Runtime.runIfWaitingForDebugger")))
            _seat(tab, target, dict(zip((call.method for call in calls), answers, strict=False)))
        else:
            # Frames have to be known before they report.
            known = 1 + max((at for at, call in enumerate(calls) if call.method == TREE), default=-1)
            for some in filter(None, (calls[:known], calls[known:])):
                answers = yield Together(sends=tuple(some))
                _seat(tab, target, dict(zip((call.method for call in some), answers, strict=True)))
    except CommandRefused:
        # One that went away meanwhile leaves nothing to say.
        target.is_refused = target.via in tab.targets and not tab.is_gone
    tab.meet(target)
    target.is_armed = target.is_refused or target.kind in PAGES
    if target.is_armed:
        _count(tab, target)
    if not target.is_refused:
        yield from _look_into(tab, target, clock)
    if not target.is_armed:
        yield from _look_for_sockets(tab, target, has_network=has_network)
        target.is_armed = True
        _count(tab, target)


def _count(tab: CdpTab, target: Target) -> None:
    """Count a target that was reached; one that is gone by now counts as late."""
    if target.via in tab.targets and not target.is_refused:
        tab.census.armed += 1
        tab.census.held += target.is_held


def own(tab: CdpTab, frame: str) -> Generator[Effect, Any, None]:
    """Tell the document around a frame which of its elements holds it."""
    around = tab.frames.parent(frame)
    place = tab.worlds.place(None, around) if around else None
    if place is None:
        raise CommandRefused("gone")
    via, context = place
    found = yield from ask(tab, "DOM.getFrameOwner", {"frameId": frame}, FRAME_MAX_MS, via)
    wanted = {"backendNodeId": found["backendNodeId"], "executionContextId": context}
    node = yield from ask(tab, "DOM.resolveNode", wanted, FRAME_MAX_MS, via)
    holder = {"objectId": node["object"]["objectId"]}
    call = {
        "functionDeclaration": _OWN.replace("API", tab.names.api),
        "arguments": [{"value": frame}],
        "returnByValue": True,
        **holder,
    }
    reply = yield from ask(tab, "Runtime.callFunctionOn", call, FRAME_MAX_MS, via)
    if "exceptionDetails" not in reply:
        tab.own(frame, reply["result"].get("value"))
    yield from ask(tab, "Runtime.releaseObject", holder, FRAME_MAX_MS, via)


def snapshot(tab: CdpTab, purpose: str) -> Generator[Effect, Any, PagePush]:
    """Serialize the page now; its other frames send theirs just before."""
    yield from _armed(tab)
    for frame in list(tab.frames.reporters)[:FRAMES_MAX]:
        yield from _sent(tab, frame)
    text = yield from evaluate(tab, f"{tab.names.api}.push({json.dumps(purpose)})")
    message = decode_message(tab.names.fields.opened(text)) if isinstance(text, str) else None
    if not isinstance(message, PagePush):
        raise CommandRefused("failed")
    tab.take_facts(message, tab.frames.main)
    return message


def send_frames(tab: CdpTab) -> Generator[Effect, Any, None]:
    """Let the page's other frames send what they show."""
    for frame in list(tab.frames.reporters)[:FRAMES_MAX]:
        yield from _sent(tab, frame)


def flush(tab: CdpTab) -> Generator[Effect, Any, None]:
    """Wait for all messages that a page and its frames have sent so far; a session keeps their order."""
    for frame in [None, *list(tab.frames.reporters)[:FRAMES_MAX]]:
        try:
            # Any question will do: its answer comes after all messages sent before.
            yield from evaluate(tab, "0", frame=frame, timeout_ms=FRAME_MAX_MS)
        except CommandRefused:
            continue  # it says nothing any more, or is stuck


def file_contents(tab: CdpTab, frame: str, key: int) -> Generator[Effect, Any, bytes | None]:
    """Return the bytes of a file that a document (empty = the main frame's) was given."""
    found = yield from evaluate(tab, f"{tab.names.api}.contents({key})", frame=frame or None)
    return base64.b64decode(found) if isinstance(found, str) else None


def close(tab: CdpTab, clock: Clock) -> Generator[Effect, Any, None]:
    """Ask all documents of a page for their last message; one that does not answer in time is a gap."""
    due = clock.now() + CLOSING_MAX_MS
    for _ in range(OPENING_MAX_MS // POLL_MS):
        if tab.is_gone or not tab.documents.is_opening:
            break
        yield Sleep(ms=POLL_MS)
    yield from ask_closings(tab, clock, due, tab.documents.answered)
    tab.documents.finish()


def leave(tab: CdpTab, clock: Clock) -> Generator[Effect, Any, None]:
    """Ask the documents of a page that is about to go: the browser lets only the outermost say its end."""
    yield from ask_closings(tab, clock, clock.now() + FRAME_MAX_MS, lambda place: None)


def count_in(tab: CdpTab, clock: Clock, places: list[Place]) -> Generator[Effect, Any, None]:
    """Let documents say what has been done in them so far: they may end without another message."""
    for place in places[:FRAMES_MAX]:
        via, context = place
        call = {"expression": f"{tab.names.api}.count()", "contextId": context, "returnByValue": True}
        with suppress(CommandRefused):  # it is stuck, behind a dialog, or gone
            asked_at = clock.now()
            found = yield from ask(tab, "Runtime.evaluate", call, FRAME_MAX_MS, via)
            if found["result"].get("value") is True:
                tab.documents.counted(place, asked_at)


def ask_closings(
    tab: CdpTab, clock: Clock, due: float, answered: Callable[[Place], None]
) -> Generator[Effect, Any, None]:
    """Ask all documents for a closing message, until a time, ms; `answered` is given each that sent it."""
    asked = set[Place]()
    # New documents may open while others send their closing messages.
    while clock.now() < due and (waiting := [one for one in tab.documents.open() if one not in asked]):
        for place in waiting:
            asked.add(place)
            yield from _close(tab, place, answered)


def _close(tab: CdpTab, place: Place, answered: Callable[[Place], None]) -> Generator[Effect, Any, None]:
    via, context = place
    call = {"expression": f"{tab.names.api}.close()", "contextId": context, "returnByValue": True}
    try:
        found = yield from ask(tab, "Runtime.evaluate", call, FRAME_MAX_MS, via)
        reply = decode(found["result"].get("value") or "", ClosingReply)
    except (CommandRefused, msgspec.DecodeError):
        return  # it is stuck, behind a dialog, or gone
    answered(place)
    if tab.worlds.received(place) < reply.sent and tab.actor == "agent":
        tab.gaps.append(Missed("actions", "seq.broken", reply.sent - tab.worlds.received(place)))


def count_lookups() -> Generator[Effect, Any, int]:
    """Return how often the browser has looked up an installed service worker."""
    return count_of((yield CallBrowser(method="Browser.getHistograms", params={"query": LOOKUPS})))


def look_up(tab: CdpTab) -> Generator[Effect, Any, None]:
    """Let the browser look up a service worker of the page's site."""
    found = yield from evaluate(tab, _LOOK_UP)
    if found is True:
        tab.census.own_workers.found()


def note_action(tab: CdpTab, actor: str) -> Generator[Effect, Any, None]:
    """Let all other frames note an action in one of them (empty = the main frame)."""
    for frame in ["", *list(tab.frames.reporters)[:FRAMES_MAX]]:
        if frame != actor:
            try:
                yield from evaluate(
                    tab, f"{tab.names.api}.noteAction()", frame=frame or None, timeout_ms=FRAME_MAX_MS
                )
            except CommandRefused:
                continue  # it shows nothing that could come of the action


def _calls(tab: CdpTab, target: Target, script: str, *, has_network: bool) -> list[CallMethod]:
    # Requests first: they begin at once where nothing waits for us.
    limits = {"maxPostDataSize": POST_MAX, "maxTotalBufferSize": BUFFER_MAX}
    binding = {"name": tab.names.binding, "executionContextName": tab.names.world}
    source = {"source": script, "worldName": tab.names.world, "runImmediately": True}
    frame: list[tuple[str, dict[str, Any]]] = [
        ("Runtime.addBinding", binding),
        ("Page.enable", {}),
        *([REPORTS] if has_network else []),
        (TREE, {}),
        ("Page.addScriptToEvaluateOnNewDocument", source),
    ]
    calls = [
        *([("Network.enable", limits)] if has_network else []),
        ("Runtime.enable", {}),
        *(frame if target.kind in PAGES else []),
        # A call on a target takes frames below it away from other clients (decision 64).
        *([] if tab.is_searched and target.above else [("Target.setAutoAttach", following(tab))]),
    ]
    return [_call(tab, target, method, params) for method, params in calls]


def _call(tab: CdpTab, target: Target, method: str, params: dict[str, Any] | None = None) -> CallMethod:
    is_optional = method in OPTIONAL
    return CallMethod(tab=tab, method=method, params=params or {}, via=target.via, is_optional=is_optional)


def _seat(tab: CdpTab, target: Target, answers: dict[str, Any]) -> None:
    if TREE in answers:
        tab.seat(answers[TREE]["frameTree"], target.via)


def _look_into(tab: CdpTab, target: Target, clock: Clock) -> Generator[Effect, Any, None]:
    """Compare clocks, and see what happened before the recorder was attached."""
    samples, urls, ready, is_scripted = [], list[str](), "", False
    place = tab.worlds.place(None, target.id) if target.kind in PAGES else None
    where = {"contextId": place[1]} if place else {}
    call = {"expression": _FACTS, "returnByValue": True, **where}
    try:
        for _ in range(CLOCK_SAMPLES):
            asked = clock.started + clock.now()
            found = yield from ask(tab, "Runtime.evaluate", call, FRAME_MAX_MS, target.via)
            value = found["result"].get("value")
            reported, ready, urls, is_scripted = convert(value, tuple[float, str, list[str], bool])
            samples.append((asked, reported, clock.started + clock.now()))
    except (CommandRefused, msgspec.ValidationError):
        # It goes elsewhere just now, or the page has played with what it was asked.
        if target.kind in WORKERS:
            tab.looked_into(target, TargetFacts())
        return
    target.ahead = offset(samples)
    is_loaded = ready in ("interactive", "complete")
    unlisted = 0
    if is_scripted and not target.is_held:
        unlisted = max(0, (yield from _resources(tab, target)) - len(urls))
    tab.looked_into(target, TargetFacts(urls=urls, is_loaded=is_loaded, unlisted=unlisted))


def _look_for_sockets(tab: CdpTab, target: Target, *, has_network: bool) -> Generator[Effect, Any, None]:
    if target.kind not in DOUBLED or target.is_held or target.is_existing or not has_network:
        return
    target.is_socketless = not (yield from may_have_sockets(tab, target))
    if not target.is_socketless and tab.actor == "agent":
        tab.gaps.append(Missed("network", LATE))


def _resources(tab: CdpTab, target: Target) -> Generator[Effect, Any, int]:
    """Return how many resources the process of a frame holds, those that it has not read among them."""
    try:
        yield from ask(tab, "Performance.enable", {}, FRAME_MAX_MS, target.via)
        found = yield from ask(tab, "Performance.getMetrics", {}, FRAME_MAX_MS, target.via)
        yield from ask(tab, "Performance.disable", {}, FRAME_MAX_MS, target.via)
    except CommandRefused:
        return 0  # it goes elsewhere just now
    return next((int(one["value"]) for one in found["metrics"] if one["name"] == "Resources"), 0)


def _armed(tab: CdpTab) -> Generator[Effect, Any, None]:
    for _ in range(ARMING_MAX_MS // POLL_MS):
        if not tab.joining and all(target.is_armed for target in tab.targets.values()):
            return
        yield Sleep(ms=POLL_MS)


def _sent(tab: CdpTab, frame: str) -> Generator[Effect, Any, None]:
    try:
        if frame not in tab.frames.owned:
            yield from own(tab, frame)
        yield from evaluate(tab, f"{tab.names.api}.send('asked')", frame=frame, timeout_ms=FRAME_MAX_MS)
    except CommandRefused:
        return  # the page is looked at without it: what it showed last stands
