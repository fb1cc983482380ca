from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.replay.rendered_text.text_transform import transformed


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("it's o'neil x-y", "It's O'neil X-Y"),
        ("o\u2019neil rock'n'roll 'tis", "O\u2019neil Rock'n'roll 'Tis"),
        ("foo_bar _a 3rd a1b 1a", "Foo_bar _a 3rd A1b 1a"),
        ('(foo) "q" a.b a:b x/y a&b', '(Foo) "Q" A.B A:B X/Y A&B'),
        (
            "\u00e9t\u00e9 e\u0301te \ufb01ne \u00dfa \u01c6",
            "\u00c9t\u00e9 E\u0301te \ufb01ne \u00dfa \u01c5",
        ),
        ("a\u00adb \u00adq foo\u00a0bar a\u200bb", "A\u00adb \u00adQ Foo\u00a0Bar A\u200bB"),
        ("\u65e5a \u3042a \uff41b", "\u65e5A \u3042A \uff21b"),
        ("", ""),
    ],
)
def test_capitalize_as_the_browser_does(given_: str, expected: str) -> None:
    assert transformed(given_, "capitalize", " ", "") == expected


def test_capitalize_looks_at_the_character_before() -> None:
    assert transformed("ar foo", "capitalize", "b", "") == "ar Foo"
    assert transformed("ar foo", "capitalize", "-", "") == "Ar Foo"


@pytest.mark.parametrize(
    ("transform", "language", "given_", "expected"),
    [
        ("uppercase", "", "stra\u00dfe \u0149", "STRASSE \u02bcN"),
        ("uppercase", "tr-TR", "i\u0131", "\u0130I"),
        ("uppercase", "el", "\u03ac\u03ad \u03ca \u0390", "\u0391\u0395 \u03aa \u03aa"),
        ("uppercase", "en", "\u03ac", "\u0386"),
        ("lowercase", "", "\u0130 \u0391\u03a3", "i\u0307 \u03b1\u03c2"),
        ("uppercase", "", "\u10d0\u1c90", "\u10d0\u10d0"),
        ("lowercase", "az", "I\u0130", "\u0131i"),
        ("math-auto", "", "x", "\U0001d465"),
        ("math-auto", "", " x ", " x "),
        ("math-auto", "", "h", "\u210e"),
        ("math-auto", "", "xy", "xy"),
        ("none", "", "aB", "aB"),
        ("full-width", "", "aB", "aB"),
    ],
)
def test_other_transforms(transform: str, language: str, given_: str, expected: str) -> None:
    assert transformed(given_, transform, " ", language) == expected


@given(st.text(max_size=30), st.characters())
def test_capitalize_changes_case_only(text: str, before: str) -> None:
    done = transformed(text, "capitalize", before, "")
    assert len(done) == len(text)
    assert done.casefold() == text.casefold() or any(letter.title() != letter.upper() for letter in text)
