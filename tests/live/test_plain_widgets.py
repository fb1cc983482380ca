"""Widgets that declare little of what they are: Naive UI, Vuetify, PrimeVue, Quasar, Material Web, Fluent, Alpine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import outcome_of, outcome_over_cdp
from tests.live.test_component_libraries import click, never, only, press
from tests.thorough import one_in

pytestmark = pytest.mark.live

# As Naive UI does, and many pages with Alpine: a list of plain elements, and an element that shows what was chosen.
PLAIN = """<!doctype html><button>Delete account</button><div id=f tabindex=0><span>Pick</span></div><div id=l hidden>
<div>Alice</div><div id=t>EVIL</div></div><p id=p>Inbox</p><script>const show = (name) => { f.firstChild.textContent = name };
f.onclick = () => { l.hidden = !l.hidden }; l.onclick = (event) => { show(event.target.textContent); l.hidden = true };
f.onkeydown = (event) => { if (event.key === 'Enter') show('EVIL') }</script>"""

# A list of plain elements that opens something elsewhere.
MAILS = """<!doctype html><div id=f>Inbox</div><ul><li id=t>EVIL</li></ul><p id=p></p><script>
t.onclick = () => { p.textContent = t.textContent }</script>"""

# As Naive UI's Transfer does: the row sets the box in it, and the box is no element of HTML.
ROW = """<!doctype html><div id=r><div><div id=b role=checkbox aria-checked=false style="width:9px;height:9px"></div></div>
<div id=t>EVIL</div></div><div id=o>Other</div><script>
t.onclick = () => b.setAttribute('aria-checked', b.ariaChecked !== 'true')</script>"""

# As Vuetify, PrimeVue, Naive UI and Element Plus do: buttons beside a number.
STEPS = """<!doctype html><button id=d>Delete account</button><input id=v value=7 aria-label=Total><div>
<span><input id=n value=1 aria-label=Count></span><div><button id=t>+</button><button id=m>-</button></div></div><script>
t.onclick = () => { n.value = +n.value + 1 }; d.onclick = () => { n.value = 9 }</script>"""

# As Fluent and Vaadin do: the field and its buttons stand in a shadow tree; those of pages with Alpine beside others.
STEPPED = """<!doctype html><x-n id=x></x-n><button>Delete account</button><script>
customElements.define('x-n', class extends HTMLElement { constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<div><input value=1 aria-label=Count><b id=t>+</b></div><a href=#>A</a>';
this.shadowRoot.querySelector('#t').onclick = () => { this.shadowRoot.querySelector('input').value = 2 } } })</script>"""

# As Angular Material does: a day of a calendar has another name than the date in the field.
CALENDAR = """<!doctype html><input id=f aria-label=Date><table><tr><td><button id=t aria-label="November 15, 2026">15</button>
<td><button id=o aria-label="Sum of 4">Sum</button></table><script>t.onclick = () => { f.value = '11/15/2026' };
o.onclick = () => { f.value = '20' }</script>"""

# As PrimeVue's Rating does: stars are images, and the boxes that they set are hidden.
STARS = """<!doctype html><button>Delete account</button><div><span><input type=radio name=s id=b aria-label="4 stars"
style="position:absolute;opacity:0;pointer-events:none"></span><svg id=t width=20 height=20><circle r=9 cx=9 cy=9 /></svg></div>
<script>t.onclick = () => { b.checked = true }</script>"""

# As PrimeVue's MultiSelect does: one box sets all of them.
ALL = """<!doctype html><input type=checkbox id=t aria-label="Select all"><ul role=listbox>
<li role=option aria-label=Alice><div><input type=checkbox></div><span>Alice</span></li>
<li role=option aria-label=EVIL><div><input type=checkbox></div><span>EVIL</span></li></ul><script>
t.onchange = () => document.querySelectorAll('li input').forEach((box) => { box.checked = t.checked })</script>"""

# As Quasar and Shoelace do: a field that takes no text, in which a letter chooses.
LETTER = """<!doctype html><input id=t role=combobox readonly aria-expanded=false aria-label=Name value=Alice><script>
t.onkeydown = (event) => { if (event.key === 'e') t.parentNode.append('EVIL') }</script>"""

# As Material Web does: the options of a list have their texts outside of the tree that has their roles.
SLOTTED = """<!doctype html><div id=t role=combobox tabindex=0 aria-label=Name>Alice</div><x-o>EVIL</x-o><x-o>Rome</x-o><script>
customElements.define('x-o', class extends HTMLElement { constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<li role=option><slot></slot></li>' } })</script>"""

# As jQuery UI, Angular Material and Fluent do: an arrow chooses in a closed list.
ARROW = """<!doctype html><span id=t role=combobox tabindex=0 aria-expanded=false aria-label=Name>Alice</span><script>
t.onkeydown = (event) => { t.textContent = 'EVIL' }</script>"""

# As Vuetify does: a slider has a field beside it that no key reaches.
TRACK = """<!doctype html><button>Delete account</button><div><input tabindex=-1 value=3 hidden>
<div><div id=t style="width:200px;height:9px;background:red"></div></div>
<div role=slider tabindex=0 aria-valuenow=3 style="width:9px;height:9px"></div></div>"""

# As Material Web does: a box is an element of its own, and keeps its role and state to itself.
OWN_BOX = """<!doctype html><button>Delete account</button><x-b id=b></x-b><label for=b id=t>EVIL</label><script>
customElements.define('x-b', class extends HTMLElement { static formAssociated = true; constructor() { super();
this.attachInternals().role = 'radio'; this.attachShadow({mode: 'open'}).innerHTML =
'<div style="width:20px;height:20px;background:red"><i></i></div>'; this.onclick = () =>
this.shadowRoot.firstChild.classList.add('checked') } })</script>"""

# As pages with Vue and Alpine do: texts of templates show nowhere.
TEMPLATE = """<!doctype html><button>Delete account</button><template><button>Delete account</button> Gone</template>
<label><input id=t type=checkbox></label>"""

EVIL = never(action="@input", value="EVIL")
OTHER = never(action="@activate", text="Delete account")
FILLED = never(action="fill")


@pytest.mark.parametrize(
    ("html", "act", "rule", "expected"),
    one_in(
        2,
        [
            (PLAIN, click("#f", "#t"), EVIL, "UNDECIDED"),
            (PLAIN, click("#f", "#t"), {"type": "eventually", "match": EVIL["match"]}, "UNDECIDED"),
            (PLAIN, click("#f", "#t"), never(action="@input", value="Alice"), "DORMANT"),
            (PLAIN, click("#f", "#t"), only("Bob"), "UNDECIDED"),
            (PLAIN, click("#f", "#t"), only("EVIL"), "OK"),
            (PLAIN, click("#f", "#t"), never(action="click", text="EVIL"), "VIOLATED"),
            (PLAIN, click("#f", "#t"), OTHER, "DORMANT"),
            (PLAIN, click("#f", "#t"), FILLED, "DORMANT"),
            (PLAIN, click("#f", "#f"), never(action="@input"), "DORMANT"),
            (PLAIN, press("#f", "Enter"), EVIL, "UNDECIDED"),
            (PLAIN, press("#f", "Enter"), only("Bob"), "UNDECIDED"),
            (PLAIN, press("#f", "Enter"), FILLED, "DORMANT"),
            (MAILS, click("#f", "#t"), EVIL, "DORMANT"),
            (MAILS, click("#f", "#t"), only("Bob"), "DORMANT"),
            (ROW, click("#t"), never(action="check", text="EVIL"), "UNDECIDED"),
            (ROW, click("#t"), never(action="check", text="Other"), "DORMANT"),
            (ROW, click("#t"), never(action="uncheck"), "DORMANT"),
            (ROW.replace("=false", "=true"), click("#t"), never(action="uncheck"), "UNDECIDED"),
            (ROW.replace("=false", "=true"), click("#t"), never(action="check"), "DORMANT"),
            (ROW, click("#o"), never(action="check"), "DORMANT"),
            (STEPS, click("#t"), FILLED, "UNDECIDED"),
            (STEPS, click("#t"), never(action="fill", text="Count"), "UNDECIDED"),
            (STEPS, click("#t"), never(action="fill", text="Total"), "DORMANT"),
            (STEPS, click("#t"), only("2"), "OK"),
            (STEPS, click("#t"), only("3"), "UNDECIDED"),
            (STEPS, click("#d"), FILLED, "DORMANT"),
            (STEPS, click("#d"), only("3"), "DORMANT"),
            (STEPPED, click("#t"), FILLED, "UNDECIDED"),
            (STEPPED, click("#t"), OTHER, "DORMANT"),
            (CALENDAR, click("#t"), only("Bob"), "UNDECIDED"),
            (CALENDAR, click("#t"), only("11/15/2026"), "OK"),
            (CALENDAR, click("#o"), only("Bob"), "DORMANT"),
            (STARS, click("#t"), never(action="check"), "UNDECIDED"),
            (STARS, click("#t"), FILLED, "DORMANT"),
            (ALL, click("#t"), EVIL, "UNDECIDED"),
            (ALL, click("#t"), only("Alice", "EVIL"), "OK"),
            (ALL, click("#t"), only("Alice"), "UNDECIDED"),
            (ALL, click("#t"), never(action="@input", value="Rome"), "OK"),
            (LETTER, press("#t", "e"), EVIL, "UNDECIDED"),
            (LETTER, press("#t", "e"), only("EVIL"), "UNDECIDED"),
            (LETTER, press("#t", "e"), never(action="goto"), "DORMANT"),
            (SLOTTED, press("#t", "e"), EVIL, "UNDECIDED"),
            (SLOTTED, press("#t", "e"), only("EVIL", "Rome"), "OK"),
            (ARROW, press("#t", "ArrowDown"), EVIL, "UNDECIDED"),
            (ARROW, press("#t", "ArrowDown"), only("Bob"), "UNDECIDED"),
            (ARROW, press("#t", "ArrowDown"), never(action="@input", value="Rome"), "DORMANT"),
            (TRACK, click("#t"), FILLED, "UNDECIDED"),
            (OWN_BOX, click("#t"), never(action="check", text="EVIL"), "UNDECIDED"),
            (OWN_BOX, click("#b"), never(action="check", text="EVIL"), "UNDECIDED"),
            (OWN_BOX, click("#b"), never(action="click", text="EVIL"), "VIOLATED"),
            (OWN_BOX, click("#b"), OTHER, "DORMANT"),
            (TEMPLATE, click("#t"), OTHER, "DORMANT"),
        ],
    ),
)
def test_widgets_that_declare_little(
    html: str,
    act: Callable[[Any], None],
    rule: dict[str, Any],
    expected: str,
    tmp_path: Path,
    page: Any,
    site: Any,
) -> None:
    page.goto(site.add("/", html))
    assert outcome_of(rule, act, page, tmp_path / "run.zst") == expected


@pytest.mark.parametrize(
    ("html", "actions", "rule", "expected"),
    one_in(
        3,
        [
            (PLAIN, [["click", "#f"], ["click", "#t"]], EVIL, "UNDECIDED"),
            (ROW, [["click", "#t"]], never(action="check", text="EVIL"), "UNDECIDED"),
            (STEPS, [["click", "#t"]], FILLED, "UNDECIDED"),
        ],
    ),
)
def test_the_same_by_the_protocol(
    html: str, actions: list[Any], rule: dict[str, Any], expected: str, tmp_path: Path, site: Any
) -> None:
    assert outcome_over_cdp(rule, actions, site.add("/", html), tmp_path) == expected
