"""The table of kinds and causes of navigations."""

from __future__ import annotations

import pytest

from replaykit.recorder.session.navigation.initiator import Sign, origin


def sign(**facts: object) -> Sign:
    return Sign(**{"type": "differentDocument", **facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("signs", "kind", "untouched", "touched"),
    [
        ({}, "goto", "agent", "agent"),
        ({"type": "historyDifferentDocument", "direction": "back"}, "back", "agent", "step"),
        ({"type": "historySameDocument", "direction": "forward"}, "forward", "agent", "step"),
        ({"type": "historyDifferentDocument"}, "unknown", "agent", "step"),
        ({"type": "reload"}, "reload", "agent", "agent"),
        ({"type": "reloadBypassingCache"}, "reload", "agent", "agent"),
        ({"type": "reload", "reason": "reload"}, "reload", "script", "script"),
        ({"reason": "anchorClick"}, "link", "script", "step"),
        ({"reason": "formSubmissionGet"}, "form", "script", "step"),
        ({"reason": "formSubmissionPost"}, "form", "script", "step"),
        ({"reason": "scriptInitiated"}, "script", "script", "step"),
        ({"reason": "metaTagRefresh"}, "refresh", "script", "step"),
        ({"reason": "httpHeaderRefresh"}, "refresh", "script", "step"),
        ({"reason": "somethingNew"}, "unknown", "script", "step"),
        ({"type": None, "within": "historyApi"}, "push", "script", "step"),
        ({"type": None, "within": "fragment"}, "fragment", "script", "step"),
        ({"type": "sameDocument", "within": "fragment"}, "goto", "agent", "agent"),
        ({"is_popup": True}, "popup", "script", "step"),
        ({"is_popup": True, "reason": "scriptInitiated"}, "popup", "script", "step"),
    ],
)
def test_kind_and_cause(signs: dict[str, object], kind: str, untouched: str, touched: str) -> None:
    alone, after = origin(sign(**signs)), origin(sign(**signs, is_touched=True, is_touched_here=True))
    assert (alone.kind, after.kind) == (kind, kind)
    assert (alone.cause, after.cause) == (untouched, touched)


def test_the_pages_own_back_button_is_ambiguous() -> None:
    back = {"type": "historyDifferentDocument", "direction": "back"}
    assert origin(sign(**back, is_touched=True, is_touched_here=True)).is_ambiguous
    assert not origin(sign(**back)).is_ambiguous


def test_a_gesture_on_the_page_before_does_not_go_back() -> None:
    back = {"type": "historyDifferentDocument", "direction": "back"}
    assert origin(sign(**back, is_touched=True)).cause == "agent"


def test_a_move_that_somebody_outside_asked_for_is_the_agents() -> None:
    back = {"type": "historySameDocument", "direction": "back", "is_touched": True, "is_touched_here": True}
    found = origin(sign(**back, is_asked=True))
    assert (found.kind, found.cause, found.is_ambiguous) == ("back", "agent", False)


@pytest.mark.parametrize(("is_touched", "cause"), [(True, "step"), (False, "script")])
def test_a_move_that_is_certainly_the_pages_own_is_not_the_agents(is_touched: bool, cause: str) -> None:
    found = origin(
        sign(type="historyDifferentDocument", direction="back", is_touched=is_touched, is_own=True)
    )
    assert (found.kind, found.cause, found.is_ambiguous) == ("back", cause, False)


def test_asking_makes_no_link_the_agents() -> None:
    assert origin(sign(reason="anchorClick", is_touched=True, is_asked=True)).cause == "step"
