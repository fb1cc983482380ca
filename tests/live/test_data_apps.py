"""Controls as apps for data have them: boxes that a script sets, options in labels, numbers that are stepped.

As Streamlit (React Aria), Dash, NiceGUI (Quasar), Gradio and Panel build them. Each page is recorded once, and
graded by several rules. The page confirms what was chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.test_component_libraries import click, never, only, press
from tests.live.test_entries_and_marks import Rules, outcomes, then
from tests.thorough import one_in

pytestmark = pytest.mark.live

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
            (EAGER, click("#t"), [(only("3"), "UNDECIDED"), (only("1"), "OK")]),
        ],
    ),
)
def test_the_page_confirms_a_choice(
    html: str, act: Callable[[Any], None], rules: Rules, page: Any, site: Any, tmp_path: Path
) -> None:
    page.goto(site.add("/", html))
    assert outcomes(page, act, rules, tmp_path / "run.zst") == [outcome for _, outcome in rules]
