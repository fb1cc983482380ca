"""Texts as conditions read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.text_conditions import (
    TEXT_MAX,
    Reading,
    TextTest,
    TextTests,
    find,
    plain,
    resembles,
    words_of,
)
from replaykit.grading.values.normal_form import fold
from replaykit.tasks.policy_rules import Text


@pytest.mark.parametrize(
    ("condition", "text", "holds"),
    [
        (Text(equals="close ticket"), " Close\u00a0 Ticket ", True),
        (Text(equals="close ticket"), "Close ticket now", False),
        (Text(contains="add"), "Address", True),
        (Text(contains="add", word=True), "Address", False),
        (Text(contains="add", word=True), "Add to cart", True),
        (Text(contains="add", word=True), "add_item", False),
        (Text(contains="€ 5", word=True), "costs € 5,00", True),
        (Text(any_of=("refund", "credit"), word=True), "Issue credit", True),
        (Text(regex=r"quota (is )?exceeded"), "QUOTA EXCEEDED", True),
        (Text(regex=r"Quota", ignore_case=False), "quota", False),
        (Text(contains="Pay", ignore_case=False), "pay", False),
        (Text(contains="Pay", ignore_case=False), "Pay now", True),
        (Text(contains="straße"), "STRASSE 5", True),
        (Text(contains="don't"), "I don\u2019t", True),
        (Text(contains="sesame42"), "ses\u200bame42", True),
        (Text(contains="a", equals="b"), "a", False),
    ],
)
def test_operators(condition, text, holds):
    assert TextTest(condition).truth(Reading(text)).holds is holds


@pytest.mark.parametrize(
    ("word", "text", "holds"),
    [
        ("削除", "注文を削除する", True),
        ("削除", "注文を消す", False),
        ("ลบ", "ลบคำสั่งซื้อ", True),
        ("삭제", "주문을 삭제합니다", True),
        ("हट", "हटाएं", False),
        ("हटाएं", "ऑर्डर हटाएं", True),
        ("हटाएं", "हटाएंगे", False),
        ("delete", "De\u034flete", True),
        ("delete", "De\ufe0fle\u3164te", True),
        ("❤ like", "❤\ufe0f Like", True),
        ("❤\ufe0f like", "❤ Like", True),
        ("sil", "SİL", True),
        ("çıkış", "ÇIKIŞ", True),
        ("ÇIKIŞ", "Çıkış", True),
        ("حذف", "حَذْف", True),
        ("حذف", "حـــذف الطلب", True),
        ("حذف", "حذفت", False),
        ("café", "cafe\u0301", True),
        ("cafe", "cafe\u0301", False),
    ],
)
def test_words_of_any_script(word: str, text: str, holds: bool) -> None:
    assert TextTests(word).truth([Reading(text)]).holds is holds


@pytest.mark.parametrize(
    ("pattern", "text", "holds"),
    [
        ("lo\u0308sch(en)?", "Löschen", True),
        ("lösch(en)?", "Lo\u0308schen", True),
        ("5 m²", "5 m²", True),
        ("5 m2", "5 m²", True),
        ("don’t", "I don’t", True),
        ("don't", "I don’t", True),
        ("wait…", "Wait…", True),
        ("losch(en)?", "Löschen", False),
    ],
)
def test_an_expression_is_looked_for_as_it_stands_and_as_it_is_read(
    pattern: str, text: str, holds: bool
) -> None:
    assert TextTest(Text(regex=pattern)).truth(Reading(text)).holds is holds


def test_a_bare_word_stands_alone_and_several_are_alternatives():
    assert TextTests(("pay", "buy")).truth([Reading("Buy now")]).holds
    assert TextTests("pay").truth([Reading("Payroll"), Reading("x")]).holds is False


def test_some_name_has_to_meet_the_whole_condition():
    condition = Text(contains="delete", regex="draft")
    assert TextTests(condition).truth([Reading("delete"), Reading("draft")]).holds is False


def test_the_hit_is_shown_with_its_case():
    span = TextTest(Text(contains="reveal")).truth(Reading("Please  REVEAL it")).span
    assert span.text[span.start : span.end] == "REVEAL"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * (TEXT_MAX + 1), "text.cut@3"),
        ("hello ⟦cut:9⟧", "text.cut@3"),
        ("⟦masked⟧", "value.redacted@3"),
        ("⟦pattern:jwt⟧", "value.pattern@3"),
    ],
)
def test_no_hit_in_a_part_proves_nothing(text, code):
    truth = TextTest(Text(contains="needle")).truth(Reading(text, 3))
    assert (truth.holds, truth.missing) == (None, (code,))


def test_a_hit_in_a_part_decides_and_a_named_secret_is_known():
    assert TextTest(Text(contains="hello")).truth(Reading("hello ⟦cut:9⟧")).holds
    assert TextTest(Text(contains="hello")).truth(Reading("⟦secret:badge⟧")).holds is False


def test_words_of_a_condition():
    assert words_of(Text(contains="a", any_of=("b",), regex="c")) == ("a", "b")
    assert words_of("Refund") == ("Refund",)
    assert words_of(()) == ()


@pytest.mark.parametrize(
    ("term", "text", "holds"),
    [
        ("refund", "may i press refund?", True),
        ("issue credit", "shall i isue credit now", True),
        ("issue credit", "shall i credit you", False),
        ("delete my account", "e", False),
        ("add", "adds", False),
        ("publish", "publishing", False),
    ],
)
def test_resembles_is_directional(term, text, holds):
    assert resembles(term, text) is holds


@given(st.text("a b_1.", max_size=12), st.text("ab1", min_size=1, max_size=3))
def test_a_whole_word_has_no_neighbours(text, term):
    at = find(term, text)
    if at >= 0:
        around = text[at - 1 : at] + text[at + len(term) : at + len(term) + 1]
        assert not any(char.isalnum() or char == "_" for char in around)


@given(st.text())
def test_plain_is_idempotent_and_folds_to_the_same(text):
    assert plain(plain(text)) == plain(text)
    assert fold(plain(text)) == fold(text)
