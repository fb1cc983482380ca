"""Requests that a HAR file shows to be missing: by its writer's code, or by what its entries come from.

A filter that kept a request out leaves no other trace, so a file without such signs counts as whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from replaykit.interop.har.har_bodies import part
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Exchange

_FAILED, _OPEN = "requests that failed or had not ended", "requests and sockets that had not ended"
_DROPS = {
    "chrome-har": _FAILED, "browsertime": _FAILED, "sitespeed.io": _FAILED, "webkit web inspector": _FAILED,
    "mitmproxy": _OPEN, "fiddler": _OPEN,
    "selenium wire": "requests that failed or had not ended, and preflights",
    "insomnia": "requests that were not saved in it",
}  # fmt: skip
"""How the name of a writer begins, and what it leaves out."""

NO_TARGETS: Mapping[int, str] = MappingProxyType({})
"""Where entries do not say where they lead."""

_ABSOLUTE = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
"""How a URL begins; `shop.test:443` is the target of a tunnel."""

_REDIRECTS = (301, 302, 303, 307, 308)

_PORTS = {"http": 80, "https": 443}

_PAGE = lazy_pattern(r"page_(\d{1,9})\Z", re.ASCII)
"""A page of Chrome's tools, which count the pages of a tab."""


def gaps_of(
    log: Mapping[str, Any], found: Sequence[Exchange], targets: Mapping[int, str] = NO_TARGETS
) -> Iterator[str]:
    """Yield what shows that requests are missing, in words for a warning.

    `targets`: exchange id to the URL that its entry says it redirects to.
    """
    writer = str(part(log, "creator").get("name"))
    dropped = next((parts for name, parts in _DROPS.items() if writer.lower().startswith(name)), None)
    if dropped is not None:
        yield f"{writer} leaves out {dropped}"
    asked = (one.url for one in found if one.method.upper() != "CONNECT")
    if (relative := next((url for url in asked if not _ABSOLUTE.match(url)), None)) is not None:
        yield f"an entry names no host: {relative}"
    if writer == "WebInspector" and (page := _first_page(log)) > 1:
        yield f"the pages before page_{page} are not in it"
    yield from _before(found, log["entries"])
    known = {plain_url(one.url) for one in found}
    if (lost := next((url for url in _titles(log) if plain_url(url) not in known), None)) is not None:
        yield f"the request of a page that it lists is not in it: {lost}"
    if (target := next(_lost_targets(found, known, targets), None)) is not None:
        yield f"the request that a redirect led to is not in it: {target}"
    if (tunnel := next(_tunnels(found), None)) is not None:
        yield f"requests inside of a tunnel are not in it: {tunnel}"


def _titles(log: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pages of a file whose titles are URLs, as browsers' tools write them; others have words."""
    pages = log.get("pages")
    for one in pages if isinstance(pages, list) else ():
        title = one.get("title") if isinstance(one, dict) else None
        if isinstance(title, str) and title.startswith(("http://", "https://")) and " " not in title:
            yield title


def _first_page(log: Mapping[str, Any]) -> int:
    """Return the lowest number of a page; 0 where pages have none."""
    pages = log.get("pages")
    ids = (one.get("id") for one in pages if isinstance(one, dict)) if isinstance(pages, list) else ()
    matches = (_PAGE.match(id) for id in ids if isinstance(id, str))
    return min((int(one[1]) for one in matches if one), default=0)


def _before(found: Sequence[Exchange], entries: Sequence[Any]) -> Iterator[str]:
    """Yield the page from which the first request came: it was loaded before the file begins."""
    first = next((one for one in found if one.url.startswith(("http:", "https:"))), None)
    if first is None:
        return
    headers = {name.lower(): value for name, value in first.request_headers or ()}
    if referer := headers.get("referer"):
        yield f"it begins after a page that is not in it: {referer}"
    elif headers.get("sec-fetch-dest", "document") != "document" or _is_of_page(first.url, entries):
        yield f"it begins with a request of a page, and the page is not in it: {first.url}"


def _is_of_page(url: str, entries: Sequence[Any]) -> bool:
    """Whether Chrome's tools wrote that the parser or a script of a page made this request."""
    own = (one for one in entries if part(one, "request").get("url") == url)
    return any(part(one, "_initiator").get("type") in _OF_PAGES for one in own)


_OF_PAGES = ("parser", "script", "preload")


def _lost_targets(found: Sequence[Exchange], known: set[str], targets: Mapping[int, str]) -> Iterator[str]:
    for one in found:
        if one.status not in _REDIRECTS or one.redirect_to is not None:
            continue
        location = next((v for n, v in one.response_headers or () if n.lower() == "location"), "")
        target = _joined(one.url, location or targets.get(one.id, ""))
        if target.startswith(("http:", "https:")) and plain_url(target) not in known:
            yield target


def _tunnels(found: Sequence[Exchange]) -> Iterator[str]:
    """Yield where a proxy only passed on what was encrypted."""
    hosts = {_host(one.url) for one in found if one.method.upper() != "CONNECT"}
    for one in found:
        host = _host(one.url if "://" in one.url else f"//{one.url}")
        if one.method.upper() == "CONNECT" and host not in hosts:
            yield host or one.url


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _joined(url: str, target: str) -> str:
    try:
        return urljoin(url, target) if target else ""
    except ValueError:
        return ""


def plain_url(url: str) -> str:
    """Return a URL as a browser asks for it, without its fragment, so that two spellings are equal."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    shown = "" if port is None or port == _PORTS.get(parts.scheme) else f":{port}"
    return (
        f"{parts.scheme}://{parts.hostname or ''}{shown}{unquote(parts.path) or '/'}?{unquote(parts.query)}"
    )
