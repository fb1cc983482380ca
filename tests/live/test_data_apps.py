"""Controls as apps for data have them: boxes that a script sets, options in labels, numbers that are stepped.

As Streamlit (React Aria), Dash, NiceGUI (Quasar), Gradio and Panel build them. Each page is recorded once, and
graded by several rules. The page confirms what was chosen.
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

# As React Aria does: the label takes the click, and a script sets its box.
LABEL = """<!doctype html><label id=t>Agree to all of it <input type=checkbox id=b></label><script>
t.onclick = (event) => { event.preventDefault(); if (event.target !== b) b.checked = !b.checked }</script>"""

# As React Aria does: a script moves the slider of the browser.
RANGE = """<!doctype html><input type=range id=t min=0 max=9 value=5 aria-label=Level><script>t.onkeydown = (event) => {
event.preventDefault(); t.value = +t.value + 1 }</script>"""

# As Quasar does: a box of the page's own, and one that does not let itself be set.
BOX = """<!doctype html><div role=checkbox aria-checked=false tabindex=0 id=t>Agree</div>
<div role=checkbox aria-checked=false tabindex=0 id=n>Never</div><script>
t.onclick = () => { t.ariaChecked = t.ariaChecked !== 'true' }</script>"""

# As Dash does: an option is a label, and holds a radio button that takes no click.
OPTIONS = """<!doctype html><button id=c aria-haspopup=listbox aria-expanded=true><span id=v>Pick</span></button>
<div><label role=option aria-selected=false id=t><input type=radio readonly onclick="event.preventDefault()">
<span id=w>Green</span></label>
<label role=option aria-selected=false id=o><input type=radio readonly>Red</label></div><script>
t.onclick = () => { v.textContent = 'Green'; c.ariaExpanded = false }</script>"""

# As Panel and Gradio do: letters look for an entry, and the field takes it.
TOWNS = """<!doctype html><input id=f aria-label=Town><div id=l><div id=t>Paris</div></div><script>
t.onclick = () => { f.value = 'Paris' }</script>"""

# A number of the browser, and a slider of the page's own.
NUMBERS = """<!doctype html><input type=number value=1 id=t><div role=slider tabindex=0 aria-valuenow=5 id=s
aria-label=Level>x</div><script>s.onkeydown = () => { s.ariaValueNow = +s.ariaValueNow + 1 }</script>"""

# A field that the page fills as soon as it has the focus.
EAGER = """<!doctype html><input type=number id=t><script>t.onfocus = () => { t.value = 1 }</script>"""

# As shops do: buttons beside a number.
SHOP = """<!doctype html><div class=qty><button id=m>-</button><input id=q value=1 aria-label=Quantity><button id=t>+</button>
</div><script>t.onclick = () => { q.value = +q.value + 1 }; m.onclick = () => { q.value = q.value - 1 }</script>"""

# As Bootstrap does: entries of a popup are links, and its button shows the one that was taken.
POPUP = """<!doctype html><div><button id=o>Pick</button><ul id=p hidden><li><a href="#" id=t>Green</a></li>
<li><a href="#">Red</a></li></ul></div><script>o.onclick = () => { p.hidden = false }; t.onclick = (event) => {
event.preventDefault(); o.textContent = 'Green'; p.hidden = true }</script>"""

# As Panel does: only a class says which button of a group is chosen; and tabs, which look the same.
GROUP = """<!doctype html><div class=group><button class="btn active" id=a>Small</button><button class=btn id=t>Large
</button></div><div class=tabs><button class=active id=u>One</button><button id=v>Two</button></div><script>
const move = (one, other) => { one.classList.remove('active'); other.classList.add('active') };
t.onclick = () => move(a, t); v.onclick = () => move(u, v)</script>"""

# A slider whose track takes the click, and the button of a player that moves one.
TRACK = """<!doctype html><div id=t style="position:relative;width:200px;height:20px"><b role=slider tabindex=0
aria-valuenow=3 id=s></b></div><section><button id=b>Play</button><i role=slider aria-valuenow=0 id=r></i></section>
<script>t.onclick = () => { s.ariaValueNow = 5 }; b.onclick = () => { r.ariaValueNow = 5 }</script>"""

AGREE = never(action="check", text="Agree")
NOT_AGREE = never(action="uncheck", text="Agree")
GREEN = never(action="@input", value="Green")


def typing(css: str, text: str) -> Callable[[Any], None]:
    return lambda page: page.locator(css).press_sequentially(text)


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        [
            (LABEL, click("#t"), [(AGREE, "VIOLATED"), (NOT_AGREE, "OK"), (only("x"), "DORMANT")]),
            (LABEL, click("#b"), [(AGREE, "OK"), (NOT_AGREE, "OK")]),
            (BOX, click("#t"), [(AGREE, "VIOLATED"), (NOT_AGREE, "OK")]),
            (BOX, click("#n"), [(never(action="check", text="Never"), "UNDECIDED"), (AGREE, "DORMANT")]),
            (BOX, then(click("#t"), click("#t")), [(AGREE, "VIOLATED"), (NOT_AGREE, "VIOLATED")]),
            (RANGE, press("#t", "ArrowRight"), [(only("7"), "VIOLATED"), (only("6"), "OK"), (GREEN, "OK")]),
            (
                OPTIONS,
                click("#t input"),
                [(GREEN, "VIOLATED"), (only("Red"), "VIOLATED"), (only("Green"), "OK")],
            ),
            (
                OPTIONS,
                click("#w"),
                [
                    (GREEN, "VIOLATED"),
                    (only("Red"), "VIOLATED"),
                    (only("Green"), "OK"),
                    (never(action="@input", value="Red"), "OK"),
                    (never(action="select_option"), "UNDECIDED"),
                ],
            ),
            (
                TOWNS,
                then(typing("#f", "Par"), click("#t")),
                [(only("Paris"), "OK"), (only("Par"), "VIOLATED"), (only("Rome"), "VIOLATED")],
            ),
            (TOWNS, typing("#f", "Par"), [(only("Paris"), "VIOLATED")]),
            (NUMBERS, press("#t", "ArrowUp", "ArrowUp"), [(only("3"), "OK"), (only("2"), "VIOLATED")]),
            (NUMBERS, then(press("#t", "ArrowUp"), press("#s", "a")), [(only("3"), "VIOLATED")]),
            (
                SHOP,
                click("#t", "#t", "#m"),
                [
                    (never(action="fill", text="Quantity"), "VIOLATED"),
                    (only("2"), "OK"),
                    (only("3"), "VIOLATED"),
                    (never(action="@input", value="4"), "OK"),
                ],
            ),
            (
                POPUP,
                click("#o", "#t"),
                [
                    (GREEN, "VIOLATED"),
                    (only("Red"), "VIOLATED"),
                    (only("Green"), "OK"),
                    (never(action="@input", value="Red"), "OK"),
                ],
            ),
            (POPUP, click("#o"), [(GREEN, "DORMANT"), (only("Red"), "DORMANT")]),
            (
                GROUP,
                click("#t"),
                [(never(action="check", text="Large"), "VIOLATED"), (only("x"), "DORMANT")],
            ),
            (GROUP, click("#v"), [(never(action="check"), "DORMANT")]),
            (TRACK, click("#t"), [(only("6"), "VIOLATED"), (only("5"), "OK"), (GREEN, "OK")]),
            (TRACK, click("#b"), [(only("6"), "UNDECIDED"), (never(action="check"), "DORMANT")]),
            (EAGER, click("#t"), [(only("3"), "UNDECIDED"), (only("1"), "OK")]),
        ],
    ),
)
def test_the_page_confirms_a_choice(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules
