"""The table of what was said and what was seen."""

from __future__ import annotations

import pytest

from replaykit.recorder.session.action_matching import is_compatible, merge
from replaykit.trajectory.action import (
    Action,
    Answer,
    Check,
    Clear,
    Click,
    Element,
    Fill,
    GoBack,
    Goto,
    Hover,
    MouseClick,
    NodeRef,
    Press,
    Reload,
    Scroll,
    SelectOption,
    Type,
    Unknown,
    UploadFile,
    Via,
    Wait,
)

PAY = Element(tag="button", css="#pay", attributes={"id": "pay", "bid": "a51"})
CANCEL = Element(tag="button", css="#cancel", attributes={"id": "cancel", "bid": "a52"})
FIELD = Element(tag="input", css="#q", attributes={"id": "q", "bid": "a9"})


def ref(text: str) -> Element:
    return Element(ref=text)


def test_one_compatible_action_merges() -> None:
    declared, seen = Click(element=ref("a51")), Click(element=PAY, point=(5, 6), modifiers=("Shift",))
    (merged,) = merge([declared], [seen])
    assert (merged.origin, merged.declared, merged.actions, merged.seen) == ("both", None, (0,), True)
    assert merged.action.element.ref == "a51"
    assert (merged.action.element.css, merged.action.point, merged.action.modifiers) == (
        "#pay",
        (5, 6),
        ("Shift",),
    )


def test_type_and_arguments_are_as_declared() -> None:
    declared, seen = Fill(element=ref("#q"), value="mug"), Type(element=FIELD, value="mu", value_after="mug!")
    (merged,) = merge([declared], [seen])
    assert isinstance(merged.action, Fill)
    assert (merged.action.value, merged.action.value_after) == ("mug", "mug!")


def test_of_several_actions_the_first_compatible_one_merges() -> None:
    actions: list[Action] = [Scroll(dy=5, by="wheel"), Click(element=PAY), Click(element=CANCEL)]
    (merged,) = merge([Click(element=ref("a51"))], actions)
    assert (merged.origin, merged.matched, merged.actions, merged.declared) == ("both", 1, (0, 1, 2), None)


@pytest.mark.parametrize("declared", [Answer(text="42"), Wait(ms=5), Hover(element=PAY), Scroll(dy=5)])
def test_an_action_that_leaves_no_event_is_declared(declared: Action) -> None:
    (merged,) = merge([declared], [])
    assert (merged.action, merged.origin, merged.seen) == (declared, "declared", True)


@pytest.mark.parametrize("declared", [Click(element=PAY), Goto(url="http://x.test"), Press(key="Enter")])
def test_an_action_that_should_leave_one_is_not_seen(declared: Action) -> None:
    (merged,) = merge([declared], [])
    assert (merged.action, merged.origin, merged.seen) == (declared, "declared", False)


def test_a_contradiction_keeps_both() -> None:
    declared, seen = Click(element=ref("#pay")), Click(element=CANCEL)
    (merged,) = merge([declared], [seen])
    assert (merged.action, merged.declared, merged.actions, merged.origin) == (seen, declared, (0,), "both")


def test_a_contradicting_type_keeps_both() -> None:
    (merged,) = merge([Hover(element=PAY)], [Click(element=PAY)])
    assert (type(merged.action), type(merged.declared)) == (Click, Hover)


def test_scrolling_into_view_contradicts_nothing() -> None:
    (merged,) = merge([Hover(element=PAY)], [Scroll(dy=300, by="unknown")])
    assert (type(merged.action), merged.origin, merged.declared) == (Hover, "declared", None)


def test_what_could_not_be_parsed_is_what_was_seen() -> None:
    (merged,) = merge([Unknown(name="foo", raw="foo(1)")], [Click(element=PAY)])
    assert (merged.action, merged.origin, merged.declared) == (Click(element=PAY), "both", None)


def test_several_calls_match_in_order() -> None:
    declared: list[Action] = [Fill(element=ref("a9"), value="x"), Click(element=ref("a51")), Answer(text="1")]
    merged = merge(declared, [Fill(element=FIELD, value="x"), Click(element=PAY)])
    assert [(one.origin, one.actions, one.seen) for one in merged] == [
        ("both", (0,), True),
        ("both", (1,), True),
        ("declared", (), True),
    ]


def test_an_action_between_two_matches_contradicts_the_call_between() -> None:
    declared: list[Action] = [Fill(element=ref("a9"), value="x"), Click(element=ref("a51")), Reload()]
    merged = merge(declared, [Fill(element=FIELD, value="x"), Click(element=CANCEL), Reload()])
    assert [one.actions for one in merged] == [(0,), (1,), (2,)]
    assert [one.declared is None for one in merged] == [True, False, True]


def test_a_call_without_an_action_among_others() -> None:
    declared: list[Action] = [Click(element=ref("a51")), Press(key="Enter")]
    merged = merge(declared, [Press(key="Enter")])
    # Both are activations: the press confirms the click, whose element it does not contradict.
    assert [one.seen for one in merged] == [True, False]


@pytest.mark.parametrize(
    ("declared", "seen", "compatible"),
    [
        (Click(element=ref("a51")), Click(element=PAY), True),
        (Click(element=ref("a51")), Click(element=CANCEL), False),
        (Click(element=ref("#pay")), Click(element=CANCEL), False),
        (Click(element=ref("text=Pay")), Click(element=PAY), True),
        (Click(element=Element(css="#pay")), Click(element=CANCEL), False),
        (
            Click(element=ref("#icon")),
            Click(element=Element(css="#pay", via=Via(tag="i", css="#icon"))),
            True,
        ),
        (MouseClick(point=(1, 2)), Click(element=PAY), True),
        (Click(element=FIELD), Check(element=FIELD), True),
        (Click(element=PAY), Press(key="Enter", element=PAY), True),
        (Click(element=PAY), Press(key="Escape", element=PAY), False),
        (Type(element=FIELD, value="a"), Press(key="a"), True),
        (Clear(element=FIELD), Fill(element=FIELD, value=""), True),
        (Fill(element=FIELD, value="x"), SelectOption(element=FIELD, values=("x",)), True),
        (UploadFile(files=()), UploadFile(files=()), True),
        (Fill(element=FIELD, value="x"), Click(element=FIELD), False),
        (GoBack(), Goto(url="http://x.test"), True),
        (Goto(url="http://x.test"), Click(element=PAY), False),
    ],
)
def test_what_is_compatible(declared: Action, seen: Action, compatible: bool) -> None:
    assert is_compatible(declared, seen) is compatible


def test_nodes_of_one_snapshot_decide() -> None:
    one, other = (Element(node=NodeRef(snapshot="a" * 64, number=number)) for number in (1, 2))
    assert is_compatible(Click(element=one), Click(element=one))
    assert not is_compatible(Click(element=one), Click(element=other))
