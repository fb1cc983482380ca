"""Answers that only a model can compare: requests, both readings of replies, and what the tape lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.checks import llm_match
from replaykit.grading.checks.llm_match import DATA, SYSTEM, request
from replaykit.grading.checks.llm_match_replies import Kind, verdict_of
from replaykit.grading.model_request import Asking, ModelReply, ModelRequest, ReplyFailure, TextPart
from replaykit.grading.untrusted_text import TEXT_MAX
from replaykit.grading.verdict import CheckResult
from replaykit.testing.builder import Builder

FUZZY: Kind = "webarena.fuzzy"
REASON: Kind = "webarena.unachievable"

Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


@pytest.mark.parametrize(
    ("kind", "reply", "compat", "strict"),
    [
        (FUZZY, "correct", "PASS", "PASS"),
        (FUZZY, "Correct.", "PASS", "PASS"),
        (FUZZY, "They agree.\n\n**correct**\n", "PASS", "PASS"),
        (FUZZY, "incorrect", "FAIL", "FAIL"),
        (FUZZY, "partially correct", "FAIL", "FAIL"),
        (FUZZY, "The verdict is: 'incorrect'", "FAIL", "FAIL"),
        (FUZZY, "It is not incorrect: correct", "FAIL", "UNDECIDED"),
        (FUZZY, "It is not correct", "PASS", "UNDECIDED"),
        (FUZZY, "probably correct", "PASS", "UNDECIDED"),
        (FUZZY, "correct or incorrect", "FAIL", "UNDECIDED"),
        (FUZZY, "correct\nI hope this helps", "PASS", "UNDECIDED"),
        (FUZZY, "correctly said", "PASS", "UNDECIDED"),
        (FUZZY, "yes", "ERROR", "UNDECIDED"),
        (FUZZY, "", "ERROR", "UNDECIDED"),
        (FUZZY, "partly correct", "PASS", "UNDECIDED"),
        (FUZZY, "in\u200bcorrect", "PASS", "FAIL"),
        (FUZZY, "in-correct", "PASS", "UNDECIDED"),
        (FUZZY, "in\ncorrect", "PASS", "UNDECIDED"),
        (FUZZY, "**in**correct", "PASS", "FAIL"),
        (FUZZY, "partially\n correct", "PASS", "UNDECIDED"),
        (FUZZY, "It isn’t correct", "PASS", "UNDECIDED"),
        (FUZZY, "Verdict: correct", "PASS", "PASS"),
        (REASON, "same", "PASS", "PASS"),
        (REASON, "Different", "FAIL", "FAIL"),
        (REASON, "not different", "FAIL", "UNDECIDED"),
        (REASON, "not the same", "PASS", "UNDECIDED"),
        (REASON, "perhaps", "ERROR", "UNDECIDED"),
    ],
)
def test_replies(kind: Kind, reply: str, compat: str, strict: str) -> None:
    assert verdict_of(kind, reply, "compat")[0] == compat
    assert verdict_of(kind, reply, "strict")[0] == strict


def test_a_partial_answer_is_noted() -> None:
    assert verdict_of(FUZZY, "partially correct", "strict")[2] == ("partial",)


@given(
    st.sampled_from([(FUZZY, "incorrect"), (FUZZY, "partially correct"), (REASON, "different")]),
    st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from([*"*`_~#>\"'.:!- \n\t“’\u200b\u00ad"])), max_size=6
    ),
    st.booleans(),
)
def test_no_decoration_makes_a_success(
    said: tuple[Kind, str], more: list[tuple[int, str]], is_loud: bool
) -> None:
    kind, text = said
    for place, mark in more:
        text = text[:place] + mark + text[place:]
    assert verdict_of(kind, text.upper() if is_loud else text, "strict")[0] != "PASS"


@given(st.text(max_size=200), st.sampled_from([FUZZY, REASON]), st.sampled_from(["strict", "compat"]))
def test_any_reply_is_read(reply: str, kind: Kind, mode: Any) -> None:
    outcome, reason, _ = verdict_of(kind, reply, mode)
    assert (reason is None) is (outcome == "PASS")


@given(st.text(max_size=50), st.text(max_size=50))
def test_texts_are_data(reference: str, answer: str) -> None:
    (part,) = request(FUZZY, "{answer}", reference, answer).content
    assert isinstance(part, TextPart)
    code = part.text.split("<<question ")[1][:12]
    assert code not in reference + answer
    end = f"\n<<end {code}>>\n"
    said = [
        f"<<question {code}>>\n{{answer}}",
        f"<<reference {code}>>\n{reference}",
        f"<<answer {code}>>\n{answer}",
    ]
    assert end.join([*said, ""]) in part.text


def test_a_text_that_is_too_long_says_so() -> None:
    (part,) = request(FUZZY, "q", "r", "x" * (TEXT_MAX + 5)).content
    assert isinstance(part, TextPart)
    assert "x⟦cut:5⟧\n" in part.text


OWN = "Q {question} R {reference} A {pred}"
"""A template of the user's."""


def text_of(wanted: ModelRequest) -> str:
    (part,) = wanted.content
    assert isinstance(part, TextPart)
    return part.text


def test_the_user_s_template_is_filled_as_the_peer_fills_it() -> None:
    asking = Asking(prompts={"fuzzy": OWN, "system": "S"}, model="openai:m", effort=None, max_tokens=768)
    wanted = request(FUZZY, "{pred}", "{question}", "a", asking=asking, mode="compat")
    assert (text_of(wanted), wanted.system) == ("Q {pred} R {question} A a", "S")
    assert (wanted.model, wanted.effort, wanted.max_tokens) == ("openai:m", None, 768)
    other = request(REASON, "q", "r", "a", asking=asking, mode="compat")
    assert (other.system, other.prompt) == ("S", "")
    assert text_of(other) == text_of(request(REASON, "q", "r", "a"))


def test_strict_delimits_recorded_text_in_the_user_s_template() -> None:
    wanted = request(FUZZY, "q", "r", "a", asking=Asking(prompts={"fuzzy": OWN}))
    assert wanted.system == f"{SYSTEM}\n\n{DATA}"
    code = text_of(wanted).split("<<question ")[1][:12]
    assert text_of(wanted) == " ".join(
        f"{letter} <<{name} {code}>>\n{said}\n<<end {code}>>"
        for letter, name, said in (("Q", "question", "q"), ("R", "reference", "r"), ("A", "answer", "a"))
    )


def test_a_template_is_named_by_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(OWN.encode()).hexdigest()
    named = [request(kind, "q", "r", "a", asking=BOTH).prompt for kind in (FUZZY, REASON)]
    assert named == [f"sha256:{digest}"] * 2
    monkeypatch.setitem(llm_match.KNOWN, FUZZY, {digest: "peer"})
    named = [request(kind, "q", "r", "a", asking=BOTH).prompt for kind in (FUZZY, REASON)]
    assert named == ["peer", f"sha256:{digest}"]
    assert request(FUZZY, "q", "r", "a").prompt == ""


BOTH = Asking(prompts={"fuzzy": OWN, "unachievable": OWN})


def test_the_peers_templates_are_known_by_digest() -> None:
    assert {name for known in llm_match.KNOWN.values() for name in known.values()} == {"webarena", "vwa"}
    assert all(len(digest) == 64 for known in llm_match.KNOWN.values() for digest in known)


class Replies:
    """Answers by the reference in the prompt, and keeps what was asked."""

    asking = Asking()

    def __init__(self, **replies: str) -> None:
        self.replies = replies
        self.asked: list[ModelRequest] = []

    def __call__(self, wanted: ModelRequest) -> ModelReply | ReplyFailure:
        self.asked.append(wanted)
        (part,) = wanted.content
        assert isinstance(part, TextPart)
        text = next((reply for name, reply in self.replies.items() if f"\n{name}\n<<end" in part.text), None)
        if text is None:
            return ReplyFailure(kind="tape_miss", message="no such request")
        return ModelReply(text=text, stop_reason="end_turn", model="m", origin="synthetic")


def test_compat_asks_once_an_item_and_strict_once(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "fuzzy": ["a", "b"]}
    ended = run().answer("'X'")
    ask = Replies(a="correct", b="incorrect", **{"a, b": "correct"})
    result = grade(ended, check, "compat", ask=ask)
    assert [(item.id, item.outcome) for item in result.items] == [("fuzzy.0", "PASS"), ("fuzzy.1", "FAIL")]
    strict = grade(ended, check, ask=ask)
    assert (strict.outcome, [item.compat for item in strict.items]) == ("PASS", ["PASS", "FAIL"])
    asked = [(wanted.judge, wanted.index) for wanted in ask.asked]
    assert asked.count(("webarena.fuzzy", 1)) == 2


def test_a_miss_is_an_error(grade: Grade, run: Run) -> None:
    result = grade(run().answer("x"), {"type": "string_match", "fuzzy": ["a"]}, ask=Replies())
    assert (result.outcome, result.reason) == ("ERROR", "tape_miss")


@pytest.mark.parametrize(
    ("answer", "reply", "compat", "strict"),
    [
        ("N/A", "different", "PASS", "PASS"),
        ("no such shop", "same", "PASS", "PASS"),
        ("no such shop", "different", "FAIL", "FAIL"),
        ("no such shop", "not the same", "PASS", "UNDECIDED"),
    ],
)
def test_a_reason_is_compared(
    grade: Grade, run: Run, answer: str, reply: str, compat: str, strict: str
) -> None:
    check = {"type": "string_match", "fuzzy": "N/A", "note": "closed"}
    ask = Replies(closed=reply)
    assert grade(run().answer(answer), check, "compat", ask=ask).outcome == compat
    assert grade(run().answer(answer), check, ask=ask).outcome == strict


def test_compat_forgets_what_failed_before_a_reason(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "must_include": ["tea"], "fuzzy": "N/A", "note": "closed"}
    assert grade(run().answer("shut"), check, "compat", ask=Replies(closed="same")).outcome == "PASS"
