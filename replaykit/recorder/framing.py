"""Frames that a page cannot read, and workers: armed, told whose they are, asked together with the page."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from typing import Any

import msgspec

from replaykit.decoders import convert
from replaykit.recorder.arming import BUFFER_MAX, CLOCK_SAMPLES, FOLLOWING, POST_MAX
from replaykit.recorder.capture import API, BINDING, WORLD, PagePush, decode_message
from replaykit.recorder.cdp import Tab
from replaykit.recorder.cdp_frames import PAGES, Target, TargetFacts
from replaykit.recorder.clock import Clock, offset
from replaykit.recorder.effects import Effect, Refused, Send, Sleep, ask, evaluate

FRAMES_MAX = 64
"""Frames that are asked with one page."""

FRAME_MAX_MS = 500
"""One frame's answer: a stuck one holds up neither its page nor the others."""

ARMING_MAX_MS = 500
"""A page waits so long for its frames to be armed before it is looked at."""

POLL_MS = 10
"""Between two questions whether they are."""

_FACTS = (
    "[performance.timeOrigin + performance.now(), globalThis.document?.readyState ?? '',"
    " performance.getEntriesByType('resource').map((entry) => entry.name)]"
)
"""Clock, state, requests so far."""

_OWN = """function (id) {
  let view = globalThis;
  while (view.%s === undefined && view !== view.parent) view = view.parent;
  return view.%s.own(this, id);
}""" % (API, API)  # noqa: UP031 - the braces are the function's own


def arm_target(
    tab: Tab, target: Target, script: str, clock: Clock, *, has_network: bool
) -> Generator[Effect, Any, None]:
    """Put the script into a frame's process, or listen to a worker; what lies below comes by itself."""
    try:
        # Requests begin at once, and nothing waits for us.
        if has_network:
            limits = {"maxPostDataSize": POST_MAX, "maxTotalBufferSize": BUFFER_MAX}
            yield from _tell(tab, target, "Network.enable", limits)
        yield from _tell(tab, target, "Runtime.enable")
        if target.kind in PAGES:
            yield from _arm_frame(tab, target, script)
        yield from _tell(tab, target, "Target.setAutoAttach", FOLLOWING)
    except Refused:
        # One that went away meanwhile leaves nothing to say.
        target.is_refused = target.via in tab.targets and not tab.is_gone
    tab.meet(target)
    target.is_armed = True
    if not target.is_refused:
        yield from _look_into(tab, target, clock)


def own(tab: Tab, frame: str) -> Generator[Effect, Any, None]:
    """Tell the document around a frame which of its elements holds it."""
    around = tab.frames.parent(frame)
    place = tab.worlds.place(WORLD, around) if around else None
    if place is None:
        raise Refused("gone")
    via, context = place
    found = yield from ask(tab, "DOM.getFrameOwner", {"frameId": frame}, FRAME_MAX_MS, via)
    wanted = {"backendNodeId": found["backendNodeId"], "executionContextId": context}
    node = yield from ask(tab, "DOM.resolveNode", wanted, FRAME_MAX_MS, via)
    holder = {"objectId": node["object"]["objectId"]}
    call = {"functionDeclaration": _OWN, "arguments": [{"value": frame}], "returnByValue": True, **holder}
    told = yield from ask(tab, "Runtime.callFunctionOn", call, FRAME_MAX_MS, via)
    if "exceptionDetails" not in told:
        tab.own(frame, told["result"].get("value"))
    yield from ask(tab, "Runtime.releaseObject", holder, FRAME_MAX_MS, via)


def snapshot(tab: Tab, purpose: str) -> Generator[Effect, Any, PagePush]:
    """Serialize the page now; its other frames send theirs just before."""
    yield from _armed(tab)
    for frame in list(tab.frames.speakers)[:FRAMES_MAX]:
        yield from _sent(tab, frame)
    text = yield from evaluate(tab, f"{API}.push({json.dumps(purpose)})")
    message = decode_message(text) if isinstance(text, str) else None
    if not isinstance(message, PagePush):
        raise Refused("failed")
    tab.take_facts(message, tab.frames.main)
    return message


def send_frames(tab: Tab) -> Generator[Effect, Any, None]:
    """Let the page's other frames send what they show."""
    for frame in list(tab.frames.speakers)[:FRAMES_MAX]:
        yield from _sent(tab, frame)


def flush(tab: Tab) -> Generator[Effect, Any, None]:
    """Let all come in that a page and its frames have said until now: a session keeps its order."""
    for frame in [None, *list(tab.frames.speakers)[:FRAMES_MAX]]:
        try:
            yield from evaluate(tab, "0", frame=frame, timeout_ms=FRAME_MAX_MS)
        except Refused:
            continue  # it says nothing any more, or is stuck


def file_contents(tab: Tab, frame: str, key: int) -> Generator[Effect, Any, bytes | None]:
    """Return the bytes of a file that a document (empty = the main frame's) was given."""
    found = yield from evaluate(tab, f"{API}.contents({key})", frame=frame or None)
    return base64.b64decode(found) if isinstance(found, str) else None


def stir(tab: Tab, actor: str) -> Generator[Effect, Any, None]:
    """Tell all frames of an act in one of them (empty = the main frame)."""
    for frame in ["", *list(tab.frames.speakers)[:FRAMES_MAX]]:
        if frame != actor:
            try:
                yield from evaluate(tab, f"{API}.stir()", frame=frame or None, timeout_ms=FRAME_MAX_MS)
            except Refused:
                continue  # it shows nothing that could come of the act


def _arm_frame(tab: Tab, target: Target, script: str) -> Generator[Effect, Any, None]:
    binding = {"name": BINDING, "executionContextName": WORLD}
    yield from _tell(tab, target, "Runtime.addBinding", binding)
    yield from _tell(tab, target, "Page.enable")
    # Frames have to be known before they speak.
    tree = yield from _tell(tab, target, "Page.getFrameTree")
    tab.seat(tree["frameTree"], target.via)
    source = {"source": script, "worldName": WORLD, "runImmediately": True}
    yield from _tell(tab, target, "Page.addScriptToEvaluateOnNewDocument", source)


def _tell(
    tab: Tab, target: Target, method: str, params: dict[str, Any] | None = None
) -> Generator[Effect, Any, Any]:
    return (yield Send(tab=tab, method=method, params=params or {}, via=target.via))


def _look_into(tab: Tab, target: Target, clock: Clock) -> Generator[Effect, Any, None]:
    """Compare clocks, and see what happened before anybody listened."""
    samples, urls, ready = [], list[str](), ""
    place = tab.worlds.place(WORLD, target.id) if target.kind in PAGES else None
    where = {"contextId": place[1]} if place else {}
    call = {"expression": _FACTS, "returnByValue": True, **where}
    try:
        for _ in range(CLOCK_SAMPLES):
            asked = clock.started + clock.now()
            found = yield from ask(tab, "Runtime.evaluate", call, FRAME_MAX_MS, target.via)
            said, ready, urls = convert(found["result"].get("value"), tuple[float, str, list[str]])
            samples.append((asked, said, clock.started + clock.now()))
    except (Refused, msgspec.ValidationError):
        return  # it goes elsewhere just now, or the page has played with what it was asked
    target.ahead = offset(samples)
    tab.looked_into(target, TargetFacts(urls=urls, is_loaded=ready in ("interactive", "complete")))


def _armed(tab: Tab) -> Generator[Effect, Any, None]:
    for _ in range(ARMING_MAX_MS // POLL_MS):
        if all(target.is_armed for target in tab.targets.values()):
            return
        yield Sleep(ms=POLL_MS)


def _sent(tab: Tab, frame: str) -> Generator[Effect, Any, None]:
    try:
        if frame not in tab.frames.owned:
            yield from own(tab, frame)
        yield from evaluate(tab, f"{API}.send('asked')", frame=frame, timeout_ms=FRAME_MAX_MS)
    except Refused:
        return  # the page is looked at without it: what it showed last stands
