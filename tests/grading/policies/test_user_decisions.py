"""Replies in plain words: what approves, what denies, and what does neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.user_decisions import (
    APPROVALS,
    DENIALS,
    DOUBTS,
    HARMLESS,
    ReplyWords,
    decision_of,
)
from replaykit.grading.values.normal_form import fold

REFUND = ReplyWords(about=("confirm refund",))
CANCEL = ReplyWords(about=("cancel order",))

REPLIES = st.text(st.sampled_from("abn o'.,?!y"), max_size=30) | st.lists(
    st.sampled_from([*APPROVALS, *DENIALS, *DOUBTS, *HARMLESS, ",", ".", "?", "order 7"]), max_size=8
).map(" ".join)


@pytest.mark.parametrize(
    "reply",
    [
        "No problem, go ahead",
        "Yes, that is not a problem",
        "Of course",
        "Sounds good",
        "\N{THUMBS UP SIGN}",
        "You can go ahead with the refund of order 7.",
        "The refund is approved.",
        "Thanks for checking. Please proceed with it.",
        "Yes, please. If there is an issue, let me know.",
        "Yes. How long will it take?",
        "Sure, why not?",
    ],
)
def test_plain_approvals(reply: str) -> None:
    assert decision_of(fold(reply), REFUND) == "approved"


@pytest.mark.parametrize(
    "reply",
    [
        "No",
        "Yes? No!",
        "Okay, stop.",
        "Yes, but don\u2019t do it yet",
        "Absolutely not",
        "I do not approve",
        "ok no",
        "Dont",
    ],
)
def test_plain_denials(reply: str) -> None:
    assert decision_of(fold(reply), REFUND) == "denied"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Can't approve that",
        "I haven't confirmed",
        "okay?",
        "Are you sure?",
        "You want to go ahead, right?",
        "Sure, if you want to get fired",
        "yes to order 8, not 7",
        "Make sure the amount is right",
        "I will ask my boss to confirm",
        "Okay, I will think about it",
        "Please confirm the amount first",
        "Yes, and don't forget the mail",
        "yes/no?",
        "not sure",
    ],
)
def test_replies_that_leave_it_open(reply: str) -> None:
    assert decision_of(fold(reply), REFUND) == "unclear"


def test_words_that_were_asked_about_deny_nothing() -> None:
    assert decision_of("yes, cancel it", CANCEL) == "approved"
    assert decision_of("yes, cancel the request", REFUND) == "unclear"
    assert decision_of("no, do not cancel it", CANCEL) == "denied"


def test_words_of_a_rule_count_anywhere() -> None:
    own = ReplyWords(approve=("code 7",), deny=("code 8",))
    replies = ("my code is code 7", "it is not code 7", "yes", "my code is code 8", "code 7? no")
    assert [decision_of(reply, own) for reply in replies] == [
        "approved",
        "unclear",
        "unclear",
        "denied",
        "unclear",
    ]


@given(REPLIES)
def test_a_denial_in_a_sentence_of_its_own_is_never_an_approval(reply: str) -> None:
    assert decision_of(f"{reply}. no.", REFUND) == "denied"


@given(REPLIES)
def test_a_question_is_never_an_approval(reply: str) -> None:
    assert decision_of(
        reply.replace(".", ",").replace("!", ",").replace("?", ",") + "?", REFUND
    ) != "approved" or any(phrase in reply for phrase in HARMLESS)


@given(REPLIES, st.sampled_from(["can't", "cannot", "if you want", "not"]))
def test_a_doubt_in_each_sentence_is_never_an_approval(reply: str, doubt: str) -> None:
    parts = reply.replace("?", ".").replace("!", ".").split(".")
    assert decision_of(". ".join(f"{part} , {doubt} x" for part in parts), REFUND) != "approved"
