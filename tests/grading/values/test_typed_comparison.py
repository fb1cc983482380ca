from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.values.dates import PartialDate, month_number, parse_date, read_date
from replaykit.grading.values.numbers import number_words, numbers_in, plain_number, shown, whole_number
from replaykit.grading.values.typed_comparison import compare, compare_part, detect

TYPES = ("auto", "text", "number", "currency", "date", "month", "boolean", "url", "distance", "duration")


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("42", "number"),
        ("-79.929", "number"),
        ("1,000", "number"),
        ("5%", "number"),
        ("minus five", "number"),
        ("06516", "text"),
        ("000000170", "text"),
        ("12345678901234567", "text"),
        ("$12.99", "currency"),
        ("12 EUR", "currency"),
        ("2023-06-05", "date"),
        ("5/1/22", "date"),
        ("March 15th", "date"),
        ("01/02/2023", "date"),
        ("2023", "number"),
        ("May", "text"),
        ("Yes", "boolean"),
        ("1", "number"),
        ("http://web.cmoa.org/", "url"),
        ("1.4km", "distance"),
        ("16-in", "text"),
        ("1h 30min", "duration"),
        ("3:45", "text"),
        ("16x24", "text"),
        ("Joust Bag", "text"),
        ("", "text"),
    ],
)
def test_detects_the_type_of_a_whole_reference(reference: str, kind: str) -> None:
    assert detect(reference) == kind


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("5", "5.0"),
        ("5", "five"),
        ("1000", "1,000"),
        ("1234567", "1 234 567"),
        ("-5", "−5"),
        ("-5", "(5)"),
        ("1e3", "1000"),
        ("206", "two hundred and six"),
        ("5%", "5 %"),
        ("$1,234", "1234 USD"),
        ("$1,234", "1,234.00"),
        ("€7.50", "7,50 EUR"),
        ("-$5", "($5.00)"),
        ("1234,5 €", "1.234,50 €"),
        ("2023-06-05", "5 June 2023"),
        ("June 5", "Jun 5th, 2023"),
        ("2023-06-05", "Monday, June 5, 2023 at 10:30 am"),
        ("5/1/22", "05/01/2022"),
        ("13/1/2022", "2022-01-13"),
        ("http://a.test/x/", "https://A.test/x"),
        ("3.2km", "3200 m"),
        ("1 mile", "1.609 km"),
        ("90 minutes", "1h 30min"),
        ("2 hours and 5 minutes", "125 min"),
        ("Yes", "TRUE"),
        ("No", "no, never"),
        ("$5", "5 US dollars"),
        ("5 EUR", "5 euros"),
        ("$5", "US$5.00 USD"),
        ("2 km", "~2-km"),
        ("90 min", "+90 min"),
        ("3.5", "three point five"),
        ("2023-06-05", "Jun 5,2023"),
    ],
)
def test_same_meaning(reference: str, found: str) -> None:
    comparison = compare(reference, found)
    assert comparison.matches, comparison
    assert comparison.reason is None
    assert comparison.expected.raw == reference
    assert comparison.found.raw == found


@pytest.mark.parametrize(
    ("reference", "found", "reason"),
    [
        ("5", "6", "differs"),
        ("5", "5 apples", "not_a_number"),
        ("5", "three apples", "not_a_number"),
        ("5%", "5", "differs"),
        ("$5", "5 EUR", "differs"),
        ("$5", "5.01", "differs"),
        ("$5", "5 euros", "differs"),
        ("$5", "€5 USD", "not_a_currency"),
        ("$5", "5 dollars more", "not_a_currency"),
        ("3.5", "three point", "not_a_number"),
        ("2023-06-05", "June 2023", "differs"),
        ("June 5, 2023", "June 5", "differs"),
        ("2023-06-05", "Tuesday, June 5, 2023", "not_a_date"),
        ("2023-06-05", "soon", "not_a_date"),
        ("Yes", "Yes and no", "not_a_boolean"),
        ("Yes", "No", "differs"),
        ("3.2km", "3.4 km", "differs"),
        ("1 min", "2 s", "differs"),
        ("06516", "6516", "differs"),
        ("http://a.test/x?a=1", "http://a.test/x", "differs"),
    ],
)
def test_other_meaning(reference: str, found: str, reason: str) -> None:
    comparison = compare(reference, found)
    assert (comparison.matches, comparison.reason) == (False, reason)


def test_a_named_type_decides() -> None:
    assert compare("1", "on", "boolean").matches
    assert not compare("5", "5.0", "text").matches
    assert compare("soon", "2023-06-05", "date").reason == "bad_reference"


MARKS = st.sampled_from(["**{}**", "*{}*", "_{}_", "__{}__", "`{}`", "```\n{}\n```", "'{}'", '"{}"', "{}."])


@given(st.sampled_from(["42", "Blue Kettle", "$5.00", "2023-06-05", "3.2km"]), st.lists(MARKS, max_size=4))
def test_marks_around_an_answer_are_no_part_of_it(reference: str, marks: list[str]) -> None:
    answer = reference
    for mark in marks:
        answer = mark.format(answer) if not answer.endswith(".") or mark != "{}." else answer
    assert compare(reference, answer).matches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sent on 2023-06-05 at 10:30", True),
        ("2023-06-05T10:30:00Z", True),
        ("Monday, June 5th, 2023: done", True),
        ("the 5th of June 2023", True),
        ("Tuesday, June 5, 2023", False),
        ("June 15, 2023", False),
        ("June 5", False),
        ("id 12023-06-05-7", False),
        ("soon", False),
    ],
)
def test_a_date_inside_of_a_text(text: str, expected: bool) -> None:
    assert compare_part("June 5, 2023", text, "date").matches is expected


def test_a_date_that_is_none_is_no_part() -> None:
    assert compare_part("soon", "June 5, 2023", "date").reason == "bad_reference"


@given(st.dates(min_value=date(1971, 1, 1), max_value=date(2068, 1, 1)), st.sampled_from("-/"))
def test_every_date_is_found_in_a_sentence(day: date, mark: str) -> None:
    text = f"It was sent on {day:%Y}{mark}{day:%m}{mark}{day:%d}, and came."
    assert compare_part(day.isoformat(), text, "date").matches


@given(st.decimals(0, 10**6, places=2), st.decimals(0, 10**6, places=2))
def test_both_ends_of_a_range_of_amounts_match(low: Decimal, high: Decimal) -> None:
    for text in (f"${low}–${high}", f"${low}-${high}", f"{low}–{high} €"):
        assert compare_part(str(low), text).matches
        assert compare_part(str(high), text).matches


def test_tolerance_is_absolute() -> None:
    assert compare("10", "10.4", "number", 0.5).matches
    assert not compare("10", "10.6", "number", 0.5).matches
    assert compare("$10", "$10.40", tolerance=0.5).matches


def test_explains_itself() -> None:
    comparison = compare("3.2km", "2 miles")
    assert comparison.rule.startswith("distance: within")
    assert (comparison.expected.normal, comparison.found.normal) == ("3200 m", "3218.688 m")


def test_notes_dates_with_two_readings() -> None:
    assert compare("2023-05-06", "5/6/2023").notes == ("ambiguous_date",)
    assert compare("2023-05-06", "5/6/2023").matches


@pytest.mark.parametrize(
    ("reference", "text", "expected"),
    [
        ("0", "$0.00", True),
        ("170", "order 000000170", True),
        ("1000", "1,000 pieces", True),
        ("5", "5-star, 5km", True),
        ("-79.929", "at 40.44, -79.929", True),
        ("3", "1,2,3", True),
        ("5", "total:5", True),
        ("$12.99", "12.99 in all", True),
        ("$12.99", "€12.99", False),
        ("7", "27 items", False),
        ("2", "1-2, 2/3, 12:2, 1.2.3, 2023-01-02, v2", False),
        ("1", "1.5", False),
        ("cat", "a catalogue", False),
        ("Blue Kettle", "the “Blue  kettle”.", True),
        ("06516", "zip 6516", False),
        ("2", "2–7 items, from $2", True),
        ("7", "2–7 items", True),
        ("7", "2-7 items", False),
        ("10", "5-10km", True),
        ("2.5", "2.5-7.25", True),
        ("7.25", "7.25-2.5", False),
        ("555", "555-1234", False),
        ("42", "計42件です", True),
        ("42", "총 42개", True),
        ("3", "3万", False),
        ("2023", "2023年6月5日", False),
        ("42", "✔️42 → done", True),
        ("5", "area: 5²", True),
        ("1", "½ cup", False),
        ("-5", "now −5°C", True),
        ("100", "100+ results", True),
        ("20", "S$20/month", True),
        ("S$20", "US$20", False),
        ("1990", "the 1990s and the 1990's", False),
        ("90", "the '90s", False),
        ("1990s", "the 1990s", True),
        ("557m", "it is 557 m.", True),
        ("557 m", "it is 557m", True),
        ("557m", "1,557 m", False),
        ("557m", "557 min", False),
        ("Blue Kettle", "the **Blue** `Kettle`", True),
    ],
)
def test_parts(reference: str, text: str, expected: bool) -> None:
    assert compare_part(reference, text).matches is expected


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(TYPES))
def test_comparing_never_raises(reference: str, found: str, kind: str) -> None:
    compare(reference, found, kind)
    compare_part(reference, found)


MESSY = st.text(alphabet="0123456789.,-+()%$€ eE'/:amkjunprs", max_size=24)


@given(MESSY, MESSY, st.sampled_from(TYPES))
def test_comparing_number_like_texts_never_raises(reference: str, found: str, kind: str) -> None:
    compare(reference, found, kind, 0.5)
    compare_part(reference, found)
    numbers_in(found)
    read_date(found)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=3))
def test_a_number_is_read_back(number: Decimal) -> None:
    assert plain_number(shown(number)) == number
    assert whole_number(f"{number:,f}") == (number, "")
    assert [found.value for found in numbers_in(f"about {number:,f} pieces")] == [number]


@given(st.dates())
def test_a_date_is_read_back_in_every_form(day: date) -> None:
    forms = [
        day.isoformat(),
        f"{day.day} {day:%B} {day.year:04}",
        f"{day:%A}, {day:%b} {day.day}, {day.year:04}",
    ]
    for form in forms:
        found = parse_date(form)
        assert found is not None, form
        assert (found.year, found.month, found.day) == (day.year, day.month, day.day)


@given(st.dates(date(1970, 1, 1), date(2069, 12, 31)))
def test_what_has_to_be_a_date_is_read_in_other_forms(day: date) -> None:
    forms = [
        f"{day:%B} {day.day},{day.year}",
        f"{day.year} {day:%b} {day.day}",
        f"{day.day}-{day:%b}-{day:%y}",
        f"on {day:%A}, {day:%b} {day.day} '{day:%y} at 3pm",
    ]
    for form in forms:
        found = read_date(form)
        assert found is not None, form
        assert (found.year, found.month, found.day) == (day.year, day.month, day.day)
        assert month_number(form) == day.month


@pytest.mark.parametrize(
    "text", ["3pm", "5", "2022", "Sunday", "May 2, 2022, Sunday", "May be 5", "May 5 " * 30]
)
def test_what_states_no_month_and_day_or_a_wrong_weekday_is_no_date(text: str) -> None:
    assert read_date(text) is None


def test_what_a_date_states_does_not_depend_on_the_day_it_is_read() -> None:
    assert read_date("2.3.22") == PartialDate(year=2022, month=2, day=3, is_ambiguous=True)
    assert read_date("2/29") == PartialDate(month=2, day=29)
    assert read_date("Feb '70") == PartialDate(year=1970, month=2)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("zero", 0),
        ("twenty-one", 21),
        ("one hundred five", 105),
        ("two million three thousand", 2_003_000),
        ("twelve hundred", 1200),
        ("negative seven", -7),
        ("minus three point one four", Decimal("-3.14")),
    ],
)
def test_number_words(words: str, number: int) -> None:
    assert number_words(words) == number


@pytest.mark.parametrize(
    "words",
    ["", "and", "one two", "five twenty", "thousand", "two thousand million", "three apples", "minus"],
)
def test_not_number_words(words: str) -> None:
    assert number_words(words) is None


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([f"{number}km" for number in range(3000)], "1 km " * 20_000),
        ([str(number) for number in range(3000)], "1 " * 50_000),
        ([f"p{number}" for number in range(3000)], "x " * 50_000),
    ],
)
def test_many_parts_are_looked_for_in_one_reading_of_the_text(parts: list[str], text: str) -> None:
    found = [part for part in parts if compare_part(part, text).matches]
    assert found == ([parts[1]] if parts[0] != "p0" else [])


@pytest.mark.parametrize("unit", ["1,", "1.", "1'", "1m", "1h ", "9", "'", "*", "(", "1-", "4年", "minus "])
@pytest.mark.parametrize("kind", TYPES)
def test_a_long_hostile_text_is_read_once(unit: str, kind: str) -> None:
    reference = {"month": "May", "date": "2023-06-05", "url": "http://a.test/"}.get(kind, "2 hours")
    text = unit * (60_000 // len(unit))
    assert not compare(reference, text, kind).matches
    assert not compare_part("557m", text, kind).matches


@pytest.mark.parametrize(
    ("reference", "found", "kind"),
    [
        ("557m", "558 m", "distance"),
        ("100 km", "101 km", "distance"),
        ("0.91mi", "0.92 mi", "distance"),
        ("5 minutes", "6 minutes", "duration"),
        ("2h", "119 min", "duration"),
    ],
)
def test_a_length_without_a_type_is_equal_or_another(reference: str, found: str, kind: str) -> None:
    assert not compare(reference, found).matches
    assert compare(reference, found, kind).matches
