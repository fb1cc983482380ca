"""Messages of a page that is left are recorded, or are a gap; without listeners there is no gap."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.browser import listener_queries
from replaykit.recorder.browser.command_effects import Effect
from replaykit.recorder.browser.tab.cdp_documents import Place
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.tab.leave_listeners import LEAVING
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.exchange import Exchange
from tests.live.conftest import WAIT_S
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.live, pytest.mark.one_page]

SEND = "fetch('/buy', {method: 'POST', keepalive: true})"
LISTENERS = {
    "pagehide": f"addEventListener('pagehide', () => {SEND})",
    "unload": f"onunload = () => {SEND}",
    "visibilitychange": f"document.addEventListener('visibilitychange', () => {SEND})",
}
QUIET = {
    "nothing": "",
    "beforeunload": "addEventListener('beforeunload', () => navigator.sendBeacon('/buy'))",
    "fetch": SEND,
}
"""Messages sent while the document still exists are recorded."""


class Recording:
    """A run that is recorded, and what its network knows."""

    def __init__(self, path: Path) -> None:
        with open_bundle(path) as bundle:
            run = bundle.trajectory
        self.sent = any(one.url.endswith("/buy") for one in run.of_type(Exchange))
        self.missing = state_of(run, "network").why


def record(path: Path, page: Page, start: str, leave: Callable[[Page], object]) -> Recording:
    with Recorder(path, screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        # An action, after which the page is looked at.
        page.click("#stay")
        page.wait_for_timeout(300)
        leave(page)
        page.wait_for_timeout(300)
    return Recording(path)


@pytest.fixture
def start(site: Site) -> str:
    site.add("/next", "<!doctype html><title>Next</title>")
    return str(site.add("/", "<!doctype html><title>x</title>"))


def shows(site: Site, script: str, more: str = "") -> None:
    page = "<!doctype html><title>x</title><button id=stay>Stay</button><a id=next href=/next>next</a>"
    site.add("/", f"{page}{more}<script>{script}</script>")


LEAVES: dict[str, Callable[[Page], object]] = {
    "command": lambda page: page.goto(page.url + "next"),
    "link": lambda page: page.click("#next"),
    "reload": lambda page: page.reload(),
}


@pytest.mark.parametrize("leave", one_in(3, [*LEAVES]))
@pytest.mark.parametrize("listener", one_in(3, [*LISTENERS]))
def test_page_that_listens_for_its_end(
    tmp_path: Path, page: Page, site: Site, start: str, listener: str, leave: str
) -> None:
    shows(site, LISTENERS[listener])
    found = record(tmp_path / "run.zst", page, start, LEAVES[leave])
    assert found.sent or LEAVING in found.missing


def test_listener_that_an_action_adds(tmp_path: Path, page: Page, site: Site, start: str) -> None:
    shows(site, f"stay.onclick = () => {{ {LISTENERS['pagehide']} }}")
    found = record(tmp_path / "run.zst", page, start, LEAVES["command"])
    assert found.sent or LEAVING in found.missing


LATE = LISTENERS["pagehide"]
REWRITE = "document.open(); document.write('<a id=next href=/next>next</a>'); document.close()"
ANSWERED = "addEventListener(known, (event) => event.preventDefault(), { capture: true })"


def test_listener_that_is_added_while_it_is_left(tmp_path: Path, page: Page, site: Site, start: str) -> None:
    shows(site, f"next.onclick = () => {{ {LATE} }}")
    found = record(tmp_path / "run.zst", page, start, LEAVES["link"])
    assert found.sent or LEAVING in found.missing


HIDING = {
    "answers itself": f"{ANSWERED}; {LATE}",
    "written again": f"{REWRITE}; {ANSWERED}; {LATE}",
    "without a body": f"{LATE}; document.body.remove()",
}
"""Tricks of a page that knows the name of the question, to make believe that it does not listen."""


@pytest.mark.parametrize("way", HIDING)
def test_page_that_hides_that_it_listens(
    tmp_path: Path, page: Page, site: Site, start: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = InjectedNames.drawn()
    monkeypatch.setattr(InjectedNames, "drawn", lambda fields: known)
    shows(site, f"const known = '{known.question}'; stay.ondblclick = () => {{ {HIDING[way]} }}")

    def leave(page: Page) -> None:
        page.dblclick("#stay")
        page.goto(f"{start}next")

    found = record(tmp_path / "run.zst", page, start, leave)
    assert found.sent or LEAVING in found.missing


def test_page_that_says_that_it_does_not_listen_is_not_asked(
    tmp_path: Path, page: Page, start: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    shows(site, "")
    asked, plain = list[str](), listener_queries._look_at

    def look_at(tab: CdpTab, place: Place, frame: str) -> Generator[Effect, Any, None]:
        asked.append(frame)
        return plain(tab, place, frame)

    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.click("#stay")
        page.wait_for_timeout(300)
        monkeypatch.setattr(listener_queries, "_look_at", look_at)
        page.click("#stay")
        page.wait_for_timeout(300)
    assert not asked


@pytest.mark.parametrize("place", ["", "OTHER"], ids=["own site", "other site"])
def test_frame_that_listens_goes_with_its_page(
    tmp_path: Path, page: Page, site: Site, start: str, place: str
) -> None:
    address = f"{site.other if place else ''}/inner"
    site.add("/inner", f"<!doctype html><script>{LISTENERS['pagehide']}</script>")
    shows(site, "", f"<iframe src='{address}'></iframe>")
    found = record(tmp_path / "run.zst", page, start, LEAVES["command"])
    assert found.sent or LEAVING in found.missing


def test_frame_that_is_removed_is_recorded(tmp_path: Path, page: Page, site: Site, start: str) -> None:
    site.add("/inner", f"<!doctype html><script>{LISTENERS['pagehide']}</script>")
    shows(site, "", "<iframe src=/inner></iframe>")
    remove = "() => document.querySelector('iframe').remove()"
    found = record(tmp_path / "run.zst", page, start, lambda page: page.evaluate(remove))
    assert found.sent
    assert LEAVING not in found.missing


@pytest.mark.parametrize("script", QUIET)
def test_page_that_does_not_listen(tmp_path: Path, page: Page, site: Site, start: str, script: str) -> None:
    shows(site, QUIET[script])
    found = record(tmp_path / "run.zst", page, start, LEAVES["command"])
    assert found.sent == bool(QUIET[script])
    assert LEAVING not in found.missing


CLOSES: dict[str, Callable[[Page, Page], object]] = {
    "agent": lambda page, popup: popup.close(),
    "itself": lambda page, popup: popup.evaluate("setTimeout(() => window.close())"),
    "opener": lambda page, popup: page.evaluate("opened.close()"),
}


def until(page: Page, is_over: Callable[[], bool]) -> None:
    deadline = monotonic() + WAIT_S
    while not is_over():
        assert monotonic() < deadline, "waited in vain"
        page.wait_for_timeout(20)


def is_known(run: Recorder) -> bool:
    """Whether the recorder knows of all documents whether they listen for their end."""
    tabs = [*run._driver.tabs.values()]
    listeners = [tab.leave_listeners for tab in tabs]
    are_asked = not any([*tab.worlds.unasked()] for tab in tabs) and all(tab.worlds.pages() for tab in tabs)
    return len(tabs) == 2 and are_asked and not any(one.is_looking for one in listeners)


def close(tmp_path: Path, page: Page, site: Site, listener: str, how: str) -> Recording:
    site.add("/popup", f"<!doctype html><title>Popup</title><script>{listener}</script>")
    site.add("/", "<!doctype html><button id=stay onclick=\"opened = window.open('/popup')\">Open</button>")
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(f"{site.origin}/")
        with page.expect_popup() as opened:
            page.click("#stay")
        popup = opened.value
        popup.wait_for_load_state()
        until(page, lambda: is_known(run))
        CLOSES[how](page, popup)
        until(page, lambda: popup.is_closed() and (not listener or "/buy" in site.asked))
    return Recording(tmp_path / "run.zst")


@pytest.mark.parametrize("how", CLOSES)
@pytest.mark.parametrize("listener", one_in(3, [*LISTENERS]))
def test_popup_that_listens_for_its_end(
    tmp_path: Path, page: Page, site: Site, listener: str, how: str
) -> None:
    found = close(tmp_path, page, site, LISTENERS[listener], how)
    assert found.sent or LEAVING in found.missing


@pytest.mark.parametrize("how", CLOSES)
def test_popup_that_does_not_listen(tmp_path: Path, page: Page, site: Site, how: str) -> None:
    found = close(tmp_path, page, site, "", how)
    assert LEAVING not in found.missing


def test_page_that_stays(tmp_path: Path, page: Page, site: Site, start: str) -> None:
    shows(site, LISTENERS["pagehide"])
    found = record(tmp_path / "run.zst", page, start, lambda page: page.click("#stay"))
    assert LEAVING not in found.missing


ASKS = {
    "fetch": "(async () => { for (let i = 0; ; i += 1) await fetch(`/ask/${i}`) })()",
    "beacon": "let i = 0; setInterval(() => navigator.sendBeacon(`/ask/${i++}`), 5)",
    "image": "let i = 0; const ask = () => { const one = new Image(); one.onerror = ask;"
    " one.src = `/ask/${i++}` }; ask()",
}


@pytest.mark.parametrize("way", one_in(3, [*ASKS]))
def test_page_that_goes_on_asking_while_it_is_left(tmp_path: Path, page: Page, site: Site, way: str) -> None:
    site.add("/next", "<!doctype html><title>Next</title>")
    loaded = f"addEventListener('load', () => setTimeout(() => {{ {ASKS[way]} }}))"
    away = site.other + "/next"
    start = site.add("/", f"<!doctype html><a id=next href='{away}'>next</a><script>{loaded}</script>")
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        until(page, lambda: len(site.asked) > 9)
        page.click("#next")
        page.wait_for_url(away)
        asked = {path for path in site.asked if path.startswith("/ask")}
        run.answer("done")
    with open_bundle(tmp_path / "run.zst") as bundle:
        known = {urlsplit(one.url).path for one in bundle.trajectory.of_type(Exchange)}
    assert asked <= known or LEAVING in Recording(tmp_path / "run.zst").missing


def test_page_that_has_its_answers_is_left_without_a_gap(tmp_path: Path, page: Page, site: Site) -> None:
    site.add("/next", "<!doctype html><title>Next</title>")
    away = site.other + "/next"
    ask = "fetch('/ask').then((one) => one.text()).then(() => { document.title = 'there' })"
    start = site.add("/", f"<!doctype html><a id=next href='{away}'>next</a><script>{ask}</script>")
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.wait_for_function("document.title === 'there'")
        page.click("#next")
        page.wait_for_url(away)
        run.answer("done")
    assert LEAVING not in Recording(tmp_path / "run.zst").missing
