"""Numbers, quantities and Markdown as people write them: what is the same, and what only looks like it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.values.markdown import unlabelled, unmarked
from replaykit.grading.values.number_spelling import with_plain_numbers
from replaykit.grading.values.numbers import denies, numbers_in, only_number, plain_number
from replaykit.grading.values.quantities import tight
from replaykit.grading.values.typed_comparison import compare, compare_part, detect, only_value


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        ("2.56", ["$2.56…$649.99", "$2.56...$649.99", "[2.56, 649.99]", "$2.56〜$649.99", "**$2.56**–**$649.99**"]),
        ("42", ["№42", "No.42", "42pcs", "4**2**", "２つで４２円", "42 °C", "[42](http://a.test/7)"]),
        ("1000", ["1 000 pieces", "1\u00a0000", "1\u202f000 km", "1'000", "1,000"]),
        ("100000", ["1,00,000 rupees", "100 thousand"]),
        ("2500000", ["$2.5 million", "2.5 million people"]),
        ("-5", ["−5", "minus 5 degrees", "it is negative 5"]),
        ("-5°C", ["−5 °C", "-5 ℃"]),
        ("5%", ["5 %", "5 percent", "5 per cent", "5.0%", "５％"]),
        ("€12.99", ["12,99 €", "EUR 12.99", "12.99 euros", "€12,99"]),
        ("€1,234.50", ["1.234,50 €", "1,234.5 EUR"]),
        ("$12.99", ["\\$12.99", "USD 12.99", "12.99 dollars", "$ 12.99"]),
        ("557m", ["557 metres", "557 meters away", "557-m", "557.0 m"]),
        ("1.5km", ["1,5 km", "1.5 kilometres"]),
        ("3h 20min", ["3 h 20 min", "3 hours 20 minutes"]),
        ("2 hours", ["2h", "2 hrs", "2 hour"]),
        ("the 1990s", ["the 1990's", "the 1990’s"]),
        ("1995", ["1990–1995", "1990-1995"]),
        ("Blue Kettle", ["[Blue](http://a.test) **Kettle**", "| Blue Kettle | 5 |", "Blue ~~Tin~~ Kettle"]),
        ("北京", ["我在北京市", "北京"]),
        ("서울", ["서울에서 왔다"]),
        ("กรุงเทพ", ["อยู่กรุงเทพมหานคร"]),
        ("C++", ["knows C++ well", "C++."]),
        ("C", ["C, then D", "vitamin C+D"]),
        ("10 pm", ["closes at 10pm", "10 p.m. sharp", "10PM"]),
        ("order 5", ["order 5.", "order 5, paid", "order 5.00"]),
    ],
)  # fmt: skip
def test_the_same_value_in_other_words(part: str, texts: list[str]) -> None:
    assert [text for text in texts if not compare_part(part, text).matches] == []


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        ("42", ["42 million", "42 thousand", "42 000", "42\u00a0000", "4,200", "42.5", "the 42nd"]),
        ("1990", ["the 1990s", "1990's", "1990年代", "1990年5月", "1990-s", "mid-1990s"]),
        ("90", ["the 90s", "the early 90s", "'90s", "90's", "mid-90s"]),
        ("30", ["in his 30s", "in their late 30s"]),
        ("5", ["−5.5", "minus 5", "1.5", "5.1"]),
        ("12", ["12,99 €", "€12,99"]),
        ("$12.99", ["EUR 12.99", "12.99 EUR", "12.99 euros", "£12.99", "12.99 £", "$112.99", "-$12.99"]),
        ("557m", ["1,557 m", "1,557m", "557 miles", "557 min"]),
        ("5 apples", ["1.5 apples", "15 apples", "1,5 apples"]),
        ("room 5", ["room 5.1", "room 5,000", "room 51"]),
        ("cat", ["**cat**alogue"]),
        ("Blue Kettle", ["~~Blue Kettle~~", "Blue ~~Kettle~~"]),
        ("C", ["C++", "he writes C#", "an A or a C+"]),
        ("10 pm", ["10 am", "110 pm", "10 pmol"]),
        ("2", ["4**2**"]),
        ("5%", ["15%", "1.5%", "5‰", "5"]),
    ],
)
def test_what_only_looks_like_it(part: str, texts: list[str]) -> None:
    assert [text for text in texts if compare_part(part, text).matches] == []


@pytest.mark.parametrize(
    ("reference", "texts"),
    [
        ("June 5, 2023", ["June 5,2023", "June **5**, 2023", "am 05.06.2023", "于2023年6月5日发货", "2023년 6월 5일"]),
        ("March 13, 2022", ["13.3.2022", "on 13. 3. 2022"]),
    ],
)  # fmt: skip
def test_dates_in_other_orders(reference: str, texts: list[str]) -> None:
    assert [text for text in texts if not compare_part(reference, text, "date").matches] == []


def test_a_dotted_date_has_its_day_first() -> None:
    assert compare("2023-06-05", "05.06.2023").matches
    assert not compare("2023-05-06", "05.06.2023").matches


@pytest.mark.parametrize(
    ("kind", "answer", "value"),
    [
        ("number", "There are 42 of them.", "42"),
        ("number", "There are more than 42.", None),
        ("number", "Maybe 42", None),
        ("number", "Is it 42?", None),
        ("number", "After the sale there are 42.", "42"),
        ("currency", "It costs over $5.00.", None),
        ("currency", "It costs over USD 5.00.", None),
        ("date", "It was before June 5, 2023.", None),
        ("date", "Until the 5th of June 2023", None),
        ("number", "at least 42", None),
        ("currency", "It is $5.00 in all", "$5.00"),
        ("date", "It came on June 5, 2023.", "2023-06-05"),
        ("date", "It came on June 5 or 6, 2023, or on May 1, 2023.", None),
        ("date", "It did not come on June 5, 2023.", None),
        ("distance", "The way is 557 m long.", "557m"),
        ("duration", "It takes 30 minutes, or 40 minutes by bus.", None),
        ("text", "42", None),
    ],
)
def test_the_only_value_of_a_sentence(kind: str, answer: str, value: str | None) -> None:
    assert only_value(answer, kind) == value


def test_ten_years_are_no_seconds() -> None:
    assert (detect("1990s"), detect("90 s")) == ("text", "duration")
    assert compare("1990s", "1990's").matches
    assert not compare("1990s", "1990 seconds").matches


def test_a_bound_denies() -> None:
    assert [text for text in ("x > 5", "over 5", "n't", "no fewer") if not denies(text)] == []
    assert [text for text in ("no. 5", "all over: 5", "a lesser evil") if denies(text)] == []


@given(st.text(alphabet="12 ,.'-$€%kmEURpercntdolas*_[]()`~\\\u00a0", max_size=60))
def test_rewriting_ends_in_one_step(text: str) -> None:
    folded = " ".join(text.split())
    once = with_plain_numbers(folded)
    assert len(once) <= len(folded) + 12 * folded.count("million") + 12
    assert len(unmarked(text)) <= len(text)
    assert len(tight(text)) <= len(text)


@given(st.integers(0, 10**9), st.sampled_from([" ", "\u00a0", "\u202f", ",", "'"]))
def test_thousands_are_read_with_any_separator(number: int, separator: str) -> None:
    grouped = (
        f"{number:,}000".replace(",", separator)
        if number < 1
        else f"{number * 1000:,}".replace(",", separator)
    )
    found = [one.value for one in numbers_in(f"about {grouped} of them")]
    if separator != " " or number < 1000:
        assert found == [Decimal(number * 1000)]


@given(
    st.decimals(1, 10**6, places=2),
    st.sampled_from(["${}", "{} USD", "USD {}", "{} dollars", "{} $", "$ {}"]),
)
def test_a_currency_is_read_on_either_side(amount: Decimal, form: str) -> None:
    (found,) = numbers_in(form.format(amount))
    assert found.value == amount
    assert "usd" in (found.codes or ())


@pytest.mark.parametrize(
    "text", ["1," * 50_000, "[" * 100_000, "*a " * 30_000, "1 000 " * 20_000, "_" * 100_000]
)
def test_hostile_texts_take_no_longer_than_they_must(text: str) -> None:
    assert isinstance(numbers_in(text), list)
    assert tight(text) is not None
    assert plain_number(text) is None


@pytest.mark.parametrize(
    ("reference", "same", "others"),
    [
        (
            "$2.56–$649.99",
            ["$2.56 - $649.99", "$2.56 to $649.99", "between $2.56 and $649.99", "from $2.56 to $649.99"],
            ["$2.56", "$2.56–$650.99", "$2.56 and $649.99", "$2.56 to €649.99"],
        ),
        ("10:30 AM", ["10:30am", "10:30 a.m."], ["10:30 pm", "10:30"]),
        ("40.4433, -79.9436", ["40.4433,-79.9436"], ["40.4433, 79.9436"]),
        ("80.442°N", ["80.442° N"], ["80.442° S"]),
        ("4.5/5", ["4.5 / 5"], ["4.5", "4.6/5"]),
        ("1, 2, 3", ["1,2,3"], ["1,2,4", "12,3"]),
        ("1.4km", ["1,4 km", "1.4 km"], ["14 km"]),
        ("Tin Mug", ["~~Clay~~ Tin Mug"], ["~~Tin Mug~~"]),
        ("December 25, 2023", ["12.25.2023", "25.12.2023", "2023-12-25"], ["12.24.2023"]),
    ],
)
def test_a_whole_value_in_other_words(reference: str, same: list[str], others: list[str]) -> None:
    assert [text for text in same if not compare(reference, text).matches] == []
    assert [text for text in others if compare(reference, text).matches] == []


@pytest.mark.parametrize(
    ("answer", "bare"),
    [
        ("# Tin Mug", "Tin Mug"),
        ("- Tin Mug", "Tin Mug"),
        ("Answer: Tin Mug", "Tin Mug"),
        ("final answer is: 5", "5"),
        ("<https://a.test/x>", "https://a.test/x"),
        ("- 5", "- 5"),
        ("- $5", "- $5"),
        ("#5", "#5"),
        ("- one\n- two", "- one\n- two"),
        ("Answers vary", "Answers vary"),
    ],
)
def test_what_only_says_that_it_is_the_answer(answer: str, bare: str) -> None:
    assert unlabelled(answer) == bare


def test_more_than_a_number_is_no_number() -> None:
    assert [text for text in ("12+", "12+ items", "12 or more", "12 or fewer") if only_number(text)] == []
    assert only_number("12 + tax") is not None
