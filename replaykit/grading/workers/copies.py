"""Copies of one bundle: models are asked about a run once, whatever its files are called."""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.bundle.reader import open_bundle
from replaykit.errors import ReplaykitError
from replaykit.grading.judges.tape.tape import tape_beside


def distinct(sources: Iterable[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return one source for each content, one with a tape before one without, and the others by it."""
    by_digest: dict[str, list[str]] = {}
    for source in sources:
        by_digest.setdefault(_digest(source), []).append(source)
    ordered = [
        sorted(same, key=lambda source: not tape_beside(source).exists()) for same in by_digest.values()
    ]
    return [same[0] for same in ordered], {same[0]: same[1:] for same in ordered if len(same) > 1}


def _digest(source: str) -> str:
    """Return the digest of a bundle; of one that cannot be read its own name: it is nobody's copy."""
    try:
        with open_bundle(source) as bundle:
            return bundle.digest
    except ReplaykitError:
        return source
