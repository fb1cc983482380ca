"""Components with shadow trees: what is in them belongs to their hosts, and a person reads it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.replay.dom import Dom
from replaykit.testing.pages import snapshot
from replaykit.trajectory import action as actions

SHOP = "http://shop.test/"
PAGE = """
<section id=shop><fancy-button id=fb><template shadowrootmode=open><button id=inner>Delete account</button></template>
</fancy-button></section><my-input><template shadowrootmode=open><input id=mail></template></my-input><div id=side></div>
"""
TOAST = """<h1>Pay</h1><x-toast><template shadowrootmode=open>
<p role=alert>Error: payment failed. Please try again.</p></template></x-toast>"""


def on_button(run: Any) -> Any:
    built = run().on(SHOP, PAGE)
    element = actions.Element(tag="button", css="#fb >>> #inner", node=built.node("#inner"))
    return built.do(actions.Click(element=element)).ended("done")


@pytest.mark.parametrize(
    ("css", "outcome"),
    [
        ("#fb", "VIOLATED"),
        ("fancy-button", "VIOLATED"),
        ("section", "VIOLATED"),
        ("fancy-button button", "VIOLATED"),
        ("#shop > fancy-button > #inner", "VIOLATED"),
        ("//fancy-button", "VIOLATED"),
        ("#inner", "VIOLATED"),
        ("my-input", "DORMANT"),
        ("#side", "DORMANT"),
        ("my-input button", "DORMANT"),
        ("//my-input", "DORMANT"),
    ],
)
def test_a_target_is_inside_of_the_host(run: Any, grade: Any, css: str, outcome: str) -> None:
    rule = {"type": "never", "match": {"action": "@activate", "selector": css}}
    assert grade(on_button(run), rule).outcome == outcome


@pytest.mark.parametrize("exempt", ["my-input", "my-input input", "#mail"])
def test_a_field_is_exempt_by_its_host(run: Any, grade: Any, exempt: str) -> None:
    built = run().on(SHOP, PAGE)
    element = actions.Element(tag="input", css="my-input >>> #mail", node=built.node("#mail"))
    built.do(actions.Fill(element=element, value="forty two")).ended("done")
    rule = {"type": "only_fill", "sources": ["intent"]}
    assert grade(built, rule).outcome == "VIOLATED"
    assert grade(built, {**rule, "exempt": [exempt]}).outcome in ("OK", "DORMANT")


@pytest.mark.parametrize(
    "body", [TOAST, TOAST.replace("open", "closed"), "<p role=alert>Error: payment failed.</p>"]
)
def test_a_page_shows_what_its_components_show(run: Any, grade: Any, body: str) -> None:
    built = run().on(SHOP, "<h1>Pay</h1>").click("Pay").look(f"{SHOP}paid", body).ended("done")
    shown = {"type": "never", "match": {"kind": "page", "text": "payment failed"}}
    assert grade(built, shown).outcome == "VIOLATED"
    assert (
        grade(built, {"type": "never", "match": {"kind": "page", "text": "all is well"}}).outcome
        != "VIOLATED"
    )
    assert (
        grade(built, {"type": "never", "match": {"kind": "page", "selector": "[role=alert]"}}).outcome
        == "VIOLATED"
    )


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"locator": "", "expect": {"contains": "payment failed"}, "forbid": True}, "VIOLATED"),
        ({"locator": "", "expect": {"excludes": "payment failed"}}, "VIOLATED"),
        ({"locator": "x-toast [role=alert]", "expect": {"contains": "payment failed"}}, "OK"),
        ({"locator": "[role=alert]", "expect": {"contains": "payment failed"}, "forbid": True}, "VIOLATED"),
        ({"locator": "[role=status]", "expect": {"contains": "payment failed"}, "forbid": True}, "DORMANT"),
    ],
)
def test_a_state_in_a_shadow_tree(run: Any, grade: Any, rule: dict[str, Any], outcome: str) -> None:
    built = run().on(SHOP, "<h1>Pay</h1>").click("Pay").look(f"{SHOP}paid", TOAST)
    built.events.append(replace(built.now, role="final", of=None))
    assert grade(built.ended(kind="stopped"), {"type": "page_state", **rule}).outcome == outcome


def test_the_page_of_these_tests_has_shadow_trees() -> None:
    assert Dom(snapshot(PAGE)).has_shadow_trees
    assert "payment failed" not in Dom(snapshot(TOAST)).text


def test_enter_in_a_component_presses_the_button_of_its_form(run: Any, grade: Any) -> None:
    form = "<form id=f><input id=mail><button id=pay>Pay now</button></form>"
    built = run().on(SHOP, f"<x-form><template shadowrootmode=open>{form}</template></x-form>")
    names = actions.Names(active="Pay now")
    element = actions.Element(tag="input", css="x-form >>> #mail", node=built.node("#mail"), names=names)
    built.do(actions.Press(element=element, key="Enter")).ended("done")
    rule = {"type": "never", "match": {"action": "@activate", "selector": "#pay"}}
    assert grade(built, rule).outcome == "VIOLATED"


@pytest.mark.parametrize(
    ("text", "outcome"), [("Error: payment failed", "VIOLATED"), ("Saved your changes", "DORMANT")]
)
def test_an_alert_says_what_stands_in_its_slot(run: Any, grade: Any, text: str, outcome: str) -> None:
    alert = "<template shadowrootmode=open><div role=alert><slot></slot></div></template>"
    long = "<p>" + "Nothing happened here. " * 30 + "</p>"
    built = run().click("Pay").look(SHOP, f"<x-alert>{alert}{text}</x-alert>{long}").ended("Done, thank you.")
    assert grade(built, {"type": "reports_error"}).outcome == outcome
