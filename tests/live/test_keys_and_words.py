"""Keys that act elsewhere, words of elements that touch, and buttons of a mouse that open menus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

LIST = """<style>select, ::picker(select) { appearance: base-select }</style><select id=t>
<option value=a>Apple<option value=b>Pear<option value=z>Zebra</select>"""
COMPONENT = """<x-keys id=t tabindex=0 role={role}>field</x-keys><script>
customElements.define('x-keys', class extends HTMLElement { connectedCallback() {
  this.onkeydown = (event) => { this.textContent += event.key } } })</script>"""
GLYPH = "<button id=t><i>trash</i><span>Refund</span></button>"
WORDS = "<div id=t><span>Total</span><b>84.50</b><button>Pay</button><button>Cancel</button></div>"
MARKED = """<input id=t aria-autocomplete=list aria-activedescendant=b>
<div role=listbox><div role=option id=a>Apple</div><div role=option id=b>Pear</div></div>"""
DATE = """<input id=t><table><td id=d>17</table><script>d.onclick = () => { t.value = '2026-03-17';
for (const name of ['input', 'change']) t.dispatchEvent(new Event(name, { bubbles: true })) }</script>"""
SWITCH = """<div id=s><input type=checkbox style="position: absolute; opacity: 0; width: 0"><span id=t>off</span></div>
<p id=t2>Other</p><script>for (const one of [s, t2]) one.onclick = () => { s.firstChild.checked = true }</script>"""
FORMAT = """<input id=t><script>t.oninput = () => {
t.value = t.value.replace(/,/g, '').replace(/(\\d)(?=(\\d{3})+$)/g, '$1,') }</script>"""
MENU = "<ul><li id=t>Item<li>Other</ul>"
ALTERNATIVE = "<style>#t::before { content: 'Delete' / 'Cancel' }</style><button id=t></button>"


def press(*keys: str) -> Callable[[Any], None]:
    """Press keys, the first one in the element."""

    def act(page: Any) -> None:
        page.focus("#t")
        for key in keys:
            page.keyboard.press(key)

    return act


def choose(page: Any) -> None:
    """Open the list by a key, and take its second option."""
    press("Enter")(page)
    page.wait_for_function("document.querySelector('select').matches(':open')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def click(page: Any) -> None:
    """Click the element."""
    page.click("#t")


def open_menu(page: Any) -> None:
    """Click the element with the secondary button."""
    page.click("#t", button="right")


def choose_day(page: Any) -> None:
    """Click the field, and the day that the page enters into it."""
    page.click("#t")
    page.click("#d")


def click_elsewhere(page: Any) -> None:
    """Click what is not beside the switch."""
    page.click("#t2")


def type_number(page: Any) -> None:
    """Type a number."""
    page.click("#t")
    page.keyboard.type("1234567")


def never(**match: Any) -> dict[str, Any]:
    """A rule that forbids an action."""
    return {"type": "never", "match": match}


def only(*allowed: str) -> dict[str, Any]:
    """A rule that lists the values that may be entered."""
    return {"type": "only_fill", "allowed": list(allowed)}


CASES = [
    (LIST, choose, never(action="select_option", value="Pear"), "VIOLATED"),
    (LIST, choose, {"type": "eventually", "match": {"action": "select_option", "value": "b"}}, "OK"),
    (LIST, choose, never(action="select_option", value="Zebra"), "OK"),
    (COMPONENT.replace("{role}", "textbox"), press("B", "a", "d"), only("Good"), "UNDECIDED"),
    (COMPONENT.replace("{role}", "button"), press("Space"), only("Good"), "DORMANT"),
    (GLYPH, click, never(action="click", text="Refund"), "UNDECIDED"),
    (GLYPH, click, never(action="click", text="trash"), "UNDECIDED"),
    (GLYPH, click, never(action="click", text="Pay"), "DORMANT"),
    (ALTERNATIVE, click, never(action="click", text="Delete"), "UNDECIDED"),
    (ALTERNATIVE, click, never(action="click", text="Cancel"), "VIOLATED"),
    (ALTERNATIVE, click, never(action="click", text="Pay"), "DORMANT"),
    (WORDS, click, never(kind="page", text="84.50"), "UNDECIDED"),
    (WORDS, click, never(kind="page", text="Cancel"), "UNDECIDED"),
    (WORDS, click, never(kind="page", text="84"), "UNDECIDED"),
    (WORDS, click, never(kind="page", text="Tot"), "OK"),
    (MARKED, press("Enter"), never(action="select_option", value="Pear"), "UNDECIDED"),
    (MARKED, press("Enter"), never(action="select_option", value="Apple"), "OK"),
    (MARKED, press("x"), never(action="select_option", value="Pear"), "DORMANT"),
    (DATE, choose_day, never(value="2026-03-17"), "VIOLATED"),
    (DATE, choose_day, never(value="2026-03-18"), "OK"),
    (SWITCH, click, never(action="check"), "VIOLATED"),
    (SWITCH, click, never(action="uncheck"), "DORMANT"),
    (SWITCH, click_elsewhere, never(action="check"), "DORMANT"),
    (FORMAT, type_number, only("1,234,567"), "UNDECIDED"),
    (FORMAT, type_number, only("1234567"), "OK"),
    (FORMAT, type_number, only("1,234,568"), "VIOLATED"),
    (MENU, open_menu, never(action="@activate", text="Item"), "UNDECIDED"),
    (MENU, open_menu, never(action="@activate", text="Other"), "DORMANT"),
    (MENU, open_menu, never(action="click", text="Item"), "OK"),
    (MENU, open_menu, never(action="mouse_click", text="Item"), "VIOLATED"),
]


@pytest.mark.parametrize(("markup", "act", "rules"), one_in(2, by_recording(CASES)))
def test_what_keys_and_pointers_come_to(markup: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(f"<!doctype html>{markup}", act, rules) == rules
