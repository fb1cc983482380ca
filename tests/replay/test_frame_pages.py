"""Frames that their page cannot read: found, parsed on demand, never entered by a query on the page."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.replay.frame_pages import DEPTH_MAX, find
from replaykit.replay.player import Replay
from replaykit.testing.pages import snapshot
from replaykit.trajectory.action import Click
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Header, Probe, Step, Trajectory

PAGE, PAY, DEEP, LOST = "a" * 64, "b" * 64, "c" * 64, "e" * 64
DOM = "application/x-replaykit-dom"


def with_frame(body: str, ordinal: int = 0) -> bytes:
    """A page whose last iframe cannot be read."""
    head, tokens, style, box = snapshot(body).split(b"\n")[:4]
    flat: list[Any] = msgspec.json.decode(tokens)
    last = max(at for at, token in enumerate(flat) if token == "<iframe")
    after = last + 2 if isinstance(flat[last + 1], list) else last + 1
    flat.insert(after, {"frame": ordinal})
    return b"\n".join([head, msgspec.json.encode(flat), style, box]) + b"\n"


BLOBS = {
    PAGE: with_frame("<p>Shop</p><div id=box><iframe id=pay></iframe></div>"),
    PAY: with_frame("<p>Pay</p><form id=form><button>Pay now</button></form><iframe id=in></iframe>"),
    DEEP: snapshot("<p>Deep</p>"),
}


class Recorded:
    def __init__(self, *events: Any) -> None:
        self.trajectory = Trajectory(header=Header(channels={}), events=events)

    def __contains__(self, id: object) -> bool:
        return id in BLOBS

    def blob(self, id: str) -> bytes:
        return BLOBS[id]

    def blob_type(self, id: str) -> str:
        return DOM


FRAMES = (
    Frame(
        snapshot=PAY,
        url="http://pay.test/",
        frames=(
            Frame(snapshot=DEEP, url="http://deep.test/"),
            Frame(url="http://lost.test/", why="crashed"),
        ),
    ),
    Frame(snapshot=Omitted(why="cap"), why="unseen"),
    Frame(snapshot=LOST),
)
LOOK = Observation(role="before", t=1, page=0, snapshot=PAGE, frames=FRAMES)


def test_frames_of_a_page_by_ordinal() -> None:
    (state,) = Replay(Recorded(Step(t=1, page=0, index=0, action=Click(), before=LOOK)))
    pay, omitted, lost = state.frames
    assert (pay.url, pay.why, pay.ordinal) == ("http://pay.test/", None, 0)
    assert pay.dom is not None
    assert [node.text_content for node in pay.dom.select_all("p")] == ["Pay"]
    assert (omitted.dom, omitted.why, omitted.snapshot_id) == (None, "unseen", None)
    assert (lost.dom, lost.snapshot_id) == (None, LOST)
    deep, crashed = pay.frames
    assert deep.dom is not None and deep.dom.select("p") is not None
    assert (crashed.dom, crashed.why, crashed.frames) == (None, "crashed", ())


def test_query_on_a_page_ends_at_its_frames() -> None:
    (page,) = Replay(Recorded(LOOK)).pages
    assert page.dom is not None
    assert [node.text_content for node in page.dom.select_all("p")] == ["Shop"]
    assert page.dom.select("button") is None


def test_frame_knows_the_element_that_holds_it() -> None:
    (page,) = Replay(Recorded(LOOK)).pages
    pay, omitted, _ = page.frames
    owner = pay.owner
    assert owner is not None
    assert owner.attribute("id") == "pay"
    assert owner.closest("#box") is not None
    deep, crashed = pay.frames
    assert deep.owner is not None and deep.owner.attribute("id") == "in"
    assert (omitted.owner, crashed.owner) == (None, None)


def test_snapshot_is_found_in_frames_of_frames() -> None:
    (page,) = Replay(Recorded(LOOK)).pages
    found = find(page.frames, DEEP)
    assert found is not None and found.outer is page.frames[0]
    assert find(page.frames, "f" * 64) is None


def test_frames_of_a_probe() -> None:
    (probe,) = Replay(Recorded(Probe(t=1, id="p0", phase="post", snapshot=PAGE, frames=FRAMES[:1]))).probes
    assert [frame.url for frame in probe.frames] == ["http://pay.test/"]


def test_endless_frames_end() -> None:
    frame = Frame(snapshot=DEEP)
    for _ in range(3 * DEPTH_MAX):
        frame = Frame(snapshot=DEEP, frames=(frame,))
    (page,) = Replay(Recorded(Observation(role="start", t=0, snapshot=PAGE, frames=(frame,)))).pages
    views, depth = page.frames, 0
    while views:
        views, depth = views[0].frames, depth + 1
    assert depth == DEPTH_MAX + 1
    assert find(page.frames, "f" * 64) is None


def test_page_without_a_step_before_it_has_no_frames() -> None:
    (state,) = Replay(Recorded(Step(t=1, page=0, index=0, action=Click())))
    assert state.frames == ()
