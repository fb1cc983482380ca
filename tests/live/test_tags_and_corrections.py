"""Tags that a class calls set, texts that keys correct, boxes that share a name, and what a last arrow marks.

As Vuetify, Chakra, React Aria, Ariakit and TanStack Table do. Each page is recorded once, and graded by several rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn
from tests.live.test_component_libraries import click, never, only, press
from tests.live.test_entries_and_marks import then
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# A tag that only its class calls set, and a card that only shows where the pointer is.
TAGS = """<!doctype html><button>Delete account</button><span class=tag id=t>EVIL</span> <span class=tag>Rome</span>
<span class=card id=o>Oslo</span><script>t.onclick = () => t.classList.toggle('tag-checked');
o.onclick = () => o.classList.add('card--hovered', 'active', 'unselectedButton')</script>"""

# An entry that shows a tick in its text.
TICKED = """<!doctype html><div id=t>EVIL <b id=b></b></div><script>t.onclick = () => { b.textContent = '✓' }</script>"""

# A table whose rows set their boxes, all of one name; a box in its head sets all of them.
TABLE = """<!doctype html><table><tr><th><input type=checkbox aria-label="Select all" id=a><th>Name
<tr><td><input type=checkbox aria-label="Select row"><td>Alice<tr id=r><td><input type=checkbox id=b
aria-label="Select row"><td id=c>EVIL</table><label><input type=checkbox id=n> News</label><script>
c.onclick = () => { b.checked = !b.checked }
a.onclick = () => { for (const one of document.querySelectorAll('td input')) one.checked = a.checked }</script>"""

# A page that searches by itself once a word is complete.
SEARCHING = """<!doctype html><label>City <input id=t></label><script>t.oninput = () => {
if (t.value === 'EVIL') location.search = '?q=EVIL' }</script>"""

# A page that writes the address that it has to its history.
REWRITING = SEARCHING.replace("location.search = '?q=EVIL'", "history.pushState(null, '', location.href)")

FIELD = """<!doctype html><label>City <input id=t></label><label>Count <input type=number id=n></label><textarea id=s>EVIL
</textarea><input type=range id=g aria-label=Size>"""

# As React Aria does: an option takes the place of what was typed to find it.
SEARCHED = """<!doctype html><input id=t role=combobox aria-autocomplete=list aria-expanded=true aria-label=City><ul
role=listbox><li role=option id=o>Rome</ul><script>o.onclick = () => { t.value = 'Rome' }</script>"""

# As Vuetify does: a letter chooses in a closed list, and a list of the browser that no one sees keeps the choice.
CLOSED = """<!doctype html><div><div><select id=s tabindex=-1 style="opacity:0;width:1px"><option>Alice<option>EVIL</select>
<input id=t role=combobox aria-expanded=false inputmode=none aria-label=City></div></div><script>t.onkeydown = (event) => {
event.preventDefault(); if (event.key === 'e') s.value = 'EVIL' }</script>"""

# A list of one choice, and one whose options have a box that is only drawn.
LIST = """<!doctype html><ul role=listbox tabindex=0 id=t aria-activedescendant=a><li role=option id=a
aria-selected=true>Alice<li role=option id=e aria-selected=false>EVIL<li role=option id=o aria-selected=false>Rome</ul>
<script>const mark = (one) => { for (const other of t.children) other.ariaSelected = other === one;
t.setAttribute('aria-activedescendant', one.id) }; t.onclick = (event) => mark(event.target.closest('li'));
t.onkeydown = ({key}) => { const one = document.getElementById(t.getAttribute('aria-activedescendant'));
if (key === 'ArrowDown' && one.nextElementSibling) mark(one.nextElementSibling) }</script>"""
BOXES = LIST.replace("EVIL", "EVIL <i class=my-checkbox></i>")
TICKS = """<!doctype html><ul role=listbox><li role=option id=t>EVIL</ul><script>t.onclick = () => {
t.innerHTML = t.innerHTML === 'EVIL' ? 'EVIL<svg width=9 height=9></svg>' : 'EVIL' }</script>"""

# Questions whose answers have the same names.
ANSWERS = """<!doctype html><table><tr><td>Refund<td><label><input type=radio name=r id=y>Yes</label> <label><input type=radio
name=r>No</label><tr><td>Ship<td><label><input type=radio name=s>Yes</label> <label><input type=radio name=s>No</label></table>"""

LINK = """<!doctype html><a href="#x" id=t>EVIL</a> <a href="#x" role=button id=b>Rome</a>"""

CHECKED = never(action="check", text="EVIL")
PRESSED = never(action="@activate", text="EVIL")
EVIL = never(action="@input", value="EVIL")


def typed(*texts: str) -> Callable[[Any], None]:
    """Type into the field; `<` is the key that erases a letter, `^` selects all, `>` is Enter."""
    keys = {"<": "Backspace", "^": "Control+a", ">": "Enter"}

    def act(page: Any) -> None:
        page.focus("#t")
        for text in texts:
            if text[0] in keys:
                page.keyboard.press(keys[text[0]])
            else:
                page.keyboard.type(text)

    return act


def paste(page: Any) -> None:
    page.focus("#s")
    for key in ("Control+a", "Control+c"):
        page.keyboard.press(key)
    page.focus("#t")
    page.keyboard.press("Control+v")


def find(page: Any) -> None:
    page.focus("#t")
    page.keyboard.type("Ro")
    page.click("#o")


def search(page: Any) -> None:
    """Type what the page sends at once, and another word after that."""
    typed("EVIL")(page)
    page.wait_for_url("**/*?q=EVIL")
    typed("x", "<", "Rome")(page)


ERASED = ["<"] * 4


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        3,
        [
            (
                TAGS,
                click("#t"),
                [
                    (CHECKED, "UNDECIDED"),
                    (never(action="check"), "UNDECIDED"),
                    (never(action="check", text="Rome"), "DORMANT"),
                    (never(action="uncheck", text="EVIL"), "OK"),
                    (PRESSED, "VIOLATED"),
                ],
            ),
            (TICKED, click("#t"), [(CHECKED, "UNDECIDED"), (PRESSED, "VIOLATED")]),
            (TAGS, click("#t", "#t"), [(never(action="uncheck", text="EVIL"), "UNDECIDED")]),
            (TAGS, click("#o"), [(never(action="check"), "DORMANT"), (never(action="uncheck"), "DORMANT")]),
            (
                TABLE,
                click("#c"),
                [(CHECKED, "VIOLATED"), (never(action="check", text="Alice"), "DORMANT")],
            ),
            (
                TABLE,
                click("#b"),
                [
                    (CHECKED, "UNDECIDED"),
                    (never(action="check", text="Select row"), "VIOLATED"),
                    (never(action="check", text="Alice"), "DORMANT"),
                ],
            ),
            (
                TABLE,
                click("#a"),
                [
                    (CHECKED, "UNDECIDED"),
                    (never(action="check", text="Alice"), "UNDECIDED"),
                    (never(action="check", text="News"), "DORMANT"),
                ],
            ),
            (
                TABLE,
                click("#n"),
                [(CHECKED, "DORMANT"), (never(action="check", text="News"), "VIOLATED")],
            ),
            (
                ANSWERS,
                click("#y"),
                [
                    (never(action="check", text="Yes"), "VIOLATED"),
                    (never(action="check", text="No"), "DORMANT"),
                    (never(action="check", text="Refund"), "UNDECIDED"),
                    (never(action="check", text="Ship"), "DORMANT"),
                ],
            ),
            (
                FIELD,
                typed("Rmoe", "<", "<", "<", "ome"),
                [(only("Rome"), "UNDECIDED"), (only("Oslo"), "VIOLATED"), (only("Rmoe"), "VIOLATED")],
            ),
            (FIELD, typed("R", "<", "Rome"), [(only("Rome"), "OK")]),
            (FIELD, typed("EVIL", "^", "Rome"), [(only("Rome"), "UNDECIDED"), (EVIL, "VIOLATED")]),
            (FIELD, typed("EVIL", *ERASED), [(only("Rome"), "UNDECIDED"), (EVIL, "VIOLATED")]),
            (FIELD, typed("EVIL", ">", *ERASED, "Rome"), [(only("Rome"), "VIOLATED")]),
            (FIELD, typed("Rome", "<", "<"), [(only("Rome"), "UNDECIDED"), (only("Ro"), "UNDECIDED")]),
            (
                FIELD,
                typed("EVIL"),
                [
                    (never(action="fill", text="City"), "VIOLATED"),
                    (never(action="type", text="City"), "VIOLATED"),
                    (never(action="fill", text="Count"), "DORMANT"),
                ],
            ),
            (
                FIELD,
                lambda page: page.fill("#t", "EVIL"),
                [
                    (never(action="type", text="City"), "VIOLATED"),
                    (never(action="type", value="EVIL"), "VIOLATED"),
                    (never(action="keyboard_type", text="Count"), "DORMANT"),
                    (never(action="type", value="Rome"), "OK"),
                ],
            ),
            (FIELD, paste, [(never(action="type", text="City"), "VIOLATED")]),
            (FIELD, lambda page: page.fill("#n", "7"), [(never(action="type"), "UNDECIDED")]),
            (FIELD, press("#g", "ArrowRight"), [(never(action="type"), "DORMANT")]),
            (FIELD, click("#t"), [(never(action=["type", "fill"]), "DORMANT")]),
            (
                SEARCHED,
                find,
                [(only("Rome"), "OK"), (only("Oslo"), "VIOLATED"), (only("Ro"), "VIOLATED")],
            ),
            (SEARCHING, search, [(only("Rome"), "VIOLATED")]),
            (REWRITING, typed("EVIL", *ERASED, "Rome"), [(only("Rome"), "UNDECIDED")]),
            (
                CLOSED,
                press("#t", "e"),
                [(EVIL, "UNDECIDED"), (never(action="@input", value="Alice"), "OK")],
            ),
            (CLOSED, press("#t", "x"), [(EVIL, "OK")]),
            (
                LIST,
                click("#e"),
                [(never(action="check"), "DORMANT"), (EVIL, "VIOLATED"), (CHECKED, "OK")],
            ),
            (
                LIST,
                press("#t", "ArrowDown"),
                [
                    (EVIL, "UNDECIDED"),
                    (never(action="@input", value="Rome"), "OK"),
                    (only("EVIL"), "OK"),
                    (only("Rome"), "UNDECIDED"),
                    (never(action="check"), "DORMANT"),
                ],
            ),
            (LIST, press("#t", "End"), [(EVIL, "UNDECIDED"), (only("EVIL"), "UNDECIDED")]),
            (BOXES, click("#e"), [(CHECKED, "UNDECIDED")]),
            (TICKS, click("#t"), [(CHECKED, "UNDECIDED"), (never(action="check", text="Rome"), "DORMANT")]),
            (
                LINK,
                press("#t", "Space"),
                [(PRESSED, "UNDECIDED"), (never(action="@activate", text="Rome"), "DORMANT")],
            ),
            (LINK, press("#t", "Enter"), [(PRESSED, "VIOLATED")]),
            (LINK, press("#b", "Space"), [(never(action="@activate", text="Rome"), "VIOLATED")]),
            (LINK, then(click("#b"), press("#t", "Tab")), [(PRESSED, "OK")]),
        ],
    ),
)
def test_tags_and_corrections(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules
