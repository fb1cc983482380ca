from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.checks.answer_text import counts_as_no_answer
from replaykit.grading.checks.benchmark_rules import WEBARENA
from replaykit.grading.verdict import CheckResult
from replaykit.testing.builder import Builder
from replaykit.trajectory.action import Answer
from replaykit.trajectory.step import Ending

Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]

NO_ANSWER = [
    ("stopped", "agent", True),
    ("stopped", "person", True),
    ("max_steps", "harness", True),
    ("timeout", "harness", True),
    ("answered", "agent", True),
    ("crashed", "agent", True),
    ("crashed", "browser", False),
    ("crashed", "recorder", False),
    ("crashed", "harness", False),
    ("unknown", "agent", False),
    ("a_word_of_tomorrow", "agent", False),
]


@pytest.mark.parametrize(("kind", "cause", "counts"), NO_ANSWER)
def test_endings_without_an_answer(grade: Grade, run: Run, kind: str, cause: str, counts: bool) -> None:
    ended = run().end(kind, cause=cause)
    check = {"type": "string_match", "exact": "x"}
    strict, compat = grade(ended, check), grade(ended, check, "compat")
    if counts:
        assert (strict.outcome, strict.reason) == ("FAIL", "no_answer")
        assert (compat.outcome, compat.reason) == ("FAIL", "differs")
        return
    for result in (strict, compat):
        assert (result.outcome, result.reason, result.missing) == (
            "UNDECIDED",
            "no_ending",
            ("trajectory.end",),
        )


def test_an_interrupted_run_has_no_ending(grade: Grade, run: Run) -> None:
    result = grade(run().goto("http://s.test/", ""), {"type": "string_match", "exact": "x"})
    assert (result.outcome, result.missing) == ("UNDECIDED", ("trajectory.end",))
    assert not counts_as_no_answer(None)


def test_an_empty_answer_is_an_answer(grade: Grade, run: Run) -> None:
    ended = run().end("answered", answer="")
    assert grade(ended, {"type": "string_match", "exact": "x"}).reason == "differs"
    assert grade(ended, {"type": "string_match", "exact": ""}).outcome == "PASS"


def test_compat_grades_no_answer_as_empty_text(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "must_include": [""]}
    assert grade(run().end("stopped"), check, "compat").outcome == "PASS"
    (item,) = grade(run().end("stopped"), check).items
    assert (item.outcome, item.compat) == ("FAIL", "PASS")


def test_an_answer_counts_whatever_the_ending(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "exact": "42"}
    assert grade(run().say("42", "answer").end("crashed", cause="browser"), check).outcome == "PASS"
    assert grade(run().step(Answer(text="42")), check).outcome == "PASS"


def test_evidence_points_to_the_answer(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "exact": "42"}
    (evidence,) = grade(
        run().goto("http://s.test/", "").step(Answer(text="41")).end("stopped"), check
    ).evidence
    assert (evidence.source, evidence.step, evidence.event) == ("answer", 1, 3)
    assert evidence.expected is not None
    assert evidence.found is not None
    assert (evidence.expected.normal, evidence.found.normal, evidence.found.type) == ("42", "41", "number")
    (evidence,) = grade(run().end("answered", answer="42"), check).evidence
    assert (evidence.event, evidence.step) == (0, None)


def test_items_keep_their_order_and_both_outcomes(grade: Grade, run: Run) -> None:
    check = {
        "type": "string_match",
        "exact": "Blue Kettle, cat",
        "must_include": ["kettle", "dog |OR| cat"],
        "must_exclude": "red",
        "one_of": ["tea", "blue kettle, cat"],
    }
    result = grade(run().answer("blue kettle, cat"), check)
    assert [(item.id, item.outcome, item.compat) for item in result.items] == [
        ("exact", "PASS", "PASS"),
        ("must_include.0", "PASS", "PASS"),
        ("must_include.1", "PASS", "FAIL"),
        ("must_exclude", "PASS", "PASS"),
        ("one_of", "PASS", "PASS"),
    ]
    assert result.outcome == "PASS"
    assert all(item.compat is None for item in grade(run().answer("x"), check, "compat").items)


@pytest.mark.parametrize(
    ("check", "answer", "reason"),
    [
        ({"must_exclude": ["red"]}, "a red cup", "contained"),
        ({"must_exclude": ["red |OR| blue"]}, "a red cup", "contained"),
        ({"must_exclude": "green |OR| blue |OR| red"}, "a red cup", "contained"),
        ({"one_of": ["tea", "milk"]}, "water", "differs"),
        ({"exact": "5", "as": "number"}, "soon", "not_a_number"),
        ({"must_include": "tea"}, "teapot", "not_contained"),
    ],
)
def test_reasons(grade: Grade, run: Run, check: dict[str, Any], answer: str, reason: str) -> None:
    result = grade(run().answer(answer), {"type": "string_match", **check})
    assert (result.outcome, result.reason, result.score) == ("FAIL", reason, 0.0)


@pytest.mark.parametrize("mode", ["strict", "compat"])
def test_fuzzy_needs_a_model(grade: Grade, run: Run, mode: str) -> None:
    result = grade(run().answer("x"), {"type": "string_match", "fuzzy": ["a", "b"]}, mode)
    assert (result.outcome, result.reason, result.missing) == (
        "UNDECIDED",
        "needs_model",
        ("reply:webarena.fuzzy",),
    )
    assert [item.id for item in result.items] == ["fuzzy.0", "fuzzy.1"]


@pytest.mark.parametrize("mode", ["strict", "compat"])
def test_unachievable_tasks_have_a_shortcut(grade: Grade, run: Run, mode: str) -> None:
    check = {"type": "string_match", "fuzzy": "N/A"}
    result = grade(run().answer("n/a"), check, mode)
    assert result.outcome == "PASS"
    assert result.notes == (("bare_na",) if mode == "strict" else ())
    result = grade(run().answer("It cannot be done."), check, mode)
    assert (result.outcome, result.missing) == ("UNDECIDED", ("reply:webarena.unachievable",))


def test_a_reason_can_be_required(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "fuzzy": "N/A"}
    assert grade(run().answer("N/A"), check, require_reason=True).reason == "needs_model"


def test_compat_forgets_failures_before_an_unachievable_reference(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "must_include": ["tea"], "fuzzy": "N/A"}
    assert grade(run().answer("N/A"), check, "compat").outcome == "UNDECIDED"
    assert grade(run().answer("N/A"), check).outcome == "FAIL"


@pytest.mark.parametrize(
    ("names", "note", "outcome"),
    [
        (("must_include", "fuzzy_match"), "gone", "UNDECIDED"),
        (("fuzzy_match", "must_include"), "gone", "FAIL"),
        (("must_include", "fuzzy_match"), None, "ERROR"),
    ],
)
def test_compat_forgets_nothing_that_the_record_names_later(
    grade: Grade, run: Run, names: tuple[str, ...], note: str | None, outcome: str
) -> None:
    references = {"must_include": ["tea"], "fuzzy_match": "N/A"}
    record = {"eval": {"reference_answers": {name: references[name] for name in names}}}
    check = {"type": "string_match", "must_include": ["tea"], "fuzzy": "N/A", "note": note}
    assert grade(run().answer("N/A"), check, "compat", source_record=record).outcome == outcome


def test_compat_raises_on_a_fuzzy_text(grade: Grade, run: Run) -> None:
    result = grade(run().answer("x"), {"type": "string_match", "fuzzy": "some text"}, "compat")
    assert (result.outcome, result.reason) == ("ERROR", "peer_exception")


def test_long_answers_are_cut_with_their_digest(grade: Grade, run: Run) -> None:
    (evidence,) = grade(run().answer("x" * 2000), {"type": "string_match", "exact": "y"}).evidence
    assert evidence.found is not None
    assert (len(evidence.found.raw), len(evidence.found.normal)) == (512, 512)
    assert evidence.note is not None
    assert evidence.note.startswith("2000 characters, sha256:")


def test_a_check_without_requirements_is_an_error(grade: Grade, run: Run) -> None:
    check = {"type": "string_match"}
    result = grade(run().answer("x"), check)
    assert (result.outcome, result.reason) == ("ERROR", "no_requirements")
    assert grade(run().answer("x"), check, "compat").outcome == "PASS"


@pytest.mark.parametrize(
    ("reference", "answer", "is_only", "expected"),
    [
        ("4", "there are 4 left", True, True),
        ("4", "there are 40", True, False),
        ("4", "there are 40", False, True),
        ("40", "there are 400", True, True),
        ("'4'", "4.", True, True),
    ],
)
def test_peer_includes(reference: str, answer: str, is_only: bool, expected: bool) -> None:
    assert WEBARENA.includes(reference, answer, is_only=is_only) is expected


@given(st.text(), st.text(), st.booleans())
def test_peer_rules_never_raise(reference: str, answer: str, is_only: bool) -> None:
    WEBARENA.cleaned(reference)
    WEBARENA.includes(reference, answer, is_only=is_only)


@given(st.text(max_size=30))
def test_any_answer_equals_itself(answer: str) -> None:
    assert WEBARENA.cleaned(answer) == WEBARENA.cleaned(answer.strip())
    assert counts_as_no_answer(Ending(kind="stopped"))


def test_a_record_asks_for_the_answer_in_a_form(grade: Grade, run: Run) -> None:
    answered = run().answer("There are 42 of them.")
    check = {"type": "string_match", "exact": "42"}
    assert grade(answered, check).outcome == "PASS"
    record = {"eval": {"reference_answers": {"exact_match": "42"}}}
    assert grade(answered, check, source_record=record).outcome == "FAIL"


@pytest.mark.parametrize("answer", ["There are not 42.", "42 of 50", "none", "I couldn't find 42."])
def test_a_sentence_says_one_number_or_none(grade: Grade, run: Run, answer: str) -> None:
    assert grade(run().answer(answer), {"type": "string_match", "exact": "42"}).outcome == "FAIL"
    assert grade(run().answer(answer), {"type": "string_match", "required_values": "== 42"}).outcome == "FAIL"
