"""Regular expressions tried on recorded texts: refused where a text could keep them busy forever."""

from __future__ import annotations

from functools import lru_cache

from replaykit.tasks.grammar.regex_matcher import Matcher, matcher
from replaykit.tasks.grammar.regex_matcher import RegexRefused as RegexRefused
from replaykit.tasks.grammar.regexes import regex_fault

TEXT_MAX = 16_384
"""Characters of a text that an expression is tried on."""


def is_broken(pattern: str) -> bool:
    """Return whether an expression does not compile."""
    fault = regex_fault(pattern)
    return fault is not None and fault[0] == "bad_regex"


def full_match(pattern: str, text: str, flags: int = 0) -> bool:
    """Return whether an expression matches a whole text; one that does not compile matches nothing.

    Raises `RegexRefused` for what could take exponential time, and for texts too long to be tried.
    """
    expression = _for_text(pattern, text, flags)
    return expression is not None and expression.fullmatch(text)


def start_match(pattern: str, text: str) -> bool:
    """Return whether an expression matches from a text's beginning; raises as `full_match`."""
    expression = _for_text(pattern, text, 0)
    return expression is not None and expression.match(text)


def found_in(pattern: str, text: str, flags: int = 0) -> bool:
    """Return whether an expression matches anywhere; raises as `full_match`."""
    expression = _for_text(pattern, text, flags)
    return expression is not None and expression.search(text) is not None


def _for_text(pattern: str, text: str, flags: int) -> Matcher | None:
    expression = _compiled(pattern, flags)
    if expression is not None and len(text) > TEXT_MAX:
        raise RegexRefused(f"a text of {len(text)} characters")
    return expression


@lru_cache(maxsize=1024)
def _compiled(pattern: str, flags: int) -> Matcher | None:
    fault = regex_fault(pattern)
    if fault is None:
        return matcher(pattern, flags)
    if fault[0] == "bad_regex":
        return None
    raise RegexRefused(fault[1])
