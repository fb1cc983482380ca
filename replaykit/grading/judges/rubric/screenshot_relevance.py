"""Which screenshots show a criterion: scores of a model that looks at all of them, a few at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from replaykit.grading.model_request import ModelReply, cut_short
from replaykit.patterns import lazy_pattern
from replaykit.tasks.rubric import Criterion

MOST = 3
"""Greatest relevance; also that of a frame without a readable score."""

REPLY_MAX = 64 * 1024
"""Bytes of a reply that are read."""

_LINE = lazy_pattern(r"[\s*>-]*frame[ \t]+([0-9]{1,6})[ \t]*:(.*)", re.IGNORECASE)
_SCORE = lazy_pattern(r"([A-Za-z0-9_.-]{1,32})[ \t]*=[ \t]*([0-9]+)(?![0-9.])")

Scores = Mapping[int, Mapping[str, int]]
"""Number of a frame, from 0, to relevance by criterion."""


class Chosen(Struct, frozen=True, kw_only=True):
    """Screenshots by their numbers, from 0, oldest first."""

    together: tuple[int, ...]
    """Of all criteria."""
    by_criterion: Mapping[str, tuple[int, ...]]
    """Of each criterion."""
    n_dropped: int = 0
    """Screenshots above the cap."""


def read_looks(reply: ModelReply, frames: Sequence[int], criteria: Sequence[Criterion]) -> tuple[Scores, int]:
    """Return the relevance of each frame that was shown, and how many scores could not be read.

    A frame that is left out, scored twice differently, or out of range counts as the most relevant.
    """
    given: dict[tuple[int, str], set[int]] = {}
    text = "" if cut_short(reply.stop_reason) else reply.text[:REPLY_MAX]
    for line in text.splitlines():
        if (found := _LINE.fullmatch(line)) is None:
            continue
        for id, score in _SCORE.findall(found[2]):
            given.setdefault((int(found[1]), id), set()).add(int(score) if len(score) < 3 else -1)
    scores: dict[int, dict[str, int]] = {}
    unread = 0
    for frame in frames:
        for one in criteria:
            scored = given.get((frame, one.id), set())
            score = next(iter(scored)) if len(scored) == 1 else -1
            unread += not 0 <= score <= MOST
            scores.setdefault(frame, {})[one.id] = score if 0 <= score <= MOST else MOST
    return scores, unread


def choose(criteria: Sequence[Criterion], n: int, scores: Scores, *, each: int, most: int) -> Chosen:
    """Return which of `n` screenshots are shown: of each criterion the `each` best, `most` in all.

    Without scores all are shown. The last screenshot is always shown for the outcome; above the cap the least
    relevant go first, and the earliest of them.
    """
    own = {one.id: _best(one, n, scores, each) for one in criteria}
    wanted = sorted({frame for frames in own.values() for frame in frames})
    ranked = sorted(wanted, key=lambda frame: (-_rank(frame, n, scores), -frame))
    kept = set(ranked[:most])
    return Chosen(
        together=tuple(frame for frame in wanted if frame in kept),
        by_criterion={id: tuple(frame for frame in frames if frame in kept) for id, frames in own.items()},
        n_dropped=len(wanted) - len(kept),
    )


def _best(one: Criterion, n: int, scores: Scores, each: int) -> tuple[int, ...]:
    if not scores:
        return tuple(range(n))
    relevant = [frame for frame in range(n) if scores[frame][one.id] >= 1]
    best = sorted(relevant, key=lambda frame: (-scores[frame][one.id], -frame))[:each]
    last = {n - 1} if n and one.kind == "outcome" else set()
    return tuple(sorted({*best, *last}))


def _rank(frame: int, n: int, scores: Scores) -> int:
    if frame == n - 1:
        return MOST + 1
    return max(scores[frame].values(), default=0) if scores else 0
