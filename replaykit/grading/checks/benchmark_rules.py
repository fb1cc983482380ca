"""How the benchmarks' own code grades, where it differs: one entry for each dialect, for compat mode."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from replaykit.grading.values.normal_form import clean
from replaykit.grading.values.tokens import tokens
from replaykit.grading.values.urls import peer_matches
from replaykit.tasks.checks import OR
from replaykit.tasks.dialect import Dialect

EXACT = "EXACT"
PREDICTED = "GOLD in PRED"
"""The rules for URLs that a record may name (`url_note`)."""

NOTHING = "nothing"
"""A requirement that is named and demands nothing: an empty list."""

PLAIN = ("exact_match", "must_include", NOTHING)
"""The requirements on a page that every dialect knows."""

_LENIENT = 1e-8
_OPERATORS: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
    ("<=", lambda one, other: one <= other + _LENIENT),
    (">=", lambda one, other: one >= other - _LENIENT),
    ("==", lambda one, other: abs(one - other) <= _LENIENT),
    ("<", lambda one, other: one < other + _LENIENT),
    (">", lambda one, other: one > other - _LENIENT),
)


class PeerRaises(Exception):
    """Raised where the benchmark's code would raise."""


class BenchmarkRules(Struct, frozen=True, kw_only=True):
    """Differences of one benchmark's code from WebArena's."""

    name: str
    """As results name it, with the revision that is reproduced: `webarena@f62e0b9`."""
    requirements: tuple[str, ...] = PLAIN
    """Requirements on a page that it knows; where a target has none of them, it raises."""
    has_all_requirements: bool = False
    """All requirements of a target count, and not only the first kind."""
    fuzzy: Literal["list", "text", "joined"] = "list"
    """How references for a model are written: a list, one text of alternatives, a list asked as one."""
    is_word_wise: bool = False
    """A part of one word must be a whole word, texts are not stripped, and URLs have notes of their own."""
    alternatives: str = r" \|OR\| "
    """Expression between alternatives of a part on a page."""
    is_unescaped: bool = False
    """HTML escapes in what is read from a page are undone."""
    is_url_decoded: bool = False
    """URLs are compared without percent-encoding."""
    has_functions: bool = False
    """Locators may be `lambda:` scripts, and what calls return keeps its type."""
    has_xpath: bool = False
    """Locators may be XPath."""
    has_tabs: bool = False
    """Each target is looked at in a tab of its own, so that none moves the page of the next."""
    is_raising_failure: bool = False
    """An exception of the code counts as a failure."""
    has_raw_reward: bool = False
    """Success is the raw reward of the page's script."""

    def cleaned(self, text: str) -> str:
        """Return a text as it is compared."""
        if not self.is_word_wise:
            return clean(text)
        for quote in "'\"":
            if text.startswith(quote) and text.endswith(quote):
                return text[1:-1].lower()
        return text.lower()

    def includes(self, reference: str, text: str, *, is_only: bool) -> bool:
        """Return whether the answer holds a part: a word, where the reference is taken for one."""
        if self.is_word_wise:
            return any(self._has_word(part, text) for part in reference.split(OR))
        part, whole = self.cleaned(reference), self.cleaned(text)
        if is_only and len(part) == 1 and len(tokens(part)) == 1:
            return part in tokens(whole)
        return part in whole

    def excludes(self, reference: str, text: str) -> bool:
        """Return whether the answer is free of a part."""
        if self.is_word_wise:
            return not self._has_word(reference, text)
        return self.cleaned(reference) not in self.cleaned(text)

    def contains(self, reference: str, text: str) -> bool:
        """Return whether a page's text holds one of the alternatives of a part."""
        if self.is_word_wise:
            return self.includes(reference, text, is_only=False)
        parts = re.split(self.alternatives, reference)
        return any(self.cleaned(part) in self.cleaned(text) for part in parts)

    def url_matches(self, reference: str, found: str, note: str | None) -> bool:
        """Compare a URL. Raises ValueError and `PeerRaises` where the benchmark's code does."""
        if self.is_word_wise:
            return _visual_url(reference, found, EXACT if note is None else note)
        if note not in (None, PREDICTED):
            raise PeerRaises(f"url_note is {PREDICTED}")
        return peer_matches(reference, found, is_decoded=self.is_url_decoded)

    def _has_word(self, reference: str, text: str) -> bool:
        part, whole = self.cleaned(reference), self.cleaned(text)
        return part in (tokens(whole) if len(tokens(part)) == 1 else whole)


WEBARENA = BenchmarkRules(name="webarena@f62e0b9", is_unescaped=True)

VERIFIED = BenchmarkRules(name="webarena-verified@6473f72")

_STWAB = BenchmarkRules(
    name="stwab@67f56dd",
    requirements=(*PLAIN, "not_empty"),
    has_all_requirements=True,
    alternatives=r" \|(?:OR|or)\| ",
    is_unescaped=True,
    is_url_decoded=True,
    has_xpath=True,
    has_tabs=True,
    is_raising_failure=True,
)

RULES: dict[Dialect, BenchmarkRules] = {
    "webarena": WEBARENA,
    "webarena-lite": BenchmarkRules(
        name="webarena-lite", requirements=(*PLAIN, "fuzzy_match"), fuzzy="joined", has_functions=True
    ),
    "webarena-verified": VERIFIED,
    "vwa": BenchmarkRules(
        name="vwa@89f5af2",
        requirements=(*PLAIN, "must_exclude", "required_values", "fuzzy_match"),
        fuzzy="text",
        is_word_wise=True,
        has_functions=True,
    ),
    "miniwob": BenchmarkRules(name="miniwob", has_raw_reward=True),
    "stwab": _STWAB,
    "stwebagentbench": _STWAB,
}
"""Dialect of a task to the rules of its benchmark; `native` has none."""


def fulfils(required: str, value: Any) -> bool:
    """Return whether a number fulfils one of the alternatives of an inequality (`< 700 |OR| == 0`).

    A text has to be a whole number. Raises `PeerRaises` for what is no inequality.
    """
    number = _whole(value) if isinstance(value, str) else value
    if not isinstance(number, int | float):
        return False
    results = [_compares(part, float(number)) for part in required.split(OR)]
    return any(results)


def _whole(text: str) -> int | None:
    bare = text.replace(",", "").strip()
    return int(bare) if re.fullmatch(r"[+-]?\d{1,300}(?:_\d{1,300})*", bare) else None


def _compares(inequality: str, number: float) -> bool:
    for operator, holds in _OPERATORS:
        if operator in inequality:
            try:
                _, limit = inequality.split(operator)
                return holds(number, float(limit.strip()))
            except ValueError as error:
                raise PeerRaises(f"no number in {inequality!r}") from error
    raise PeerRaises(f"no inequality: {inequality!r}")


def _visual_url(reference: str, found: str, note: str) -> bool:
    url = _local(found)
    alternatives = [_local(part) for part in reference.split(OR)]
    if note == EXACT:
        return url in alternatives
    if note == PREDICTED:
        return any(part in url for part in alternatives)
    raise PeerRaises(f"url_note is {EXACT} or {PREDICTED}")


def _local(url: str) -> str:
    return url.replace("localhost", "127.0.0.1").removesuffix("/")
