"""How runs end badly: out of steps, crashed, without an answer, or with one that no page shows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from replaykit.errors import BundleError, ReplayError
from replaykit.grading.error_phrases import PHRASES, REPORT_WORDS
from replaykit.grading.findings.taxonomy import found
from replaykit.grading.grounding import grounding, spans_of
from replaykit.grading.values.normal_form import fold
from replaykit.grading.verdict import RunFinding
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page

if TYPE_CHECKING:
    from replaykit.replay.dom import Dom


def ended(replay: Replay) -> Iterator[RunFinding]:
    """Yield E2, E3 and E4."""
    ending, last = replay.ending, len(replay.steps) - 1
    steps = [last] if last >= 0 else []
    kind = ending.kind if ending is not None else "interrupted"
    if kind == "max_steps":
        yield found("E2", steps, note=f"the run ended after {len(replay.steps)} steps")
    elif kind in ("crashed", "timeout"):
        error = ending.error if ending is not None else None
        yield found("E3", steps, note=f"{error.name}: {error.message}"[:300] if error else kind)
    elif ending is not None and kind == "stopped" and replay.answer is None:
        yield found("E4", steps, note="the agent stopped and gave no answer")


def unsupported(replay: Replay) -> Iterator[RunFinding]:
    """Yield D4 for each number and quotation of the answer that no page showed, and E5.

    What the agent entered itself was on a page. Where a page has screenshots, one may have shown it: a note.
    """
    last = len(replay.steps) - 1
    steps = [last] if last >= 0 else []
    unshown = _unshown(replay)
    entered = " ".join(_entered(replay)) if unshown else ""
    for one in unshown:
        if one not in entered:
            doubt = _has_images(replay)
            yield found("D4", steps, is_doubtful=doubt, source="answer", excerpt=one, note="no page shows it")
    error = error_on(replay.final) if replay.answer else ""
    if error and not _reports(replay.answer or ""):
        yield found("E5", steps, source="page", excerpt=error)


def _unshown(replay: Replay) -> list[str]:
    """Return the numbers and quotations that no page shows; empty where no page can be read.

    Most stand in a snapshot letter by letter. Texts are read only for those that do not, since a page may
    split a number between elements.
    """
    left = [span for span, _ in spans_of(replay.answer or "")]
    raws = _snapshots(replay) if left else iter(())
    first = next(raws, None)
    if first is None:
        return []
    for raw in itertools.chain((first,), raws):
        left = [span for span in left if not _holds(raw, span)]
        if not left:
            return []
    shown = {str(one["span"]) for one in grounding(replay) if one["steps"]}
    return [span for span in left if span not in shown]


def _snapshots(replay: Replay) -> Iterator[bytes]:
    """Yield the snapshot of each page that can be read, once, in lower case; most answers are on the last."""
    ids = dict.fromkeys(page.snapshot_id for page in replay.pages if page.snapshot_id is not None)
    for id in reversed(ids):
        with suppress(BundleError):
            yield replay.bundle.blob(id).lower()


def _holds(raw: bytes, span: str) -> bool:
    """Return whether a snapshot holds a span, a number also where it is grouped otherwise."""
    if span.lower().encode() in raw:
        return True
    digits = re.sub(r"[.,]", "", span)
    if not digits.isdecimal():
        return False
    return re.search(rb"[., ]?".join(digit.encode() for digit in digits), raw) is not None


def _entered(replay: Replay) -> Iterator[str]:
    for step in replay.steps:
        values = (getattr(step.action, "value", None), *getattr(step.action, "values", ()))
        yield from (value for value in values if isinstance(value, str))


def _has_images(replay: Replay) -> bool:
    """Return whether any page has, or may have, elements that show text from outside its own document."""
    try:
        return any(page.snapshot_id is None or not page.excludes(_IMAGES) for page in replay.pages)
    except (ReplayError, BundleError):
        return True


_IMAGES = "img, canvas, svg, video, object, embed, iframe, picture"


def error_on(page: Page | None) -> str:
    """Return the error phrase that a page shows; empty where it shows none or cannot be read."""
    try:
        dom = page.dom if page is not None else None
        likely = _likely(dom) if dom is not None else []
        text = fold(dom.whole_text) if likely and dom is not None else ""
    except (ReplayError, BundleError):
        return ""
    return next((phrase for phrase in PHRASES if phrase in likely and phrase in text), "")


def _likely(dom: Dom) -> list[str]:
    """Return the phrases whose words all stand in the bytes of a page."""
    some = [one for word in dom.held(_BY_WORD) for one in _BY_WORD[word]]
    return [phrase for phrase, words in some if not dom.lacks(words)]


_RAREST = (
    b"error", b"found", b"denied", b"something", b"permission", b"available", b"forbidden", b"internal",
)  # fmt: skip
"""Each phrase holds one of these: most pages hold none, and are searched for nothing else."""


def _by_word() -> dict[bytes, list[tuple[str, list[bytes]]]]:
    """Return the phrases with their words: elements and typography may stand between these, not in them."""
    found: dict[bytes, list[tuple[str, list[bytes]]]] = {}
    for phrase in PHRASES:
        word = next(word for word in _RAREST if word in phrase.encode())
        found.setdefault(word, []).append((phrase, re.findall(rb"[a-z0-9]+", phrase.encode())))
    return found


_BY_WORD = _by_word()


def _reports(answer: str) -> bool:
    folded = fold(answer)
    return any(word in folded for word in REPORT_WORDS)
