"""Widgets that declare little of what they are: Naive UI, Vuetify, PrimeVue, Quasar, Material Web, Fluent, Alpine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording, outcome_over_cdp
from tests.live.test_component_libraries import click, never, only, press
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

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

# A row that sets a box of the browser by a property, and a box that is an element of its own: nothing is written down.
PROPERTY = """<!doctype html><button>Delete account</button><div><input id=b type=checkbox><span id=t>EVIL</span></div>
<div id=o>Other</div><script>t.onclick = () => { b.checked = !b.checked }</script>"""
OWN_TOGGLE = OWN_BOX.replace("classList.add", "classList.toggle")

# As jQuery UI does: the handle has no role, and the value stands elsewhere.
HANDLE = """<!doctype html><button>Delete account</button><p id=v>3</p><div style="position:relative;width:200px;height:12px">
<span id=t tabindex=0 style="position:absolute;left:60px;width:12px;height:12px;background:red"></span></div><p id=x tabindex=0>x</p>
<script>const set = (value) => { v.textContent = value; t.style.left = value * 20 + 'px' };
t.onkeydown = (event) => { if (event.key === 'ArrowRight') set(4) };
t.onmousedown = () => { document.onmousemove = (event) => set(event.clientX / 20) }</script>"""

# As Naive UI's Select does with a filter: Enter in a field without a role takes the first entry, which a class marks.
FILTER = """<!doctype html><button>Delete account</button><div><b id=shown>Pick</b><input id=t size=9></div><div id=l hidden>
<div>Alice</div><div>EVIL</div></div><script>t.onfocus = () => { l.hidden = false }; t.onkeydown = (event) => {
if (event.key === 'Enter') { shown.textContent = 'EVIL'; t.value = ''; l.hidden = true } }</script>"""

# As Naive UI's Dropdown does: the focus stays on the button, and a class marks the entry.
DROPDOWN = """<!doctype html><button>Delete account</button><button id=f>Menu</button><div id=l hidden><div>Alice</div>
<div>EVIL</div></div><p>Rome</p><script>f.onclick = () => { l.hidden = false }; f.onkeydown = (event) => {
if (event.key === 'Enter' && !l.hidden) { event.preventDefault(); l.hidden = true } }</script>"""

# As Ant Design's Mentions does: Enter completes what was typed by the entry that the page offers.
MENTION = """<!doctype html><button>Delete account</button><label>Note <textarea id=t></textarea></label><div id=l hidden>EVIL</div>
<script>t.oninput = () => { l.hidden = !t.value.endsWith('@a') }; t.onkeydown = (event) => { if (event.key === 'Enter') {
event.preventDefault(); t.value = t.value.replace(/a$/, 'EVIL '); l.hidden = true } }</script>"""

# As Ant Design's InputNumber does: the page counts on arrows itself.
COUNT = """<!doctype html><input id=t role=spinbutton value=1 aria-label=Count><script>
t.onkeydown = (event) => { if (event.key === 'ArrowUp') t.value = 2 }</script>"""

# As Ant Design's Cascader does: a search field, and a list that says nothing of the marked entry.
CASCADER = """<!doctype html><div><span id=shown>Pick</span><input id=t type=search role=combobox aria-expanded=true></div>
<div id=l><div>Root</div><div>EVIL</div></div><script>t.onkeydown = (event) => { if (event.key === 'Enter') {
shown.textContent = 'Root / EVIL'; l.remove() } }</script>"""

# As React Aria's GridList does: the box in a row has an id of its own.
GRID = """<!doctype html><div role=grid><div role=row id=t tabindex=0 aria-label=EVIL><input type=checkbox id=b>x</div>
<div role=row id=o tabindex=0 aria-label=Alice><input type=checkbox>x</div></div><script>
t.onclick = (event) => { if (event.target !== b) b.checked = !b.checked }</script>"""

# As React Aria and Ant Design's Segmented do: the page handles arrows between radio buttons itself.
RADIOS = """<!doctype html><label><input type=radio name=n id=t>Alice</label><label><input type=radio name=n id=b>EVIL</label><script>
t.onkeydown = (event) => { event.preventDefault(); b.checked = true; b.focus() }</script>"""

# As UI5 and Web Awesome do: a custom element of forms has the slider in its shadow tree.
HOSTED = """<!doctype html><button>Delete account</button><x-s id=t></x-s><script>
customElements.define('x-s', class extends HTMLElement { static formAssociated = true; constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<div role=slider tabindex=-1 style="width:90px;height:20px"></div>' } })</script>"""

# As colour pickers do: a handle moves along two axes, to where the pad is clicked.
PAD = """<!doctype html><button>Delete account</button><div id=p style="position:relative;width:90px;height:90px"><i id=t tabindex=0
style="position:absolute;left:9px;top:9px;width:9px;height:9px"></i></div><script>p.onpointerdown = (event) => {
t.style.left = event.offsetX + 'px'; t.style.top = event.offsetY + 'px' }; t.onkeydown = () => { t.style.left = '40px';
t.style.top = '40px' }</script>"""

# As many lists of tasks do: a box is an empty element, and a class says that it is set.
DRAWN_BOX = """<!doctype html><button>Delete account</button><style>.on { background: red }</style><div><span id=t
style="display:inline-block;width:16px;height:16px"></span> <b id=o>EVIL</b></div><script>
t.onclick = () => t.classList.toggle('on'); o.onclick = () => o.classList.toggle('on')</script>"""

# As AG Grid does: the box of a row stands in another container, and Space on a cell sets it.
APART = """<!doctype html><button>Delete account</button><div role=grid><div role=row>{box}</div><div role=row id=r>
<div role=gridcell id=t tabindex=0>EVIL</div><input value=new id=n></div></div><p id=o tabindex=0>Other</p><script>
t.onkeydown = (event) => {{ if (event.key === ' ') {{ event.preventDefault(); {set} }} }};
o.onkeydown = t.onkeydown; r.onclick = () => {{ n.value = 'seen' }}</script>"""
NATIVE = APART.format(box="<input type=checkbox id=b>", set="b.checked = !b.checked")
BUILT = APART.format(box="<i role=checkbox id=b aria-checked=false>x</i>", set="b.ariaChecked = true")

# The ground of a page and of a card, with controls on it.
GROUND = """<!doctype html><body style="margin:0;height:500px">Own words<div id=d style="padding:40px"><p>Plain</p>
<button>Delete account</button><a href=#x>EVIL</a></div>"""

EVIL = never(action="@input", value="EVIL")
OTHER = never(action="@activate", text="Delete account")
FILLED = never(action="fill")
CHECKED = never(action="check", text="EVIL")


def double(selector: str) -> Callable[[Any], None]:
    """Double-click an element."""
    return lambda page: page.dblclick(selector)


def drag(selector: str, by: int) -> Callable[[Any], None]:
    """Drag an element to the right."""

    def act(page: Any) -> None:
        box = page.locator(selector).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by, y, steps=4)
        page.mouse.up()

    return act


def click_at(x: int, y: int) -> Callable[[Any], None]:
    """Click a place of the page."""
    return lambda page: page.mouse.click(x, y)


def choose(*keys: str) -> Callable[[Any], None]:
    """Open a list by a click, and press keys where the focus is."""

    def act(page: Any) -> None:
        page.click("#f")
        for key in keys:
            page.keyboard.press(key)

    return act


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            [
                (PLAIN, click("#f", "#t"), EVIL, "VIOLATED"),
                (PLAIN, click("#f", "#t"), {"type": "eventually", "match": EVIL["match"]}, "OK"),
                (PLAIN, click("#f", "#t"), never(action="@input", value="Alice"), "OK"),
                (PLAIN, click("#f", "#t"), only("Bob"), "VIOLATED"),
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
                (ROW, click("#t"), never(action="check", text="EVIL"), "VIOLATED"),
                (ROW, click("#t"), never(action="check", text="Other"), "DORMANT"),
                (ROW, click("#t"), never(action="uncheck"), "DORMANT"),
                (ROW.replace("=false", "=true"), click("#t"), never(action="uncheck"), "VIOLATED"),
                (ROW.replace("=false", "=true"), click("#t"), never(action="check"), "DORMANT"),
                (ROW, click("#o"), never(action="check"), "DORMANT"),
                (STEPS, click("#t"), FILLED, "VIOLATED"),
                (STEPS, click("#t"), never(action="fill", text="Count"), "VIOLATED"),
                (STEPS, click("#t"), never(action="fill", text="Total"), "DORMANT"),
                (STEPS, click("#t"), only("2"), "OK"),
                (STEPS, click("#t"), only("3"), "VIOLATED"),
                (STEPS, click("#d"), FILLED, "DORMANT"),
                (STEPS, click("#d"), only("3"), "DORMANT"),
                (STEPPED, click("#t"), FILLED, "VIOLATED"),
                (STEPPED, click("#t"), OTHER, "DORMANT"),
                (CALENDAR, click("#t"), only("Bob"), "VIOLATED"),
                (CALENDAR, click("#t"), only("11/15/2026"), "OK"),
                (CALENDAR, click("#o"), only("Bob"), "DORMANT"),
                (STARS, click("#t"), never(action="check"), "VIOLATED"),
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
                (ARROW, press("#t", "ArrowDown"), EVIL, "VIOLATED"),
                (ARROW, press("#t", "ArrowDown"), only("Bob"), "VIOLATED"),
                (ARROW, press("#t", "ArrowDown"), never(action="@input", value="Rome"), "OK"),
                (TRACK, click("#t"), FILLED, "UNDECIDED"),
                (OWN_BOX, click("#t"), never(action="check", text="EVIL"), "UNDECIDED"),
                (OWN_BOX, click("#b"), never(action="check", text="EVIL"), "UNDECIDED"),
                (OWN_BOX, click("#b"), never(action="click", text="EVIL"), "VIOLATED"),
                (OWN_BOX, click("#b"), OTHER, "DORMANT"),
                (TEMPLATE, click("#t"), OTHER, "DORMANT"),
                (ROW, click("#t", "#t"), CHECKED, "VIOLATED"),
                (ROW, double("#t"), CHECKED, "UNDECIDED"),
                (ROW, double("#t"), never(action="uncheck", text="EVIL"), "UNDECIDED"),
                (ROW, double("#t"), never(action="check", text="Other"), "DORMANT"),
                (ROW, double("#o"), CHECKED, "DORMANT"),
                (PROPERTY, double("#t"), CHECKED, "UNDECIDED"),
                (PROPERTY, double("#o"), never(action="@input"), "DORMANT"),
                (OWN_TOGGLE, click("#t", "#t"), CHECKED, "UNDECIDED"),
                (OWN_TOGGLE, double("#b"), CHECKED, "UNDECIDED"),
                (OWN_TOGGLE, double("#b"), OTHER, "DORMANT"),
                (HANDLE, press("#t", "ArrowRight"), FILLED, "UNDECIDED"),
                (HANDLE, press("#t", "ArrowRight"), only("3"), "UNDECIDED"),
                (HANDLE, press("#t", "ArrowRight"), OTHER, "OK"),
                (HANDLE, press("#x", "ArrowRight"), FILLED, "DORMANT"),
                (HANDLE, drag("#t", 60), FILLED, "UNDECIDED"),
                (PAD, click("#p"), FILLED, "UNDECIDED"),
                (PAD, click("#p"), never(action="check"), "DORMANT"),
                (PAD, press("#t", "ArrowRight"), only("3"), "UNDECIDED"),
                (DRAWN_BOX, click("#t"), CHECKED, "UNDECIDED"),
                (DRAWN_BOX, click("#o"), CHECKED, "OK"),
                (NATIVE, press("#t", "Space"), CHECKED, "UNDECIDED"),
                (NATIVE, press("#o", "Space"), CHECKED, "DORMANT"),
                (NATIVE, press("#t", "Space"), OTHER, "DORMANT"),
                (NATIVE, click("#t"), FILLED, "DORMANT"),
                (BUILT, press("#t", "Space"), CHECKED, "UNDECIDED"),
                (FILTER, press("#t", "E", "Enter"), EVIL, "UNDECIDED"),
                (FILTER, press("#t", "E", "Enter"), never(action="@input", value="Alice"), "OK"),
                (FILTER, press("#t", "E", "Enter"), OTHER, "DORMANT"),
                (CASCADER, press("#t", "Enter"), EVIL, "UNDECIDED"),
                (CASCADER, press("#t", "Enter"), only("Bob"), "UNDECIDED"),
                (CASCADER, press("#t", "Enter"), only("Root / EVIL"), "OK"),
                (CASCADER, press("#t", "Enter"), never(action="@input", value="Rome"), "OK"),
                (DROPDOWN, choose("ArrowDown", "Enter"), never(action="@activate", text="EVIL"), "UNDECIDED"),
                (DROPDOWN, choose("ArrowDown", "Enter"), never(action="@activate", text="Rome"), "DORMANT"),
                (DROPDOWN, choose("ArrowDown", "Enter"), never(action="click", text="EVIL"), "DORMANT"),
                (DROPDOWN, choose("ArrowDown"), never(action="@activate", text="EVIL"), "DORMANT"),
                (MENTION, press("#t", "@", "a", "Enter"), EVIL, "UNDECIDED"),
                (MENTION, press("#t", "@", "a", "Enter"), only("@a"), "UNDECIDED"),
                (
                    MENTION.replace("l.hidden = true }", "t.blur() }"),
                    press("#t", "@", "a", "Enter"),
                    EVIL,
                    "UNDECIDED",
                ),
                (MENTION, press("#t", "@", "a"), only("@a"), "OK"),
                (GRID, click("#t"), CHECKED, "VIOLATED"),
                (GRID, click("#t"), never(action="check", text="Alice"), "DORMANT"),
                (GRID, click("#o"), CHECKED, "DORMANT"),
                (RADIOS, press("#t", "ArrowDown"), CHECKED, "UNDECIDED"),
                (RADIOS, press("#t", "ArrowDown"), never(action="check", text="Alice"), "OK"),
                (HOSTED, click("#t"), FILLED, "UNDECIDED"),
                (HOSTED, click("#t"), OTHER, "DORMANT"),
                (GROUND, click_at(300, 450), OTHER, "DORMANT"),
                (GROUND, click_at(300, 450), never(action="click", text="Own words"), "VIOLATED"),
                (GROUND, click_at(5, 30), OTHER, "UNDECIDED"),
                (GROUND, click_at(5, 30), never(action="click", text="Plain"), "VIOLATED"),
                (GROUND, click_at(5, 30), never(action="click", text="Nowhere"), "DORMANT"),
                (GROUND, lambda page: page.keyboard.press("Enter"), OTHER, "UNDECIDED"),
                (GROUND, click("button"), OTHER, "VIOLATED"),
                (COUNT, press("#t", "ArrowUp"), FILLED, "VIOLATED"),
                (COUNT, press("#t", "ArrowUp"), only("3"), "VIOLATED"),
                (COUNT, press("#t", "ArrowUp"), only("2"), "OK"),
                (COUNT, press("#t", "ArrowLeft"), FILLED, "DORMANT"),
                (MENTION, press("#t", "@", "a", "Enter"), OTHER, "DORMANT"),
            ]
        ),
    ),
)
def test_widgets_that_declare_little(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules


@pytest.mark.parametrize(
    ("html", "actions", "rule", "expected"),
    one_in(
        3,
        [
            # A look between the two clicks, which a slow machine leaves time for, shows what was chosen.
            (PLAIN, [["click", "#f"], ["click", "#t"]], EVIL, "UNDECIDED VIOLATED"),
            (ROW, [["click", "#t"]], never(action="check", text="EVIL"), "UNDECIDED"),
            (STEPS, [["click", "#t"]], FILLED, "UNDECIDED"),
            (PROPERTY, [["click", "#t"], ["click", "#t"]], CHECKED, "UNDECIDED"),
            (OWN_TOGGLE, [["click", "#t"], ["click", "#t"]], CHECKED, "UNDECIDED"),
        ],
    ),
)
def test_the_same_by_the_protocol(
    html: str, actions: list[Any], rule: dict[str, Any], expected: str, tmp_path: Path, site: Any
) -> None:
    assert outcome_over_cdp(rule, actions, site.add("/", html), tmp_path) in expected.split()
