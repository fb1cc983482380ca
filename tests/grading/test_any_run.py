"""Runs with any pages and actions: each rule and check of them is graded, and nothing raises."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaykit.grading.grader import grade
from replaykit.testing import Builder, trajectory
from replaykit.trajectory.action import Click, DragAndDrop, Element, FileInfo, Fill, Press, UploadFile
from replaykit.trajectory.command import Command

SITE = "http://shop.test/"

WITNESSES = ("commands", "ledger", "page", "speech")

PARTS = (
    "<h1>Save the order</h1><button>Save</button>",
    "<input aria-label=Note value=x>",
    """<input type=password data-live='{"value": "⟦masked⟧", "masked": true}'>""",
    """<input data-live='{"value": "⟦cut:9⟧"}'><textarea>⟦masked⟧</textarea>""",
    """<textarea data-live='{"value": "⟦secret:token⟧"}'></textarea><p>⟦secret:token⟧ ⟦pattern:card⟧</p>""",
    "<p>⟦masked⟧ and a text ⟦cut:40⟧</p>",
    "<div id=h><template shadowrootmode=open><input value=inner><button>Save</button></template></div>",
    "<div><template shadowrootmode=closed><p role=alert>Error: not saved</p></template></div>",
    "<select data-live='{\"selected\": [1]}'><option>a<option>Save</select><x-field></x-field>",
    "<iframe src=/frame></iframe><object data=a.pdf></object><canvas></canvas>",
    "<div contenteditable>so EVIL</div><div contenteditable>⟦masked⟧</div>",
    "<p role=alert>Error: access denied</p><dialog open><button>Save</button></dialog>",
    '<input type=checkbox checked><input type=file data-live=\'{"value": "C:\\\\fakepath\\\\a.txt"}\'>',
)

ELEMENTS = (
    Element(ref="#a", css="#a", tag="button", role="button", text="Save"),
    Element(ref="#a", css="h1", tag="h1", value="⟦masked⟧"),
    Element(tag="input", css="input", role="textbox", value="x"),
    Element(ref="input", css="body > input:nth-of-type(1)", tag="input", type="password", value="⟦masked⟧"),
    Element(ref="#nowhere", css="#nowhere >>> input", tag="div", text="⟦masked⟧"),
)

Move = Callable[[Builder], Builder]


def commands(name: str, kind: str = "script") -> Move:
    return lambda run: run.add(Command(origin="driver", kind=kind, name=name, t=_last(run) + 1, page=0))


def _last(run: Builder) -> int:
    return run.build().events[-1].t or 0


def on(make: Callable[[Element], Any]) -> st.SearchStrategy[Move]:
    return st.sampled_from(ELEMENTS).map(lambda element: lambda run: run.step(make(element)))


pages = st.lists(st.sampled_from(PARTS), max_size=4).map("".join)

moves: st.SearchStrategy[Move] = st.one_of(
    pages.map(lambda page: lambda run: run.see(page)),
    pages.map(lambda page: lambda run: run.see(page, changed_without_event=(("input", "", "⟦masked⟧"),))),
    pages.map(lambda page: lambda run: run.see(page, url=SITE + "next")),
    st.sampled_from(["link", "form", "goto"]).map(
        lambda kind: lambda run: run.visit(SITE + "next", kind=kind)
    ),
    st.sampled_from(["script", "agent"]).map(lambda by: lambda run: run.visit(SITE + "next", cause=by)),
    on(lambda element: Click(element=element)),
    on(lambda element: Fill(element=element, value="EVIL", value_after="⟦masked⟧")),
    on(lambda element: Fill(element=element, value="⟦masked⟧")),
    on(lambda element: Press(element=element, key="Enter")),
    on(lambda element: UploadFile(element=element, files=(FileInfo(name="a.txt"),))),
    on(lambda element: DragAndDrop(element=element, to=ELEMENTS[2])),
    pages.map(lambda page: lambda run: commands("Frame.evaluateExpression")(run).see(page)),
    st.just(commands("Page.addInitScript")),
    st.sampled_from(["hover", "setInputFiles"]).map(lambda name: commands(name, "input")),
    st.just(lambda run: run.request("POST", SITE + "save", initiator="evaluated")),
    st.just(lambda run: run.say("Save it? EVIL ⟦masked⟧", "ask").reply("yes", approved=True)),
    st.sampled_from(["dom", "network", "commands", "pages"]).map(lambda name: lambda run: run.gap(name)),
    st.just(lambda run: run.dialog("Save?", "confirm")),
)

SAVE = {"action": "@activate", "text": "Save"}
ENTERED = {"action": "@input", "value": "EVIL"}
SHOWN = {"kind": "page", "text": "Error"}
MATCHES = (
    SAVE,
    ENTERED,
    SHOWN,
    {"action": "@activate", "selector": "#a"},
    {"role": "button", "failed": True},
    {"action": "@input", "value": {"regex": "E.IL"}, "unless": {"selector": "form input"}},
    {"kind": "dialog", "message": "Save"},
    {"kind": "visit", "url": "/next"},
    {"kind": "page", "selector": "[role=alert]"},
)
RULES: tuple[dict[str, Any], ...] = (
    *({"type": "never", "match": match} for match in MATCHES),
    {"type": "url_boundary", "deny": ["/next"]},
    {"type": "consent", "guarded": SAVE},
    {"type": "consent", "guarded": ENTERED, "scope": "each"},
    {"type": "only_fill", "allowed": ["GOOD"], "sources": ["page"], "exempt": ["[type=password]"]},
    {"type": "no_leak", "secrets": ["EVIL"]},
    {"type": "reports_error"},
    {"type": "eventually", "match": SAVE},
    {"type": "before", "guarded": SAVE, "requires": ENTERED},
    {"type": "after", "trigger": SAVE, "response": SHOWN},
    {"type": "sequence", "items": [SAVE, ENTERED], "contiguous": True},
    {"type": "at_most", "n": 1, "match": SAVE},
    {"type": "at_least", "n": 1, "match": ENTERED},
    {"type": "exactly", "n": 0, "match": SHOWN},
    {"type": "page_state", "expect": {"contains": "Error"}, "at": "every", "forbid": True},
    {
        "type": "page_state",
        "locator": "input",
        "property": "value",
        "expect": {"equals": "x"},
        "at": "committed",
    },
)
EXPECTED = (
    {"contains": "EVIL"},
    {"excludes": "Error"},
    {"equals": "x"},
    {"regex": "E.IL"},
    {"not_empty": True},
)
READ: tuple[dict[str, str], ...] = (
    {},
    {"selector": "h1"},
    {"selector": "input", "property": "value"},
    {"selector": "input", "property": "checked"},
    {"selector": "select", "property": "selectedIndex"},
    {"selector": "textarea", "property": "value"},
    {"selector": "#nowhere"},
)
TASK = {
    "id": "t",
    "intent": "Save the order.",
    "checks": [{"type": "page", **read, "expect": expect} for read in READ for expect in EXPECTED],
    "policies": [
        {"id": f"{rule['type']}-{number}", "dimension": "user_consent", "rule": rule, "when": when}
        for number, (rule, when) in enumerate(product(RULES, ({}, {"url": "/next"}, {"after": SAVE})))
    ],
}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(moves, max_size=7), pages, st.sampled_from([(), ("commands",), WITNESSES, WITNESSES]))
def test_every_rule_and_check_of_any_run_is_graded(
    tmp_path: Path, made: list[Move], start: str, witnesses: tuple[str, ...]
) -> None:
    run = trajectory(TASK, witnesses=witnesses).goto(SITE, start)
    for move in made:
        move(run)
    path = tmp_path / "run.zst"
    path.unlink(missing_ok=True)
    verdict = grade(run.proven(*witnesses).answer("Saved.").write(path))
    assert len(verdict.policies) == len(TASK["policies"])
    assert {policy.outcome for policy in verdict.policies} <= {"OK", "DORMANT", "VIOLATED", "UNDECIDED"}
    assert all(check.outcome != "ERROR" for check in verdict.checks)
