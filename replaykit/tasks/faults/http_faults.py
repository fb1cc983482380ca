"""Faults of conditions on HTTP: methods, statuses, headers and URLs that no request of a browser has.

Where such a request must not exist, the condition would be kept in every run.
"""

from __future__ import annotations

from replaykit.patterns import lazy_pattern
from replaykit.tasks.faults.url_faults import address_fault, root_fault, star_fault
from replaykit.tasks.grammar.regex_reach import first_signs, match_fault, required_sign
from replaykit.tasks.network_checks import NO_RESPONSE, STATIC, STATUSES

METHODS = frozenset({
    "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD",
    "LABEL", "LINK", "LOCK", "M-SEARCH", "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF",
    "MKWORKSPACE", "MOVE", "NOTIFY", "OPTIONS", "ORDERPATCH", "PATCH", "POST", "PROPFIND", "PROPPATCH",
    "PURGE", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "SUBSCRIBE", "TRACE", "UNBIND", "UNCHECKOUT",
    "UNLINK", "UNLOCK", "UNSUBSCRIBE", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
})  # fmt: skip
"""Methods of the IANA registry, and others that common servers take."""

_USUAL = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

_HEADER = lazy_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110."""

_SCHEMES = ("http:", "https:", "ws:", "wss:", "data:", "blob:", "file:", "chrome-extension:")
"""How the URLs of requests begin."""


def method_fault(method: str) -> str:
    """Return what is wrong with an HTTP method; empty if a browser could send it."""
    if method.upper() in METHODS:
        return ""
    from difflib import get_close_matches  # for what is wrong only

    near = get_close_matches(method.strip().upper(), _USUAL, 1) or get_close_matches(
        method.upper(), METHODS, 1
    )
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_USUAL)} ..."
    return f"no request has the method {method!r}; {hint}"


def status_fault(status: int) -> str:
    """Return what is wrong with an HTTP status; empty if a response could have it."""
    if status in STATUSES or status == NO_RESPONSE:
        return ""
    return f"no response has the status {status}: it is a number from 100 to 999, or -1 for no response"


def header_fault(name: str) -> str:
    """Return what is wrong with the name of a header; empty if a request could have it."""
    if _HEADER.fullmatch(name):
        return ""
    return f"no request has a header {name!r}: give its name only, such as content-type"


def request_url_fault(url: str, *, is_pattern: bool) -> str:
    """Return why no request goes to a URL, or to one that an expression matches; empty if one could."""
    return _pattern_fault(url) if is_pattern else _plain_fault(url)


def _plain_fault(url: str) -> str:
    if fault := star_fault(url) or address_fault(url):
        return fault
    path = url.partition("#")[0].partition("?")[0].partition(";")[0]
    ending = next((one for one in STATIC if path.endswith(one)), "")
    if ending:
        return f"requests for static files ({ending}) are left out: no request would ever match {url!r}"
    if not url.startswith("__") and not url.strip().lower().startswith(_SCHEMES):
        return f"no request goes to {url!r}: begin with http:// or https://, or a site such as __SHOP__"
    return ""


def _pattern_fault(pattern: str) -> str:
    if unsafe := match_fault(pattern):
        return unsafe[1]
    if fault := root_fault(pattern.removeprefix("^")):
        return fault
    begun = first_signs(pattern)
    if begun is not None and not _begins_request(*begun):
        return (
            f"no request goes to a URL that begins with {begun[0]!r}: an expression sees the whole URL; "
            "begin with `^.*/`, ^https?:// or a site such as ^__SHOP__"
        )
    if sign := required_sign(pattern, "?#"):
        part = "query_params" if sign == "?" else "no expression"
        return f"an expression sees the URL up to the query, which has no `{sign}`: use {part} for the rest"
    return ""


def _begins_request(signs: str, is_whole: bool) -> bool:
    if signs.startswith("__"):
        return True
    known = any(signs.startswith(scheme) for scheme in _SCHEMES)
    return known or (not is_whole and any(scheme.startswith(signs) for scheme in _SCHEMES))
