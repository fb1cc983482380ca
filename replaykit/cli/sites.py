"""`NAME=URL` options."""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.errors import UsageError


def parse_sites(said: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return site name to roots; a name given several times has several roots."""
    sites: dict[str, tuple[str, ...]] = {}
    for text in said:
        name, _, url = text.partition("=")
        if not name or "://" not in url:
            raise UsageError(what=f"--site: expected NAME=URL, got {text!r}")
        sites[name] = (*sites.get(name, ()), url)
    return sites
