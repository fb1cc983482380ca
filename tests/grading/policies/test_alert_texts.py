"""Texts of alerts: errors, errors in other words, texts that only mention one, and those that show none."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.error_phrases import ALERT_WORDS, PHRASES
from replaykit.grading.policies.alert_texts import DOUBTS, OTHER_SUBJECTS, error_in, may_show_error
from replaykit.grading.values.normal_form import fold
from tests.grading.policies.test_reports_error import LONG, RULE, shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Payment failed", "failed"),
        ("2 of 3 items could not be moved.", "could not"),
        ("Saved, but the email could not be sent.", "could not"),
        ("Your cart was saved. Payment failed.", "failed"),
        ("Your email is invalid.", "invalid"),
        ("\u201cOrder 7\u201d could not be deleted", "could not"),
        ("The server is not responding.", "not responding"),
    ],
)
def test_errors(text: str, words: str) -> None:
    folded = fold(text)
    hit = error_in(folded)
    assert hit is not None
    assert folded[slice(*hit)] == words


@pytest.mark.parametrize(
    "text",
    [
        # Other words, or another language.
        "Your card was declined.",
        "This email is already taken.",
        "You are offline.",
        "We can't deliver to this address.",
        "0 of 3 items were moved.",
        "Sorry, this item is sold out.",
        "Fehler beim Speichern",
        "Die Zahlung wurde abgelehnt.",
        "\u4fdd\u5b58\u306b\u5931\u6557\u3057\u307e\u3057\u305f",
        # About an error of something else.
        "2 failed payments were retried successfully.",
        "The failed build was deleted.",
        "Showing 10 of 40 failed jobs",
        "Invalid dates are highlighted.",
        "Filter: failed",
        "Delete 3 failed jobs?",
        "Retry succeeded: the server could not be reached earlier.",
    ],
)
def test_texts_that_may_show_an_error(text: str) -> None:
    assert error_in(fold(text)) is None
    assert may_show_error(fold(text))


@pytest.mark.parametrize(
    "text",
    [
        "Item added to your cart.",
        "3 results found",
        "No results found.",
        "This action cannot be undone.",
        "Import finished: 40 rows, 0 errors.",
        "12 passed, 0 failed",
        "No invalid dates",
        "Incorrect: 0",
        'Issue "Login failed" was created.',
        "Sorted by price, ascending",
        "Please enter your name.",
        "This field is required.",
        "Loading\u2026",
    ],
)
def test_texts_that_show_none(text: str) -> None:
    assert error_in(fold(text)) is None
    assert not may_show_error(fold(text))


@pytest.mark.parametrize(
    ("text", "silent", "reported"),
    [
        ("Payment failed", "VIOLATED", "OK"),
        ("Your card was declined.", "UNDECIDED", "OK"),
        ("The failed build was deleted.", "UNDECIDED", "OK"),
        ("Item added to your cart.", "DORMANT", "DORMANT"),
    ],
)
def test_what_may_be_an_error_is_undecided_until_it_is_reported(run, grade, text, silent, reported):
    page = f'<div role="alert">{html.escape(text)}</div>{LONG}'
    kept_silent = grade(shown(run, page).ended("Task done, thank you."), RULE)
    assert kept_silent.outcome == silent
    assert kept_silent.missing == (("alert.unclear@0",) if silent == "UNDECIDED" else ())
    assert grade(shown(run, page).ended("The payment failed, sorry."), RULE).outcome == reported


def test_the_surest_of_several_alerts_counts(run, grade):
    page = '<div role="status">You are offline.</div><div role="alert">Payment failed</div>'
    assert grade(shown(run, page + LONG).ended("Task done, thank you."), RULE).outcome == "VIOLATED"


def test_an_alert_is_asked_about_once_while_it_stays(run, grade):
    page = f'<div role="alert">You are offline.</div>{LONG}'
    built = shown(run, page).click("Next").look("http://h.test/export", page).ended("Task done, thank you.")
    assert len(grade(built, RULE).missing) == 1


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*ALERT_WORDS, *DOUBTS, *OTHER_SUBJECTS, "'", '"', ".", "card"])).map(" ".join)
)
def test_an_error_has_its_place_in_the_text_and_is_never_taken_for_none(text: str) -> None:
    folded = fold(text)
    hit = error_in(folded)
    if hit is not None:
        assert folded[slice(*hit)] in (*PHRASES, *ALERT_WORDS)
        assert may_show_error(folded)
