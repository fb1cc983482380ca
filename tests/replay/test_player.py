from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.blobs import image_size, png
from replaykit.bundle.reader import open_bundle
from replaykit.errors import SnapshotInvalid, UsageError
from replaykit.replay.player import Replay
from replaykit.replay.run_state import same_url
from replaykit.testing import trajectory
from replaykit.testing.pages import snapshot
from replaykit.trajectory.action import Click, Fill, Scroll, Wait
from replaykit.trajectory.exchange import Dialog, Exchange, Gap, Message, Navigation
from replaykit.trajectory.observation import Observation, Read, TabView
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Ending, Header, Probe, Step, Trajectory

A, B, C, HTML, LOST, BROKEN = ("a" * 64, "b" * 64, "c" * 64, "d" * 64, "e" * 64, "f" * 64)
DOM = "application/x-replaykit-dom"
BLOBS = {
    A: (DOM, snapshot("<p>first</p>", url="http://x.test/a", title="First")),
    B: (DOM, snapshot("<p>second</p>", url="http://x.test/b")),
    C: (DOM, snapshot("<p>probed</p>", url="http://x.test/c")),
    HTML: ("text/html", b"<p>imported"),
    BROKEN: (DOM, b"no snapshot"),
}


class Recorded:
    """A bundle of events and the blobs above."""

    def __init__(self, *events: Any, **header: Any) -> None:
        channels = {"network": "recorded"} | header.pop("channels", {})
        self.trajectory = Trajectory(header=Header(channels=channels, **header), events=events)
        self.asked: list[str] = []

    def __contains__(self, id: object) -> bool:
        return id in BLOBS

    def blob(self, id: str) -> bytes:
        self.asked.append(id)
        return BLOBS[id][1]

    def blob_type(self, id: str) -> str:
        return BLOBS[id][0]


def look(role: str, blob: Any, t: int = 0, page: int = 0, **more: Any) -> Observation:
    return Observation(role=role, t=t, page=page, snapshot=blob, **more)


def post(t: int, method: str = "POST", **more: Any) -> Exchange:
    return Exchange(t=t, page=0, id=t, method=method, url="http://x.test/api", **({"status": 200} | more))


def arrival(t: int, **more: Any) -> Navigation:
    return Navigation(t=t, page=0, **({"kind": "link", "url": "http://x.test/a"} | more))


RUN = (
    look("start", A, 0, url="http://x.test/a", title="Start", status=200, settled=True),
    Step(t=10, page=0, index=0, action=Click(), before=look("before", A, 9), url="http://x.test/b"),
    Navigation(t=11, page=0, url="http://x.test/b", kind="link", step=0),
    Dialog(t=12, page=0, kind="alert", step=0),
    look("after", A, 20, of=0),
    look("after", B, 30, of=0),
    Step(t=40, page=1, index=1, action=Click()),
    Message(t=41, role="agent", kind="say", text="hi", step=1),
    look("final", B, 50, url="http://x.test/b", tabs=(TabView(page=0, url="u"), TabView(page=1, url="v", active=True))),
    look("final", C, 51, page=1, url="http://x.test/c"),
    Probe(t=60, id="p0", phase="pre", requested="http://x.test/p", snapshot=A),
    Probe(t=61, id="p1", phase="post", requested="http://x.test/p?b=2&a=1", url="http://x.test/q", snapshot=C, status=404,
          reads=(Read(locator="#n", kind="string", value="1"),)),
    Ending(t=70, kind="answered", answer="42"),
)  # fmt: skip


def test_a_run_is_walked_state_by_state() -> None:
    replay = Replay(Recorded(*RUN))
    first, second = replay
    assert (len(replay), replay[1].index, first.url) == (2, 1, "http://x.test/b")
    assert (first.before.dom.text, first.after.dom.text, [page.dom.text for page in first.interim]) == (
        "first",
        "second",
        ["first"],
    )
    assert (first.before.step, first.after.step) == (0, 0)
    assert [len(part) for part in (first.navigations, first.dialogs, first.messages, second.messages)] == [
        1,
        1,
        0,
        1,
    ]
    assert (second.before, second.after, second.interim) == (None, None, ())
    assert (replay.answer, replay.ending.kind) == ("42", "answered")


def test_a_state_shows_what_was_done_on_which_page() -> None:
    first, second = Replay(Recorded(*RUN))
    assert (first.action, first.dom.text, second.dom) == (Click(), "first", None)


def test_a_replay_is_a_sequence() -> None:
    replay = Replay(Recorded(*RUN))
    indices = [state.index for state in replay]
    assert len(replay) == len(indices) == 2
    assert [state.index for state in replay[::-1]] == indices[::-1]
    assert [state.index for state in replay[1:]] == indices[1:]
    assert replay[-1].index == indices[-1]
    with pytest.raises(IndexError):
        replay[2]


def test_a_path_is_no_bundle() -> None:
    with pytest.raises(UsageError, match=r"with open_bundle\('run.zst'\) as bundle:"):
        Replay("run.zst")


def test_a_screenshot_is_an_image_file_or_none(tmp_path: Path) -> None:
    run = trajectory().goto("http://x.test/", "<p>x").screenshot(3, 2, (1, 2, 3)).final("<p>y").answer("x")
    with open_bundle(run.write(tmp_path / "run.zst")) as bundle:
        found = [page.screenshot for page in Replay(bundle).pages]
    assert {shot for shot in found if shot is not None} == {png(b"P6\n3 2\n255\n" + bytes((1, 2, 3)) * 6)}
    assert None in found


def test_a_state_shows_the_last_screenshot_of_its_page(tmp_path: Path) -> None:
    run = trajectory().goto("http://x.test/", "<p>x").screenshot(3, 2, (1, 2, 3)).click("#a").click("#b")
    run.screenshot(3, 2, (4, 5, 6)).goto("http://x.test/other").answer("x")
    with open_bundle(run.write(tmp_path / "run.zst")) as bundle:
        shown = [state.screenshot for state in Replay(bundle)]
    first, second = (png(b"P6\n3 2\n255\n" + bytes(colour) * 6) for colour in ((1, 2, 3), (4, 5, 6)))
    assert shown == [None, first, first, second]


def test_a_screenshot_of_another_page_or_tab_is_none_of_the_state_s() -> None:
    seen = Observation(role="start", url="http://x.test/a", page=0, t=0, screenshot=A)
    here, there = (Observation(role="before", url=f"http://x.test/{name}", page=0, t=1) for name in "ab")
    steps = [
        Step(index=index, t=1, page=page, action=Click(), before=before)
        for index, (page, before) in enumerate([(0, here), (0, there), (1, None), (0, None)])
    ]
    states = list(Replay(Recorded(seen, *steps)))
    assert [state.screenshot is not None for state in states] == [True, False, False, True]
    assert [state.screenshot_page is not None for state in states] == [True, True, False, True]


def test_a_state_parses_no_page_before_it_is_asked() -> None:
    seen = Observation(role="start", page=0, t=0, screenshot=A, snapshot=A)
    bundle = Recorded(
        seen, Step(index=0, t=1, page=0, action=Click(), before=Observation(role="before", page=0))
    )
    assert [state.index for state in Replay(bundle)] == [0] and bundle.asked == []


def test_pages_come_in_order_with_what_was_observed() -> None:
    pages = Replay(Recorded(*RUN)).pages
    assert [page.role for page in pages] == ["start", "before", "after", "after", "final", "final"]
    start, before, after, *_ = pages
    assert (start.url, start.title, start.status, start.settled, start.t, start.tab) == (
        "http://x.test/a",
        "Start",
        200,
        True,
        0,
        0,
    )
    assert (before.url, before.title) == ("http://x.test/a", "First")
    assert after.url == "http://x.test/b"


def test_the_final_page_is_that_of_the_active_tab() -> None:
    assert Replay(Recorded(*RUN)).final.dom.text == "probed"
    assert (
        Replay(Recorded(*[event for event in RUN if getattr(event, "page", None) != 1])).final.dom.text
        == "second"
    )
    assert Replay(Recorded(*RUN[:5])).final is None


def test_a_tab_closed_by_others_keeps_its_last_look() -> None:
    events = (
        RUN[1],
        look("after", B, 30, of=0),
        look("final", None, 50, from_last=True, url="http://x.test/b"),
    )
    assert Replay(Recorded(*events)).final.dom.text == "second"
    assert Replay(Recorded(*events[:1], events[2])).final.missing == "snapshot.final"


@pytest.mark.parametrize(
    ("page", "missing"),
    [
        (look("final", None), "snapshot.final"),
        (look("final", Omitted(why="cap")), "snapshot.final"),
        (look("after", None, of=3), "snapshot.after@3"),
        (look("final", LOST), f"blob:{LOST}"),
        (look("final", HTML), f"blob:{HTML}"),
        (look("final", A), None),
    ],
)
def test_a_page_that_is_not_there_says_which_evidence_is_missing(
    page: Observation, missing: str | None
) -> None:
    [found] = Replay(Recorded(page)).pages
    assert found.missing == missing
    assert (found.dom is None) == (missing is not None)


def test_the_code_of_a_step_and_of_a_probe_name_them() -> None:
    before = Step(index=4, action=Click(), before=Observation(role="before"))
    probe = Probe(id="p", phase="post", requested="http://x.test/p", error="net::ERR")
    replay = Replay(Recorded(before, probe))
    assert replay.pages[0].missing == "snapshot.before@4"
    assert replay.probe("http://x.test/p").missing == "page:http://x.test/p"
    assert (replay.pages[0].url, replay.pages[0].title) == (None, None)


def test_a_damaged_snapshot_is_an_error_and_no_absence() -> None:
    with pytest.raises(SnapshotInvalid):
        _ = Replay(Recorded(look("final", BROKEN))).final.dom


def test_probes_are_found_by_the_url_asked_for() -> None:
    replay = Replay(Recorded(*RUN))
    found = replay.probe("http://X.test/p/?a=1&b=2")
    assert (found.dom.text, found.url, found.status, found.role, found.step) == (
        "probed",
        "http://x.test/q",
        404,
        "probe",
        None,
    )
    assert (found.read("#n").value, found.read("#m")) == ("1", None)
    assert replay.probe("http://x.test/p", phase="pre").dom.text == "first"
    assert replay.probe("http://x.test/p") is None
    assert replay.probe("http://x.test/q") is None


VISIT = look("after", A, 20, of=0, url="http://x.test/a")
LATER = look("after", A, 200, of=0, url="http://x.test/a")


@pytest.mark.parametrize(
    ("events", "is_believed"),
    [
        ((VISIT,), True),
        ((post(19), VISIT), True),
        ((VISIT, post(21)), False),
        ((VISIT, post(20)), False),
        ((post(21), VISIT), False),
        ((VISIT, post(21, "GET"), post(22, "HEAD"), post(23, "OPTIONS")), True),
        ((VISIT, post(21, "delete")), False),
        ((VISIT, post(21, status=403), post(22, status=404)), True),
        ((VISIT, post(21, status=500)), False),
        ((VISIT, post(21, "GET", status=101, sent_frames=1)), False),
        ((post(5, "GET", status=101, sent_frames=1), VISIT), False),
        ((post(5, "GET", status=101, sent_frames=1, ended=8), VISIT), True),
        ((VISIT, post(21, "GET", status=101)), True),
        ((VISIT, post(21, status=None)), False),
        ((post(15, ended=19), VISIT), True),
        ((post(15, received=18, ended=20), VISIT), False),
        ((post(15, received=21), VISIT), False),
        ((post(15, status=None), VISIT), False),
        ((post(15, status=None, error="net::ERR_FAILED", ended=19), VISIT), True),
        ((VISIT, post(21, actor="probe")), True),
        ((VISIT, post(21), look("after", B, 30, of=1, url="http://x.test/a")), False),
        ((VISIT, post(21), arrival(25), look("after", B, 130, of=1, url="http://x.test/a")), True),
        ((VISIT, post(21), arrival(99), look("after", B, 130, of=1, url="http://x.test/a")), False),
        ((arrival(16), post(15), LATER), True),
        ((arrival(16), post(17), LATER), False),
        ((arrival(16), post(17), arrival(18, same_document=True), LATER), False),
        ((arrival(16), post(17), arrival(18, frame=(0,)), LATER), False),
        ((arrival(16), post(17), arrival(18, committed=False), LATER), False),
        ((arrival(16), post(17), arrival(18, url="http://x.test/b"), LATER), False),
        ((arrival(18, url="http://x.test/b"), post(17), LATER), False),
        ((arrival(16, kind="back"), post(15), LATER), False),
        ((post(14, ended=16), post(15, "GET"), arrival(18, exchange=15), LATER), False),
        ((post(14, ended=15), post(16, "GET"), arrival(18, exchange=16), LATER), True),
        ((post(14, ended=16, redirect_to=16), post(16, "GET"), arrival(18, exchange=16), LATER), True),
        ((post(14), post(16, "GET", from_cache=True), arrival(18, exchange=16), LATER), False),
        ((VISIT, Gap(channel="network", why="flood")), False),
        ((look("after", None, 20, of=0, url="http://x.test/a"),), False),
        ((look("after", A, 20, of=0, url="http://x.test/a?x=1"),), False),
    ],
)  # fmt: skip
def test_a_visit_is_believed_while_nothing_may_have_changed(
    events: tuple[Any, ...], is_believed: bool
) -> None:
    assert (Replay(Recorded(*events)).visited("http://x.test/a") is not None) == is_believed


def step(t: int | None, action: Any, page: int = 0) -> Step:
    return Step(index=0, t=t, page=page, action=action)


@pytest.mark.parametrize(
    ("events", "is_believed"),
    [
        # Text that is typed and never saved stays on this page.
        ((arrival(5), step(10, Fill(value="x")), VISIT), False),
        ((arrival(5), VISIT, step(30, Fill(value="x"))), True),
        ((step(2, Click()), arrival(5), VISIT), True),
        ((arrival(5), step(10, Scroll(dy=9)), step(11, Wait(ms=1)), VISIT), True),
        ((arrival(5), step(10, Click(), page=1), VISIT), True),
        # The view that a script went to after the action; and the document seen once more before it.
        ((arrival(5), step(10, Click()), arrival(15, same_document=True), VISIT), True),
        ((arrival(5), VISIT, step(30, Fill(value="x")), LATER), True),
    ],
)
def test_a_visit_is_not_believed_after_an_action_on_it(events: tuple[Any, ...], is_believed: bool) -> None:
    found = Replay(Recorded(*events)).visited("http://x.test/a")
    assert (found is not None) == is_believed
    assert found is None or found.t == 20


def test_a_visit_after_an_action_without_times_goes_by_order() -> None:
    visit = Observation(role="after", of=0, page=0, url="http://x.test/a", snapshot=A)
    went = Navigation(page=0, url="http://x.test/a", kind="link")
    for events, is_believed in (
        ((went, step(None, Click()), visit), False),
        ((step(None, Click()), went, visit), True),
    ):
        assert (Replay(Recorded(*events)).visited("http://x.test/a") is not None) == is_believed


def test_a_visit_without_times_goes_by_order() -> None:
    visit = Observation(role="after", of=0, url="http://x.test/a", snapshot=A)
    change = Exchange(id=1, method="POST", url="u", status=200)
    assert Replay(Recorded(change, visit)).visited("http://x.test/a") is not None
    assert Replay(Recorded(visit, change)).visited("http://x.test/a") is None


def test_no_network_is_no_proof_that_nothing_changed() -> None:
    assert Replay(Recorded(VISIT, channels={"network": "absent"})).visited("http://x.test/a") is None


def test_all_roots_of_a_site_are_one() -> None:
    replay = Replay(Recorded(VISIT, sites={"shop": ("http://x.test", "http://old.test")}))
    assert replay.visited("http://old.test/a") is not None
    assert replay.visited("http://other.test/a") is None


def test_requests_of_probes_are_not_the_agents() -> None:
    replay = Replay(Recorded(post(1), post(2, actor="probe")))
    assert [exchange.id for exchange in replay.exchanges] == [1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://x.test/a/", "https://X.TEST//a", True),
        ("http://x.test:80/a", "http://x.test/a", True),
        ("http://x.test/a?b=1&a=2", "http://x.test/a?a=2&b=1", True),
        ("http://x.test/a?b=1", "http://x.test/a?b=1&b=1", False),
        ("http://x.test/a#x", "http://x.test/a", False),
        ("http://x.test/A", "http://x.test/a", False),
        ("http://x.test:81/a", "http://x.test/a", False),
        ("ftp://x.test/a", "http://x.test/a", False),
        ("not a url", "not a url", True),
        ("not a url", "other", False),
    ],
)
def test_same_url(one: str, other: str, same: bool) -> None:
    assert same_url(one, other) is same


def test_a_screenshot_is_made_smaller_only_where_it_is_too_wide(tmp_path: Path) -> None:
    made = (
        trajectory().goto("http://h.test/", "<p>").screenshot(40, 20).answer("x").write(tmp_path / "run.zst")
    )
    with open_bundle(made) as bundle:
        page = Replay(bundle)[0].after
        assert page is not None
        for width, size in ((40, (40, 20)), (10, (10, 5))):
            assert image_size(page.screenshot_within(width) or b"", "image/png") == size


def test_a_foreign_screenshot_that_is_too_wide_is_not_returned(tmp_path: Path) -> None:
    made = trajectory().goto("http://h.test/", "<p>")
    gif = b"GIF89a" + (40).to_bytes(2, "little") + (20).to_bytes(2, "little") + b"\0\0\0;"
    shot = made.keep("image/gif", gif)
    made.add(Observation(role="after", of=0, page=0, t=5, screenshot=shot)).answer("x").write(
        tmp_path / "run.zst"
    )
    with open_bundle(tmp_path / "run.zst") as bundle:
        page = Replay(bundle)[0].after
        assert page is not None
        assert page.screenshot_within(40) == gif
        assert page.screenshot_within(39) is None


def test_a_state_says_its_action_in_one_line() -> None:
    story = trajectory().click("button", "<button>Pay</button>", tag="button", name="Pay").build()
    assert Replay(Recorded(*story.events))[0].line == "<button> Pay -> CLICK"
