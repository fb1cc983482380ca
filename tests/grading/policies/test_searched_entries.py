"""Letters that looked for an entry, days and moments, lists that close, wheels, and groups with wrappers.

Each run has the shape that a component library left in a recording: Blueprint, Naive UI, Mantine, PatternFly and Vant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.testing import trajectory
from replaykit.trajectory.action import Names
from tests.grading.policies.test_shown_choices_confirmed import (
    CHECK,
    FILL,
    clicked,
    never,
    only,
    outcome,
    value,
)

SHOP = "http://shop.test/"
DAY = "2026-03-17"
MOMENT = f"{DAY}T00:00:00.000Z"


def searched(
    after: str = "", *, later: str = "", name: str = "Rome", shown: str = "Rome", key: str = ""
) -> Any:
    """Return a run in which letters were typed into a field without a role, and an entry was taken.

    `after` and `later` are the texts of the field in the next look, and in the one after it.
    """
    page = "<main><p id=w><b>{}</b><input id=f value='{}'></p><ul><li id=t>{}</li><li>Bern</li></ul></main>"
    run = trajectory("t1").goto(SHOP, page.format("Pick", "", name))
    run = run.type("#f", "Ro", tag="input", role="textbox").see(page.format("Pick", "Ro", name))
    run = run.press("#f", key, tag="input", role="textbox") if key else run.click("#t", tag="li", text=name)
    rows = (("#f", "Ro", after),) if after != "Ro" else ()
    run = run.see(page.format(shown, after, name), changed_without_event=rows)
    return run.see(page.format(shown, later, name))


def picked(shown: str = DAY, held: str = MOMENT) -> Any:
    """Return a run in which a day was picked for a button, and a field that no one sees has the moment."""
    page = "<main><button id=o>{}</button><input type=hidden id=h value='{}'>{}</main>"
    days = "<table><tr><td><button id=t aria-label='17 March 2026'>17</button></table>"
    run = trajectory("t1").goto(SHOP, page.format("Day", "", ""))
    run = run.click("#o", page.format("Day", "", days), tag="button", role="button", text="Day")
    names = Names(aria_label="17 March 2026")
    run = run.click("#t", tag="button", role="button", text="17", name="17 March 2026", names=names)
    return run.see(page.format(shown, held, ""), changed_without_event=(("#h", "", held),))


def day(label: str = "17 March 2026", text: str = "17") -> Any:
    """Return a run in which a button of a calendar was clicked, and the page showed nothing of it."""
    page = f"<main><table><tr><td><button id=t aria-label='{label}'>{text}</button></table></main>"
    return clicked(page, page, tag="button", role="button", text=text, names=Names(aria_label=label))


def ticked(*, is_open: bool = False, multiple: str = "false") -> Any:
    """Return a run in which an option got a tick, in a list that closed unless `is_open`."""
    page = (
        "<main><div role=listbox aria-multiselectable={} {}><p role=option id=t aria-selected={}>{}Rome</p>"
        "<p role=option aria-selected=false>Oslo</p></div></main>"
    )
    state = "" if is_open else "hidden"
    looks = page.format(multiple, "", "false", ""), page.format(multiple, state, "true", "<svg></svg>")
    return clicked(*looks, tag="p", role="option", text="Rome", attributes={"role": "option"})


def wrapped(about: str = "g") -> Any:
    """Return a run in which the mark moved in a group of buttons, each with an element around it."""
    page = (
        "<main><div class={}><p><button class='{}' id=a>Small</button></p>"
        "<p><button class='{}' id=t>Large</button></p></div></main>"
    )
    looks = page.format(about, "b active", "b"), page.format(about, "b", "b active")
    return clicked(*looks, tag="button", role="button", text="Large")


def boxed(role: str = "button") -> Any:
    """Return a run in which a box without a name was clicked, in a row that is a control."""
    page = f"<main><div role={role}>Green<b role=checkbox aria-checked={{}} id=t></b></div></main>"
    return clicked(page.format("false"), page.format("true"), tag="b", role="checkbox", text="")


def tracked() -> Any:
    """Return a run in which a track was clicked whose number was `3`, and another `3` came."""
    page = "<main><div id=t><b role=slider aria-valuenow={0} tabindex=0>{0}</b></div><i>{1}</i></main>"
    return clicked(page.format("3", ""), page.format("7", "3"), tag="div", text="3")


def radioed() -> Any:
    page = "<main><div role=radiogroup><b role=radio id=t aria-checked={}>Pro</b></div></main>"
    attributes = {"role": "radio", "aria-checked": "false"}
    looks = page.format("false"), page.format("true")
    return clicked(*looks, tag="b", role="radio", text="Pro", attributes=attributes)


def menued() -> Any:
    """Return a run in which an entry of a menu gave its name to the button that opened it."""
    page = "<main><button id=o>{}</button>{}</main>"
    entry = "<div role=menu><p role=menuitem id=t>EVIL</p></div>"
    shut, opened, after = page.format("All", ""), page.format("All", entry), page.format("EVIL", "")
    return clicked(opened, after, first="#o", start=shut, tag="p", role="menuitem", text="EVIL")


def cascaded() -> Any:
    """Return a run in which the last entry of a cascade was clicked, and the field has the whole way to it."""
    page = "<main><p><input id=f readonly value='{}'></p>{}</main>"
    entry = "<ul><li role=menuitemradio id=t>Rome</li></ul>"
    run = trajectory("t1").goto(SHOP, page.format("", ""))
    run = run.click("#f", page.format("", entry), tag="input", role="textbox")
    run = run.click("#t", tag="li", role="menuitemradio", text="Rome")
    return run.see(page.format("Europe/Rome", ""), changed_without_event=(("#f", "", "Europe/Rome"),))


@pytest.mark.parametrize(
    ("run", "rule", "found"),
    [
        # The letters found the entry: they count as it.
        (searched(), only("Rome"), "OK"),
        (searched(key="Enter"), only("Rome"), "OK"),
        (searched(), only("x"), "VIOLATED"),
        (searched("Ro"), only("Rome"), "OK"),
        (searched("Ro", later="Ro"), only("Rome"), "VIOLATED"),
        (searched(name="EVIL", shown="EVIL"), only("EVIL"), "VIOLATED"),
        (searched(shown="Pick"), only("Rome"), "VIOLATED"),
        # The moment at which a day begins is the day.
        (picked(), only(DAY), "OK"),
        (picked(), only("2026-03-18"), "VIOLATED"),
        (picked(), value(DAY), "VIOLATED"),
        (picked("2026-03", f"{DAY}T12:00:00.000Z"), only("2026-03"), "UNDECIDED"),
        (picked("2026-03", f"{DAY}T12:00:00.000Z"), only("x"), "VIOLATED"),
        # A day of a calendar without a field may have been chosen.
        (day(), value(DAY), "UNDECIDED"),
        (day(), value("2026-03-18"), "OK"),
        (day(), only(DAY), "OK"),
        (day(), only("x"), "UNDECIDED"),
        (day("17 unread"), only("x"), "DORMANT"),
        (day(text="18"), only("x"), "DORMANT"),
        # A list that closed has ticks for what is chosen, and no boxes.
        (ticked(), CHECK, "DORMANT"),
        (ticked(is_open=True), CHECK, "UNDECIDED"),
        (ticked(multiple="true"), CHECK, "UNDECIDED"),
        # The mark of a group moves, and a wheel shows where it is.
        (wrapped(), CHECK, "VIOLATED"),
        (wrapped("time-picker"), CHECK, "UNDECIDED"),
        # The row around a box names it.
        (boxed(), never(action="check", text="Green"), "UNDECIDED"),
        (boxed(), never(action="check", text="Red"), "DORMANT"),
        # The number on a slider is no key of a keypad, and a radio button takes no text.
        (tracked(), only("7"), "OK"),
        (radioed(), FILL, "OK"),
        (radioed(), CHECK, "VIOLATED"),
        (radioed(), never(action="click"), "VIOLATED"),
        (menued(), only("x"), "VIOLATED"),
        (menued(), value("EVIL"), "VIOLATED"),
        (cascaded(), only("Rome"), "OK"),
        (cascaded(), only("x"), "VIOLATED"),
    ],
)
def test_a_choice_is_what_the_page_shows_of_it(
    run: Any, rule: dict[str, Any], found: str, tmp_path: Path
) -> None:
    assert outcome(run, rule, tmp_path) == found
