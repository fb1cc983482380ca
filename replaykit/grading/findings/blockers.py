"""Obstacles in the agent's way: bot walls, logins, sites that are down, dialogs; and pages off the sites."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from replaykit.grading.blocked_pages import block_of
from replaykit.grading.findings.taxonomy import found
from replaykit.grading.verdict import RunFinding
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page


def blocked(replay: Replay) -> Iterator[RunFinding]:
    """Yield B1, B2 and B3 for pages that block the agent; if it never got past one: unrecovered."""
    pages = [page for page in replay.pages if page.role in ("start", "after", "final")]
    reported: set[tuple[str, str]] = set()
    for place, page in enumerate(pages):
        code = block_of(page)
        host = urlsplit(page.seen.url or "").netloc if code is not None else ""
        if code is not None and (code, host) not in reported:
            reported.add((code, host))
            later = [other for other in pages[place + 1 :] if urlsplit(other.seen.url or "").netloc == host]
            # A later look at the same page may lack the status of its document.
            moved = (other for other in later if other.snapshot_id != page.snapshot_id)
            is_past = any(block_of(other) is None for other in moved)
            yield found(code, [page.step], recovered=is_past, url=page.seen.url, note=_note(page))
    yield from _unreached(replay)


def dialogs(replay: Replay) -> Iterator[RunFinding]:
    """Yield B5 for each native dialog."""
    for one in replay.dialogs:
        state = "never seen to close"
        if one.accepted is not None:
            state = "accepted" if one.accepted else "dismissed"
        yield found("B5", [one.step], note=f"{one.kind} {state}: {one.message}"[:300])


def astray(replay: Replay) -> Iterator[RunFinding]:
    """Yield C3 for each other origin that the agent went to, where the run names its sites."""
    roots = [root for several in replay.trajectory.header.sites.values() for root in several]
    known = {_origin(root) for root in roots}
    for one in replay.navigations if known else ():
        origin = _origin(one.url) if one.committed and not one.frame else ""
        if origin and origin not in known:
            known.add(origin)
            yield found("C3", [one.step], url=one.url)


def _unreached(replay: Replay) -> Iterator[RunFinding]:
    """Yield B3 for a page that never came."""
    reported: set[str] = set()
    for one in replay.navigations:
        is_failed = not one.committed and one.error and one.error != "net::ERR_ABORTED" and not one.frame
        if not is_failed or _origin(one.url) in reported:
            continue
        reported.add(_origin(one.url))
        later = (o for o in replay.navigations if o.committed and (o.t or 0) > (one.t or 0))
        is_past = any(_origin(o.url) == _origin(one.url) for o in later)
        yield found("B3", [one.step], recovered=is_past, url=one.url, note=one.error)


def _note(page: Page) -> str | None:
    return f"status {page.status}" if page.status is not None and page.status >= 400 else None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""
