"""The end in its order, and the probes before and after a run."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.recorder.page.page_script import PageEvent
from replaykit.recorder.probes.probe_scheduler import PROBES_MAX_MS
from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.session import SessionOptions
from replaykit.recorder.session.tab_lifecycle import PAGE_CHANNELS
from replaykit.recorder.session.witnesses import Commanded
from replaykit.tasks.checks import ProbeHttp, ProbePage, ProbePlan, ProbeRead
from replaykit.trajectory import exchange
from replaykit.trajectory.action import Click, CloseTab, Element, tag_of
from replaykit.trajectory.exchange import Console, Dialog, Download, Gap, Navigation, TabChange
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Probe

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
READ = ProbeRead(locator="#out", selector="#out", property="text")
ORDERS = "http://shop.test/orders"
PLAN = ProbePlan(
    pages=(
        ProbePage(id="p0", phase="pre", url=ORDERS, reads=(READ,)),
        ProbePage(id="p1", phase="post", url=ORDERS, reads=(READ,)),
        ProbePage(id="p2", phase="post", url="last", prep=("f()",), reads=(READ,)),
        ProbePage(id="p3", phase="post", url="last", reads=(READ,)),
        ProbePage(id="p4", phase="post", url="http://shop.test/cart", prep=("g()",)),
    ),
    http=(ProbeHttp(id="h0", phase="post", name="order", method="GET", url="http://shop.test/api"),),
)


def test_the_order_of_the_end(new_driver) -> None:
    driver = new_driver(SessionOptions(has_pre_probes=False), PLAN).open()
    driver.outputs.clear()
    driver.events.clear()
    driver.end()
    asked = [
        one.what if isinstance(one, m.ReadPage) else type(one).__name__
        for one in driver.outputs
        if not isinstance(one, m.Write)
    ]
    assert asked == [
        *("snapshot", "Screenshot"),  # final
        "reads",  # p3: only looks
        *("prep", "reads", "snapshot"),  # p2: prepares
        "Disarm",
        "Http",
        *("Open", "reads", "snapshot"),  # p1
        *("Open", "prep", "snapshot"),  # p4
        "Close",
        "Seal",
    ]
    assert [event.id for event in driver.of(Probe)] == ["p3", "p2", "h0", "p1", "p4"]
    assert [type(event) for event in driver.events] == [
        Observation,
        Probe,
        Probe,
        Probe,
        Probe,
        Probe,
        Ending,
    ]
    times = [event.t for event in driver.events]
    assert times == sorted(times)


def test_what_probes_hold(new_driver) -> None:
    driver = new_driver(SessionOptions(has_pre_probes=False), PLAN).open().end()
    look, prepared, http, page, other = driver.of(Probe)
    (final,) = driver.looks("final")
    assert (look.in_place, look.url, look.snapshot) == (True, "http://shop.test/", final.snapshot)
    assert (prepared.in_place, prepared.reads[0].prep[0].source) == (True, "f()")
    assert (http.status, http.mime, driver.blobs[http.body]) == (200, "application/json", b'{"ok":true}')
    assert (http.name, http.method, http.path) == ("order", "GET", "http://shop.test/api")
    assert (page.requested, page.url, page.status, page.settled, page.in_place) == (
        ORDERS,
        ORDERS,
        200,
        True,
        False,
    )
    assert page.reads[0].value == "1" and page.snapshot in driver.blobs
    assert other.reads == ()


def test_pre_probes_come_before_the_start_observation(new_driver) -> None:
    driver = new_driver(plan=PLAN)
    assert [probe.id for probe in driver.of(Probe)] == ["p0"]
    driver.open()
    kinds = [type(event) for event in driver.events[1:]]
    assert kinds == [Probe, exchange.TabChange, Observation]
    assert driver.session.is_ready


def test_the_agent_waits_for_pre_probes(new_driver) -> None:
    class Held(new_driver):  # type: ignore[misc,valid-type]  # a fixture
        holds = True

    driver = Held(plan=PLAN)
    assert not driver.session.is_ready
    driver.answer_held()
    assert driver.session.is_ready


@pytest.mark.parametrize("error", ["timeout", "gone", "failed"])
def test_a_failed_probe_stops_no_other(new_driver, error: str) -> None:
    driver = new_driver(SessionOptions(has_pre_probes=False), PLAN).open()
    driver.errors = {"Open": error, "Http": error, "prep": error, "reads": error}
    driver.end()
    probes = {probe.id: probe for probe in driver.of(Probe)}
    assert set(probes) == {"p1", "p2", "p3", "p4", "h0"}
    assert {probes[id].error for id in ("p1", "p4", "h0")} == {error}
    assert isinstance(driver.events[-1], Ending)


def test_a_page_that_does_not_load_is_a_probe_with_its_error(new_driver) -> None:
    driver = new_driver(SessionOptions(has_pre_probes=False), PLAN).open()
    driver.replies["Open"] = {
        "page": -1,
        "url": ORDERS,
        "status": None,
        "error": "net::ERR_FAILED",
        "redirects": ["x"],
    }
    driver.end()
    page = next(probe for probe in driver.of(Probe) if probe.id == "p1")
    assert (page.error, page.snapshot, page.redirects, page.status) == ("net::ERR_FAILED", None, ("x",), None)


def test_probes_take_no_more_than_their_time(new_driver) -> None:
    driver = new_driver(SessionOptions(has_pre_probes=False), PLAN).open()
    # The request before takes all of it.
    driver.hold = True
    driver.feed(m.End(at=1000, kind="stopped"))
    while driver.held:
        command = driver.held.pop(0)
        driver.now += 130_000 if isinstance(command, m.Http) else 1
        driver._answer(command)
    assert [probe.error for probe in driver.of(Probe) if probe.id in ("p1", "p4")] == ["timeout", "timeout"]
    assert isinstance(driver.events[-1], Ending)


# Pages that went away


def test_a_browser_that_goes_away_leaves_last_looks(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", "paid", at=2100)
    driver.feed(m.TabClosed(at=5000, page=0)).wait(1000).end()
    (final,), (seen,) = driver.looks("final"), driver.looks()
    assert (final.from_last, final.snapshot, final.of) == (True, seen.snapshot, None)
    assert [type(a) for a in driver.actions] == [Click]
    assert [tab.cause for tab in driver.of(exchange.TabChange)] == ["unknown", "unknown"]


def test_the_last_snapshot_of_a_page_is_its_final(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", "paid", at=2100)
    driver.push("final", "later", at=4900)
    driver.feed(m.TabClosed(at=5000, page=0)).end()
    (final,) = driver.looks("final")
    assert (final.from_last, final.t) == (False, 4900)
    assert b"later" in driver.blobs[final.snapshot]


def test_all_tabs_of_a_closing_browser_are_no_actions(driver) -> None:
    driver.open(1, opener=0).wait(3000)
    driver.feed(m.TabClosed(at=5000, page=1), m.TabClosed(at=5010, page=0)).wait(2000).end()
    assert driver.steps == []


def test_a_tab_closed_just_before_the_end_is_an_action_if_others_stay(driver) -> None:
    driver.open(1, opener=0).wait(3000)
    driver.feed(m.TabClosed(at=5000, page=1)).end()
    assert [type(a) for a in driver.actions] == [CloseTab]
    assert [seen.page for seen in driver.looks("final")] == [0]


def test_a_declared_close_is_one_step(driver) -> None:
    driver.open(1, opener=0).wait(3000)
    driver.feed(m.StepEnter(at=5000, actions=(CloseTab(),)))
    driver.feed(m.TabClosed(at=5005, page=1), m.StepExit(at=5010)).wait(2000)
    assert [(type(s.action), s.origin, s.seen) for s in driver.steps] == [(CloseTab, "both", True)]


def test_a_popup_that_closes_itself_is_the_pages(driver) -> None:
    driver.open(1, opener=0).wait(3000)
    driver.click(BUTTON, 4000, page=1)
    driver.feed(m.TabClosed(at=4200, page=1)).wait(2000)
    assert CloseTab not in [type(a) for a in driver.actions]
    assert driver.of(exchange.TabChange)[-1].cause == "page"


def test_a_crash_is_a_gap(driver) -> None:
    driver.feed(m.TabCrashed(at=5000, page=0)).end("crashed", cause="browser")
    assert [tab.state for tab in driver.of(exchange.TabChange)] == ["opened", "crashed"]
    gaps = [(gap.channel, gap.why) for gap in driver.of(Gap)]
    assert gaps == [(channel, "crashed") for channel in PAGE_CHANNELS if channel != "a11y"]
    assert driver.events[-1].cause == "browser"


def test_a_browser_that_goes_away_unclosed_is_a_gap(driver) -> None:
    driver.feed(m.TabClosed(at=5000, page=0)).end()
    gaps = [(gap.channel, gap.why, gap.page, gap.t) for gap in driver.of(Gap) if gap.why != "closed.unseen"]
    assert gaps == [(channel, "browser.gone", 0, 5000) for channel in PAGE_CHANNELS if channel != "a11y"]


def test_a_browser_that_is_gone_right_after_a_gesture_is_a_gap(driver) -> None:
    driver.click(BUTTON, 4900).feed(m.TabClosed(at=5000, page=0)).end()
    assert ("network", "browser.gone") in [(gap.channel, gap.why) for gap in driver.of(Gap)]


def test_a_popup_that_went_long_before_is_not_gone_with_the_browser(driver) -> None:
    driver.open(1, opener=0).wait(3000)
    driver.click(BUTTON, 4000, page=1)
    driver.feed(m.TabClosed(at=4200, page=1)).wait(2000)
    driver.feed(Commanded(at=8000, kind="target", name="Browser.close"), m.TabClosed(at=8100, page=0)).end()
    assert "browser.gone" not in [gap.why for gap in driver.of(Gap)]


def test_a_browser_that_is_gone_in_a_declared_step_is_a_gap(driver) -> None:
    driver.feed(m.StepEnter(at=5000, actions=()), m.TabClosed(at=5005, page=0), m.StepExit(at=5010)).end()
    assert ("network", "browser.gone") in [(gap.channel, gap.why) for gap in driver.of(Gap)]


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("Browser.close", None),
        ("BrowserContext.close", None),
        ("Page.close", 0),
        ("Target.closeTarget", None),
    ],
)
def test_what_the_agent_closes_is_not_gone_by_itself(driver, name: str, page: int | None) -> None:
    driver.feed(Commanded(at=4900, page=page, kind="target", name=name))
    driver.feed(m.TabClosed(at=5000, page=0)).end()
    assert "browser.gone" not in [gap.why for gap in driver.of(Gap)]


@pytest.mark.parametrize(
    ("name", "page", "at", "refused"),
    [
        ("Page.close", 1, 4900, False),
        ("Browser.close", None, 4900, True),
        ("BrowserContext.newPage", None, 4900, False),
    ],
)
def test_another_command_explains_no_end(
    driver, name: str, page: int | None, at: float, refused: bool
) -> None:
    driver.feed(Commanded(at=at, page=page, kind="target", name=name, refused=refused))
    driver.feed(m.TabClosed(at=5000, page=0)).end()
    assert "browser.gone" in [gap.why for gap in driver.of(Gap)]


def test_a_command_for_one_tab_explains_no_second(driver) -> None:
    driver.open(1, "http://shop.test/b", opener=0).wait(3000)
    driver.feed(Commanded(at=4900, kind="target", name="Target.closeTarget"))
    driver.feed(m.TabClosed(at=5000, page=1), m.TabClosed(at=6000, page=0)).end()
    assert {gap.page for gap in driver.of(Gap) if gap.why == "browser.gone"} == {0}


def test_a_page_that_sent_its_last_snapshot_is_not_gone_by_itself(driver) -> None:
    driver.push("final", "later", at=4900)
    driver.feed(m.TabClosed(at=5000, page=0)).end()
    assert "browser.gone" not in [gap.why for gap in driver.of(Gap)]


def test_where_a_tab_was_before_it_was_armed_is_recorded(driver) -> None:
    driver.wait(1000)
    driver.open(
        1,
        "http://shop.test/end",
        earlier=((900.0, "about:blank"), (950.0, "http://x.test/"), (990.0, "http://shop.test/end")),
    )
    recorded = [(one.t, one.url, one.kind, one.ambiguous) for one in driver.of(Navigation) if one.page == 1]
    assert recorded == [
        (950, "http://x.test/", "unknown", True),
        (1000, "http://shop.test/end", "goto", False),
    ]


def test_a_tab_that_was_never_listened_in_leaves_every_channel_of_pages_partial(driver) -> None:
    driver.click(at=500).wait(1000)
    urls = ((1600.0, "about:blank"), (1700.0, "http://x.test/"))
    driver.feed(m.TabMissed(at=1600, page=1, urls=urls, closed_at=1800.0))
    driver.click(at=3000).end()
    gaps = [gap for gap in driver.of(Gap) if gap.page == 1]
    assert {gap.why for gap in gaps} == {"attach.failed"}
    assert [gap.channel for gap in gaps] == [channel for channel in PAGE_CHANNELS if channel != "a11y"]
    assert [(one.t, one.url, one.ambiguous) for one in driver.of(Navigation)] == [
        (1700, "http://x.test/", True)
    ]
    tabs = [(tab.state, tab.t, tab.cause) for tab in driver.of(TabChange) if tab.page == 1]
    assert tabs == [("opened", 1600, "agent"), ("closed", 1800, "agent")]
    assert [tag_of(action) for action in driver.actions] == ["click", "new_tab", "close_tab", "click"]


LINKED = [
    m.TabOpened(at=1600, page=1, url="", opener=0, is_linked=True),
    m.TabClosed(at=1800, page=1),
]
"""A tab of a link, which goes without a document."""


@pytest.mark.parametrize(
    ("messages", "is_logged", "cause"),
    [
        ([m.TabMissed(at=1600, page=1, opener=0, closed_at=1800.0, is_empty=True)], True, "page"),
        (LINKED, True, "page"),
        (LINKED, False, "agent"),
        ([*LINKED, Commanded(at=1790, kind="target", name="Target.closeTarget")], True, "agent"),
        ([replace(LINKED[0], is_linked=False), LINKED[1]], True, "agent"),
        ([replace(LINKED[0], url="http://x.test/"), LINKED[1]], True, "agent"),
    ],
    ids=["missed", "linked", "without a log", "asked", "opened by a script", "with a document"],
)
def test_the_browser_closes_the_tab_of_a_link_that_leads_to_a_download(
    messages: list[m.Input], is_logged: bool, cause: str, driver
) -> None:
    driver.session._tab_lifecycle.is_logged = is_logged
    driver.click(at=500).wait(1000)
    driver.feed(*sorted(messages, key=lambda one: one.at))
    driver.click(at=3000).end()
    tabs = [(tab.state, tab.cause) for tab in driver.of(TabChange) if tab.page == 1]
    assert tabs == [("opened", "page"), ("closed", cause)]
    closing = ["close_tab"] if cause == "agent" else []
    assert [tag_of(action) for action in driver.actions] == ["click", *closing, "click"]


def test_a_tab_without_a_document_lacks_nothing(driver) -> None:
    driver.click(at=500).wait(1000)
    driver.feed(m.TabMissed(at=1600, page=1, opener=0, closed_at=1800.0, is_empty=True))
    driver.click(at=3000).end()
    assert [gap for gap in driver.of(Gap) if gap.page == 1] == []


def test_a_tab_that_was_gone_before_a_snapshot_is_recorded_as_unseen(driver) -> None:
    driver.click(at=500).wait(1000)
    driver.errors["snapshot"] = "gone"
    for page, url in ((1, "http://shop.test/b"), (2, "about:blank")):
        driver.open(page, url)
        driver.feed(m.TabClosed(at=driver.now, page=page))
    gaps = [(gap.page, gap.channel, gap.why) for gap in driver.of(Gap)]
    assert gaps == [(1, channel, "closed.unseen") for channel in ("snapshots", "form_state", "screenshots")]


def test_a_tab_that_sends_nothing_is_not_looked_at(driver) -> None:
    driver.feed(m.TabMissed(at=100, page=1, opener=0)).end()
    assert [seen.page for seen in driver.looks("final")] == [0]
    assert [tab.state for tab in driver.of(TabChange) if tab.page == 1] == ["opened"]


def test_tabs_that_were_there_are_no_actions(driver) -> None:
    driver.open(1, "http://shop.test/other", existing=True)
    assert driver.steps == []


# Dialogs, console, downloads


def test_dialogs_belong_to_their_step(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[1, 2], button=0)
    driver.feed(m.DialogOpened(at=998, page=0, kind="prompt", message="Name?", default="x"))
    driver.feed(m.DialogClosed(at=1200, page=0, accepted=True, input="ann")).wait(12_000)
    (dialog,) = driver.of(Dialog)
    assert (dialog.kind, dialog.message, dialog.default, dialog.input) == ("prompt", "Name?", "x", "ann")
    assert (dialog.accepted, dialog.closed, dialog.step) == (True, 1200, 0)


def test_a_dialog_left_open_is_written_at_the_end(driver) -> None:
    driver.feed(m.DialogOpened(at=10, page=0, kind="alert", message="hi")).end()
    assert [(dialog.accepted, dialog.closed) for dialog in driver.of(Dialog)] == [(None, None)]


def test_console_lines_are_bounded(driver, monkeypatch) -> None:
    monkeypatch.setattr("replaykit.recorder.session.page_events.LINES_MAX", 2)
    for text in ("a", "ä" * 3000, "c", "d"):
        driver.feed(m.ConsoleLine(at=10, page=0, level="verbose", text=text))
    driver.end()
    lines = driver.of(Console)
    assert [line.level for line in lines] == ["log", "log"]
    assert lines[1].text == "ä" * 2048 + "⟦cut:952⟧"
    assert [(gap.why, gap.count) for gap in driver.of(Gap)] == [("flood", 2)]


def test_a_download_is_one_event(driver) -> None:
    begun = {"page": 0, "guid": "g", "url": "http://x/a.csv", "suggested": "a.csv"}
    driver.click(BUTTON, 1000)
    driver.feed(m.DownloadChanged(at=1100, state="started", **begun))
    driver.feed(m.DownloadChanged(at=1400, state="completed", size=12, **begun)).wait(1000)
    (download,) = driver.of(Download)
    assert (download.t, download.state, download.size, download.suggested, download.step) == (
        1100,
        "completed",
        12,
        "a.csv",
        0,
    )


def test_a_download_without_a_request_is_one(driver) -> None:
    begun = {"page": 0, "url": "http://x/a.csv", "state": "started"}
    driver.feed(m.DownloadChanged(at=1000, guid="g", **begun))
    driver.feed(m.DownloadChanged(at=1100, guid="h", **{**begun, "url": "blob:http://x/1"}))
    driver.feed(m.DownloadChanged(at=1200, guid="i", **begun)).wait(1000)
    driver.end()
    found = [(one.method, one.url, one.t) for one in driver.of(exchange.Exchange)]
    assert found == [("GET", "http://x/a.csv", 1000), ("GET", "http://x/a.csv", 1200)]


def clicked(href: str, **marks: str) -> PageEvent:
    link = Element(tag="a", attributes={"href": href, **marks})
    return PageEvent(seq=0, at=0, name="click", element=link)


@pytest.mark.parametrize(
    ("event", "is_direct"),
    [
        (clicked("/a.csv", download=""), True),
        (clicked("a.csv#top", download="b.csv"), True),
        (clicked("/a.csv"), False),
        (clicked("/latest", download=""), False),
        (clicked("http://[", download=""), False),
        (None, False),
    ],
)
def test_a_link_that_was_clicked_names_the_first_address_of_its_download(
    driver: Any, event: PageEvent | None, is_direct: bool
) -> None:
    driver.feed(m.Navigated(at=900, page=0, document=1, url="http://x/", stage="committed"))
    if event is not None:
        driver.feed(m.PageMessage(at=990, page=0, document=1, event=event))
    driver.feed(m.DownloadChanged(at=1000, page=0, guid="g", url="http://x/a.csv", state="started")).wait(
        1000
    )
    driver.end()
    gaps = [one.why for one in driver.of(exchange.Gap) if one.channel == "network"]
    assert gaps == ([] if is_direct else ["download.redirected"])


def test_a_page_that_turns_out_to_be_a_download_is_one_request(driver) -> None:
    asked = requests.Requested(at=1000, request="r", page=0, method="GET", url="http://x/a.csv#top")
    driver.feed(asked)
    begun = m.DownloadChanged(at=1900, page=0, guid="g", url="http://x/a.csv", state="started")
    driver.feed(begun).wait(1000)
    driver.end()
    assert [one.url for one in driver.of(exchange.Exchange)] == ["http://x/a.csv#top"]


def test_each_phase_of_probes_has_its_time(new_driver) -> None:
    driver = new_driver(SessionOptions(), PLAN).open()
    driver.wait(PROBES_MAX_MS + 1).end()
    assert [(probe.id, probe.error) for probe in driver.of(Probe)] == [
        (id, None) for id in ("p0", "p3", "p2", "h0", "p1", "p4")
    ]


def test_probes_of_one_phase_share_their_time(new_driver) -> None:
    driver = new_driver(SessionOptions(has_pre_probes=False), PLAN).open()

    def slowly(command):
        driver.now += PROBES_MAX_MS + 1
        return {"page": -1, "url": command.url, "status": 200, "redirects": [], "settled": True}

    driver.replies["Open"] = slowly
    driver.end()
    errors = {probe.id: probe.error for probe in driver.of(Probe)}
    assert (errors["p1"], errors["p4"]) == (None, "timeout")


@pytest.mark.parametrize(("is_quiet", "waits"), [(True, False), (False, True)])
def test_the_end_waits_no_longer_for_a_page_that_was_quiet_when_it_was_asked(
    is_quiet: bool, waits: bool, new_driver
) -> None:
    driver = new_driver().open().click(BUTTON, at=100)
    driver.push("rest", "paid", at=250)
    driver.push("asked", at=400, settled=is_quiet)
    driver.feed(m.End(at=410, kind="answered", answer="done"))
    driver.wait(40)
    assert bool(driver.looks("final")) is not waits


def saving(driver, method: str = "PUT", **more):
    sent = {"url": "http://shop.test/api/state", "method": method, "resource": "fetch", **more}
    return driver.feed(requests.Requested(at=driver.now, request="9", page=0, **sent))


def test_the_end_waits_for_what_is_being_saved(new_driver) -> None:
    driver = saving(new_driver().open())
    driver.feed(m.End(at=driver.now, kind="stopped"))
    driver.wait(150)
    assert not driver.looks("final")
    driver.feed(
        requests.Responded(at=driver.now, request="9", status=204),
        requests.Finished(at=driver.now, request="9"),
    )
    driver.wait(100)
    assert driver.looks("final")
    (saved,) = driver.of(exchange.Exchange)
    assert (saved.status, driver.events.index(saved) < driver.events.index(driver.looks("final")[0])) == (
        204,
        True,
    )


@pytest.mark.parametrize("asked", [{"method": "GET"}, {"method": "POST", "actor": "probe"}])
def test_the_end_waits_for_nothing_that_changes_nothing(asked, new_driver) -> None:
    driver = saving(new_driver().open(), **asked)
    driver.feed(m.End(at=driver.now, kind="stopped"))
    driver.wait(0)
    assert driver.looks("final")


def test_the_end_waits_for_a_save_for_two_seconds_at_most(new_driver) -> None:
    driver = saving(new_driver().open())
    driver.feed(m.End(at=driver.now, kind="stopped"))
    driver.wait(1_900)
    assert not driver.looks("final")
    driver.wait(200)
    assert driver.looks("final")
    assert driver.of(exchange.Exchange)[0].status is None
