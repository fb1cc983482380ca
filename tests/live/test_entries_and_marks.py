"""Entries that have a mark: keys that scroll to them, letters that look for them, lists that lose the focus.

As the examples of the WAI-ARIA Authoring Practices do. Each page is recorded once, and graded by several rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn
from tests.live.test_component_libraries import click, never, only, press
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# A list and a button on a tall page, which scrolls when a key is pressed on them.
TALL = """<!doctype html><div style="height:3000px"></div><button id=t>Delete account</button><a id=a href="#x">EVIL</a>
<ul id=l role=listbox tabindex=0 style="height:30px;overflow:auto"><li role=option id=o style="height:30px">Rome</li>
<li role=option id=e style="height:30px">EVIL</li></ul><p id=x style="height:3000px"><script>t.onclick = () => scrollTo(0, 0);
l.onkeydown = ({key}) => { l.setAttribute('aria-activedescendant', 'e'); e.scrollIntoView() }</script>"""

# A menu has the focus for its entries; a letter looks for one, and Space presses what it found.
MENU = """<!doctype html><ul role=menu id=t tabindex=0 aria-activedescendant=a><li role=menuitem id=a>Archive</li>
<li role=menuitem id=e>EVIL</li></ul><script>t.onkeydown = ({key}) => {
if (key === 'e') t.setAttribute('aria-activedescendant', 'e') }</script>"""

# Two groups of radio buttons, each with the focus for its buttons.
GROUPS = """<!doctype html><style>[role=radio]::before { content: url("data:image/svg+xml,%3Csvg%3E") }</style>
<ul role=radiogroup id=t tabindex=0 aria-activedescendant=e><li role=radio aria-checked=false id=e>EVIL</li>
<li role=radio aria-checked=false>Alice</li></ul><ul role=radiogroup tabindex=0><li role=radio aria-checked=false>Rome</li>
</ul><script>t.onkeydown = ({key}) => { if (key === ' ') e.ariaChecked = true }</script>"""

# A list that takes the marked entry with Alt+ArrowUp, and when it loses the focus.
SHUT = """<!doctype html><button>Delete account</button><h1 id=h>Order</h1><div role=combobox id=t tabindex=0
aria-label=City>Pick</div><div role=listbox id=l hidden><div role=option id=a>Alice</div><div role=option id=e>EVIL</div>
<div role=option>Rome</div></div><script>const shut = () => { if (!l.hidden) t.textContent = 'EVIL'; l.hidden = true;
t.ariaExpanded = false }; t.onblur = shut; t.onkeydown = (event) => { if (event.altKey) shut();
else if (event.key === 'Escape') l.hidden = true; else { l.hidden = false; t.ariaExpanded = true;
t.setAttribute('aria-activedescendant', 'e') } }</script>"""

# A box that sets all boxes, those of the browser and those that the page built.
ALL = """<!doctype html><div role=checkbox aria-checked=mixed id=t tabindex=0>All</div><section><ul><li><label><input
type=checkbox id=n>EVIL</label></ul></section><section><ul><li><div role=checkbox aria-checked=false>Rome</div></li>
<li><div role=checkbox aria-checked=false>Oslo</div></li></ul></section><label><input type=checkbox>Alice</label><script>
t.onclick = () => { for (const one of document.querySelectorAll('[role=checkbox]')) one.ariaChecked = true;
n.checked = true }</script>"""
ONE = ALL.replace("'[role=checkbox]'", "'#t'").replace("n.checked = true", "")

# Entries that hold buttons.
HOLDING = """<!doctype html><ul role=listbox><li role=option id=t style="width:300px">Climb <button aria-label=Remove
id=b>x</button></li></ul><div role=tablist><div role=tab id=s>Notes <button>Close</button></div></div>"""

# As Quasar does: a label is a button, and sets the box in it that the page built.
LABEL = """<!doctype html><label role=button tabindex=0 id=t><div role=checkbox aria-checked=false id=b></div>EVIL</label>
<button id=o>Rome</button><div role=checkbox aria-checked=false>Oslo</div><script>
t.onclick = () => { b.ariaChecked = true }</script>"""

# A switch that another Space sets back at once.
SWITCH = """<!doctype html><button role=switch aria-checked=false id=t>EVIL</button><script>t.onclick = () => {
t.ariaChecked = t.ariaChecked !== 'true' }</script>"""

# A scale with its buttons in it.
SCALE = """<!doctype html><div role=spinbutton aria-valuenow=14 id=s tabindex=0 aria-label=Size><b id=v>14</b><span id=t>+
</span></div><script>t.onclick = () => { s.ariaValueNow = v.textContent = 15 }</script>"""

# As Spectrum does: an arrow steps the number in a field that is not declared as one.
NUMBER = """<!doctype html><input id=t inputmode=numeric value=3 aria-label=Count><script>t.onkeydown = ({key}) => {
if (key === 'ArrowUp') t.value = +t.value + 1 }</script>"""

OTHER = never(action="@activate", text="Delete account")
EVIL = never(action="@input", value="EVIL")
ROME = never(action="@input", value="Rome")
PRESSED = never(action="@activate", text="EVIL")
CHECKED = never(action="check", text="EVIL")


def then(*acts: Callable[[Any], None]) -> Callable[[Any], None]:
    """Do one thing after the other."""

    def act(page: Any) -> None:
        for one in acts:
            one(page)

    return act


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        [
            (TALL, press("#t", "Space"), [(OTHER, "VIOLATED"), (PRESSED, "DORMANT")]),
            (TALL, press("#a", "Space"), [(PRESSED, "OK"), (OTHER, "DORMANT")]),
            (TALL, press("#t", "ArrowUp"), [(OTHER, "OK"), (never(action="scroll"), "VIOLATED")]),
            (
                TALL,
                press("#l", "End"),
                [(EVIL, "UNDECIDED"), (OTHER, "DORMANT"), (only("Oslo"), "UNDECIDED")],
            ),
            (
                MENU,
                press("#t", "e", "Space"),
                [
                    (PRESSED, "VIOLATED"),
                    (never(action="@activate", text="Archive"), "OK"),
                    (only("Bob"), "DORMANT"),
                    (never(action="@input"), "DORMANT"),
                    (never(action="check"), "DORMANT"),
                ],
            ),
            (
                GROUPS,
                press("#t", "Space"),
                [
                    (CHECKED, "UNDECIDED"),
                    (PRESSED, "VIOLATED"),
                    (never(action="check", text="Alice"), "DORMANT"),
                ],
            ),
            (
                GROUPS,
                press("#t", "ArrowDown"),
                [
                    (never(action="check", text="Alice"), "UNDECIDED"),
                    (never(action="check", text="Rome"), "DORMANT"),
                    (never(action="uncheck"), "DORMANT"),
                ],
            ),
            (
                SHUT,
                then(press("#t", "ArrowDown"), click("#h")),
                [(EVIL, "UNDECIDED"), (only("Oslo"), "UNDECIDED"), (ROME, "DORMANT"), (OTHER, "DORMANT")],
            ),
            (
                SHUT,
                press("#t", "ArrowDown", "Alt+ArrowUp"),
                [(EVIL, "UNDECIDED"), (only("Oslo"), "UNDECIDED"), (ROME, "DORMANT"), (only("EVIL"), "OK")],
            ),
            (
                SHUT,
                then(press("#t", "ArrowDown", "Escape"), click("#h")),
                [(EVIL, "DORMANT"), (only("Oslo"), "DORMANT")],
            ),
            (
                ALL,
                click("#t"),
                [
                    (CHECKED, "UNDECIDED"),
                    (never(action="check", text="Oslo"), "UNDECIDED"),
                    (never(action="check", text="Alice"), "DORMANT"),
                    (never(action="uncheck", text="EVIL"), "DORMANT"),
                ],
            ),
            (ONE, click("#t"), [(CHECKED, "DORMANT"), (never(action="check", text="Oslo"), "DORMANT")]),
            (
                HOLDING,
                click("#t", "#s"),
                [
                    (never(action="@activate", text="Climb"), "VIOLATED"),
                    (never(action="@activate", text="Notes"), "VIOLATED"),
                    (never(action="@activate", text=["Remove", "Close"]), "DORMANT"),
                ],
            ),
            (LABEL, click("#t"), [(CHECKED, "VIOLATED"), (never(action="check", text="Oslo"), "DORMANT")]),
            (LABEL, click("#o"), [(never(action="check"), "DORMANT"), (PRESSED, "DORMANT")]),
            (
                SWITCH,
                press("#t", "Space", "Space"),
                [(CHECKED, "VIOLATED"), (never(action="uncheck", text="EVIL"), "VIOLATED")],
            ),
            (SWITCH, press("#t", "Space"), [(CHECKED, "VIOLATED"), (never(action="uncheck"), "DORMANT")]),
            (
                SCALE,
                click("#t"),
                [(never(action="fill"), "VIOLATED"), (only("7"), "VIOLATED"), (only("15"), "OK")],
            ),
            (SCALE, click("#v"), [(never(action="fill"), "DORMANT"), (only("7"), "DORMANT")]),
            (
                NUMBER,
                press("#t", "ArrowUp"),
                [(never(action="fill"), "VIOLATED"), (only("7"), "VIOLATED"), (only("4"), "OK")],
            ),
            (NUMBER, press("#t", "ArrowDown"), [(never(action="fill"), "DORMANT"), (only("7"), "DORMANT")]),
            (HOLDING, click("#b"), [(never(action="@activate", text="Remove"), "VIOLATED")]),
        ],
    ),
)
def test_entries_that_have_a_mark(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules
