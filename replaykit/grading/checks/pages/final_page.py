"""Which page a run ended on: its URL, and where it stands in the bundle."""

from __future__ import annotations

from replaykit.grading.verdict import Evidence
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page

LAST = "last"
"""The page that the run ended on."""


def final_url(replay: Replay) -> str | None:
    """Return the URL that the run ended on, None where it was not recorded."""
    return replay.final.url if replay.final is not None else None


def arrived_url(replay: Replay, url: str, phase: str = "post") -> str:
    """Return where a URL led to, itself where nothing else was recorded."""
    page = replay.probe(url, phase)
    return (page.url if page is not None else None) or url


def final_evidence(replay: Replay) -> Evidence:
    """Return where the final page stands in the bundle."""
    page = replay.final
    return Evidence() if page is None else evidence_of(page, replay, "page", "strong")


def cursor_url(cursor: str, replay: Replay, phase: str = "post") -> str | None:
    """Return the URL of the page that the benchmark's browser is on, None where it was not recorded."""
    return final_url(replay) if cursor == LAST else arrived_url(replay, cursor, phase)


def evidence_of(page: Page, replay: Replay, source: str, strength: str) -> Evidence:
    """Point to a page of the bundle."""
    is_final = page.role == "final" and bool(replay.steps)
    return Evidence(
        source=source,
        step=replay.steps[-1].index if is_final else page.step,
        event=page.place,
        url=page.url,
        strength=strength,
        settled=page.settled,
        snapshot=page.snapshot_id,
    )
