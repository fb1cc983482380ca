"""Which forms a gesture sends, as the recording says it: scripts of the agent that run meanwhile change nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.session.gestures.form_submissions import GESTURE
from replaykit.trajectory.exchange import Exchange
from tests.live.one_rule import outcome_of, outcome_over_cdp
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

QUIET_MS = 300
"""Within so long after a request, another one would come."""

NEVER_SEND = {"type": "never", "match": {"action": "@activate", "text": "Send"}}

PAGE = """<!doctype html>
<form id=form action=/sent method=post><input type=hidden name=f value=send><button>Send</button></form>
<form id=own action=/sent method=post><input type=hidden name=f value=own><input name=action aria-label=action id=q>
<button id=go>Go</button><button id=by formaction=/sent?by formmethod=get>By</button>
<button id=into formtarget=frame>Into</button></form>
<iframe name=frame></iframe>
<button id=handler onclick="own.submit()">Handler</button>
<button id=asks onclick="own.requestSubmit()">Asks</button>
<form id=checked action=/sent method=post onsubmit="event.preventDefault(); this.submit()">
<button id=checks>Checks</button></form>
<form id=held action=/sent method=post onsubmit="event.preventDefault(); new FormData(this)">
<button id=holds>Holds</button></form>
<form id=needs action=/sent method=post><input required aria-label=needed><button id=lacks>Lacks</button></form>
<form id=get action=/sent><button id=gets>Gets</button></form>
<div id=host></div><div id=shut></div><button id=other>Other</button>
<script>
host.attachShadow({mode: 'open'}).innerHTML = '<form action=/sent method=post><button id=deep>Deep</button></form>'
</script>"""

Do = Callable[[Any], object]
"""An action on a page."""


def click(css: str) -> Do:
    """Return a click that waits for nothing."""
    return lambda page: page.click(css, no_wait_after=True)


def enter(page: Any) -> None:
    page.focus("#q")
    page.keyboard.press("Enter")


def run(source: str) -> Do:
    """Return a script."""
    return lambda page: page.evaluate(source)


def poll(page: Any) -> None:
    """Read the page, which may be left just then."""
    with suppress(Error):  # its page has gone meanwhile
        page.evaluate("document.readyState")


def address(page: Any) -> None:
    with suppress(Error):  # the navigation that the script begins ends this one
        page.goto("javascript:void form.submit()")


def outcome_and_senders(act: Do, page: Any, site: Any, path: Path) -> tuple[str, list[tuple[bool, str]]]:
    """Return what comes of the rule, and of each request: whether a gesture sent it, and what it sent."""
    site.pages["/sent"] = (b"<h1>sent</h1>", "text/html")
    outcome = outcome_of(NEVER_SEND, act, page, path, network="bodies")
    with open_bundle(path) as bundle:
        asked = [one for one in bundle.trajectory.of_type(Exchange) if "/sent" in one.url]
        bodies = [bundle.blob(one.post).decode() if isinstance(one.post, str) else "" for one in asked]
    return outcome, [(one.initiator == GESTURE, body) for one, body in zip(asked, bodies, strict=True)]


def sent(site: Any, page: Any, count: int = 1) -> None:
    """Wait until so many requests have come."""
    for _ in range(600):
        if sum(path.startswith("/sent") for path in site.asked) >= count:
            return
        page.wait_for_timeout(50)
    raise AssertionError(site.asked)


@pytest.mark.parametrize(
    "gesture",
    one_in(
        3,
        [
            click("#go"),
            enter,
            click("#by"),
            click("#into"),
            click("#handler"),
            click("#asks"),
            click("#checks"),
            click("#gets"),
            click("#deep"),
        ],
    ),
    ids=[
        "button",
        "Enter",
        "formaction",
        "frame",
        "submit()",
        "requestSubmit()",
        "checked",
        "GET",
        "shadow",
    ],
)
def test_a_gesture_that_sends_a_form_is_known_whatever_the_agent_reads_meanwhile(
    gesture: Do, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        gesture(page)
        poll(page)
        sent(site, page)
        page.wait_for_timeout(QUIET_MS)

    page.goto(site.add("/", PAGE))
    outcome, senders = outcome_and_senders(act, page, site, tmp_path / "run.zst")
    assert (outcome, [is_own for is_own, _ in senders]) == ("DORMANT", [True])


ATTACKS = {
    "submit": (click("#other"), run("form.submit()")),
    "requestSubmit": (click("#other"), run("form.requestSubmit()")),
    "click": (click("#other"), run("void form.querySelector('button').click()")),
    "timer": (click("#other"), run("setTimeout(form.submit.bind(form))")),
    "promise": (click("#other"), run("void Promise.resolve().then(form.requestSubmit.bind(form))")),
    "prevented": (click("#holds"), run("held.submit()")),
    "prevented, another": (click("#holds"), run("form.submit()")),
    "address": (click("#other"), address),
    "invalid": (click("#lacks"), run("needs.submit()")),
    "script after script": (
        run("form.dispatchEvent(new FormDataEvent('formdata', {formData: new FormData()}))"),
        run("form.submit()"),
    ),
}


@pytest.mark.parametrize("name", one_in(3, [*ATTACKS]))
def test_a_script_that_sends_a_form_is_no_gesture(name: str, tmp_path: Path, page: Any, site: Any) -> None:
    def act(page: Any) -> None:
        for do in ATTACKS[name]:
            do(page)
        sent(site, page)
        page.wait_for_timeout(QUIET_MS)

    page.goto(site.add("/", PAGE))
    outcome, senders = outcome_and_senders(act, page, site, tmp_path / "run.zst")
    assert [is_own for is_own, _ in senders] == [False]
    assert (outcome == "UNDECIDED") or name == "click"


def test_one_gesture_explains_one_request(tmp_path: Path, page: Any, site: Any) -> None:
    site.answers["/sent"] = (204, {})  # the page stays

    def act(page: Any) -> None:
        page.click("#go", no_wait_after=True)
        sent(site, page)
        page.evaluate("form.submit()")
        sent(site, page, 2)
        page.wait_for_timeout(QUIET_MS)

    page.goto(site.add("/", PAGE))
    outcome, senders = outcome_and_senders(act, page, site, tmp_path / "run.zst")
    assert (outcome, [is_own for is_own, _ in senders]) == ("UNDECIDED", [True, False])


@pytest.mark.parametrize("later", one_in(2, ["queueMicrotask", "setTimeout"]))
def test_a_form_that_takes_the_place_of_another_is_no_gesture(
    later: str, tmp_path: Path, page: Any, site: Any
) -> None:
    """It goes to the same address, before or after the request that the gesture led to."""

    def act(page: Any) -> None:
        page.evaluate(f"own.addEventListener('formdata', () => {later}(() => form.submit()), {{once: true}})")
        page.click("#go", no_wait_after=True)
        sent(site, page)
        page.wait_for_url("**/sent")
        page.wait_for_timeout(QUIET_MS)

    page.goto(site.add("/", PAGE))
    _, senders = outcome_and_senders(act, page, site, tmp_path / "run.zst")
    assert [is_own for is_own, body in senders if "f=send" in body] in ([], [False])


NEW_TAB = """<!doctype html><button id=other>Other</button>
<form id=form action=/sent method=METHOD target=_blank><input type=hidden name=f value=send><button>Send</button></form>
<form action=/sent method=METHOD target=_blank><button id=go>Go</button></form>"""

SENDS = "document.forms[0].submit()"
READ = "document.readyState"


def new_tab(method: str, site: Any) -> str:
    site.pages["/sent"] = (b"<h1>sent</h1>", "text/html")
    return str(site.add("/", NEW_TAB.replace("METHOD", method)))


@pytest.mark.parametrize("method", ["post", "get"])
@pytest.mark.parametrize(
    ("css", "script", "outcome"),
    [("#other", SENDS, "UNDECIDED"), ("#go", READ, "DORMANT")],
    ids=["attack", "control"],
)
def test_a_form_that_a_script_sends_to_a_new_tab_may_have_been_pressed(
    css: str, script: str, outcome: str, method: str, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        page.click(css, no_wait_after=True)
        page.evaluate(script)
        sent(site, page)
        page.wait_for_timeout(QUIET_MS)

    page.goto(new_tab(method, site))
    found, senders = outcome_and_senders(act, page, site, tmp_path / "run.zst")
    assert (found, [is_own for is_own, _ in senders]) == (outcome, [outcome == "DORMANT"])


@pytest.mark.parametrize(
    ("css", "script", "outcome"),
    [("#other", SENDS, "UNDECIDED"), ("#go", READ, "DORMANT")],
    ids=["attack", "control"],
)
def test_over_cdp(css: str, script: str, outcome: str, tmp_path: Path, site: Any) -> None:
    """A new tab waits there until it is recorded, and asks long after the script."""
    start = new_tab("get", site)
    actions = [["goto", start], ["click", css], ["evaluate", script], ["sleep", QUIET_MS]]
    assert outcome_over_cdp(NEVER_SEND, actions, start, tmp_path) == outcome
