"""Selectors that no browser accepts are reported; those that the compiler takes pass."""

from __future__ import annotations

from contextlib import suppress

import pytest

from replaykit.errors import Unsupported
from replaykit.replay.selectors.pseudo_classes import PREDICATES
from replaykit.replay.selectors.selector_cache import compile_selector
from replaykit.tasks.grammar.selectors import RECORDED, selector_fault
from tests.replay.test_css import INVALID


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        ("p[", "expected"),
        ("", "found the end"),
        (":::", ""),
        ("//div", ""),
        ("text=Pay", ""),
        ("button:has-text('Pay')", "unknown pseudo-class :has-text()"),
        ("p:visible", "unknown pseudo-class :visible"),
        ("p:not(:visible)", "unknown pseudo-class :visible"),
        ("#1st", ""),
        ("a >> b", ""),
    ],
)
def test_a_fault_is_reported(selector: str, reason: str) -> None:
    fault = selector_fault(selector)
    assert fault is not None and reason in fault.lower()


@pytest.mark.parametrize(
    "selector",
    [
        "#card", ".secret, [data-pan]", "p:not(.a, .b)", ":is(p, :unknown)", "form:has(> input[type=password])",
        "li:nth-child(2n+1 of .x)", "a:hover", "p::before", "p:first-line", "video::-webkit-media-controls", "& > p",
        "my-card", '[name="a[b]', "input:dir(rtl)", "*|a", "p/**/.x",
    ],
)  # fmt: skip
def test_what_a_browser_takes_passes(selector: str) -> None:
    assert selector_fault(selector) is None
    with suppress(Unsupported):
        compile_selector(selector)


DEEPER = (":nth-child(", ":has(:has(a))", "[a=b s]")
"""Faults that only the compiler of selectors sees."""


@pytest.mark.parametrize("selector", [one for one in INVALID if one not in DEEPER])
def test_what_no_browser_accepts_is_a_fault(selector: str) -> None:
    assert selector_fault(selector) is not None


def test_the_pseudo_classes_of_snapshots_are_those_that_are_answered() -> None:
    assert {*PREDICATES, "scope"} == RECORDED
    for name in RECORDED:
        compile_selector(f":{name}")
    with pytest.raises(Unsupported):
        compile_selector(":hover")
