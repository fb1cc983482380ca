"""Popups that close themselves around a frame of another site: what is proven of the frame, and what is a gap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Timer
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Error, Page

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.action import Click
from replaykit.trajectory.exchange import Exchange, Gap
from replaykit.trajectory.step import Trajectory
from tests.live.test_frames import context_of
from tests.live.test_leave_listeners import until
from tests.live.test_proxy import recorded
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

FRAME = "<!doctype html><button onclick=\"parent.postMessage('', '*')\">Pay</button><p>Price</p><script>{script}</script>"
POPUP = """<!doctype html><title>Popup</title><button id=stay>Stay</button><input id=field>
<button id=shut onclick="window.close()">Shut</button><iframe src="{frame}"></iframe>
<script>onmessage = () => close()</script>"""
UNCLOSED = "document.unclosed"


@pytest.fixture
def page(isolated: Browser) -> Iterator[Page]:
    with context_of(isolated) as context:
        yield context.new_page()


def serve(site: Site, script: str = "") -> str:
    """Serve a page whose popup holds a frame of another site; return the page's address."""
    frame = site.origin.replace("127.0.0.1", "b.localhost") + "/frame"
    site.add("/frame", FRAME.format(script=script))
    site.add("/popup", POPUP.format(frame=frame))
    site.add("/sent", "ok", "text/plain")
    return site.add(
        "/start", "<!doctype html><button id=open onclick=\"window.open('/popup')\">Open</button>"
    )


def in_frame(popup: Page) -> Any:
    return popup.frame_locator("iframe").get_by_role("button")


def is_counted(run: Recorder) -> bool:
    """Whether all frames have said what was done in them until the last command, and whether they listen."""
    driver = run._driver
    if any([*tab.worlds.unasked()] for tab in driver.tabs.values()):
        return False
    return all(
        document.sure_at > driver.command_times.settled_at(tab.page)
        for tab in driver.tabs.values()
        for spot, document in tab.documents._shown.items()
        if spot[0]
    )


class Found:
    """Content of a bundle that is about the popup."""

    def __init__(self, run: Trajectory) -> None:
        self.gaps = {(gap.channel, gap.why) for gap in run.of_type(Gap)}
        self.urls = {one.url for one in run.of_type(Exchange)}
        actions = [step.action for step in run.steps]
        self.clicks = [one.element.name for one in actions if isinstance(one, Click) and one.element]

    @property
    def is_unclosed(self) -> bool:
        return ("actions", UNCLOSED) in self.gaps

    @property
    def is_known(self) -> bool:
        """Whether the click in the frame is recorded: the frame may yet say that it leaves."""
        return self.clicks[-1] == "Pay"


def record(page: Page, start: str, path: Path, *steps: Callable[[Page], Any], waits: bool = True) -> Found:
    """Record steps in the popup, until it has closed; wait before each until all frames are known."""
    with Recorder(path, screenshots="off") as run:
        run.attach(page.context)
        page.goto(start)
        with page.expect_popup() as opened:
            page.click("#open")
        for step in steps:
            if waits:
                in_frame(opened.value).wait_for()
                until(page, lambda: is_counted(run))
            step(opened.value)
        until(page, opened.value.is_closed)
    with open_bundle(path) as bundle:
        return Found(bundle.trajectory)


def stay(popup: Page) -> None:
    popup.click("#stay")


def shut(popup: Page) -> None:
    # The popup may close before the click is answered.
    with suppress(Error):
        popup.click("#shut", no_wait_after=True)


PROVEN = {
    "click": [stay, shut],
    "text": [lambda popup: popup.fill("#field", "x"), shut],
    "click in the frame": [lambda popup: popup.frames[1].click("p"), shut],
    "key": [lambda popup: popup.focus("#shut"), lambda popup: popup.keyboard.down("Enter")],
    "script": [stay, lambda popup: popup.evaluate("setTimeout(close)")],
}


@pytest.mark.parametrize("way", one_in(5, [*PROVEN]))
def test_popup_that_closes_itself_after_actions_elsewhere_leaves_no_gap(
    way: str, page: Page, site: Site, tmp_path: Path
) -> None:
    found = record(page, serve(site), tmp_path / "run.zst", *PROVEN[way])
    assert not found.is_unclosed
    assert ("network", "requests.leaving") not in found.gaps


def test_click_in_the_frame_that_closes_the_popup_is_a_gap(page: Page, site: Site, tmp_path: Path) -> None:
    found = record(page, serve(site), tmp_path / "run.zst", stay, lambda popup: in_frame(popup).click())
    assert found.is_unclosed or found.is_known


def test_click_that_waits_for_its_frame_is_a_gap(page: Page, site: Site, tmp_path: Path) -> None:
    # The frame opens while the click is under way: until then all is known of it.
    start, gate = serve(site), Event()
    site.gates["/frame"] = gate

    def click(popup: Page) -> None:
        Timer(0.5, gate.set).start()
        in_frame(popup).click()

    found = record(page, start, tmp_path / "run.zst", click, waits=False)
    assert found.is_unclosed or found.is_known


SENT = {
    "beacon": "addEventListener('pagehide', () => navigator.sendBeacon('/sent'))",
    "fetch": "addEventListener('pagehide', () => fetch('/sent', {keepalive: true}))",
    "hidden": "document.addEventListener('visibilitychange', () => navigator.sendBeacon('/sent'))",
}


@pytest.mark.parametrize("way", one_in(3, [*SENT]))
def test_request_that_the_frame_sends_as_it_goes_is_recorded_or_a_gap(
    way: str, page: Page, site: Site, tmp_path: Path
) -> None:
    found = record(page, serve(site, SENT[way]), tmp_path / "run.zst", stay, shut)
    is_recorded = any(url.endswith("/sent") for url in found.urls)
    assert is_recorded or {channel for channel, _ in found.gaps} & {"network"}


# An agent cannot see when the frame has answered the recorder, so it waits before it closes the popup.
AGENT = """
page.goto("{start}")
with page.expect_popup() as opened:
    page.click("#open")
popup = opened.value
button = popup.frame_locator("iframe").get_by_role("button")
button.wait_for()
popup.click("#stay")
popup.wait_for_timeout(1000)
try:
    {step}
except Error as error:
    assert "closed" in str(error)
popup.wait_for_event("close") if not popup.is_closed() else None
"""


@pytest.mark.parametrize(
    ("step", "is_gap"),
    one_in(2, [("popup.click('#shut', no_wait_after=True)", False), ("button.click()", True)]),
)
def test_popup_that_closes_itself_behind_the_proxy(
    step: str, is_gap: bool, site: Site, tmp_path: Path, browser_path: Path
) -> None:
    start = serve(site).replace("127.0.0.1", "a.localhost")
    run, _ = recorded(site, tmp_path, AGENT.format(start=start, step=step), screenshots="off")
    found = Found(run)
    assert (found.is_unclosed or found.is_known) is is_gap
