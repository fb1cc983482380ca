"""Faults of URL terms in policies: what names nothing, what no URL can meet, and lists in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from replaykit.patterns import lazy_pattern
from replaykit.tasks.faults.url_faults import pattern_in, root_fault
from replaykit.tasks.grammar.letters import is_blank
from replaykit.tasks.grammar.regex_reach import condition_fault, first_signs
from replaykit.tasks.policy_rules import Url, UrlTerm

_FILE_FIRST = lazy_pattern(r"[^/?#:]+\.(?:php|html?|aspx?|jspx?|cgi|cfm)(?=/)", re.IGNORECASE)
"""A name of a page, with more path after it: as a host nothing would ever be there."""

_WITHOUT_COLON = lazy_pattern(r"(https?|wss?)/", re.IGNORECASE)
"""A scheme whose colon is missing: it would be a segment of a path."""

_SCHEME = lazy_pattern(r"[a-z][a-z0-9+.-]*:")


class UrlTermFault(NamedTuple):
    """One fault."""

    path: str
    """Where it is: `$[0].rule.deny[1].path`."""
    code: str
    """`empty_url_term bad_url_term bad_url_part ...`."""
    message: str
    """For people."""


def url_term_faults(terms: Sequence[UrlTerm], at: str) -> Iterator[UrlTermFault]:
    """Yield what is wrong with each of these terms; `at` is their place in the file."""
    for number, term in enumerate(terms):
        place = f"{at}[{number}]"
        if not isinstance(term, Url):
            yield from (UrlTermFault(place, *fault) for fault in _term_faults(term))
            continue
        if term == Url():
            yield UrlTermFault(place, "empty_url_term", "no part is given")
        if term.regex is not None:
            yield from _url_regex(term.regex, f"{place}.regex")
        yield from _stars(term, place)
        yield from _parts(term, place)
        yield from _query(term.query, f"{place}.query")


def _term_faults(term: str) -> Iterator[tuple[str, str]]:
    """Yield code and message of what is wrong with a URL term: the first that is found."""
    if found := _FILE_FIRST.match(term):
        yield (
            "ambiguous_url_term",
            f"{found[0]!r} may be a host or a file: write /{term} for a path, https://{term} for a host",
        )
    elif _names_nothing(term):
        yield "empty_url_term", f"{term!r} names no host, segment, query or fragment"
    elif term.strip().startswith("*/") and term.strip("/* "):
        path = f"/{term.strip().lstrip('*/')}"
        yield "bad_url_term", f"{term!r} begins with any one segment: write {path} for a path of every host"
    elif reason := pattern_in(term) or root_fault(term):
        yield "bad_url_term", reason
    elif found := _WITHOUT_COLON.match(term.strip()):
        yield "bad_url_term", f"{term!r} is no URL: write {found[1]}://"


def _names_nothing(term: str) -> bool:
    plain = re.sub(r"^[a-z][a-z0-9+.-]*://", "", term.strip(), flags=re.IGNORECASE)
    return is_blank(re.sub(r"[/?#=&.:*!\s]", "", plain))


def _url_regex(pattern: str, at: str) -> Iterator[UrlTermFault]:
    fault = condition_fault(pattern)
    begun = first_signs(pattern) if fault is None else None
    if begun is not None and not begins_url(*begun):
        fault = "bad_regex", f"no URL begins with {begun[0]!r}: an expression sees the whole URL"
    if fault is not None:
        yield UrlTermFault(at, *fault)


def begins_url(signs: str, is_whole: bool) -> bool:
    """Whether a URL may begin with these signs."""
    if is_whole or ":" in signs:
        return _SCHEME.match(signs) is not None or signs.startswith("__")
    return not signs or signs[0].isalpha() or signs.startswith("__")


def _stars(term: Url, at: str) -> Iterator[UrlTermFault]:
    for name in ("equals", "contains"):
        if "*" in (getattr(term, name) or ""):
            reason = f"{name} takes `*` for no wildcard: use host, path or regex, or write %2A"
            yield UrlTermFault(f"{at}.{name}", "wildcard_in_text", reason)


def _parts(term: Url, at: str) -> Iterator[UrlTermFault]:
    for name, signs in (("host", "/?#@"), ("path", "?#"), ("fragment", ""), ("equals", ""), ("contains", "")):
        value = getattr(term, name)
        if value is None:
            continue
        if any(sign in value for sign in signs):
            reason = (
                f"{value!r} is more than a {name}: write the whole as a term, or query and fragment apart"
            )
            yield UrlTermFault(f"{at}.{name}", "bad_url_part", reason)
        elif is_blank(value) or (name != "contains" and _names_nothing(value)):
            yield UrlTermFault(f"{at}.{name}", "empty_url_term", f"{value!r} names nothing")
        elif reason := pattern_in(value):
            yield UrlTermFault(f"{at}.{name}", "bad_url_part", reason)
        elif name == "equals" and value.startswith(("/", "?", "#")):
            yield UrlTermFault(
                f"{at}.equals", "bad_url_part", f"{value!r} is no whole URL: use path, or a term"
            )


def _query(query: Mapping[str, str | tuple[str, ...]], at: str) -> Iterator[UrlTermFault]:
    for name, values in query.items():
        if values == ():
            yield UrlTermFault(f"{at}.{name}", "empty_url_term", "no value is given: no query would match")
