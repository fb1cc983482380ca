"""Effects of the agent's scripts on a page without an event: never denied; honest gestures stay decided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright

from replaykit.browser import launch
from tests.live.one_rule import outcome_of
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

NEVER_SEND = {"type": "never", "match": {"action": "@activate", "text": "Send"}}
NEVER_BACK = {"type": "never", "match": {"action": "go_back"}}

POST = "fetch('/sent', {method: 'POST'})"
PAGE = f"""<!doctype html><form id=form action=/sent method=post><button>Send</button></form>
<form id=away action=/sent method=post target=_blank><button>Send</button></form>
<form id=inner action=/sent method=post target=frame><button>Send</button></form><iframe name=frame></iframe>
<button id=late onclick="setTimeout(() => {POST}, 20)">Send</button>
<button id=on onclick="setTimeout(() => {{ location = '/sent' }}, 20)">Send</button>
<button id=tab onclick="window.open('/sent')">Send</button>
<form action=/sent method=post><button id=go>Go</button><button id=by type=button onclick="form.submit()">By</button></form>
<select id=list onchange="by.form.submit()"><option>a<option>b</select>
<button id=soon onclick="setTimeout(() => {POST}, 20)">Soon</button>
<button id=asks onclick="fetch('/ok').then(() => {POST})">Asks</button><button id=other>Other</button>"""

Do = Callable[[Any], object]
"""Action on a page."""


def click(css: str) -> Do:
    """Return a click."""
    return lambda page: page.click(css)


def run(source: str) -> Do:
    """Return a script."""
    return lambda page: page.evaluate(source)


def rest(page: Any) -> None:
    """Click, and let more than a second pass, in which the click explains what the page does."""
    page.click("#other")
    page.wait_for_timeout(1200)


def address(page: Any) -> None:
    with pytest.raises(Exception, match="ERR_ABORTED"):
        page.goto("javascript:late.onclick()")


@pytest.mark.parametrize(
    ("first", "then", "rule"),
    one_in(3, [
        (click("#other"), run("form.submit()"), NEVER_SEND),
        (click("#other"), run("form.requestSubmit()"), NEVER_SEND),
        (click("#other"), run("document.body.append(form.cloneNode(true)); document.forms[4].submit()"), NEVER_SEND),
        (rest, run("away.submit()"), NEVER_SEND),
        (click("#other"), run("inner.submit()"), NEVER_SEND),
        (rest, run("late.onclick()"), NEVER_SEND),
        (rest, run("on.onclick()"), NEVER_SEND),
        (rest, run("tab.onclick()"), NEVER_SEND),
        (rest, address, NEVER_SEND),
        (lambda page: page.goto(f"{page.url}?2"), run("history.back()"), NEVER_BACK),
    ]),
    ids=[
        "submit", "requestSubmit", "clone", "submit to a tab", "submit to a frame", "later", "on later", "tab",
        "address", "back",
    ],
)  # fmt: skip
def test_a_script_after_a_gesture_may_have_pressed(
    first: Do, then: Do, rule: dict[str, Any], tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        first(page)
        then(page)
        page.wait_for_timeout(300)

    page.goto(site.add("/", PAGE))
    assert outcome_of(rule, act, page, tmp_path / "run.zst", network="bodies") == "UNDECIDED"


@pytest.mark.parametrize(
    "gesture",
    one_in(
        3,
        [
            click("#go"),
            click("#by"),
            click("#soon"),
            lambda page: page.select_option("#list", "b"),
            lambda page: page.mouse.click(
                *page.evaluate("(({x, y}) => [x + 5, y + 5])(go.getBoundingClientRect())")
            ),
            run("go.click()"),
            run("soon.click()"),
        ],
    ),
    ids=[
        "form",
        "form by a handler",
        "later",
        "chosen",
        "at a point",
        "by a script's click",
        "later, by a script's click",
    ],
)
def test_a_gesture_after_a_script_explains_what_the_page_does(
    gesture: Do, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.evaluate("document.title")
        gesture(page)
        page.wait_for_timeout(300)

    page.goto(site.add("/", PAGE))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst", network="bodies") == "DORMANT"


@pytest.mark.parametrize(
    "gesture",
    one_in(3, [click("#soon"), click("#asks"), run("asks.click()")]),
    ids=["timer", "asks", "by script"],
)
def test_a_gesture_explains_what_its_handler_does_while_the_agent_reads_the_page(
    gesture: Do, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        gesture(page)
        page.evaluate("document.body.innerText")
        page.wait_for_timeout(300)

    page.goto(site.add("/", PAGE))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst", network="bodies") == "DORMANT"


@pytest.mark.parametrize("name", ["onclick", "onmousedown"])
def test_a_handler_that_a_script_wrote_may_press(name: str, tmp_path: Path, page: Any, site: Any) -> None:
    def act(page: Any) -> None:
        page.evaluate("name => other.setAttribute(name, 'form.querySelector(`button`).click()')", name)
        page.click("#other")
        page.wait_for_timeout(300)

    page.goto(site.add("/", PAGE))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst", network="bodies") == "UNDECIDED"


ROWS = f"""<!doctype html><button onclick="{POST}">Send</button><p id=p>Inbox</p><ul id=list></ul><button id=more>More</button>
<script>more.onclick = () => {{ list.innerHTML += `<li id=row onclick="p.textContent = ${{list.children.length}}">New</li>` }}
</script>"""

BRING = f'list.innerHTML = `<li id=row onclick="{POST}">New</li>`'
REPLACE = BRING.replace("list.innerHTML =", "more.click(); row.outerHTML =")


@pytest.mark.parametrize("script", [BRING, REPLACE], ids=["brought along", "replaced"])
def test_an_element_of_a_script_may_press_by_its_handler(
    script: str, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.click("#p")
        page.evaluate(script)
        page.click("#row")
        page.wait_for_timeout(300)

    page.goto(site.add("/", ROWS))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst", network="bodies") == "UNDECIDED"


def test_a_row_that_the_page_wrote_has_its_handler_from_the_page(
    tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.evaluate("document.title")
        page.click("#more")
        page.evaluate("document.title")
        page.click("#row")

    page.goto(site.add("/", ROWS))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst", network="bodies") == "DORMANT"


NEVER_DELETE = {"type": "never", "match": {"action": "click", "text": "Delete"}}
NEVER_PRESS = {"type": "never", "match": {"action": "press", "text": "Query"}}
NEVER_CHECK = {"type": "never", "match": {"action": "check", "text": "News"}}
NEVER_ENTER = {"type": "never", "match": {"action": "@input", "value": "EVIL"}}

CONTROLS = """<!doctype html><button id=save>Save</button><button id=away>Delete</button><input id=q aria-label=Query>
<label><input type=checkbox id=box>News</label><output id=out></output>
<form id=form onsubmit="event.preventDefault(); out.textContent += ' sent'"><input><button>Send</button></form><script>
for (const name of ['click', 'mousedown', 'pointerup', 'dblclick', 'keydown', 'change'])
  addEventListener(name, (event) => { out.textContent += ` ${name} ${event.target.id}` })</script>"""
OWN = f"{CONTROLS}<script>setTimeout(() => {{ away.click(); form.requestSubmit() }}, 200)</script>"


def planted(page: Any) -> None:
    page.add_init_script("addEventListener('load', () => document.getElementById('away').click())")
    page.reload()


def command(method: str, **parameters: Any) -> Do:
    """Return a command of the protocol about the field."""

    def send(page: Any) -> None:
        session = page.context.new_cdp_session(page)
        root = session.send("DOM.getDocument")["root"]["nodeId"]
        node = session.send("DOM.querySelector", {"nodeId": root, "selector": "#q"})["nodeId"]
        session.send(method, {"nodeId": node, **parameters})

    return send


@pytest.mark.parametrize(
    ("act", "made", "rule"),
    one_in(3, [
        (run("void setTimeout(() => away.click(), 300)"), "click away", NEVER_DELETE),
        (run("void setTimeout(() => box.click(), 300)"), "change box", NEVER_CHECK),
        (run("fetch('/').then(() => setTimeout(() => away.click(), 200))"), "click away", NEVER_DELETE),
        (run("void save.addEventListener('focus', () => setTimeout(() => away.click(), 200)); save.focus()"), "click away", NEVER_DELETE),
        (planted, "click away", NEVER_DELETE),
        (run("away.dispatchEvent(new MouseEvent('mousedown', {bubbles: true}))"), "mousedown away", NEVER_DELETE),
        (run("away.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}))"), "pointerup away", NEVER_DELETE),
        (run("away.dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"), "dblclick away", NEVER_DELETE),
        (run("q.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"), "keydown q", NEVER_PRESS),
        (lambda page: page.locator("#away").dispatch_event("mousedown"), "mousedown away", NEVER_DELETE),
        (run("form.requestSubmit()"), "sent", NEVER_SEND),
        (run("void setTimeout(() => form.requestSubmit(), 300)"), "sent", NEVER_SEND),
    ]),
    ids=["timer", "box", "answer", "listener", "planted", "mousedown", "pointerup", "dblclick", "keydown", "locator", "form", "form later"],
)  # fmt: skip
def test_a_script_may_click_later_or_by_another_event(
    act: Do, made: str, rule: dict[str, Any], tmp_path: Path, page: Any, site: Any
) -> None:
    def done(page: Any) -> None:
        act(page)
        # A locator waits in a world of its driver's own.
        page.get_by_text(made).wait_for()

    page.goto(site.add("/", CONTROLS))
    assert outcome_of(rule, done, page, tmp_path / "run.zst") == "UNDECIDED"


@pytest.mark.parametrize(
    "write",
    [
        command("DOM.setAttributeValue", name="value", value="EVIL"),
        command("DOM.setOuterHTML", outerHTML="<input id=q value=EVIL>"),
    ],
    ids=["attribute", "element"],
)
def test_a_command_that_writes_elements_may_have_entered_a_value(
    write: Do, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", CONTROLS))
    assert outcome_of(NEVER_ENTER, write, page, tmp_path / "run.zst") == "UNDECIDED"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [(NEVER_DELETE, "DORMANT"), (NEVER_CHECK, "DORMANT"), (NEVER_ENTER, "DORMANT"), (NEVER_SEND, "DORMANT")],
    ids=["click", "check", "value", "form"],
)
def test_what_a_page_clicks_itself_is_the_page_s_where_no_script_of_the_agent_ran(
    rule: dict[str, Any], expected: str, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.reload()
        page.get_by_role("button", name="Delete").focus()
        page.locator("#save").inner_text()
        page.wait_for_timeout(500)

    page.goto(site.add("/", OWN))
    assert outcome_of(rule, act, page, tmp_path / "run.zst") == expected


@pytest.mark.parametrize("rule", [NEVER_DELETE, NEVER_SEND], ids=["click", "form"])
def test_what_a_page_clicks_itself_is_open_where_other_clients_may_command_the_browser(
    rule: dict[str, Any], playwright: Playwright, browser_path: Path, tmp_path: Path, site: Any
) -> None:
    def act(page: Any) -> None:
        page.goto(site.add("/", OWN))
        page.get_by_text("sent").wait_for()

    with launch(browser_path) as started:
        browser = playwright.chromium.connect_over_cdp(started.endpoint)
        assert outcome_of(rule, act, browser.contexts[0].pages[0], tmp_path / "run.zst") == "UNDECIDED"


def test_a_form_that_is_sent_later_by_a_script_may_have_been_pressed(
    tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.evaluate("void setTimeout(() => form.submit(), 1200)")
        page.wait_for_url("**/sent")

    site.add("/sent", "<!doctype html>Sent")
    page.goto(site.add("/", PAGE))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst") == "UNDECIDED"


def test_a_button_whose_handler_sends_its_form_is_what_was_pressed(
    tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.evaluate("document.title")
        page.click("#next")
        page.get_by_text("sent").wait_for()

    form = "<form id=form onsubmit=\"event.preventDefault(); out.textContent = 'sent'\"><button>Send</button></form>"
    button = (
        "<button id=next onclick='document.forms[0].requestSubmit()'>Next</button><output id=out></output>"
    )
    page.goto(site.add("/", f"<!doctype html>{form}{button}"))
    assert outcome_of(NEVER_SEND, act, page, tmp_path / "run.zst") == "DORMANT"
