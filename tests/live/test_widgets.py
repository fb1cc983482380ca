"""Widgets that pages build themselves, after those of component libraries: what an action on one comes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import Act, Rules, RulesOn, by_recording, outcome_of
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

# As Ionic does: the role is on the host, and a label in its shadow tree takes the click.
HOST = """<!doctype html><x-{role} id=t role={role} aria-checked=false tabindex=0>Agree</x-{role}><script>
customElements.define('x-{role}', class extends HTMLElement {{ connectedCallback() {{
  this.attachShadow({{mode: 'open'}}).innerHTML = '<label><slot></slot></label>';
  this.onclick = () => this.setAttribute('aria-checked', 'true') }} }})</script>"""

# As Material Web does: a field in a shadow tree, whose host is associated with forms and has a label.
FIELD = """<!doctype html>{markup}<script>customElements.define('x-box', class extends HTMLElement {{
  static formAssociated = true;
  connectedCallback() {{ this.attachShadow({{mode: 'open'}}).innerHTML = '<input type=checkbox>' }} }})</script>"""

SLIDER = """<!doctype html><div id=r style="width: 200px; background: #ddd">
<div id=t role=slider tabindex=0 aria-label=Price aria-valuenow=0
  style="position: relative; width: 20px; height: 20px; background: red"></div></div><script>
const move = (event) => { t.style.left = event.clientX - 18 + 'px'; t.setAttribute('aria-valuenow', event.clientX) };
t.onpointerdown = (event) => { t.setPointerCapture(event.pointerId); t.onpointermove = move };
t.onpointerup = () => { t.onpointermove = null }</script>"""

MASK = """<!doctype html><input id=t value="{value}"><script>t.oninput = () => {{
  const digits = t.value.replace(/\\D/g, ''); t.value = '(' + digits.slice(0, 3) + ') ' + digits.slice(3) }}</script>"""


def drag(page: Any) -> None:
    """Drag the slider to the right."""
    box = page.locator("#t").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 10, steps=3)
    page.mouse.up()


def click(page: Any) -> None:
    """Click the widget."""
    page.click("#t")


def compose(page: Any) -> None:
    """Write a text by an input method."""
    page.focus("#t")
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "とう", "selectionStart": 2, "selectionEnd": 2})
    session.send("Input.insertText", {"text": "東京"})


def never(**match: Any) -> dict[str, Any]:
    """A rule that forbids an action."""
    return {"type": "never", "match": match}


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    one_in(
        2,
        by_recording(
            (HOST.format(role=role), click, rule, expected)
            for role, rule, expected in [
                ("checkbox", never(action="check"), "UNDECIDED"),
                (
                    "checkbox",
                    {"type": "eventually", "match": {"action": "check", "text": "Agree"}},
                    "UNDECIDED",
                ),
                ("checkbox", never(action="uncheck"), "DORMANT"),
                ("checkbox", never(action="check", text="Other"), "DORMANT"),
                ("switch", never(action="check", text="Agree"), "UNDECIDED"),
                ("radio", never(action="select_option", value="Agree"), "UNDECIDED"),
                ("radio", never(action="select_option", value="Other"), "OK"),
                ("button", never(action="check"), "DORMANT"),
                ("checkbox", never(action="click", text="Agree"), "VIOLATED"),
            ]
        ),
    ),
)
def test_a_label_in_a_shadow_tree_stands_for_its_host(
    html: str, act: Act, rules: Rules, rules_on: RulesOn
) -> None:
    assert rules_on(html, act, rules) == rules


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<label>Agree <x-box id=t></x-box></label>", "VIOLATED"),
        ("<label for=t>Agree</label><x-box id=t></x-box>", "VIOLATED"),
        ("<label>Other <x-box id=t></x-box></label>", "DORMANT"),
        ("<label for=u>Agree</label><label>Other <x-box id=t></x-box></label>", "DORMANT"),
    ],
)
def test_labels_name_custom_elements_that_belong_to_forms(
    markup: str, expected: str, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", FIELD.format(markup=markup)))
    assert outcome_of(never(action="click", text="Agree"), click, page, tmp_path / "run.zst") == expected


@pytest.mark.parametrize(
    ("html", "act", "rules"),
    by_recording(
        (SLIDER, act, rule, expected)
        for act, rule, expected in [
            (drag, never(value="98"), "VIOLATED"),
            (drag, never(value="97"), "OK"),
            (drag, never(action="fill"), "VIOLATED"),
            (drag, {"type": "only_fill", "allowed": ["5"], "sources": []}, "VIOLATED"),
            (drag, {"type": "only_fill", "allowed": ["98"], "sources": []}, "OK"),
            (drag, never(action="click", text="Buy"), "DORMANT"),
            (click, never(action="@input", value="98"), "UNDECIDED"),
            (click, never(action="check"), "DORMANT"),
        ]
    ),
)
def test_a_slider_has_the_value_that_the_page_says_or_an_unknown_one(
    html: str, act: Act, rules: Rules, rules_on: RulesOn
) -> None:
    assert rules_on(html, act, rules) == rules


def allows(value: str) -> dict[str, Any]:
    """A rule that allows one value."""
    return {"type": "only_fill", "allowed": [value], "sources": []}


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        (
            "",
            [
                (allows("(555) 1234"), "OK"),
                (allows("5551234"), "OK"),
                (allows("(555) 9999"), "VIOLATED"),
            ],
        ),
        ("5", [(allows("(555) 1234"), "VIOLATED")]),
    ],
)
def test_a_number_that_the_page_writes_in_its_own_way(value: str, rules: Rules, rules_on: RulesOn) -> None:
    typed = "5551234"[len(value) :]

    def act(page: Any) -> None:
        page.focus("#t")
        page.keyboard.press("End")
        page.keyboard.type(typed)

    assert rules_on(MASK.format(value=value), act, rules) == rules


def test_a_text_that_an_input_method_adds(rules_on: RulesOn) -> None:
    rules = [(allows("東京"), "OK"), (allows("大阪"), "VIOLATED")]
    assert rules_on("<!doctype html><div id=t contenteditable>x</div>", compose, rules) == rules
