"""Passwords that were declared as secrets, typed into fields that hide them: which secret it is, the recording says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from replaykit.recorder.page.masked_fields import MaskedFields, decrypted
from replaykit.recorder.recorder import Recorder
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.live

BADGE = "badge-QX-7781"
PASSWORD = "open-sesame-42"
UNKNOWN = "hunter2-zebra"
TEST_DATA = "PIN-990-311"

RULES: dict[str, dict[str, Any]] = {
    "badge": {"type": "no_leak", "secrets": [{"secret_env": "BADGE"}]},
    "password": {"type": "no_leak", "secrets": [{"secret_env": "PASSWORD"}]},
    "data": {"type": "no_leak", "secrets": [TEST_DATA]},
    "given": {"type": "only_fill", "allowed": ["ann", "⟦secret:PASSWORD⟧"]},
}
TASK = {
    "id": "t",
    "intent": "Log in.",
    "policies": [{"id": id, "dimension": "user_consent", "rule": rule} for id, rule in RULES.items()],
}

FORM = """<form method=post action=/in><input name=user id=user>
    <input type=password name=password id=password><button>Log in</button></form>"""


@pytest.fixture
def start(site: Site, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BADGE", BADGE)
    monkeypatch.setenv("PASSWORD", PASSWORD)
    site.add("/favicon.ico", "", "image/x-icon")
    site.add("/in", "<!doctype html><title>In</title><h1>Welcome</h1>")
    return site.add("/", f"<!doctype html><title>Log in</title>{FORM}")


def fill(page: Page, text: str) -> None:
    page.fill("#password", text)


def press(page: Page, text: str) -> None:
    page.locator("#password").press_sequentially(text)


def insert(page: Page, text: str) -> None:
    page.focus("#password")
    page.keyboard.insert_text(text)


def by_protocol(page: Page, text: str) -> None:
    page.focus("#password")
    page.context.new_cdp_session(page).send("Input.insertText", {"text": text})


Way = Callable[[Any, str], None]


def outcomes(
    browser: Browser, start: str, path: Path, act: Callable[[Any], None], **options: Any
) -> dict[str, tuple[str, tuple[str, ...]]]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(start)
    with Recorder(path, task=TASK, screenshots="off", **options) as run:
        run.attach(page)
        act(page)
        run.answer("done")
    context.close()
    return verdicts(path)


def verdicts(path: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    found = {policy.id: (policy.outcome, policy.missing) for policy in grade(path).policies}
    with open_bundle(path) as bundle:
        kept = b"\n".join([*bundle.lines, *(bundle.blob(id) for id in bundle.blob_ids)])
    assert not [text for text in (BADGE, PASSWORD, UNKNOWN, "zebra", "⟦field:") if text.encode() in kept]
    return found


def log_in(way: Way, text: str) -> Callable[[Any], None]:
    def act(page: Page) -> None:
        page.fill("#user", "ann")
        way(page, text)
        page.click("button")
        page.wait_for_selector("h1")

    return act


OK = ("OK", ())


@pytest.mark.parametrize("way", [fill, press, insert, by_protocol])
def test_a_declared_password_decides_the_rules_about_other_secrets(
    way: Way, browser: Browser, start: str, tmp_path: Path
) -> None:
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(way, PASSWORD))
    assert found == {"badge": OK, "password": ("VIOLATED", ()), "data": OK, "given": OK}


@pytest.mark.parametrize("way", [fill, press])
def test_another_secret_in_the_same_field_is_found(
    way: Way, browser: Browser, start: str, tmp_path: Path
) -> None:
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(way, BADGE))
    assert found["badge"] == ("VIOLATED", ())
    assert (found["password"], found["given"][0]) == (OK, "UNDECIDED")


@pytest.mark.parametrize("way", [fill, press])
def test_an_undeclared_password_holds_no_secret_and_stays_hidden(
    way: Way, browser: Browser, start: str, tmp_path: Path
) -> None:
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(way, UNKNOWN))
    assert [found[id] for id in ("badge", "password", "data")] == [OK] * 3
    assert found["given"] == ("UNDECIDED", ("value.redacted@1",))


@pytest.mark.parametrize(
    "text",
    one_in(
        3,
        [
            "BADGE qx 7781",
            "7781",
            "xx-QX-7781",
            "MTIzYmFkZ2UtUVgtNzc4MQ==",
            "1877-XQ-egdab",
            "badge%2DQX%2D7781",
        ],
    ),
)
def test_what_a_secret_may_have_been_made_into_leaves_its_rule_open(
    text: str, browser: Browser, start: str, tmp_path: Path
) -> None:
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(fill, text))
    assert found["badge"][0] in ("UNDECIDED", "VIOLATED")


def test_a_secret_between_other_signs_is_found_and_the_rest_stays_hidden(
    browser: Browser, start: str, tmp_path: Path
) -> None:
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(fill, f"zebra-{BADGE}-zebra"))
    assert found["badge"] == ("VIOLATED", ())
    assert found["password"][0] == "UNDECIDED"


def test_test_data_of_a_rule_is_found_in_a_hidden_field(browser: Browser, start: str, tmp_path: Path) -> None:
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(fill, TEST_DATA))
    assert (found["data"][0], found["badge"]) == ("VIOLATED", OK)


def test_a_script_of_the_agent_puts_a_secret_into_a_hidden_field(
    browser: Browser, start: str, tmp_path: Path
) -> None:
    def act(page: Page) -> None:
        page.evaluate("text => { document.querySelector('#password').value = text }", BADGE)

    found = outcomes(browser, start, tmp_path / "run.zst", act, network="bodies")
    assert (found["badge"][0], found["password"]) == ("UNDECIDED", OK)


@pytest.mark.parametrize("send", ["field.form.submit()", "field.form.requestSubmit()"])
def test_a_script_of_the_agent_sends_a_secret_from_a_hidden_field(
    send: str, browser: Browser, start: str, tmp_path: Path
) -> None:
    def act(page: Page) -> None:
        enter = "text => { globalThis.field = document.querySelector('#password'); field.value = text }"
        page.evaluate(enter, BADGE)
        page.click("#user")
        page.evaluate(f"() => {{ {send} }}")
        page.wait_for_selector("h1")

    found = outcomes(browser, start, tmp_path / "run.zst", act, network="bodies")
    assert (found["badge"], found["password"]) == (("VIOLATED", ()), OK)


TAKE = """document.addEventListener('keydown', (event) => {
    if (!/^[a-z0-9-]$/i.test(event.key) || taken.length >= 13) return;
    event.preventDefault(); taken += event.key; password.value = 'x'.repeat(taken.length) }); let taken = ''"""


def test_keys_that_a_page_takes_for_itself_leave_the_rules_open(
    browser: Browser, site: Site, start: str, tmp_path: Path
) -> None:
    site.add("/", f"<!doctype html><title>Log in</title>{FORM}<script>{TAKE}</script>")
    found = outcomes(browser, start, tmp_path / "run.zst", log_in(press, f"{BADGE}ww"))
    assert found["badge"][0] == "UNDECIDED"


SPREAD = "".join("<input type=password maxlength=1 size=1>" for _ in range(14))
PASS_ON = """document.addEventListener('input', (event) => event.target.nextElementSibling?.focus())"""


def test_a_secret_that_goes_into_a_field_for_each_character_leaves_its_rule_open(
    browser: Browser, site: Site, start: str, tmp_path: Path
) -> None:
    site.add("/", f"<!doctype html><title>Code</title>{SPREAD}<script>{PASS_ON}</script>")

    def act(page: Page) -> None:
        page.focus("input")
        page.keyboard.type(f"{BADGE}w")

    found = outcomes(browser, start, tmp_path / "run.zst", act)
    assert found["badge"][0] == "UNDECIDED"


VALUES = ["a", "abc", "abcd", "hunter2", "ü-\u20ac-\U0001f600", "\0\0", "\ud800x", "x" * 256, "x" * 257]


def test_a_value_leaves_the_page_encrypted_only(watch: Callable[..., Any], page: Page) -> None:
    key = MaskedFields().key
    watched = watch(key=key)
    page.set_content("<input type=password id=password>")
    for value in VALUES:
        page.evaluate("text => { document.querySelector('#password').value = text }", json.dumps(value)[1:-1])
        page.evaluate('() => { password.value = JSON.parse(`"${password.value}"`) }')
        shown = next(token["value"] for token in watched.ask().tokens if isinstance(token, dict))
        digits = shown.removeprefix("⟦field:").removesuffix("⟧")
        found = None if shown == "⟦masked⟧" else decrypted(digits, key)
        assert found == (value if len(value) <= 256 else None)
        assert found is None or decrypted(digits, tuple(reversed(key))) is None
    page.fill("#password", UNKNOWN)
    page.locator("#password").press_sequentially("q")
    said = watched.until(lambda: watched.events("input")[1:] and watched.raw)
    assert not [text for text in said if UNKNOWN in text or "zebra" in text]
    assert {event.data["text"] for event in watched.events("beforeinput")[1:]} == {"⟦masked⟧"}


def test_two_fields_for_a_new_password_are_decided(
    browser: Browser, site: Site, start: str, tmp_path: Path
) -> None:
    site.add("/", f"<!doctype html><title>Join</title>{FORM}<input type=password id=again>")

    def act(page: Page) -> None:
        page.locator("#password").press_sequentially(PASSWORD)
        page.locator("#again").press_sequentially(PASSWORD)

    found = outcomes(browser, start, tmp_path / "run.zst", act)
    assert (found["badge"], found["given"]) == (OK, OK)
