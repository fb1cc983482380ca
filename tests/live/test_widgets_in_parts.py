"""Widgets whose parts say different things: palettes of commands, pads, dialogs and lists.

As pages do with cmdk, Syncfusion, Pickr, Blueprint, RSuite, Kendo and Bits UI.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording, outcome_over_cdp
from tests.live.test_component_libraries import click, never, only, press
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# As cmdk does: a text that was typed moves the mark, and the field still names the entry that had it before.
PALETTE = """<!doctype html><button>Delete account</button><input id=t role=combobox aria-expanded=true
aria-activedescendant=a><div role=listbox><div role=option id=a aria-selected=false>Archive</div><div role=option id=b
aria-selected=true>EVIL</div><div role=option aria-selected=false>Rename</div></div><p id=p></p><script>
t.onkeydown = (event) => { if (event.key === 'Enter') p.textContent = 'Done: EVIL' }</script>"""

# As Headless UI and MUI do: the entry with the mark was chosen before, and the field shows it.
CHOSEN = PALETTE.replace("<input id=t", "<input id=t value=EVIL")

# A button for all of a list.
ALL = """<!doctype html><button>Delete account</button><p id=t>All</p><ul role=listbox aria-multiselectable=true>
<li role=option aria-selected=false>Alice</li><li role=option aria-selected=false>EVIL</li></ul><ul role=listbox>
<li role=option>Rome</li></ul><script>t.onclick = () => { for (const one of document.querySelectorAll('[aria-selected]'))
one.ariaSelected = true }</script>"""

# As Pickr does: the handle stands beside the area that takes the click, and takes no focus.
PAD = """<!doctype html><button>Delete account</button><div style="position:relative;width:90px;height:90px"><i id=h
style="position:absolute;left:9px;top:9px;width:9px;height:9px"></i><div id=t style="height:90px"></div></div><p id=o
style="position:relative;height:20px">Text<i style="position:absolute;left:0px;top:0;width:9px;height:9px"></i></p><script>
t.onclick = (event) => { h.style.left = event.offsetX + 'px' }; o.onclick = () => { o.firstElementChild.style.left = '9px' }
</script>"""

# As Syncfusion does: a field that no one sees stands beside the number and its button.
COUNT = """<!doctype html><button>Delete account</button><div><input id=f value=1.00><input id=g value=1
style="width:0;height:0;border:0;padding:0"><span id=t title=Increment>+</span></div><script>
t.onclick = () => { f.value = '2.00'; g.value = '2' }</script>"""

# As Syncfusion does: the active entry of a tree has an id, which moves to the entry that was clicked.
TREE = """<!doctype html><button>Delete account</button><ul role=tree><li role=treeitem id=active aria-checked=false>Root<ul>
<li role=treeitem aria-checked=false><span id=t>EVIL</span></li></ul></li></ul><script>t.onclick = () => {
active.removeAttribute('id'); t.parentElement.id = 'active'; t.parentElement.ariaChecked = true }</script>"""

# As Omnibar of Blueprint does: a palette of commands that a shortcut opens, and a class marks the entry.
OMNIBAR = """<!doctype html><button id=t>Delete account</button><p>Rome</p><dialog id=d><input id=f aria-label=Find><ul><li class=marked>EVIL</li>
<li>Rename</li></ul></dialog><script>t.onkeydown = (event) => { if (event.key === 'k') d.showModal() };
f.onkeydown = (event) => { if (event.key === 'Enter') { event.preventDefault(); d.close(); d.remove() } }</script>"""

# A dialog that Enter sends.
DIALOG = """<!doctype html><button id=t>Edit</button><dialog id=d><h2>Name</h2><input id=f aria-label=Find><button>Delete account</button></dialog>
<script>t.onkeydown = (event) => { if (event.key === 'k') d.showModal() }; f.onkeydown = (event) => {
if (event.key === 'Enter') { event.preventDefault(); d.remove() } }</script>"""

# As RSuite does: a box in an option, and a field that no one sees takes the key of the option.
BOXED = """<!doctype html><button>Delete account</button><div><input id=f tabindex=-1 style="opacity:0"><ul role=listbox>
<li role=option aria-selected=false>Alice</li><li role=option id=t aria-selected=false><label><input type=checkbox id=b> EVIL
</label></li></ul></div><script>b.onclick = () => { t.ariaSelected = b.checked; f.value = 'E1' }</script>"""

# As Kendo does: a slider has a button for steps.
STEPPED = """<!doctype html><button>Delete account</button><div><div style="width:90px;height:9px"><i role=slider id=s
aria-valuenow=3 tabindex=0></i></div><button id=t>Increase</button></div><div><progress value=1></progress><button id=o>Load
</button></div><script>t.onclick = () => { s.ariaValueNow = 4 }</script>"""

# As Bits UI does: labels name radio buttons that are built of buttons, and an arrow chooses the next one.
NAMED = """<!doctype html><button>Delete account</button><label><button role=radio id=t aria-checked=true>o</button>Alice</label>
<label><button role=radio id=b aria-checked=false>o</button>EVIL</label><button role=radio id=c>o</button><label for=c>Rome
</label><script>t.onkeydown = () => { t.ariaChecked = false; b.ariaChecked = true; b.focus() }</script>"""

# A button that the handler of its own key removes.
GONE = """<!doctype html><button>Delete account</button><button id=t>EVIL</button><button>Other</button><script>
t.onkeypress = () => t.remove()</script>"""

OTHER = never(action="@activate", text="Delete account")
FILLED = never(action="fill")
ENTER = press("#t", "Enter")


def exactly(n: int, **match: Any) -> dict[str, Any]:
    """A rule that demands so many actions."""
    return {"type": "exactly", "n": n, "match": match}


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            [
                (PALETTE, ENTER, never(action="@activate", text="EVIL"), "UNDECIDED"),
                (PALETTE, ENTER, never(action="@activate", text="Archive"), "UNDECIDED"),
                (PALETTE, ENTER, never(action="@activate", text="Rename"), "DORMANT"),
                (PALETTE, ENTER, OTHER, "DORMANT"),
                (CHOSEN, ENTER, never(action="@activate", text="Archive"), "VIOLATED"),
                (ALL, click("#t"), never(action="@input", value="EVIL"), "UNDECIDED"),
                (ALL, click("#t"), only("Alice"), "UNDECIDED"),
                (ALL, click("#t"), only("Alice", "EVIL"), "OK"),
                (ALL, click("#t"), never(action="@input", value="Rome"), "DORMANT"),
                (PAD, click("#t"), FILLED, "UNDECIDED"),
                (PAD, click("#t"), never(action="check"), "DORMANT"),
                (PAD, click("#o"), FILLED, "DORMANT"),
                (COUNT, click("#t"), FILLED, "VIOLATED"),
                (COUNT, click("#t"), only("2.00", "2"), "OK"),
                (COUNT, click("#t"), only("3"), "VIOLATED"),
                (TREE, click("#t"), never(action="check", text="EVIL"), "UNDECIDED"),
                (TREE, click("#t"), never(action="check", text="Other"), "DORMANT"),
                (TREE, click("#t"), never(action="uncheck"), "DORMANT"),
                (
                    OMNIBAR,
                    press("#t", "k", "E", "Enter"),
                    never(action="@activate", text="EVIL"),
                    "UNDECIDED",
                ),
                (OMNIBAR, press("#t", "k", "E", "Enter"), never(action="@activate", text="Rome"), "DORMANT"),
                (OMNIBAR, press("#t", "k", "E"), never(action="@activate", text="EVIL"), "DORMANT"),
                (DIALOG, press("#t", "k", "E", "Enter"), OTHER, "DORMANT"),
                (BOXED, click("#b"), never(action="@input", value="EVIL"), "UNDECIDED"),
                (BOXED, click("#b"), only("Alice"), "UNDECIDED"),
                (BOXED, click("#b"), only("EVIL"), "OK"),
                (BOXED, click("#b"), never(action="@input", value="Alice"), "OK"),
                (STEPPED, click("#t"), FILLED, "UNDECIDED"),
                (STEPPED, click("#t"), only("4"), "OK"),
                (STEPPED, click("#t"), only("3"), "UNDECIDED"),
                (STEPPED, click("#o"), FILLED, "DORMANT"),
                (NAMED, press("#t", "ArrowDown"), never(action="check", text="EVIL"), "UNDECIDED"),
                (NAMED, press("#t", "ArrowDown"), never(action="check", text="Rome"), "UNDECIDED"),
                (NAMED, press("#t", "ArrowDown"), never(action="check", text="Zed"), "DORMANT"),
                (GONE, ENTER, OTHER, "DORMANT"),
                (GONE, ENTER, never(action="@activate", text="EVIL"), "VIOLATED"),
                (GONE, ENTER, exactly(1, action="@activate", text="EVIL"), "OK"),
            ]
        ),
    ),
)
def test_widgets_whose_parts_differ(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules


@pytest.mark.parametrize(
    ("html", "actions", "rule", "expected"),
    one_in(
        3,
        [
            (PALETTE, [["click", "#t"], ["press", "Enter"]], never(text="EVIL"), "UNDECIDED"),
            (ALL, [["click", "#t"]], never(action="@input", value="EVIL"), "UNDECIDED"),
            (PAD, [["click", "#t"]], FILLED, "UNDECIDED"),
            (TREE, [["click", "#t"]], never(action="check", text="EVIL"), "UNDECIDED"),
        ],
    ),
)
def test_the_same_by_the_protocol(
    html: str, actions: list[Any], rule: dict[str, Any], expected: str, tmp_path: Path, site: Any
) -> None:
    assert outcome_over_cdp(rule, actions, site.add("/", html), tmp_path) == expected
