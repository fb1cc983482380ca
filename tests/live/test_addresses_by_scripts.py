"""Choices of an app that writes its own address while it takes them: filters, palettes of commands, routes.

Each page is recorded once, and graded by several rules.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import Rules, rules_of
from tests.live.test_component_libraries import click, never, only
from tests.live.test_entries_and_marks import then

pytestmark = [pytest.mark.live, pytest.mark.one_page]

PUSH = "history.pushState(0, '', '?colour=green')"

# A filter of plain elements, as shops have them.
FILTER = """<!doctype html><h1>Shop</h1><button id=c onclick="l.hidden = !l.hidden">Any</button><div id=l hidden>
<div class=o id=t>Green</div><div class=o>Red</div></div><script>for (const one of document.querySelectorAll('.o'))
one.onclick = () => { %s; c.textContent = one.textContent; l.hidden = true }</script>"""

# As JupyterLab does: a palette of commands whose words are marked, and that goes with the entry that it takes.
PALETTE = """<!doctype html><h1>Lab</h1><input id=f hidden><ul id=l hidden><li><mark>Delete</mark> <mark>account</mark></li>
<li>Open</li></ul><script>onkeydown = (event) => { if (event.key === 'k' && event.ctrlKey) {
event.preventDefault(); f.hidden = l.hidden = false; f.focus() }
if (event.key === 'Enter') { %s; f.hidden = l.hidden = true } }</script>"""

# Routes of an app: links and a search field lead to other views in the same document.
ROUTES = """<!doctype html><a href="/orders" id=a>Orders</a><input id=f aria-label=Search><main id=m>Home</main><script>
const go = (path, html) => { history.pushState(0, '', path); m.innerHTML = html };
a.onclick = (event) => { event.preventDefault(); go('/orders', '<input value=EVIL><button>Delete</button>') };
f.onkeydown = ({key}) => { if (key === 'Enter') go('/search', '<p>2 results for ' + f.value + '<button>Delete</button>') }
</script>"""

GREEN = never(action="@input", value="Green")
DELETE = never(action="@activate", text="Delete account")


# A field that leads on; what it says beside the field was there before.
FORM = """<!doctype html><p>Delete account</p><form action=/done><input id=f aria-label=Search></form>"""


def command(page: Any) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("del")
    page.keyboard.press("Enter")


def search(page: Any) -> None:
    page.fill("#f", "lamp")
    page.press("#f", "Enter")


@pytest.mark.parametrize("script", ["", PUSH, f"setTimeout(() => {PUSH})", PUSH.replace("push", "replace")])
@pytest.mark.parametrize(
    ("html", "act", "rules"),
    [
        (
            FILTER,
            then(click("#c"), click("#t")),
            [
                (GREEN, "VIOLATED"),
                (only("Red"), "VIOLATED"),
                (never(action="@input", value="Red"), "OK"),
            ],
        ),
        (PALETTE, command, [(DELETE, "UNDECIDED"), (never(action="@activate", text="Refund"), "DORMANT")]),
    ],
)
def test_a_choice_is_seen_although_the_address_changes(
    html: str, act: Callable[[Any], None], script: str, rules: Rules, page: Any, site: Any, tmp_path: Path
) -> None:
    page.goto(site.add("/", html % script))
    assert rules_of(rules, act, page, tmp_path / "run.zst") == rules


@pytest.mark.parametrize(
    ("act", "rules"),
    [
        (
            click("#a"),
            [
                (never(action="@input", value="EVIL"), "DORMANT"),
                (never(action="@activate", text="Delete"), "DORMANT"),
                (only("x"), "DORMANT"),
            ],
        ),
        (
            search,
            [
                (only("lamp"), "OK"),
                (never(action="@activate", text="Delete"), "DORMANT"),
                (never(action="@input", value="results"), "OK"),
            ],
        ),
    ],
)
def test_a_view_within_the_document_enters_nothing(
    act: Callable[[Any], None], rules: Rules, page: Any, site: Any, tmp_path: Path
) -> None:
    page.goto(site.add("/", ROUTES))
    assert rules_of(rules, act, page, tmp_path / "run.zst") == rules


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    [
        (PALETTE % "location = '/done'", command, [(DELETE, "UNDECIDED")]),
        (
            PALETTE % "location.replace('/done')",
            command,
            [(never(action="@activate", text="Refund"), "DORMANT")],
        ),
        (FORM, search, [(DELETE, "DORMANT"), (only("lamp"), "OK")]),
    ],
)
def test_a_key_took_an_entry_of_the_page_that_it_left(
    html: str, act: Callable[[Any], None], rules: Rules, page: Any, site: Any, tmp_path: Path
) -> None:
    def lead_on(page: Any) -> None:
        act(page)
        page.wait_for_url("**/done*")

    site.add("/done", "<!doctype html><p>Done")
    page.goto(site.add("/", html))
    assert rules_of(rules, lead_on, page, tmp_path / "run.zst") == rules
