"""Calls in WebArena's targets (`func:NAME(...)`): parsed, never evaluated."""

from __future__ import annotations

import re

from msgspec import Struct

from replaykit.grading.checks.item import Ruling, error, undecided

PREFIX = "func:"
"""What marks a call."""

POST_URL = "reddit_get_post_url"
"""The only helper that needs nothing but its argument."""

NEEDS = {
    POST_URL: "pure",
    "gitlab_get_project_memeber_role": "page",
    "shopping_get_latest_order_url": "api",
    "shopping_get_sku_latest_review_author": "api",
    "shopping_get_sku_latest_review_rating": "api",
}
"""Helper to what it reads (names as upstream spells them)."""

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*", re.DOTALL)
_ARGUMENTS = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(__page__))\s*(?:,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Call(Struct, frozen=True, kw_only=True):
    """A parsed call."""

    name: str
    """One of `NEEDS`, or unknown."""
    arguments: tuple[str, ...]
    """Texts; `__page__` stands for the page."""


def is_call(text: str) -> bool:
    """Say whether a target's url or locator is a call."""
    return text.startswith(PREFIX)


def parse_call(text: str, last_url: str) -> Call | None:
    """Parse `func:NAME('text', __page__)`, `__last_url__` replaced; None for anything else."""
    source = text.split(PREFIX)[1].replace("__last_url__", last_url)
    found = _CALL.fullmatch(source)
    arguments = _arguments(found[2]) if found else None
    return Call(name=found[1], arguments=arguments) if found and arguments is not None else None


def cannot_answer(call: Call | None, source: str) -> Ruling:
    """Rule on a call whose answer is not in the bundle."""
    if call is None or call.name not in NEEDS:
        return error("unknown_helper", f"there are {', '.join(NEEDS)}")
    need = f"api:{call.name}" if NEEDS[call.name] == "api" else f"probe:{source}"
    return undecided("not_recorded", need)


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
