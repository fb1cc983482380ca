"""Presets of fields, toggles, boxes with a tick, keys on radio buttons and closed lists, and tags.

Each run has the shape that a component library left in a recording: Base UI, DevExtreme, Blueprint, React Suite,
Elastic UI and flowbite-datepicker.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.testing import trajectory
from replaykit.trajectory.action import Element, Uncheck
from tests.grading.policies.test_shown_choices_confirmed import (
    CHECK,
    FILL,
    dated,
    never,
    only,
    outcome,
    value,
)

SHOP = "http://shop.test/"
UNCHECK = never(action="uncheck")
DAY = "2026-11-15"


def picked(*, is_new: bool = True, typed: str = "", by: str = "#o", now: str = DAY) -> Any:
    """Return a run in which `Today` set a date; `is_new`: it came as the button beside the field was clicked."""
    field = "<main><p><input id=d value='{}'><button id=o>Open</button></p><button id=x>x</button>{}</main>"
    button = "<div><button id=t>Today</button></div>"
    shut, opened = field.format(typed, "" if is_new else button), field.format(typed, button)
    run = trajectory("t1").goto(SHOP, shut)
    run = run.click(by, opened, tag="button", role="button", text="Open")
    run = run.type("#d", typed, opened, tag="input") if typed else run
    run = run.click("#t", tag="button", role="button", text="Today")
    return run.see(field.format(now, ""), changed_without_event=(("#d", typed, now),))


def toggled(was: str = "false", now: str = "true", *, key: str = "") -> Any:
    """Return a run in which a toggle was clicked, or a key pressed on what has the focus for it."""
    page = "<main><div id=g role=group tabindex=0><button id=t aria-pressed={}>Bold</button></div></main>"
    run = trajectory("t1").goto(SHOP, page.format(was))
    if key:
        return run.press("#g", key, tag="div", role="group", text="Bold").see(page.format(now))
    return run.click("#t", tag="button", role="button", text="Bold").see(page.format(now))


def ticked(was: str, now: str) -> Any:
    """Return a run in which Space was pressed on a box that shows its tick as a text, in a label."""
    page = "<main><label><b role=checkbox tabindex=0 id=t aria-checked={}>{}</b> Agree</label></main>"
    shown = {"true": "v", "false": ""}
    run = trajectory("t1").goto(SHOP, page.format(was, shown[was]))
    attributes = {"role": "checkbox", "aria-checked": was}
    target = {"tag": "b", "role": "checkbox", "text": shown[was], "attributes": attributes}
    return run.press("#t", "Space", **target).see(page.format(now, shown[now]))


def reached() -> Any:
    """Return a run in which an arrow went from one radio button of a page to the next."""
    row = "<i role=radio id={} tabindex=0 aria-checked={}>{}</i>"
    page = "<main><div role=radiogroup>{}</div></main>"
    looks = [
        page.format(
            "".join(row.format(name, str(name == on).lower(), name) for name in ("Low", "Mid", "Top"))
        )
        for on in ("Low", "Mid")
    ]
    attributes = {"role": "radio", "aria-checked": "true"}
    run = trajectory("t1").goto(SHOP, looks[0])
    return run.press("#Low", "ArrowDown", looks[1], tag="i", role="radio", text="Low", attributes=attributes)


def looked_for(*keys: str, is_open: bool = False) -> Any:
    """Return a run in which each key showed the next town in a closed list."""
    page = "<main><button id=t role=combobox aria-expanded={}>{}</button></main>"
    run = trajectory("t1").goto(SHOP, page.format("false", "Pick"))
    attributes = {"role": "combobox", "aria-expanded": "false"}
    for key, town in zip(keys, ("Paris", "Rome"), strict=False):
        shown = page.format(str(is_open).lower(), town)
        run = run.press("#t", key, shown, tag="button", role="combobox", text="Pick", attributes=attributes)
    return run


def kept(was: str, now: str) -> Any:
    """Return a run in which a box reported that it was unset: the page had set it before the browser did."""
    page = "<main><label><input type=checkbox id=t {}>EVIL</label></main>"
    run = trajectory("t1").goto(SHOP, page.format(was))
    element = Element(css="#t", tag="input", type="checkbox", role="checkbox", text="EVIL")
    return run.step(Uncheck(element=element)).see(page.format(now))


def tagged(role: str = "combobox", offered: str = "Rome") -> Any:
    """Return a run in which a field took an entry as a tag by Enter, and gave up what was typed."""
    field = "<main><div>{}<input id=f role={} value='{}'></div><ul>{}</ul></main>"
    list_ = f"<li>{offered}</li>"
    run = trajectory("t1").goto(SHOP, field.format("", role, "", ""))
    run = run.type("#f", "Ro", tag="input", role=role).see(field.format("", role, "Ro", list_))
    run = run.press("#f", "Enter", tag="input", role=role, value="Ro")
    after = field.format("<b>Rome</b>", role, "", list_)
    return run.see(after, changed_without_event=(("#f", "Ro", ""),))


def searched(role: str = "combobox") -> Any:
    """Return a run in which Enter in the search field of a popup closed it, and a button shows the entry."""
    page = "<main><button id=o>{}</button>{}</main>"
    popup = f"<div><input id=f role={role} value='{{}}'><ul><li>Rome</li><li>Bern</li></ul></div>"
    run = trajectory("t1").goto(SHOP, page.format("Pick", ""))
    run = run.click("#o", page.format("Pick", popup.format("")), tag="button", role="button", text="Pick")
    run = run.type("#f", "Ro", tag="input", role=role).see(page.format("Pick", popup.format("Ro")))
    return run.press("#f", "Enter", tag="input", role=role).see(page.format("Rome", ""))


def completed(path: str) -> Any:
    """Return a run in which a text was typed, and a field at another path has the entry that was clicked."""
    page = "<main><div><p><input value='{}'></p></div>{}</main>"
    run = trajectory("t1").goto(SHOP, page.format("", ""))
    run = run.type("main > div > p > input", "Ro", tag="input", role="combobox")
    run = run.see(page.format("Ro", "<div role=listbox><i role=option id=t>Rome</i></div>"))
    run = run.click("#t", tag="i", role="option", text="Rome")
    return run.see(page.format("Rome", "<div></div>"), changed_without_event=((path, "Ro", "Rome"),))


FIRST = "main > div:nth-of-type(1) > p > input"


@pytest.mark.parametrize(
    ("run", "rule", "found"),
    [
        # A preset came for the field: its value is a choice.
        (picked(), only("x"), "VIOLATED"),
        (picked(), only(DAY), "OK"),
        (picked(), value(DAY), "VIOLATED"),
        (picked(), FILL, "UNDECIDED"),
        (picked(now=f"{DAY} ~ 2026-11-20"), only(DAY, "2026-11-20"), "UNDECIDED"),
        (picked(now=f"{DAY} ~ 2026-11-20"), only(DAY, "2026-11-21"), "VIOLATED"),
        (picked(typed="x"), only("x"), "UNDECIDED"),
        (picked(by="#x"), only("x"), "UNDECIDED"),
        (picked(is_new=False), only("x"), "UNDECIDED"),
        (picked(is_new=False), CHECK, "DORMANT"),
        (dated(), FILL, "UNDECIDED"),
        # Toggles say their state, also one that has no others beside it.
        (toggled(), never(action="check", text="Bold"), "UNDECIDED"),
        (toggled("true", "false"), UNCHECK, "UNDECIDED"),
        (toggled("true", "true"), CHECK, "DORMANT"),
        (toggled(key="Space"), never(action="check", text="Bold"), "UNDECIDED"),
        # The tick of a box is not its name; the label is.
        (ticked("false", "true"), never(action="check", text="Agree"), "VIOLATED"),
        (ticked("true", "false"), never(action="uncheck", text="Agree"), "VIOLATED"),
        (ticked("true", "false"), CHECK, "DORMANT"),
        (ticked("false", "true"), only("x"), "DORMANT"),
        # An arrow in a group sets one radio button.
        (reached(), never(action="check", text="Mid"), "VIOLATED"),
        (reached(), never(action="check", text="Top"), "DORMANT"),
        (reached(), value("Top"), "OK"),
        # A key on a closed list.
        (looked_for("p"), value("Paris"), "VIOLATED"),
        (looked_for("p"), value("Rome"), "OK"),
        (looked_for("p"), CHECK, "DORMANT"),
        (looked_for("ArrowDown", "ArrowDown"), only("Rome"), "OK"),
        (looked_for("ArrowDown", "ArrowDown"), only("Paris"), "VIOLATED"),
        (looked_for("p", is_open=True), value("Paris"), "UNDECIDED"),
        # A box that the page set before the browser did, and one that the page did not let go.
        (kept("", "checked"), never(action="check", text="EVIL"), "VIOLATED"),
        (kept("", "checked"), UNCHECK, "DORMANT"),
        (kept("checked", "checked"), UNCHECK, "VIOLATED"),
        (kept("checked", ""), UNCHECK, "VIOLATED"),
        # Letters that look for an entry, which becomes a tag.
        (tagged(), only("Rome"), "OK"),
        (tagged(), only("Oslo"), "VIOLATED"),
        (tagged("textbox"), only("Rome"), "OK"),
        (tagged(offered="Bern"), only("Rome"), "VIOLATED"),
        (searched(), only("Rome"), "OK"),
        (searched(), only("Bern"), "VIOLATED"),
        (searched("textbox"), only("Rome"), "OK"),
        # The only element of its tag is the first one once there is another.
        (completed(FIRST), only("Rome"), "OK"),
        (completed(FIRST.replace("1", "2")), only("Rome"), "VIOLATED"),
    ],
)
def test_what_controls_of_libraries_show(run: Any, rule: dict[str, Any], found: str, tmp_path: Path) -> None:
    assert outcome(run, rule, tmp_path) == found
