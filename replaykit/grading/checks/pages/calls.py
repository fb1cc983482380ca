"""Calls in WebArena's targets (`func:NAME(...)`): parsed, never evaluated."""

from __future__ import annotations

import re

from msgspec import Struct

from replaykit.grading.checks.pages.api_calls import API_CALLS, ApiError, ApiMissing, api_answer
from replaykit.grading.checks.pages.page_calls import PAGE_CALLS, page_answer, peer_default
from replaykit.grading.checks.requirement import Ruling, error, undecided
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.tasks.dialect import Mode
from replaykit.trajectory.observation import Read

PREFIX = "func:"
"""Prefix of a call."""

POST_URL = "reddit_get_post_url"
"""The only helper that needs nothing but its argument."""

PAGE = "__page__"
"""Argument that stands for the page."""

_CALL = lazy_pattern(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*", re.DOTALL)
_ARGUMENTS = lazy_pattern(
    r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(__page__))\s*(?:,|$)", re.DOTALL
)
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)


class ParsedCall(Struct, frozen=True, kw_only=True):
    """A parsed call."""

    name: str
    """Of a helper, or unknown."""
    arguments: tuple[str, ...]
    """Texts; `__page__` stands for the page."""


def is_call(text: str) -> bool:
    """Return whether a target's url or locator is a call."""
    return text.startswith(PREFIX)


def parse_call(text: str, last_url: str) -> ParsedCall | None:
    """Parse `func:NAME('text', __page__)`, `__last_url__` replaced; None for anything else."""
    source = text.split(PREFIX)[1].replace("__last_url__", last_url)
    found = _CALL.fullmatch(source)
    arguments = _arguments(found[2]) if found else None
    return ParsedCall(name=found[1], arguments=arguments) if found and arguments is not None else None


def reads_page(call: ParsedCall | None) -> bool:
    """Return whether a call is one that a page answers: the page is its first argument."""
    return call is not None and call.name in PAGE_CALLS and call.arguments[:1] == (PAGE,)


def page_read(call: ParsedCall, source: str, dom: Dom, mode: Mode) -> Read:
    """Answer a call on a page; where the page lacks it, as the benchmark does or, strictly, with null.

    Raises `Unsupported` and `LocatorLimit`.
    """
    found = page_answer(call.name, call.arguments[1:], dom)
    if found is None and mode == "compat":
        found = peer_default(call.name)
    return _read(source, found)


def unknown_helper(text: str) -> str | None:
    """Return what is wrong with a target's url or locator if it calls a helper that does not exist."""
    call = parse_call(text, "") if is_call(text) else None
    known = (POST_URL, *API_CALLS, *PAGE_CALLS)
    if not is_call(text) or (call is not None and call.name in known):
        return None
    return f"it calls no known helper; there are {', '.join(known)}"


def api_read(call: ParsedCall | None, source: str, replay: Replay, phase: str) -> Read | Ruling:
    """Answer a call that needs no page from the recorded replies of an API."""
    if call is None or call.name not in API_CALLS:
        return error("unknown_helper", f"there are {', '.join((POST_URL, *API_CALLS, *PAGE_CALLS))}")
    try:
        return _read(source, api_answer(call.name, call.arguments, replay, phase))
    except ApiMissing as missing:
        return undecided("not_recorded", str(missing))
    except ApiError as fault:
        return error("peer_exception", str(fault))


def _read(source: str, found: str | int | float | None) -> Read:
    kind = "null" if found is None else "string" if isinstance(found, str) else "number"
    return Read(locator=source, kind=kind, value=found)


def _arguments(text: str) -> tuple[str, ...] | None:
    found: list[str] = []
    at = 0
    while text[at:].strip():
        match = _ARGUMENTS.match(text, at)
        if match is None:
            return None
        quoted = match[1] if match[1] is not None else match[2]
        found.append(match[3] if quoted is None else _ESCAPE.sub(r"\1", quoted))
        at = match.end()
    return tuple(found)
