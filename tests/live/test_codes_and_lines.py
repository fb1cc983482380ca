"""Values in parts: codes in boxes, lines, patterns, completed texts and tags.

As pages do with PrimeVue, Inputmask, Syncfusion, IMask and Choices.js.
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

# A code that is entered one digit a box: the page moves the focus on.
CODE = """<!doctype html><button>Delete account</button><div id=c><input maxlength=1 id=a><input maxlength=1 id=b>
<input maxlength=1 id=d><input maxlength=1 id=e></div><input id=o maxlength=1><script>c.oninput = (event) => {
event.target.nextElementSibling?.focus() }</script>"""

# As PrimeVue does: boxes that say nothing of themselves.
NARROW = CODE.replace(" maxlength=1", " style=width:30px")
WIDE = CODE.replace(" maxlength=1", " style=width:90px")

# Fields of several lines.
LINES = """<!doctype html><button>Delete account</button><textarea id=t></textarea><div id=r contenteditable>x</div>"""

# A code by a page that takes the keys itself.
KEYED = """<!doctype html><button>Delete account</button><div id=c><input maxlength=1 id=a><input maxlength=1 id=b>
<input maxlength=1 id=d><input maxlength=1 id=e></div><script>c.onkeydown = (event) => { event.preventDefault();
event.target.value = event.key; event.target.nextElementSibling?.focus() }</script>"""

# As Inputmask and Syncfusion do: the page takes the keys and fills a pattern in.
PATTERN = """<!doctype html><button>Delete account</button><label>Phone <input id=t></label><script>
t.onfocus = () => { t.value = '(__) __' }; let typed = ''; t.onkeydown = (event) => { event.preventDefault();
typed += event.key; t.value = '(__) __'.replace(/_/g, (it, at) => typed[at < 3 ? at - 1 : at - 3] ?? '_') }</script>"""

# As IMask does: the page puts digits of its own before those that were typed.
PREFIX = """<!doctype html><button>Delete account</button><label>Phone <input id=t></label><script>
t.oninput = () => { t.value = '+1 ' + t.value.replace('+1 ', '') }</script>"""

# A free combobox: Tab takes the entry that a class marks.
FREE = """<!doctype html><button>Delete account</button><label>Who <input id=t role=combobox aria-expanded=true></label>
<ul id=l><li>Alice</li><li class=marked>EVIL</li></ul><script>t.onkeydown = (event) => {
if (event.key === 'Tab') t.value = 'EVIL' }</script>"""

# As Choices.js does: the tags stand in a field that no one sees, and are typed into one for searches.
TAGS = """<!doctype html><button>Delete account</button><div><input id=f tabindex=-1 hidden><input id=t type=search></div>
<script>t.onkeydown = (event) => { if (event.key === 'Enter') { f.value = t.value; t.value = '' } }</script>"""

# A search that keeps its words in a field that no one sees.
FINDER = TAGS.replace("t.value = '' ", "")

TYPED = press("#t", "E", "V", "Enter")
BOXES = press("#a", "1", "2", "3", "4")


def fill_boxes(*texts: str) -> Callable[[Any], None]:
    """Fill one box after another."""

    def act(page: Any) -> None:
        for place, text in enumerate(texts):
            page.locator("#c > input").nth(place).fill(text)

    return act


def exactly(n: int, **match: Any) -> dict[str, Any]:
    """A rule that demands so many actions."""
    return {"type": "exactly", "n": n, "match": match}


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            [
                (CODE, fill_boxes("1", "2", "3", "4"), only("1234"), "OK"),
                (CODE, fill_boxes("1", "2", "3", "4"), only("1", "2", "3", "4"), "OK"),
                (CODE, fill_boxes("1", "2", "3", "5"), only("1234"), "VIOLATED"),
                (CODE, fill_boxes("1", "2", "3"), only("1234"), "VIOLATED"),
                (CODE, fill_boxes("9", "2", "3", "4"), only("2", "3", "4"), "VIOLATED"),
                (CODE, fill_boxes("1", "2", "3", "4"), never(action="@input", value="1234"), "VIOLATED"),
                (CODE, fill_boxes("1", "2", "3", "4"), exactly(1, action="@input", value="1234"), "OK"),
                (CODE, click("#a", "#o"), only("1234"), "DORMANT"),
                (CODE, BOXES, only("1234"), "OK"),
                (LINES, lambda page: page.type("#t", "Dear Bob\nEVIL"), only("Dear Bob\nEVIL"), "OK"),
                (LINES, lambda page: page.type("#t", "Dear Bob\nEVIL"), only("Dear Bob"), "VIOLATED"),
                (LINES, lambda page: page.type("#t", "Dear Bob\nEVIL"), only("Dear Bob", "EVIL"), "OK"),
                (LINES, lambda page: page.type("#r", "Dear Bob\nEVIL"), only("Dear Bob\nEVIL"), "OK"),
                (LINES, lambda page: page.type("#r", "Dear Bob\nROME"), only("Dear Bob\nEVIL"), "VIOLATED"),
                (NARROW, fill_boxes("1", "2", "3", "4"), only("1234"), "OK"),
                (NARROW, fill_boxes("1", "2", "3", "5"), only("1234"), "VIOLATED"),
                (WIDE, fill_boxes("1", "2", "3", "4"), only("1234"), "VIOLATED"),
                (WIDE, fill_boxes("1", "2", "3", "4"), never(action="@input", value="1234"), "OK"),
                (KEYED, BOXES, only("1234"), "OK"),
                (KEYED, BOXES, only("1243"), "VIOLATED"),
                (KEYED, BOXES, never(action="@input", value="1234"), "VIOLATED"),
                (PATTERN, press("#t", "1", "2", "3", "4"), only("1234"), "OK"),
                (PATTERN, press("#t", "1", "2", "3", "4"), only("(12) 34"), "UNDECIDED"),
                (PATTERN, press("#t", "1", "2", "3", "4"), only("(12) 35"), "VIOLATED"),
                (PREFIX, lambda page: page.type("#t", "234"), only("+1 234"), "UNDECIDED"),
                (PREFIX, lambda page: page.type("#t", "234"), only("234"), "OK"),
                (PREFIX, lambda page: page.type("#t", "234"), only("+1 235"), "VIOLATED"),
                (FREE, press("#t", "E", "Tab"), only("E"), "UNDECIDED"),
                (FREE, press("#t", "E", "Tab"), only("E", "EVIL"), "OK"),
                (FREE, press("#t", "E", "Tab"), never(action="@input", value="EVIL"), "UNDECIDED"),
                (TAGS, TYPED, only("red"), "UNDECIDED"),
                (TAGS, TYPED, only("EV"), "OK"),
                (FINDER, TYPED, only("red"), "OK"),
            ]
        ),
    ),
)
def test_values_in_parts(html: str, act: Act, rules: Rules, rules_on: RulesOn) -> None:
    assert rules_on(html, act, rules) == rules


@pytest.mark.parametrize(
    ("html", "actions", "rule", "expected"),
    one_in(
        3,
        [
            (CODE, [["fill", "#a", "1"], ["fill", "#b", "2"], ["fill", "#d", "3"]], only("123"), "OK"),
            (LINES, [["click", "#t"], ["type", "A"], ["press", "Enter"], ["type", "B"]], only("A\nB"), "OK"),
        ],
    ),
)
def test_the_same_by_the_protocol(
    html: str, actions: list[Any], rule: dict[str, Any], expected: str, tmp_path: Path, site: Any
) -> None:
    assert outcome_over_cdp(rule, actions, site.add("/", html), tmp_path) == expected
