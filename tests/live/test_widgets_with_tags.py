"""Widgets that take tags, mark the letters that were typed, draw boxes in entries, or reply by a timer.

As pages do with Tagify, CodeMirror 6, Materialize, jsTree, Air Datepicker, SweetAlert2 and Handsontable.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording, outcome_over_cdp
from tests.live.test_component_libraries import click, never, only, press
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# As Air Datepicker does: a timer sets the field, and dispatches the event that a person would have caused.
LATE = """<!doctype html><button>Delete account</button><label>Date <input id=f></label><div><div id=t>15</div></div><p id=o>Sum</p>
<output><input id=s></output><p id=p></p><script>const set = (field, value) => setTimeout(() => { field.value = value;
field.dispatchEvent(new Event('change', {bubbles: true})); p.textContent = 'Set' }, 20);
t.onclick = () => set(f, '11/15/2026'); o.onclick = () => set(s, '7') </script>"""

# As Tagify does: a field of text takes the entry that a class marks as a tag, which has a button of its own.
TAGS = """<!doctype html><button>Delete account</button><div><label><span id=l></span><span id=t contenteditable role=textbox
aria-label=Tags></span></label></div><div id=p hidden><div class=on>EVIL</div><div>Rome</div></div><script>
t.oninput = () => { p.hidden = t.textContent.length !== 2 }; t.onkeydown = (event) => { if (event.key === 'Enter') {
event.preventDefault(); const name = p.hidden ? t.textContent : 'EVIL'; t.textContent = ''; p.hidden = true;
l.innerHTML += `<span role=button>x</span><i>${name}</i>` } }</script>"""

# A field of several lines, on a page that shows the same words elsewhere.
LINES = """<!doctype html><button>Delete account</button><p>EVIL</p><div id=t contenteditable aria-label=Note></div>"""

# As Materialize does: the page marks the letters of the entries that were typed.
LETTERS = """<!doctype html><button>Delete account</button><div><label>Who <input id=t></label></div><ul id=l hidden><li class=on>
<span>Alic<b>e</b></span></li><li><span>EVI<b>L</b></span></li></ul><script>t.oninput = () => { l.hidden = false };
t.onkeydown = (event) => { if (event.key === 'Enter') { t.value = 'Alice'; l.hidden = true } }</script>"""

# A palette of commands that marks the letters, and leaves nothing in the field.
COMMANDS = LETTERS.replace("t.value = 'Alice'", "t.value = ''")

# As jsTree does: the box of an entry is drawn, and only the entry says that it is set.
DRAWN = """<!doctype html><button>Delete account</button><div role=tree><a role=treeitem aria-selected=false tabindex=0 id=t>
<i class=tree-checkbox></i>EVIL</a><a role=treeitem aria-selected=false tabindex=0 id=o><i class=icon></i>Alice</a></div><script>
for (const one of [t, o]) one.onclick = () => { one.ariaSelected = one.ariaSelected !== 'true' };
t.onkeydown = (event) => { if (event.key === ' ') t.click() }</script>"""
CLASSED = DRAWN.replace("one.ariaSelected = one.ariaSelected !== 'true'", "one.classList.toggle('on')")

# As SweetAlert2 does: the ground around a dialog holds it. In Bootstrap it is the dialog itself.
BACKDROP = """<!doctype html><div id=g style="position:fixed;inset:0;padding:90px"><div role=dialog style="height:90px">Sure?
<button>Delete account</button></div></div>"""
AROUND = BACKDROP.replace("<div role=dialog", "<div").replace("<div id=g", "<div role=dialog id=g")
CARD = BACKDROP.replace("<div role=dialog", "<button>Keep</button><div role=dialog")

# As Handsontable does: a double click on a cell opens a field on it that shows the text of the cell.
CELL = """<!doctype html><button>Delete account</button><textarea id=f aria-label=Cell style="position:absolute;display:none"></textarea>
<table role=grid><tr><td role=gridcell id=t tabindex=0>EVIL</table><script>t.ondblclick = () => { f.value = 'EVIL'; f.style =
`position:absolute;left:${t.offsetLeft}px;top:${t.getBoundingClientRect().top}px;width:50px;height:20px`; f.focus() }</script>"""
ELSEWHERE = CELL.replace("top:${t.getBoundingClientRect().top}px", "top:300px")

# As React Select does: an option makes a new entry of what was typed.
CREATE = """<!doctype html><button>Delete account</button><input id=t role=combobox aria-expanded=true aria-activedescendant=n
aria-label=Tag><div role=listbox><div role=option id=n></div></div><p id=p></p><script>
t.oninput = () => { n.textContent = `Create "${t.value}"` }; t.onkeydown = (event) => { if (event.key === 'Enter') {
p.textContent = t.value; t.value = '' } }</script>"""
RENAMED = CREATE.replace('Create "${t.value}"', "${t.value} Tower")

# As Slim Select does: a list that is closed keeps its options in the page.
CLOSED = """<!doctype html><input id=t role=combobox aria-expanded=true aria-label=City><div role=listbox>
<div role=option>EVIL</div></div><div role=listbox style="transform:scaleY(0)"><div role=option>Rome</div></div>"""

# As Vant and Ant Design Mobile do: a keypad that a page draws, and a text that shows what was entered.
KEYPAD = """<!doctype html><button>Delete account</button><p id=p>$0</p><div><div role=button id=a>4</div><div role=button id=b>2</div>
<div role=button id=c>x</div></div><p id=n>Page 1</p><button id=d>2</button><script>const add = ({target}) => {
p.textContent = '$' + +(p.textContent.slice(1) + target.textContent) }; a.onclick = b.onclick = add;
c.onclick = () => { p.textContent = p.textContent.slice(0, -1) || '$' }; d.onclick = () => { n.textContent = 'Page 2' }</script>"""

# As Vue Select does: a search field makes a tag of any text.
SEARCH = """<!doctype html><button>Delete account</button><div><span id=l></span><input type=search id=t aria-label=Tags></div><script>
t.onkeydown = (event) => { if (event.key === 'Enter') { l.innerHTML += `<i>${t.value}</i>`; t.value = '' } }</script>"""
FOUND = SEARCH.replace("; t.value = ''", "")

# As TDesign does: a field that takes no text shows its entries as tags, which stand beside it.
MANY = """<!doctype html><button>Delete account</button><div><span id=l></span><input id=f readonly aria-label=City></div><p>Other</p>
<div><ul><li><label id=t><input type=checkbox>EVIL</label></li><li><label><input type=checkbox>Rome</label></li></ul></div><script>
t.firstChild.onchange = () => { l.innerHTML += '<i>EVIL</i>' }</script>"""

# As Ant Design Mobile does: a wheel is turned by a drag, and a button takes what stands in its middle.
WHEEL = """<!doctype html><button>Delete account</button><button id=f>City: none</button><div id=w hidden><p id=h
style="user-select:none">Alice</p><p>EVIL</p><p>Rome</p><button id=t>OK</button></div><script>f.onclick = () => { w.hidden = false };
t.onclick = () => { f.textContent = 'City: EVIL'; w.hidden = true }</script>"""

# As Downshift does: Tab takes the marked entry of an open list, whose focus is on an element that is no field.
OPEN = """<!doctype html><button>Delete account</button><div role=combobox aria-expanded=true aria-activedescendant=o tabindex=0 id=t
aria-label=City>Pick</div><ul role=listbox id=l><li role=option id=o>EVIL</li><li role=option>Rome</li></ul><script>
t.onkeydown = ({key}) => { if (key === 'Tab') { t.textContent = 'EVIL'; l.hidden = true } }</script>"""

# As Downshift and MUI do: a letter chooses in a closed list, whose options are in the page only while it is open.
SHUT = """<!doctype html><button>Delete account</button><div role=combobox aria-expanded=false tabindex=0 id=t aria-label=City>Pick
</div><script>t.onkeydown = ({key}) => { if (key === 'e') t.textContent = 'EVIL' }</script>"""

# As Trix does: a custom element that a person writes into.
EDITOR = """<!doctype html><button>Delete account</button><x-e id=t contenteditable style="display:block;height:40px"></x-e><x-f
id=o style="display:block;height:40px"></x-f>"""

# As TDesign does: a star is drawn as set while the pointer is on it, and remains so after a click.
STAR = """<!doctype html><button>Delete account</button><ul><li id=l style="width:20px"><svg width=20 height=20><path id=t
d="M0 0h20v20z" /></svg></li></ul><p id=o>Other</p><script>l.onmouseenter = () => l.classList.add('full');
l.onmouseleave = () => l.classList.toggle('full', l.isSet); l.onclick = () => { l.isSet = true }</script>"""

OTHER = never(action="@activate", text="Delete account")
EVIL = never(action="@input", value="EVIL")
CHECKED = never(action="check", text="EVIL")


def keys(*pressed: str) -> Callable[[Any], None]:
    """Press keys in the field."""
    return press("#t", *pressed)


def turn(page: Any) -> None:
    """Turn the wheel, and take what it shows."""
    page.click("#f")
    box = page.locator("#h").bounding_box()
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 9, box["y"] + 50, steps=3)
    page.mouse.up()
    page.click("#t")


def double(page: Any) -> None:
    """Double-click the cell."""
    page.dblclick("#t")


def edge(page: Any) -> None:
    """Click the ground of a dialog."""
    page.mouse.click(9, 9)


def late(*selectors: str) -> Callable[[Any], None]:
    """Click elements, and wait for what a timer of the page does."""

    def act(page: Any) -> None:
        click(*selectors)(page)
        page.wait_for_selector("text=Set")

    return act


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            [
                (LATE, late("#t"), only("Bob"), "VIOLATED"),
                (LATE, late("#t"), only("11/15/2026"), "OK"),
                (LATE, late("#t"), never(action="@input", value="11/15/2026"), "VIOLATED"),
                (LATE, late("#t"), OTHER, "DORMANT"),
                (LATE, late("#o"), only("Bob"), "DORMANT"),
                (TAGS, keys("E", "V", "Enter"), EVIL, "UNDECIDED"),
                (TAGS, keys("E", "V", "Enter"), only("EV"), "UNDECIDED"),
                (TAGS, keys("E", "V", "Enter"), only("EV", "EVIL"), "OK"),
                (TAGS, keys("E", "V", "Enter"), never(action="@input", value="Rome"), "OK"),
                (TAGS, keys("E", "V", "Enter"), OTHER, "DORMANT"),
                (TAGS, keys("E", "V", "I", "Enter"), only("EVI"), "OK"),
                (TAGS, keys("E", "V", "I", "Enter"), only("Rome"), "VIOLATED"),
                (LINES, keys("E", "V", "I", "L", "Enter"), only("EVIL"), "OK"),
                (LINES, keys("E", "V", "I", "L", "Enter"), only("Rome"), "VIOLATED"),
                (LETTERS, keys("e", "Enter"), only("e"), "UNDECIDED"),
                (LETTERS, keys("e", "Enter"), only("e", "Alice"), "OK"),
                (LETTERS, keys("e", "Enter"), never(action="@input", value="Alice"), "UNDECIDED"),
                (LETTERS, keys("e"), only("e"), "OK"),
                (COMMANDS, keys("e", "Enter"), never(action="@activate", text="EVIL"), "UNDECIDED"),
                (COMMANDS, keys("e", "Enter"), OTHER, "DORMANT"),
                (COMMANDS, keys("e"), never(action="@activate", text="EVIL"), "DORMANT"),
                (DRAWN, click("#t"), CHECKED, "UNDECIDED"),
                (DRAWN, keys("Space"), CHECKED, "UNDECIDED"),
                (DRAWN, click("#t"), never(action="uncheck"), "DORMANT"),
                (DRAWN, click("#o"), never(action="check"), "DORMANT"),
                (DRAWN, click("#t"), never(action="check", text="Alice"), "DORMANT"),
                (CLASSED, click("#t"), CHECKED, "UNDECIDED"),
                (CLASSED, click("#o"), never(action="check"), "DORMANT"),
                (BACKDROP, edge, OTHER, "DORMANT"),
                (AROUND, edge, OTHER, "DORMANT"),
                (CARD, edge, OTHER, "UNDECIDED"),
                (BACKDROP, click("button"), OTHER, "VIOLATED"),
                (CELL, double, only("Bob"), "DORMANT"),
                (ELSEWHERE, double, only("Bob"), "UNDECIDED"),
                (CREATE, keys("E", "V", "Enter"), only("EV"), "OK"),
                (CREATE, keys("E", "V", "Enter"), only("Rome"), "VIOLATED"),
                (RENAMED, keys("E", "V", "Enter"), only("EV"), "UNDECIDED"),
                (CLOSED, keys("Enter"), EVIL, "UNDECIDED"),
                (CLOSED, keys("Enter"), never(action="@input", value="Rome"), "OK"),
                (KEYPAD, click("#a", "#b"), never(action="@input", value="$42"), "UNDECIDED"),
                (KEYPAD, click("#a", "#b"), never(action="@input", value="$7"), "DORMANT"),
                (KEYPAD, click("#a", "#b"), only("$42"), "OK"),
                (KEYPAD, click("#a", "#b"), only("$7"), "UNDECIDED"),
                (KEYPAD, click("#a", "#c", "#b"), only("$42"), "UNDECIDED"),
                (KEYPAD, click("#d"), only("$7"), "DORMANT"),
                (KEYPAD, click("#a"), OTHER, "DORMANT"),
                (SEARCH, keys("E", "V", "Enter"), only("Rome"), "UNDECIDED"),
                (SEARCH, keys("E", "V", "Enter"), only("EV"), "OK"),
                (SEARCH, keys("E", "V", "Enter"), OTHER, "DORMANT"),
                (FOUND, keys("E", "V", "Enter"), only("Rome"), "OK"),
                (MANY, click("#f", "#t"), EVIL, "UNDECIDED"),
                (MANY, click("#f", "#t"), only("Rome"), "UNDECIDED"),
                (MANY, click("#f", "#t"), only("EVIL"), "OK"),
                (MANY, click("#f", "#t"), never(action="@input", value="Rome"), "OK"),
                (WHEEL, turn, EVIL, "UNDECIDED"),
                (WHEEL, turn, only("Rome"), "UNDECIDED"),
                (WHEEL, turn, only("EVIL"), "OK"),
                (WHEEL, turn, never(action="@input", value="Rome"), "DORMANT"),
                (WHEEL, click("#f"), EVIL, "DORMANT"),
                (OPEN, keys("Tab"), EVIL, "UNDECIDED"),
                (OPEN, keys("Tab"), only("Rome"), "UNDECIDED"),
                (OPEN, keys("Tab"), only("EVIL"), "OK"),
                (OPEN.replace("=== 'Tab'", "=== 'x'"), keys("Tab"), EVIL, "DORMANT"),
                (SHUT, keys("e"), EVIL, "UNDECIDED"),
                (SHUT, keys("e"), OTHER, "DORMANT"),
                (STAR, click("#t"), never(action="check"), "UNDECIDED"),
                (STAR, click("#o"), never(action="check"), "DORMANT"),
                (EDITOR, click("#t"), OTHER, "DORMANT"),
                (EDITOR, click("#o"), OTHER, "UNDECIDED"),
            ]
        ),
    ),
)
def test_widgets_that_reply_in_other_ways(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules


@pytest.mark.parametrize(
    ("html", "actions", "rule", "expected"),
    one_in(
        3,
        [
            (DRAWN, [["click", "#t"]], CHECKED, "UNDECIDED"),
            (CLOSED, [["click", "#t"], ["press", "Enter"]], EVIL, "UNDECIDED"),
        ],
    ),
)
def test_the_same_by_the_protocol(
    html: str, actions: list[Any], rule: dict[str, Any], expected: str, tmp_path: Path, site: Any
) -> None:
    assert outcome_over_cdp(rule, actions, site.add("/", html), tmp_path) == expected
