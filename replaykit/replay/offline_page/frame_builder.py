"""Frames that a page cannot read, in the offline browser: documents under their own addresses.

The browser itself keeps the page out of them, as it did when the run was recorded: `contentDocument` is null
there, and `contentWindow.document` throws.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from replaykit.replay.offline_page.page_payload import STAND_IN, Blueprint, FramedDocument

FRAMES_MAX = 100
"""Frames of a page that are built, those in frames included."""

GO_MAX_MS = 10_000
"""Longest time until the document of a frame is there, ms."""

APART = "sandbox allow-scripts"
"""Policy of a document that would else be of its page's origin; what inspects it is no script of the page."""

FOUND = "(report) => ({lost: report.lost, count: report.count, modes: report.modes})"
"""Script that reports on a document that was built."""


SHOWN = "(report, numbers) => numbers.map((number) => report.element(number)?.innerText ?? '')"
"""Script that lists what elements of such a document show."""


class Skeleton(Struct, frozen=True, kw_only=True):
    """A document without content, as a server would send it."""

    kind: str
    """Content type."""
    body: str
    """Doctype, in the form of a document without content."""
    policy: str = ""
    """Policy beside the one that all have."""


Skeletons: TypeAlias = dict[Any, Skeleton]
"""Frames, as the driver has them, to what their next document is."""


class Filled:
    """A frame that its page cannot read, in the offline browser."""

    def __init__(self, frame: Any, snapshot: str | None, report: Any, faults: tuple[str, ...]) -> None:
        #: Playwright's frame: only for work that is sent to the browser's thread.
        self.frame = frame
        #: Blob of its document.
        self.snapshot = snapshot
        #: What `rebuild.js` returned in it; None where nothing was built.
        self.report = report
        #: Why nothing inside counts; empty = it is as it was recorded.
        self.faults = faults


def skeleton_of(plan: Blueprint, policy: str = "") -> Skeleton:
    """Return the document that a plan is built in."""
    return Skeleton(kind=f"{plan.mime}; charset={plan.charset}", body=plan.body, policy=policy)


def fill(report: Any, plan: Blueprint, skeletons: Skeletons) -> Iterator[Filled]:
    """Build the frames of a page that was built, and yield them; for the browser's thread.

    `report` is what `rebuild.js` returned in the page. Frames beyond `FRAMES_MAX` are left as they are.
    """
    waiting = [(report, plan, framed) for framed in plan.frames]
    for _ in range(FRAMES_MAX):
        if not waiting:
            return
        above, outer, framed = waiting.pop(0)
        frame = _frame(above, framed.owner)
        if frame is None:
            continue
        inner, faults = _built(frame, framed, outer, skeletons)
        yield Filled(frame, framed.snapshot, inner, faults)
        if inner is not None and framed.plan is not None:
            waiting += [(inner, framed.plan, one) for one in framed.plan.frames]


def readable(report: Any, plan: Blueprint) -> Iterator[str]:
    """Yield a fault for every frame that the page can read though it could not when it was recorded."""
    owners = [framed.owner for framed in plan.frames]
    for owner in report.evaluate("(report, owners) => report.readable(owners)", owners):
        yield f"the frame of element {owner} can be read"


def faults_of(found: dict[str, Any], differing: int, url: str, plan: Blueprint) -> Iterator[str]:
    """Yield in what a document differs from the recorded one."""
    yield from (f"{what} is lost" for what in found["lost"][:8])
    if not plan.is_own_address:
        yield "no server has its address"
    elif url != plan.url:
        yield f"its address became {url}"
    if found["count"] != plan.elements:
        yield f"{found['count']} of {plan.elements} elements"
    if found["modes"][0] != plan.compat or "inner" in found["modes"]:
        yield f"compatibility mode {found['modes'][0]}"
    if differing:
        yield f"{differing} elements are styled otherwise"


def known_of(report: Any, plan: Blueprint, style: dict[str, int]) -> dict[str, bool]:
    """Return what is known of the style of a document: `asking.js` refuses what depends on more."""
    has_sheets = all(sheet.text is not None for sheet in plan.sheets)
    shown = report.evaluate(SHOWN, [number for number, _ in plan.shown])
    return {
        "isStyled": not style["repaired"] and has_sheets,
        "isDrawn": bool(plan.style) or (has_sheets and bool(plan.sheets)),
        "isSized": not style["resized"],
        "isAlike": shown == [text for _, text in plan.shown],
    }


@lru_cache
def script(name: str) -> str:
    """Return a script that runs in the offline browser."""
    return Path(__file__).with_name(name).read_text("utf-8")


def _frame(report: Any, owner: int) -> Any:
    """Return the frame that an element holds; None where it holds none."""
    held = report.evaluate_handle("(report, owner) => report.element(owner)", owner).as_element()
    return None if held is None else held.content_frame()


def _built(
    frame: Any, framed: FramedDocument, outer: Blueprint, skeletons: Skeletons
) -> tuple[Any, tuple[str, ...]]:
    """Return the report of what stands in a frame now, and its faults."""
    from playwright.sync_api import Error

    plan = framed.plan
    address = STAND_IN if plan is None else plan.url
    policy = APART if plan is None or _origin(address) == _origin(outer.url) else ""
    skeletons[frame] = (
        Skeleton(kind="text/html", body="", policy=policy) if plan is None else skeleton_of(plan, policy)
    )
    try:
        frame.goto(address, wait_until="commit", timeout=GO_MAX_MS)
        if plan is None:
            return None, ("it was not recorded",)
        report = frame.evaluate_handle(script("rebuild.js"), plan.plan)
        style = report.evaluate("(report) => report.settle()")
        faults = tuple(faults_of(report.evaluate(FOUND), style["differing"], frame.url, plan))
        frame.evaluate(script("asking.js"), known_of(report, plan, style))
    except Error as error:
        return None, (f"it cannot be built: {error.message.splitlines()[0]}",)
    finally:
        # From here on, no one goes anywhere.
        del skeletons[frame]
    return report, faults


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
