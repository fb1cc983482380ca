import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.values.tokens import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$0.00", ["$", "0.00"]),
        ("2%.", ["2", "%", "."]),
        ("0%", ["0", "%"]),
        ("(1)", ["(", "1", ")"]),
        ("#2", ["#", "2"]),
        ("2;", ["2", ";"]),
        ("*2*", ["*", "2", "*"]),
        ("2&3", ["2", "&", "3"]),
        ('"2"', ["``", "2", "''"]),
        ("a,b", ["a", ",", "b"]),
        ("1, 2", ["1", ",", "2"]),
        ("2–3", ["2", "–", "3"]),
        ("2--3", ["2", "--", "3"]),
        ("it costs 0.", ["it", "costs", "0", "."]),
        ("is it 6?", ["is", "it", "6", "?"]),
        ("(about 2.)", ["(", "about", "2", ".", ")"]),
        ("2..", ["2", ".."]),
        ("2. ok", ["2.", "ok"]),
        ("2. (x)", ["2", ".", "(", "x", ")"]),
        ("2. 3rd", ["2", ".", "3rd"]),
        ("2. - x", ["2", ".", "-", "x"]),
        ("can't", ["ca", "n't"]),
        ("it's", ["it", "'s"]),
        ("cannot", ["can", "not"]),
        ("say 'tis", ["say", "'", "tis"]),
        ("there are 4. next one", ["there", "are", "4.", "next", "one"]),
        ("there are 4.", ["there", "are", "4", "."]),
    ],
)
def test_splits_as_word_tokenize(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


WHOLE = "2/3 5km 1-2 =2 ~2 €2 _2_ v2 answer:2 a,2 1,000 2,3 3:45 .5 3.5"


@pytest.mark.parametrize(
    "text",
    WHOLE.split(),
)
def test_stays_one_token(text: str) -> None:
    assert tokens(text) == [text]


@pytest.mark.parametrize(
    ("text", "digit", "stands_alone"),
    [
        ("pick 2. Then go", "2", True),
        ("pick 2. then go", "2", False),
        ("(2.) 3", "2", True),
        ("it is 2.'3", "2", True),
        ("2. ; 3", "2", False),
        ("x-2. ; 3", "2", False),
        ("--2. 3", "2", True),
        ('2. " 3', "2", False),
        ('2. "3', "2", True),
        ("2.” 3", "2", True),
        ("so ... 2. 3", "2", True),
    ],
)
def test_final_periods_leave_their_number(text: str, digit: str, stands_alone: bool) -> None:
    assert (digit in tokens(text)) is stands_alone


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("in the u.s. 2", "u.s."),
        ("see dr. 2", "dr."),
        ("really? 2", "?"),
        ("so... 2", "..."),
        ("that was it. 2", "."),
        ("a no-no. 2", "."),
        ("of vol-jan. 2", "vol-jan."),
    ],
)
def test_abbreviations_keep_their_period(text: str, last: str) -> None:
    assert tokens(text)[-2] == last


@given(st.text(alphabet=string.digits + string.ascii_lowercase + " .,!?()\"'$%-:;*\n", max_size=60))
def test_keeps_every_letter_and_digit(text: str) -> None:
    joined = "".join(tokens(text))
    assert [c for c in joined if c.isalnum()] == [c for c in text if c.isalnum()]


@given(st.text(max_size=200))
def test_never_raises(text: str) -> None:
    assert all(token and not token.isspace() for token in tokens(text))
