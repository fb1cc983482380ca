"""Service workers that were installed before the run, of sites that it visits.

The browser itself looks for updates of such a worker: it asks for its script, and for what that imports. No
client of the browser is given these requests. `own_workers.py` is about workers that the run has installed.

Own module: it is about a browser profile, which no single tab knows.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

UPDATES = "worker.updates"
"""Gap of the network: a site was visited whose service worker was installed before the run."""

SITES_MAX = 1000
"""Sites that are remembered; of later ones every worker counts as one of theirs."""


class EarlierWorkers:
    """Sites with a service worker from before the run; the browser lists them to each tab that asks."""

    def __init__(self) -> None:
        self._made: set[str] = set()
        self._made_at: set[str] = set()
        self._sites: set[str] = set()
        self._visited: set[str] = set()
        self._is_full = False

    def listed(self, registrations: list[dict[str, Any]], *, is_first: bool) -> bool:
        """Note a list of registrations; return whether a site with an earlier worker was visited.

        `is_first`: the first list that a tab is given. What comes in later ones was made meanwhile.
        """
        scopes = {one["scopeURL"] for one in registrations if not one.get("isDeleted")}
        if not is_first:
            self._made |= {scope for scope in scopes if site_of(scope) not in self._sites}
            self._made_at = {site_of(scope) for scope in self._made}
            return False
        new = {site_of(scope) for scope in scopes - self._made} - self._sites
        self._sites |= new
        return bool(new & self._visited) or (self._is_full and bool(new))

    def is_own(self, url: str) -> bool:
        """Whether the run has installed a worker of a site."""
        return site_of(url) in self._made_at

    def visited(self, url: str) -> bool:
        """Note that a document is shown; return whether it is the first one of a site with such a worker."""
        site = site_of(url)
        is_new = site not in self._visited
        if len(self._visited) < SITES_MAX:
            self._visited.add(site)
        else:
            self._is_full |= is_new
        return is_new and site in self._sites


def site_of(url: str) -> str:
    """Return scheme, host and port of an address."""
    try:
        parts = urlsplit(url.removeprefix("blob:"))
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"
