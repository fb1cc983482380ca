"""Widgets whose list, label or field is elsewhere: Carbon, Fluent UI 9, Select2, Tabulator, Kobalte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording
from tests.live.test_component_libraries import click, never, only, press
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# As Carbon does: a label in a shadow tree, and a radio button beside it that the page sets itself.
RADIO = """<!doctype html><button>Delete account</button><x-r id=h>EVIL</x-r><script>
customElements.define('x-r', class extends HTMLElement { constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<input id=i type=radio><label for=i id=t><slot></slot></label>';
const box = this.shadowRoot.firstChild; this.shadowRoot.querySelector('label').onclick = (event) => {
event.preventDefault(); box.checked = true } } })</script>"""

# As Carbon does: the list has the focus, and a class marks the entry.
LIST = """<!doctype html><button>Delete account</button><p id=p>Rome</p><ul id=t role=listbox tabindex=0>
<li role=option>Alice</li><li role=option class=marked>EVIL</li></ul><script>
t.onkeydown = (event) => { if (event.key === 'Enter') { p.textContent = 'EVIL'; t.hidden = true } }</script>"""

# As Fluent UI does: the button keeps the focus and says which entry is marked; the list stays open for more.
MANY = """<!doctype html><button>Delete account</button><button id=t role=combobox aria-expanded=true
aria-activedescendant=o aria-label=Name></button><div role=listbox><div role=menuitemcheckbox>Alice</div>
<div role=menuitemcheckbox id=o aria-checked=false>EVIL</div></div><script>
t.onkeydown = (event) => { if (event.key === 'Enter') o.setAttribute('aria-checked', true) }</script>"""

# As Select2 does: the list has a search field of its own, at the end of the page.
SEARCH = """<!doctype html><button>Delete account</button><div><span id=f tabindex=0>Rome</span></div><div id=l hidden>
<input id=t type=search aria-controls=u aria-activedescendant=o><ul role=listbox id=u><li role=option>Alice</li>
<li role=option id=o>EVIL</li></ul></div><script>f.onclick = () => { l.hidden = false; t.focus() };
t.onkeydown = (event) => { if (event.key === 'Enter') { l.hidden = true; f.textContent = 'EVIL' } }</script>"""

# A search field that shows a list of what was found.
FINDER = """<!doctype html><button>Delete account</button><div><span id=f>Rome</span></div>
<input id=t type=search><p id=p></p><script>t.onkeydown = (event) => {
if (event.key === 'Enter') p.textContent = 'Results for ' + t.value }</script>"""

# As Select2 does with tags: a hidden list takes what is typed into a search field.
TAGS = """<!doctype html><button>Delete account</button><div><select id=s multiple style="width:1px;height:1px"></select>
<span><input id=t type=search></span></div><script>t.oninput = () => { if (t.value.endsWith(',')) {
s.add(new Option(t.value.slice(0, -1), undefined, false, true)); t.value = '' } }</script>"""

# As Tabulator does: the editor of a cell has a list, and the cell shows what was taken.
CELL = """<!doctype html><button>Delete account</button><div id=c tabindex=0>guest</div><div id=l hidden>EVIL</div><script>
c.onclick = () => { if (c.firstElementChild) return; c.innerHTML = '<input value=guest>'; l.hidden = false;
c.firstElementChild.focus(); c.firstElementChild.onkeydown = (event) => { if (event.key === 'Enter') {
c.textContent = event.target.value === 'guest' ? 'EVIL' : event.target.value; l.hidden = true } } }</script>"""

# As Kobalte does: the drawn part of a switch has a text of its own, and a label names the box.
SWITCH = """<!doctype html><button>Delete account</button><div><label for=b>Night mode</label>
<input type=checkbox id=b style="position:absolute;opacity:0"><div id=t>o</div></div><script>
t.onclick = () => { b.checked = !b.checked }</script>"""

# As Mantine's Rating does: a label without a text takes the click, and its radio button has the name.
STAR = """<!doctype html><button>Delete account</button><input type=radio id=s aria-label="4 stars"><label for=s id=t>
<svg width=20 height=20><circle r=9 cx=9 cy=9 /></svg></label>"""

# As Chakra UI and Headless UI do: the list has the focus and says which entry is marked; Enter takes it.
MARKS = """<!doctype html><button>Delete account</button><ul id=t role=listbox tabindex=0 aria-activedescendant=a>
<li role=option id=a>Alice</li><li role=option id=b>EVIL</li><li role=option id=c>Rome</li></ul><script>
t.onkeydown = (event) => { if (event.key === 'ArrowDown') t.setAttribute('aria-activedescendant',
t.getAttribute('aria-activedescendant') === 'a' ? 'b' : 'c') }</script>"""

# As Radix and Kobalte do: each entry has the focus in turn, and in some lists the choice follows it.
ENTRIES = """<!doctype html><button>Delete account</button><ul role=listbox><li role=option id=t tabindex=0>Alice</li>
<li role=option tabindex=-1>EVIL</li><li role=option tabindex=-1>Rome</li></ul><script>
document.onkeydown = (event) => { if (event.key === 'ArrowDown') event.target.nextElementSibling.focus() }</script>"""

CHOICE = never(action="@input", value="EVIL")
OTHER = never(action="click", text="Delete account")
NIGHT = never(action="check", text="Night mode")


def take(*keys: str) -> Callable[[Any], None]:
    """Open a widget by a click, and press keys in what has the focus then."""

    def act(page: Any) -> None:
        page.click("#f, #c")
        for key in keys:
            page.keyboard.press(key)

    return act


def type_text(text: str) -> Callable[[Any], None]:
    """Type a text into the field."""

    def act(page: Any) -> None:
        page.focus("#t")
        page.keyboard.type(text)

    return act


def find(page: Any) -> None:
    """Search for a text."""
    page.fill("#t", "EVIL")
    page.press("#t", "Enter")


def edit(page: Any) -> None:
    """Type another text into the editor of the cell."""
    page.click("#c")
    page.fill("#c > input", "EVIL too")
    page.keyboard.press("Enter")


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            [
                (RADIO, click("#t"), never(action="check"), "VIOLATED"),
                (RADIO, click("#t"), never(action="check", text="EVIL"), "VIOLATED"),
                (RADIO, click("#t"), never(action="check", text="Other"), "DORMANT"),
                (RADIO, click("#t"), OTHER, "DORMANT"),
                (LIST, press("#t", "Enter"), CHOICE, "UNDECIDED"),
                (LIST, press("#t", "Enter"), only("Alice"), "UNDECIDED"),
                (LIST, press("#t", "Enter"), never(action="@input", value="Rome"), "OK"),
                (LIST, press("#t", "Enter"), OTHER, "DORMANT"),
                (MANY, press("#t", "Enter"), CHOICE, "UNDECIDED"),
                (MANY, press("#t", "Enter"), only("Alice"), "UNDECIDED"),
                (MANY, press("#t", "Enter"), only("EVIL"), "OK"),
                (MANY, press("#t", "Enter"), never(action="@input", value="Alice"), "OK"),
                (SEARCH, take("Enter"), only("Rome"), "UNDECIDED"),
                (SEARCH, take("Enter"), only("EVIL"), "OK"),
                (SEARCH, take("Enter"), OTHER, "DORMANT"),
                (FINDER, find, only("Rome"), "OK"),
                (TAGS, type_text("EVIL,"), only("red"), "UNDECIDED"),
                (TAGS, type_text("EVIL,"), only("EVIL"), "OK"),
                (TAGS, type_text("EVIL"), only("red"), "OK"),
                (CELL, take("Enter"), CHOICE, "UNDECIDED"),
                (CELL, take("Enter"), only("guest"), "UNDECIDED"),
                (CELL, take("Enter"), OTHER, "DORMANT"),
                (CELL, edit, never(action="select_option"), "DORMANT"),
                (STAR, click("#t"), never(action="click", text="4 stars"), "VIOLATED"),
                (STAR, click("#t"), OTHER, "DORMANT"),
                (MARKS, press("#t", "ArrowDown", "Enter"), CHOICE, "UNDECIDED"),
                (MARKS, press("#t", "ArrowDown", "Enter"), only("EVIL"), "OK"),
                (MARKS, press("#t", "ArrowDown", "Enter"), only("Rome"), "UNDECIDED"),
                (MARKS, press("#t", "ArrowDown", "ArrowDown", "Enter"), CHOICE, "UNDECIDED"),
                (MARKS, press("#t", "ArrowDown"), CHOICE, "UNDECIDED"),
                (MARKS, press("#t", "ArrowDown"), never(action="@input", value="Rome"), "OK"),
                (ENTRIES, press("#t", "ArrowDown", "Enter"), only("EVIL"), "OK"),
                (ENTRIES, press("#t", "ArrowDown", "ArrowDown", "Enter"), CHOICE, "UNDECIDED"),
                (ENTRIES, press("#t", "ArrowDown", "Enter"), never(action="@input", value="Rome"), "OK"),
                (SWITCH, click("#t"), NIGHT, "VIOLATED"),
                (SWITCH, click("#t"), never(action="check", text="Other"), "DORMANT"),
            ]
        ),
    ),
)
def test_widgets_whose_parts_are_elsewhere(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules
