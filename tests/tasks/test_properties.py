"""Names of properties: what is meant is read, what is not read is refused with a way to say it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.tasks.grammar.properties import property_name
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.task import decode_task


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("text", "text"),
        ("innerText", "text"),
        ("inner_text", "text"),
        ("outerText", "text"),
        ("Value", "value"),
        ("selectedindex", "selectedIndex"),
        ("selected_index", "selectedIndex"),
        ("className", "class"),
        ("class", "class"),
        ("data-state", "data-state"),
        ("aria-label", "aria-label"),
        ("href", "href"),
        ("tabIndex", "tabindex"),
        ("readOnly", "readonly"),
        ("contentEditable", "contenteditable"),
        ("ariaLabel", "aria-label"),
        ("ariaChecked", "aria-checked"),
        ("classList", "class"),
        ("htmlFor", "for"),
        ("viewBox", "viewBox"),
        ("xlink:href", "xlink:href"),
        ("values", "values"),
        ("ng-model", "ng-model"),
        ("aria-pressed", "aria-pressed"),
        ("disabled", "disabled"),
        ("innerText()", "text"),
    ],
)
def test_what_is_meant_is_read(said: str, read: str) -> None:
    assert property_name(said) == read


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ("textContent", "document.querySelector('...').textContent"),
        ("text_content", "property: text"),
        ("innerHTML", "document.querySelector('...').innerHTML"),
        ("outerHTML", "property: text"),
        ("defaultValue", "property: value"),
        ("tagName", "selector"),
        ("", "attribute"),
        ("TEXTCONTENT", "property: text"),
        ("inner-html", "property: text"),
        ("textContent()", "property: text"),
        ("nodeValue", "property: text"),
        ("dataset.orderId", "property: data-order-id"),
        ("style.display", "no name of an attribute"),
        ("validity.valid", "no name of an attribute"),
        ("getAttribute('href')", "no name of an attribute"),
        ("two words", "no name of an attribute"),
        ("scrollTop", "no capitals"),
        ("valueAsNumber", "as: number"),
        ("selectedOptions", "selectedIndex"),
        ("isVisible", "not_empty"),
        ("enabled", "property: disabled"),
        ("vaule", "did you mean value?"),
        ("check", "did you mean checked?"),
        ("aria-chekced", "did you mean aria-checked?"),
    ],
)
def test_what_is_not_read_is_refused_with_a_way_to_say_it(said: str, way: str) -> None:
    check = {"type": "page", "selector": "h1", "property": said, "expect": {"equals": "Paid"}}
    with pytest.raises(TaskError) as caught:
        decode_task({"id": "t", "intent": "Try it.", "checks": [check]})
    assert way in str(caught.value)
    rule = {"type": "page_state", "locator": "h1", "property": said, "expect": {"equals": "Paid"}}
    with pytest.raises(msgspec.ValidationError, match="property"):
        msgspec.convert({"id": "p", "dimension": "user_consent", "rule": rule}, Policy)


@given(st.text(max_size=20))
def test_any_name_is_read_or_refused_and_a_name_that_is_read_stays(said: str) -> None:
    try:
        name = property_name(said)
    except ValueError:
        return
    assert property_name(name) == name


@pytest.mark.parametrize(
    ("check", "place"),
    [
        ({"type": "string_match", "exact": 50}, "exact"),
        ({"type": "string_match", "must_include": [1.5]}, "must_include[0]"),
        ({"type": "page", "selector": "h1", "expect": {"equals": True}}, "equals"),
        ({"type": "page", "selector": "h1", "expect": {"any_of": [1]}}, "any_of[0]"),
        ({"type": "url_match", "url": 7}, "url"),
    ],
)
def test_a_scalar_where_a_text_belongs_is_to_be_quoted(check: dict[str, Any], place: str) -> None:
    with pytest.raises(TaskError, match="quote it") as caught:
        decode_task({"id": "t", "intent": "Try it.", "checks": [check]})
    assert place in str(caught.value)
