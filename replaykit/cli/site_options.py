"""`NAME=URL` options."""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.errors import UsageError


def check_server(url: str | None) -> None:
    """Raise UsageError for a `--judge-base-url` that no request can go to."""
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(what=f"--judge-base-url: expected http://... or https://..., got {url!r}")


def parse_sites(said: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return site name to roots; a name given several times has several roots."""
    sites: dict[str, tuple[str, ...]] = {}
    for text in said:
        name, _, url = text.partition("=")
        if not name or "://" not in url:
            raise UsageError(what=f"--site: expected NAME=URL, got {text!r}")
        sites[name] = (*sites.get(name, ()), url)
    return sites
