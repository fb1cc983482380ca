from __future__ import annotations

from typing import Any

import pytest

from replaykit.errors import Unsupported


@pytest.mark.parametrize(
    ("named", "state", "value", "checked"),
    [
        ({}, None, "", False),
        ({"value": "v"}, None, "v", False),
        ({"value": "v"}, {"value": "live"}, "live", False),
        ({"value": "v"}, {"value": ""}, "", False),
        ({"type": "CheckBox"}, None, "on", False),
        ({"type": "checkbox", "value": "v", "checked": ""}, None, "v", True),
        ({"type": "checkbox", "checked": ""}, {"checked": False}, "on", False),
        ({"type": "radio"}, {"checked": True}, "on", True),
        ({"type": "file", "value": "v"}, None, "", False),
        (
            {"type": "file"},
            {"files": [["a b.txt", 3, "text/plain"], ["c", 1, ""]]},
            "C:\\fakepath\\a b.txt",
            False,
        ),
        ({"type": "hidden", "value": "h"}, None, "h", False),
        ({"type": "nonsense", "value": "n"}, None, "n", False),
        ({"type": "checkbox"}, {"indeterminate": True}, "on", False),
    ],
)
def test_inputs(body: Any, el: Any, named: dict[str, str], state: Any, value: str, checked: bool) -> None:
    node = body(el("input", state=state, **named)).select("input")
    assert (node.value, node.checked, node.selected_index) == (value, checked, None)


def test_textareas_default_to_their_text(body: Any, el: Any) -> None:
    dom = body(el("textarea", "a\r\nb"), el("textarea", "a", state={"value": "typed"}))
    assert [node.value for node in dom.select_all("textarea")] == ["a\nb", "typed"]


def options(el: Any) -> list[Any]:
    return [
        el("option", " A  b "),
        el("optgroup", el("option", "B", value="2"), el("option", "C"), label="G"),
        el("div", el("option", "D", el("script", "not this"))),
    ]


@pytest.mark.parametrize(
    ("chosen", "index", "value"),
    [([0], 0, "A b"), ([1], 1, "2"), ([3], 3, "D"), ([], -1, ""), ([2, 3], 2, "C"), ([99], 99, "")],
)
def test_selects_answer_by_their_recorded_selection(
    body: Any, el: Any, chosen: list[int], index: int, value: str
) -> None:
    dom = body(el("select", *options(el), state={"selected": chosen}))
    node = dom.select("select")
    assert (node.selected_index, node.value) == (index, value)
    assert [option.selected for option in node.options] == [place in chosen for place in range(4)]
    assert len(dom.select_all("option:checked")) == len([place for place in chosen if place < 4])


def test_an_option_without_a_select_answers_by_its_attribute(body: Any, el: Any) -> None:
    dom = body(el("option", "x", selected=""), el("option", "y"))
    assert [(node.selected, node.value) for node in dom.select_all("option")] == [(True, "x"), (False, "y")]


@pytest.mark.parametrize(
    ("tag", "named", "value"),
    [
        ("li", {"value": " 7x"}, 7),
        ("li", {"value": "x"}, 0),
        ("li", {"value": "99999999999"}, 0),
        ("progress", {"value": ".5"}, 0.5),
        ("progress", {"value": "5", "max": "2"}, 2),
        ("progress", {}, 0),
        ("meter", {"value": "11", "min": "2", "max": "9"}, 9),
        ("meter", {"min": "3"}, 3),
        ("data", {"value": "d"}, "d"),
        ("button", {}, ""),
        ("output", {}, "text"),
        ("div", {"value": "v"}, None),
        ("%input", {"value": "v"}, None),
    ],
)
def test_other_elements(body: Any, el: Any, tag: str, named: dict[str, str], value: Any) -> None:
    node = body(el(tag, "text", id="x", **named)).select("#x")
    assert node.value == value
    assert type(node.value) is type(value)


def test_a_masked_value_is_refused_and_a_secret_is_named(body: Any, el: Any) -> None:
    dom = body(
        el("input", id="m", state={"value": "⟦masked⟧", "masked": True}),
        el("input", id="s", state={"value": "⟦secret:PIN⟧", "masked": True}),
        el("input", id="e", state={"masked": True}),
    )
    with pytest.raises(Unsupported, match="value is masked"):
        _ = dom.select("#m").value
    assert [dom.select(css).value for css in ("#s", "#e")] == ["⟦secret:PIN⟧", ""]
    assert all(dom.select(css).masked for css in ("#m", "#s", "#e"))


def test_fieldsets_and_groups_disable_what_they_hold(body: Any, el: Any) -> None:
    legend = el("legend", el("input", id="in-legend"))
    dom = body(
        el("fieldset", legend, el("input", id="held"), el("legend", el("input", id="second")), disabled=""),
        el("select", el("optgroup", el("option", id="grouped"), disabled="")),
        el("input", id="own", disabled=""),
        el("input", id="free"),
    )
    assert {node.attribute("id") for node in dom.select_all("input, option") if node.disabled} == {
        "held",
        "second",
        "grouped",
        "own",
    }
    assert {node.attribute("id") for node in dom.select_all("input:enabled")} == {"in-legend", "free"}
