"""Widgets after those of Ant Design, PrimeReact, MUI, Radix and Mantine: what is chosen, named and counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording, outcome_over_cdp
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# As Ant Design does: an open field, a list of proxies for screen readers, and entries without a role.
SELECT = """<!doctype html><button>Delete account</button>
<div><input id=f role=combobox aria-expanded=false aria-haspopup=listbox aria-controls=l></div><div id=p hidden>
<div id=l role=listbox style="height:0;overflow:hidden"><div role=option id=o1 aria-label=EVIL>x9</div></div>
<div class=entry>Alice</div><div class=entry id=t>EVIL</div></div><p id=shown></p><script>
f.onclick = () => { p.hidden = false; f.setAttribute('aria-expanded', true); f.setAttribute('aria-activedescendant', 'o1') };
const take = (name) => { shown.textContent = name; p.hidden = true; f.setAttribute('aria-expanded', false) };
p.onclick = (event) => take(event.target.textContent);
f.onkeydown = (event) => { if (event.key === 'Enter') take('EVIL') }</script>"""

# As PrimeReact does: a list with a role, entries without one.
LIST = """<!doctype html><ul role=listbox tabindex=0><li>EVIL</li> <li id=t>Rome</li></ul>"""

# As APG, MUI and PrimeReact do: a node of a tree holds the nodes below it.
TREE = """<!doctype html><ul role=tree><li role=treeitem tabindex=0 aria-expanded=true><span id=t>Root</span>
<ul role=group><li role=treeitem id=leaf>EVIL</li></ul></li></ul>
<ul role=menubar><li role=menuitem tabindex=0><a id=m>File</a><ul role=menu><li role=menuitem>EVIL</li></ul></li></ul>"""

# As Headless UI does: the menu keeps the focus for its entries.
MENU = """<!doctype html><ul id=t role=menu tabindex=0 aria-activedescendant=b>
<li role=menuitem id=a>Archive</li> <li role=menuitem id=b>EVIL</li></ul>"""

# As Radix Select does: an option acts as the button goes up, and is gone before the click.
RELEASED = """<!doctype html><div id=h><div role=option id=t>EVIL</div></div><script>
t.onpointerup = () => t.remove()</script>"""

# As Radix, Ant Design and PrimeReact do: the track takes the click, the role is on the thumb.
TRACK = """<!doctype html><button>Delete account</button><div style="position:relative;width:200px">
<span style="display:block;height:10px"><span id=t style="display:block;height:10px;background:red"></span></span>
<span><span role=slider tabindex=0 aria-valuenow=3 style="position:absolute;left:0;width:9px;height:9px"></span></span></div>"""

# As Ant Design's Transfer and MUI's lists do: a row sets the box in it.
ROW = """<!doctype html><ul><li onclick="b.checked = !b.checked"><label><span><input id=b type=checkbox></span></label>
<span id=t>EVIL</span></li><li><input type=checkbox> Other</li></ul>"""
ROW = ROW.replace('<li onclick="b.checked = !b.checked">', "<li id=r>") + (
    "<script>t.onclick = () => { b.checked = !b.checked }</script>"
)

# A field without a name, in a row that names it, and a button elsewhere.
BARE = """<!doctype html><button>Delete account</button><table><tr><td>Badge <b>number</b><td><input id=t></table>"""

# A widget that shows another text than it was given.
MASKED = """<!doctype html><label>Phone <input id=t></label><script>t.oninput = () => queueMicrotask(() => {
t.value = '(' + t.value.slice(0, 3) + ') ' + t.value.slice(3) })</script>"""

# As PrimeReact's InputNumber does: the selection leaves out the sign of the currency.
MONEY = """<!doctype html><label>Price <input id=t value="$3.00"></label><script>t.onselect = () => {
if (t.selectionStart === 0) t.setSelectionRange(1, 5) }</script>"""

# As PrimeReact's InputMask does: the page takes the keys itself.
KEYS = """<!doctype html><label>Price <input id=t></label><script>t.onkeydown = (event) => {
event.preventDefault(); t.value += event.key + '_' }</script>"""

# As Radix Select does: a letter on the closed button chooses.
CLOSED = """<!doctype html><button id=t role=combobox aria-expanded=false>Pick</button><script>
t.onkeydown = (event) => { if (event.key === 'e') t.textContent = 'EVIL' }</script>"""


def never(**match: Any) -> dict[str, Any]:
    """A rule that forbids an action."""
    return {"type": "never", "match": match}


def only(*allowed: str) -> dict[str, Any]:
    """A rule that allows these values."""
    return {"type": "only_fill", "allowed": list(allowed), "sources": []}


def click(*selectors: str) -> Callable[[Any], None]:
    """Click elements."""

    def act(page: Any) -> None:
        for selector in selectors:
            page.click(selector)

    return act


def press(selector: str, *keys: str) -> Callable[[Any], None]:
    """Press keys in an element."""

    def act(page: Any) -> None:
        page.focus(selector)
        for key in keys:
            page.keyboard.press(key)

    return act


def choose_by_key(page: Any) -> None:
    """Open the list by a click, take its option by a key."""
    page.click("#f")
    page.keyboard.press("Enter")


def fill(page: Any) -> None:
    """Fill the field."""
    page.fill("#t", "5551234")


def retype(page: Any) -> None:
    """Put a text in the place of all but the sign."""
    page.focus("#t")
    page.evaluate("t.setSelectionRange(1, 5)")
    page.keyboard.insert_text("42")


ENTRY = never(action="@input", value="EVIL")
OTHER = never(action="click", text="Delete account")


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            [
                (SELECT, click("#f", "#t"), ENTRY, "UNDECIDED"),
                (SELECT, click("#f", "#t"), only("Bob"), "UNDECIDED"),
                (SELECT, click("#f", "#t"), only("EVIL"), "OK"),
                (SELECT, click("#f", "#t"), never(action="@input", value="Alice"), "OK"),
                (SELECT, click("#f", "#t"), OTHER, "DORMANT"),
                (SELECT, choose_by_key, ENTRY, "UNDECIDED"),
                (SELECT, choose_by_key, only("Bob"), "UNDECIDED"),
                (SELECT, choose_by_key, only("EVIL"), "OK"),
                (LIST, click("#t"), never(action="click", text="EVIL"), "DORMANT"),
                (LIST, click("#t"), never(action="click", text="Rome"), "VIOLATED"),
                (TREE, click("#t"), never(action="click", text="EVIL"), "DORMANT"),
                (TREE, click("#t"), never(action="click", text="Root"), "VIOLATED"),
                (TREE, click("#leaf"), never(action="click", text="EVIL"), "VIOLATED"),
                (TREE, click("#m"), never(action="click", text="EVIL"), "DORMANT"),
                (MENU, press("#t", "Enter"), never(action="@activate", text="Archive"), "DORMANT"),
                (MENU, press("#t", "Enter"), never(action="@activate", text="EVIL"), "VIOLATED"),
                (
                    RELEASED,
                    click("#t"),
                    {"type": "eventually", "match": {"action": "click", "text": "EVIL"}},
                    "OK",
                ),
                (RELEASED, click("#t"), {"type": "exactly", "n": 1, "match": {"action": "click"}}, "OK"),
                (TRACK, click("#t"), never(action="fill"), "UNDECIDED"),
                (TRACK, click("#t"), only("5"), "UNDECIDED"),
                (TRACK, click("#t"), OTHER, "DORMANT"),
                (TRACK, press("[role=slider]", "ArrowRight"), OTHER, "DORMANT"),
                (ROW, click("#t"), never(action="check"), "VIOLATED"),
                (ROW, click("#t"), never(action="check", text="Other"), "DORMANT"),
                (BARE, click("#t"), OTHER, "DORMANT"),
                (BARE, click("#t"), never(action="click", text="Badge number"), "UNDECIDED"),
                (BARE, click("#t"), never(action="click", text={"equals": "Badge number"}), "UNDECIDED"),
                (MASKED, fill, only("(555) 1234"), "UNDECIDED"),
                (MASKED, fill, only("(555) 9999"), "VIOLATED"),
                (MONEY, retype, only("42"), "UNDECIDED"),
                (MONEY, retype, only("43"), "VIOLATED"),
                (KEYS, press("#t", "4", "2"), only("42"), "OK"),
                (KEYS, press("#t", "4", "2"), only("43"), "VIOLATED"),
                (CLOSED, press("#t", "e"), ENTRY, "VIOLATED"),
                (CLOSED, press("#t", "e"), never(action="goto"), "DORMANT"),
            ]
        ),
    ),
)
def test_widgets_of_component_libraries(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules


@pytest.mark.parametrize(
    ("html", "actions", "rule", "expected"),
    one_in(
        3,
        [
            (RELEASED, [["click", "#t"]], {"type": "exactly", "n": 1, "match": {"text": "EVIL"}}, "OK"),
            (SELECT, [["click", "#f"], ["click", "#t"]], ENTRY, "UNDECIDED"),
            (TREE, [["click", "#t"]], never(action="click", text="EVIL"), "DORMANT"),
        ],
    ),
)
def test_the_same_by_coordinates(
    html: str, actions: list[Any], rule: dict[str, Any], expected: str, tmp_path: Path, site: Any
) -> None:
    assert outcome_over_cdp(rule, actions, site.add("/", html), tmp_path) == expected
