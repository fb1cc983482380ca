"""Texts that were cleaned before: the outcome is that of the rule, and long texts are not cleaned again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets import cleaned_texts
from replaykit.secrets.cleaned_texts import SHORT_MAX, CleanedTexts

WORDS = st.lists(st.sampled_from(["page", "x" * SHORT_MAX, "hide", "\ud800"]), max_size=4).map(" ".join)


def without(text: str) -> str:
    return text.replace("hide", "⟦masked⟧")


class Counted:
    """Counts the texts that it cleans."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> str:
        self.texts.append(text)
        return without(text)


@given(st.lists(WORDS, max_size=12))
def test_the_outcome_is_that_of_the_rule(texts: list[str]) -> None:
    cleaned = CleanedTexts(without)
    assert cleaned.keeps(texts) == (list(map(without, texts)) == texts)
    assert [cleaned.text(text) for text in texts] == list(map(without, texts))
    assert cleaned.keeps(texts) == (list(map(without, texts)) == texts)


@pytest.mark.parametrize("length", [SHORT_MAX, SHORT_MAX + 1, 100_000], ids=["short", "long", "very long"])
def test_a_text_that_stays_is_cleaned_once(length: int) -> None:
    rule = Counted()
    cleaned, text = CleanedTexts(rule), "p" * length
    assert cleaned.keeps([text])
    assert cleaned.keeps([text])
    assert cleaned.text(text) == text
    assert rule.texts == [text]


@pytest.mark.parametrize("length", [1, 100_000], ids=["short", "long"])
def test_what_was_forgotten_is_cleaned_again(length: int) -> None:
    rule = Counted()
    cleaned, text = CleanedTexts(rule), "p" * length
    cleaned.text(text)
    cleaned.forget()
    cleaned.text(text)
    assert rule.texts == [text, text]


def test_few_texts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaned_texts, "KEPT_MAX", 2)
    rule = Counted()
    cleaned, texts = CleanedTexts(rule), ["p" * (SHORT_MAX + number) for number in range(1, 4)]
    for text in [*texts, texts[0], texts[2]]:
        cleaned.text(text)
    # The third text made it forget the first two.
    assert rule.texts == [*texts, texts[0]]
