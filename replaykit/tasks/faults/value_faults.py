"""Faults of what checks and policies both name: selectors, locators, expected values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.tasks.checks import OR, Expect, texts
from replaykit.tasks.faults.text_faults import is_expression, is_list
from replaykit.tasks.grammar import xpath_grammar
from replaykit.tasks.grammar.letters import is_blank
from replaykit.tasks.grammar.locator_grammar import parse
from replaykit.tasks.grammar.regex_reach import condition_fault
from replaykit.tasks.site_api import is_api_call

_CALL = "func:"

_QUERIED = lazy_pattern(r"querySelector(?:All)?\(\s*(['\"`])(.*?)\1\s*\)", re.DOTALL)
"""The CSS that a script looks for."""


@lru_cache(maxsize=1024)
def bad_selector(css: str) -> str:
    """Return what is wrong with a selector or path; empty where nothing is."""
    # Most policies name no selector, and the parser of CSS takes longer to load than they to grade.
    from cssselect2.parser import SelectorError
    from cssselect2.parser import parse as parsed

    from replaykit.tasks.grammar.selectors import plain_words, selector_fault

    try:
        if xpath_grammar.is_xpath(css):
            xpath_grammar.parse(css)
            return ""
        if not list(parsed(css)):
            return "an empty selector matches nothing"
        fault = selector_fault(css)
        return "" if fault is None else f"not a CSS selector: {css!r}: {fault}"
    except SelectorError as error:
        return f"not a CSS selector: {css!r}: {plain_words(error)}"
    except (Unsupported, LocatorLimit) as error:
        return str(error)


def selected_fault(selector: str) -> str:
    """Return what is wrong with a selector that is to find an element; empty where nothing is."""
    reason = bad_selector(selector)
    if reason or "::" not in selector or xpath_grammar.is_xpath(selector):
        return reason
    from cssselect2.parser import parse as parsed

    found = [one.pseudo_element for one in parsed(selector) if one.pseudo_element]
    return f"::{found[0]} is no element, so {selector!r} selects none" if found else ""


def locator_faults(locator: str) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with a locator, and whether it is an error: only a live page answers the others."""
    plain = locator.strip()
    if not plain or is_api_call(plain) or plain.startswith(_CALL):
        return
    try:
        if xpath_grammar.is_xpath(plain):
            xpath_grammar.parse(plain)
        else:
            parse(plain.removeprefix("lambda:"))
    except LocatorLimit as error:
        yield str(error), True
    except Unsupported as error:
        yield f"only a live page answers it: {error.fields['reason']}", False
    for _, css in _QUERIED.findall(plain):
        if "\\" not in css and (reason := bad_selector(css)):
            yield reason, True


def expect_faults(expect: Expect) -> Iterator[tuple[str, str]]:
    """Yield place and message of what no value can be compared with."""
    parts = {kind: texts(getattr(expect, kind)) for kind in ("contains", "any_of", "all_of", "excludes")}
    if expect.equals is None and expect.regex is None and not expect.not_empty and not any(parts.values()):
        yield "", "no operator is given: use equals, contains, not_empty ..."
    for kind, references in parts.items():
        fault_of = excluded_fault if kind == "excludes" else included_fault
        faults = map(fault_of, references)
        yield from ((f".{kind}[{number}]", fault) for number, fault in enumerate(faults) if fault)
    if expect.regex is not None and (fault := condition_fault(expect.regex)):
        yield ".regex", fault[1]


def included_fault(reference: str) -> str:
    """Return why every text or no text would hold a reference; empty if neither."""
    blank = "an empty reference is in every text" if has_blank_alternative(reference) else ""
    return blank or separator_fault(reference)


@lru_cache(maxsize=1024)
def excluded_fault(reference: str) -> str:
    """Return why every text or no text would hold a reference that must not occur; empty if neither."""
    if any(is_expression(part.strip()) for part in reference.split(OR)):
        return f"{reference!r} is an expression, and is compared as a text: no text would hold it"
    if any(is_list(part.strip()) for part in reference.split(OR)):
        return f"{reference!r} is compared as one text: write ` |OR| ` between texts"
    return included_fault(reference)


def separator_fault(reference: str) -> str:
    """Return what is wrong with how the alternatives of a reference are separated; empty if nothing is."""
    found = _ALMOST_OR.search(reference.replace(OR, "\0"))
    return f"write ` |OR| ` between alternatives, not {found[0]!r}" if found else ""


_ALMOST_OR = lazy_pattern(r"\s?\|\s*or\s*\|\s?|\s\|\|\s", re.IGNORECASE)


def has_blank_alternative(reference: str) -> bool:
    """Whether one of the alternatives of a reference is empty to a reader."""
    return any(is_blank(part) for part in reference.split(OR))
