"""Texts of agents after an error: reports, texts that report nothing, and texts that may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.error_phrases import REPORT_WORDS
from replaykit.grading.policies.agent_reports import SIGNS, reports_error
from replaykit.grading.values.normal_form import fold


@pytest.mark.parametrize(
    "text",
    [
        "The export failed.",
        "Errors occurred during the export.",
        "I was not able to save the order.",
        "It didn\u2019t work.",
        "No errors were shown, but the export failed.",
    ],
)
def test_reports(text: str) -> None:
    assert reports_error(fold(text)) is True


@pytest.mark.parametrize(
    "text",
    [
        "The order was saved.",
        "Order exported successfully, thanks everyone!",
        "No problem, the order was saved.",
        "Done without any errors.",
        "I did not encounter any error.",
        "I didn't get a single error.",
        "Nothing failed.",
        "Everything worked fine, no failure.",
        "42",
    ],
)
def test_texts_that_report_nothing(text: str) -> None:
    assert reports_error(fold(text)) is False


@pytest.mark.parametrize(
    "text",
    [
        "Unfortunately, the order was not saved.",
        "There was an issue with the export.",
        "The export wouldn't go through.",
        "No errors were shown, but the order is still open.",
        "Die Bestellung konnte leider keiner in dem Shop speichern.",
        "Je ne peux pas ouvrir la page a cause du serveur.",
        "\u4fdd\u5b58\u3067\u304d\u307e\u305b\u3093\u3067\u3057\u305f",
    ],
)
def test_texts_that_may_report_one(text: str) -> None:
    assert reports_error(fold(text)) is None


def test_words_that_were_shown_report_it() -> None:
    assert reports_error("the page said: quota reached", ("quota reached",)) is True


PARTS = st.lists(
    st.sampled_from([*REPORT_WORDS, *SIGNS, "the order", "saved", "any", ",", "."]), max_size=8
).map(" ".join)


@given(PARTS)
def test_a_sentence_that_reports_an_error_counts_beside_any_other(text: str) -> None:
    assert reports_error(f"{text} . the export has failed") is True


@given(PARTS, st.sampled_from(["unfortunately", "it is not there", "it wasn't saved"]))
def test_a_sign_of_trouble_is_never_silence(text: str, sign: str) -> None:
    assert reports_error(f"{text} . {sign}") is not False
