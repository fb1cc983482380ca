"""Findings in forms, and of contradicted answers: for each code a run that fires and one that comes near."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.grading.findings.detection import findings_of
from replaykit.grading.verdict import Judgement, JudgeOutcome, RunFinding
from replaykit.replay.player import Replay
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder
from replaykit.trajectory.action import Element, Fill
from tests.grading.judges.conftest import Recorded

SHOP = "http://shop.test/"
FORM = "<form><label>Phone <input id=f></label><button id=a>Send</button></form>"
ERROR = FORM + "<p>Something went wrong</p>"


def of_code(code: str, built: Builder, **options: Any) -> list[RunFinding]:
    return [one for one in findings_of(Replay(Recorded(built)), **options) if one.code == code]


def filled(*pairs: tuple[str, str | None]) -> Builder:
    built = trajectory().goto(SHOP, FORM)
    for value, after in pairs:
        built.step(Fill(element=Element(css="#f", tag="input"), value=value, value_after=after)).see(FORM)
    return built.answer("ok")


def test_a_field_that_kept_another_value() -> None:
    (one,) = of_code("D1", filled(("5551234", "555")))
    assert (one.step, one.severity, one.recovered) == (1, "fails", False)
    assert one.evidence[0].note == "the field holds '555'"


@pytest.mark.parametrize(
    "pair",
    [
        ("5551234", "(555) 12-34"), ("Berlin", "berlin, Germany"), ("5551234", None), ("", "555"), ("--", "555"),
        ("⟦secret:a⟧", "555"), ("5551234", "⟦secret:a⟧"),
    ],
)  # fmt: skip
def test_a_field_that_kept_it(pair: tuple[str, str | None]) -> None:
    assert of_code("D1", filled(pair)) == []


def test_a_field_that_is_filled_again() -> None:
    assert [one.recovered for one in of_code("D1", filled(("5551234", "555"), ("5551234", "5551234")))] == [
        True
    ]
    assert [one.recovered for one in of_code("D1", filled(("5551234", "555"), ("77", "555")))] == [
        False,
        False,
    ]


def after_error(*pages: str, html: str = ERROR) -> Builder:
    """Send a form, which shows a page, then click on these pages, one after the other."""
    built = trajectory().goto(SHOP, FORM).click("#a", html)
    for page in pages:
        built.goto(SHOP + page, FORM) if page else built.click("#a", html)
    return built.answer("ok")


def test_an_error_that_was_passed_over() -> None:
    (one,) = of_code("E6", after_error("x", "y", "z", "w"))
    assert (one.step, one.severity, one.recovered) == (1, "fails", False)
    assert one.evidence[0].excerpt == "something went wrong"


@pytest.mark.parametrize(
    "built",
    [
        after_error("x", "y", "z", "w", html=FORM),  # no error
        after_error("", "x", "y", "z"),  # the form again
        after_error("x", "y"),  # the run ended
    ],
)
def test_an_error_that_was_attended_to(built: Builder) -> None:
    assert of_code("E6", built) == []


def claim(finding: str, of: str = "answer") -> Judgement:
    evidence = [{"source": "page", "step": 1}]
    row = {
        "id": "c1", "of": of, "quote": "It is 42", "key": True, "finding": finding, "reason": "other_value",
        "predicates": [{"evidence": evidence}],
    }  # fmt: skip
    return Judgement(
        judge="claims", outcome=JudgeOutcome.FAILURE, reason="contradicted", fingerprint="", claims=(row,)
    )


def test_an_answer_that_is_contradicted() -> None:
    built = filled(("1", "1"))
    (one,) = of_code("D5", built, judgements=(claim("CONTRADICTED"),))
    assert (one.step, one.severity, one.evidence[0].excerpt) == (1, "fails", "It is 42")
    for near in (claim("NOT_SHOWN"), claim("CONTRADICTED", of="task")):
        assert of_code("D5", built, judgements=(near,)) == []
