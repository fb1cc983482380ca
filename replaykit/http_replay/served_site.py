"""Which of a run's sites is served: its origins, and where in them its root is."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.step import Trajectory

_PORTS = {"http": 80, "https": 443}


class Site(Struct, frozen=True, kw_only=True):
    """The site that is served."""

    name: str
    """Name in the header of the story, or the origin itself."""
    origins: frozenset[str]
    """Lower-case `scheme://host:port`, every root of the site."""
    root: str
    """Path of the first root, without a slash at its end."""

    def target(self, url: str) -> str | None:
        """Return path and query of a URL of the site; None for any other."""
        parts = split(url)
        if parts is None or origin(parts) not in self.origins:
            return None
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def choose(run: Trajectory, wanted: str | None) -> Site:
    """Return the site to serve: the one that is named, or the only one there is. Raises UsageError."""
    sites = run.header.sites or _visited(run)
    if wanted is None and len(sites) == 1:
        wanted = next(iter(sites))
    if wanted in sites:
        return _site(str(wanted), tuple(sites[str(wanted)]))
    if wanted is not None and "://" in wanted:
        return _site(wanted, (wanted,))
    known = ", ".join(sorted(sites)) or "none"
    what = "the run has no single site" if wanted is None else f"the run has no site {wanted!r}"
    raise UsageError(
        what=f"{what} to serve; found: {known}. Name one of them, or an origin (http://host:port)"
    )


def origin(parts: SplitResult) -> str:
    """Return scheme, host and port; the port of the scheme where none is written."""
    # `http://a` and `http://a:80` are one origin.
    port = parts.port or _PORTS.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname}:{port}"


def split(url: str) -> SplitResult | None:
    """Take a URL apart; None for one that is malformed."""
    try:
        parts = urlsplit(url)
        # Parsed when asked for: only this raises for a port that is no number.
        _ = parts.port
    except ValueError:
        return None
    return parts


def _site(name: str, roots: tuple[str, ...]) -> Site:
    parts = [part for part in map(split, roots) if part is not None and part.hostname]
    if not parts:
        raise UsageError(what=f"the site {name!r} has no root that is a URL: {', '.join(roots) or 'none'}")
    return Site(name=name, origins=frozenset(map(origin, parts)), root=parts[0].path.rstrip("/"))


def _visited(run: Trajectory) -> dict[str, tuple[str, ...]]:
    """Return the origins of the agent's documents, for runs whose header names no site."""
    pages = (one.url for one in run.of_type(Exchange) if one.resource == "document" and one.actor != "probe")
    # Pages such as `about:blank` have no server.
    found = [parts for parts in map(split, pages) if parts is not None and parts.scheme in _PORTS]
    return {name: (name,) for name in dict.fromkeys(map(origin, found))}
