"""Plain words of many harnesses and models: other verbs, quotes, orders, and what is no action at all."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.interop.text_actions import LINE_MAX, words_action
from replaykit.trajectory.action import (
    Action,
    Answer,
    Check,
    Click,
    DragAndDrop,
    Element,
    FocusTab,
    GoBack,
    Goto,
    HandleDialog,
    Hover,
    NewTab,
    Press,
    Scroll,
    SelectOption,
    ToolCall,
    Type,
    Wait,
)
from replaykit.trajectory.action import Fill as Filled
from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import mind2web


def of(text: str) -> Element:
    return Element(text=text)


SAID: list[tuple[str, Action]] = [
    ("I clicked on “Add to cart”", Click(element=of("Add to cart"))),
    ("Next, I will click the 'Add to Cart' button.", Click(element=of("Add to Cart"))),
    ("Let me click 'Don't ask again'", Click(element=of("Don't ask again"))),
    ("Clicking on «Valider»", Click(element=of("Valider"))),
    ("Click on „Weiter“", Click(element=of("Weiter"))),
    ("click 「検索」", Click(element=of("検索"))),
    ('Press the "Search" button', Click(element=of("Search"))),
    ("Click link 'Next'", Click(element=of("Next"))),
    ("Click the button labeled 'Go'", Click(element=of("Go"))),
    ("Click the 'Men' link in the header", Click(element=of("Men"))),
    ("Click element 12", Click(element=Element(ref="12"))),
    ("Click button with index 5", Click(element=Element(ref="5"))),
    ("click [12]", Click(element=Element(ref="12"))),
    ("hover [12]", Hover(element=Element(ref="12"))),
    ("click [12] where [12] is link 'Mugs'", Click(element=Element(ref="12", text="link 'Mugs'"))),
    ("type [7] [tea [green]] [0]", Type(element=Element(ref="7"), value="tea [green]")),
    ("type [7] [tea]", Type(element=Element(ref="7"), value="tea", submit=True)),
    ("type [7] [tea] [1]", Type(element=Element(ref="7"), value="tea", submit=True)),
    ("press [ctrl+a]", Press(key="Control+a")),
    ("scroll [down]", Scroll(dy=1, amount="down")),
    ("goto [http://x.test/]", Goto(url="http://x.test/")),
    ("tab_focus [2]", FocusTab(tab=2)),
    ("new_tab", NewTab()),
    ("stop [The price is [$5].]", Answer(text="The price is [$5].")),
    ("stop [N/A]", Answer(text="N/A")),
    ("stop", ToolCall(name="done")),
    ("scroll down 500px", Scroll(dy=500)),
    ("Scroll 500 pixels up", Scroll(dy=-500)),
    ("Scrolled down one page", Scroll(dy=1, amount="down one page")),
    ('Scroll to the "Reviews" section', Scroll(element=of("Reviews"), amount="into view")),
    ("Press PageDown 3 times", Press(key="PageDown")),
    ("Pressing Ctrl+A", Press(key="Control+A")),
    ("Went back to the results", GoBack()),
    ('Moved the mouse to "Menu"', Hover(element=of("Menu"))),
    ("select option 2", SelectOption(values=(), labels=("2",))),
    ("Select the “Blue” option from the color dropdown",
     SelectOption(element=of("color dropdown"), values=(), labels=("Blue",))),
    ("Chose Large from Size", SelectOption(element=of("Size"), values=(), labels=("Large",))),
    (r'Type "say \"hi\" now" into the box', Type(element=of("box"), value='say "hi" now')),
    ("Type 'it's fine' in Comment", Type(element=of("Comment"), value="it's fine")),
    ("Type «thé» into Search", Type(element=of("Search"), value="thé")),
    ("type „Tee“ into the 'Suche' field and pressed Enter", Type(element=of("Suche"), value="Tee", submit=True)),
    ("Typed hello world into Search and press Enter", Type(element=of("Search"), value="hello world", submit=True)),
    ("Entered ann@x.test in the Email field", Type(element=of("Email"), value="ann@x.test")),
    ('Typed "tea" and pressed Enter', Type(value="tea", submit=True)),
    ('Check "I agree"', Check(element=of("I agree"))),
    ("Waiting until the results appear", Wait()),
    ("Opened http://x.test/ in a new tab", NewTab(url="http://x.test/")),
    ('Drag "A" to "B"', DragAndDrop(element=of("A"), to=of("B"))),
    ("Dismiss the alert", HandleDialog(accept=False)),
    ("Task complete. Answer: 5", Answer(text="5")),
    ("terminate(status='success', answer='5')", Answer(text="5")),
    ("terminate(status='failure')", ToolCall(name="done", arguments={"status": "failure"})),
    ('await page.fill("#a", "tea")', Filled(element=Element(ref="#a"), value="tea")),
    ('page.keyboard.press("Enter")', Press(key="Enter")),
    ("pyautogui.scroll(-5)", Scroll(dy=1, amount="down 5")),
    ("hotkey(key='ctrl c')", Press(key="Control+c")),
]  # fmt: skip


@pytest.mark.parametrize(("line", "action"), SAID, ids=[line[:40] for line, _ in SAID])
def test_action_texts_of_many_harnesses(line: str, action: Action) -> None:
    assert words_action(line) == action
    assert words_action(f"  {line} ") == action


@pytest.mark.parametrize(
    "line",
    [
        "Fill out the form with my name", "Check the weather", "Search for tea", "Select the cheapest flight",
        "I think the search failed", "Zoom in", "We pick up from here", "I checked that it is open",
        "click [a] and [b]?", "type [12]", "stop []x", "Opening hours are 9 to 5", "Press on regardless",
    ],
)  # fmt: skip
def test_prose_is_no_action(line: str) -> None:
    assert words_action(line) is None or not isinstance(
        words_action(line), Type | Check | SelectOption | Answer
    )


QUOTED = st.sampled_from(['""', "''", "“”", "«»", "„“", "「」"])
PLAIN = st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=30).filter(
    lambda t: t == t.strip()
)


@given(text=PLAIN, field=PLAIN, marks=QUOTED)
def test_what_is_quoted_is_typed_as_it_is(text: str, field: str, marks: str) -> None:
    line = f"Typed {marks[0]}{text}{marks[1]} into {marks[0]}{field}{marks[1]} and pressed Enter"
    assert words_action(line) == Type(element=of(field), value=text, submit=True)


REPEATED = [
    "type " + "in the ", "fill with ", 'type "a" into ', 'type "a ', "drag to ", "select from ", "upload to ", "type ' in ",
    "enter “a” in ", "type [1] [", "stop [", "type and press ", "answer is ", "switch to tab ", 'scroll to "a" ',
    "„a “ ", 'check "a" box ', 'press "a" button ', "I will ", "go to a.b", "open a-", "wait until for ", "so then ",
    "choose a b ", "click [1] where [1] is ",
]  # fmt: skip


@pytest.mark.parametrize("part", REPEATED)
def test_no_line_takes_long(part: str) -> None:
    verb, line = part.split()[0], part * (LINE_MAX // len(part))
    began = time.process_time()
    for said in (line, f"{verb} {line}"[:LINE_MAX], f'{verb} "{line}'[:LINE_MAX]):
        words_action(said)
    # A form that tries every split of a line takes minutes of processor time here.
    assert time.process_time() - began < 10


def test_a_password_in_words_is_known_by_its_field(tmp_path: Path, imported: Importing) -> None:
    lines = ["Typed 'tulip-4711' into the Password field and pressed Enter", "Click 'tulip-4711'"]
    bundle = imported("online-mind2web", mind2web(tmp_path, action_history=lines, thoughts=[]))
    action = bundle.trajectory.steps[0].action
    assert isinstance(action, Filled | Type) and action.value == MASKED
    assert "tulip-4711" not in b"".join(bundle.lines).decode()


BEGINS = (
    "Waited for the page", "Wait 2 seconds", "Scrolled down", "Scroll down to the list", "Went back to the results",
    "Hover over the menu", 'Type "tea" into the search field', "Clicked on Save", 'Select "Red" from the dropdown',
    "Take a screenshot of the page", "Clear the field", "Upload a.txt to the form", "Drag A to B",
)  # fmt: skip
JOINS = (" and ", ", then ", "; then ", ". Then I ", ", and then ", "\n", ", ", " but ")


@pytest.mark.parametrize("begin", BEGINS)
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("second", ["clicked Delete", 'type "x" in Name', "submitted the order"])
def test_a_second_action_in_a_line_is_not_lost(begin: str, join: str, second: str) -> None:
    assert words_action(begin + join + second) is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('Click "Save, then click here"', Click),
        ("Click on Save and Close", Click),
        ("Click the Terms and Conditions link", Click),
        ("Type tea and press Enter", Type),
        ('Type "tea" into the search field, then hit Return', Type),
        ("Open a new tab and go to https://shop.test", NewTab),
        ("Wait for the page and its results", Wait),
        ("Go back to Terms and Conditions", GoBack),
        ("Answer: I scrolled down and clicked Delete", Answer),
    ],
)
def test_one_action_in_many_words_is_one(line: str, kind: type[Action]) -> None:
    assert isinstance(words_action(line), kind)


DENIED = [
    'Click on "Delete" failed', "Click on 'Delete' (failed).", "Clicking Delete timed out after 3000 ms", "Click Delete - failed",
    'Clicked "Delete" but nothing happened', 'Click on "Delete" did not work', "Click Delete: element not found", 'Click "Delete" ❌',
    'Click "Delete" -> Error: no such element', "Click (100, 200) failed", "Click [12] was skipped", "Click Delete if it is there",
    'Type "tea" into the search box failed', 'Select "Large" from Size failed', "Scroll down failed", "Press Enter failed",
    "Click Delete?", "Click 'Delete'?", "I clicked on the Delete button?", "Click Delete - is it right?", 'Type "tea" into Search?',
]  # fmt: skip
"""Lines that deny their action, or ask for it."""

HAPPENED = [
    'Click "Try failed jobs again"', "Click Failed jobs", 'Click on "Failed" tab', "Click Retry Failed", "Click on failed orders",
    'Click "Do not disturb"', 'Type "it failed" into Notes', 'Select "Failed" from Status', "Navigate to https://x.test/failed",
    "Wait until the page does not show a spinner", "Answer: it was not found", 'Click "✖"', "Click ❌",
    "Click Forgot password?", "Click 'Delete?'", "Click the Need help? link", "Type what is tea?", "Answer: Click Delete?",
]  # fmt: skip
"""Lines with such words in names, texts, addresses, conditions of a wait, and answers."""


@pytest.mark.parametrize("line", DENIED)
def test_a_line_that_denies_its_action_is_unknown(line: str) -> None:
    assert words_action(line) is None


@pytest.mark.parametrize("line", HAPPENED)
def test_a_name_may_hold_the_words_of_a_denial(line: str) -> None:
    assert words_action(line) is not None
