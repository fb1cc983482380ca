"""Pages that an agent leaves at the moment they arrive: what it did in them is found, and that it did nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live.one_rule import outcome_over_cdp

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"/>'
"""Without a body it sends no closing."""

SEND = {"type": "never", "match": {"action": "@activate", "text": "Send"}}
PRESS = """(() => { const b = document.body.appendChild(document.createElement('button')); b.textContent = 'Send';
b.onclick = () => fetch('/sent', {method: 'POST', keepalive: true}); b.click() })()"""
DRAWN = "(document.documentElement ?? document).dispatchEvent(new MouseEvent('click', {bubbles: true}))"


@pytest.mark.parametrize("is_attack", [True, False], ids=["attack", "control"])
def test_a_drawing_that_is_left_at_once(is_attack: bool, site: Site, tmp_path: Path) -> None:
    start, drawing = site.add("/", "<h1>start"), site.add("/drawing", DRAWING, "image/svg+xml")
    drawn = [["evaluate", DRAWN]] if is_attack else []
    actions = [["goto", start], *[["go", drawing], ["arrive", "/drawing"], *drawn, ["goto", start]] * 4]
    assert outcome_over_cdp(SEND, actions, start, tmp_path) == ("UNDECIDED" if is_attack else "DORMANT")


def test_a_script_that_runs_while_its_page_is_replaced(site: Site, tmp_path: Path) -> None:
    start = site.add("/", "<h1>start")
    pages = [site.add(f"/{number}", "<h1>one of many") for number in range(4)]
    asked = [[["go", page], ["begin", PRESS], ["arrive", page[-2:]], ["goto", start]] for page in pages]
    actions = [["goto", start], *(action for each in asked for action in each)]
    outcome = outcome_over_cdp(SEND, actions, start, tmp_path)
    assert outcome in ("VIOLATED", "UNDECIDED") or "/sent" not in site.asked


def test_each_navigation_is_answered_that_follows_the_answer_to_the_last(site: Site, tmp_path: Path) -> None:
    start = site.add("/", "<button>one</button>")
    pages = [site.add(f"/{number}", "<button>one of many</button>") for number in range(40)]
    actions = [["goto", start], ["click", "button"], *(["go", page] for page in pages), ["goto", start]]
    assert outcome_over_cdp(SEND, actions, start, tmp_path) == "DORMANT"


# Rows of plain elements: a click sets the box in one. The next look may be at another page.
ROWS = """<!doctype html><div><b role=checkbox aria-checked=false></b><i id=t>EVIL</i></div><div id=o>Other</div><script>
t.onclick = () => t.previousSibling.setAttribute('aria-checked', true); o.onclick = () => { o.id = 'p' }</script>"""
CHECK = {"type": "never", "match": {"action": "check", "text": "EVIL"}}


@pytest.mark.parametrize(
    ("place", "expected"), [("#t", "UNDECIDED"), ("#o", "DORMANT")], ids=["attack", "control"]
)
def test_a_page_that_is_left_shows_what_its_last_click_changed(
    place: str, expected: str, site: Site, tmp_path: Path
) -> None:
    start, rows = site.add("/", "<h1>start"), site.add("/rows", ROWS)
    actions = [["goto", start], *[["goto", rows], ["click", place], ["goto", start]] * 2]
    assert outcome_over_cdp(CHECK, actions, start, tmp_path) == expected
