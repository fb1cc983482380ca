from __future__ import annotations

from typing import Any

from replaykit.recorder.page.page_script import PageFrame, PageNode, PagePush
from replaykit.recorder.session.driver_messages import MAIN, Source
from replaykit.recorder.session.observations.frame_origins import FrameOrigins
from replaykit.recorder.session.observations.snapshot_history import (
    DEPTH_MAX,
    FRAMES_LISTED_MAX,
    FRAMES_MAX,
    PushedSnapshot,
    SnapshotHistory,
)
from replaykit.recorder.session.outbox import Blob
from replaykit.trajectory.observation import Frame

AD: Source = ("F", 0)


def shown(
    name: str, at: float, source: Source = MAIN, seq: int = 0, document: int = 0, **more: Any
) -> PushedSnapshot:
    push = PagePush(seq=seq, at=at, purpose="rest", snapshot="", url=f"http://{name}/", **more)
    blob = Blob(id=f"{name}@{at:.0f}", media_type="x/y", data=b"")
    return PushedSnapshot(at=at, document=document, source=source, push=push, blob=blob)


def entry(frame: str, number: int = 3, **more: Any) -> PageFrame:
    return PageFrame(number=number, path=(0,), url="http://src/", id=frame, **more)


def seen(snapshots: SnapshotHistory, main: PushedSnapshot, until: float = float("inf")) -> list[Any]:
    return [described(frame) for frame in snapshots.frames(main, until)[0]]


def described(frame: Frame) -> Any:
    inner = [described(one) for one in frame.frames]
    name = frame.snapshot if frame.snapshot is not None else frame.why
    return (name, inner) if inner else name


def test_a_page_is_given_with_its_frames_as_they_were() -> None:
    snapshots = SnapshotHistory()
    main = shown("main", 10, frames=(entry("F"), entry("G")))
    for one in (main, shown("ad", 11, AD), shown("ad", 20, AD, seq=1)):
        snapshots.add(one)
    assert seen(snapshots, main) == ["ad@20", "unseen"]
    assert seen(snapshots, main, until=15) == ["ad@11", "unseen"]
    assert seen(snapshots, main, until=10) == ["unseen", "unseen"]
    assert [blob.id for blob in snapshots.frames(main)[1]] == ["ad@20"]


def test_a_document_that_was_left_is_not_shown_any_more() -> None:
    snapshots = SnapshotHistory()
    main = shown("main", 10, frames=(entry("F"),))
    snapshots.add(main)
    snapshots.add(shown("ad", 11, AD))
    snapshots.leave(AD, 15, "left")
    assert seen(snapshots, main, until=14) == ["ad@11"]
    assert seen(snapshots, main) == ["unseen"]
    snapshots.add(shown("next", 20, ("F", 1)))
    assert seen(snapshots, main) == ["next@20"]
    snapshots.leave(("F", 1), 30, "crashed")
    assert seen(snapshots, main) == ["crashed"]


def test_a_frame_of_another_page_is_not_this_one_s() -> None:
    snapshots = SnapshotHistory()
    main = shown("main", 10, document=1, frames=(entry("F"),))
    snapshots.add(shown("ad", 5, AD, document=0))
    snapshots.add(main)
    assert seen(snapshots, main) == ["unseen"]


def test_an_element_without_a_reported_owner_holds_an_unknown_frame() -> None:
    snapshots = SnapshotHistory()
    main = shown("main", 10, seq=4, frames=(entry("", 3), entry("", 8)))
    snapshots.add(main)
    snapshots.add(shown("ad", 11, AD))
    assert seen(snapshots, main) == ["unmatched", "unmatched"]
    snapshots.own(MAIN, PageNode(push=4, number=8), "F")
    assert seen(snapshots, main) == ["unmatched", "ad@11"]


def test_frames_in_frames() -> None:
    snapshots = SnapshotHistory()
    main = shown("main", 10, frames=(entry("F"),))
    for one in (main, shown("ad", 11, AD, frames=(entry("H"),)), shown("deep", 12, ("H", 0))):
        snapshots.add(one)
    assert seen(snapshots, main) == [("ad@11", ["deep@12"])]
    assert [one.blob.id for one in snapshots.all_in(main) if one] == ["ad@11", "deep@12"]


def test_a_frame_that_claims_to_hold_itself_ends_somewhere() -> None:
    snapshots = SnapshotHistory()
    many = tuple(entry("F", number) for number in range(20))
    main = shown("main", 10, frames=many)
    snapshots.add(main)
    snapshots.add(shown("ad", 11, AD, frames=many))
    frames, blobs = snapshots.frames(main)
    assert len(blobs) <= FRAMES_LISTED_MAX
    assert depth(frames) <= DEPTH_MAX + 1
    assert len(list(snapshots.all_in(main))) <= FRAMES_LISTED_MAX + len(many)
    assert FrameOrigins(snapshots).origin(("Z", 0), 0, 20) is None


def depth(frames: tuple[Frame, ...]) -> int:
    return 1 + max(depth(frame.frames) for frame in frames) if frames else 0


def test_memory_is_bounded() -> None:
    snapshots = SnapshotHistory()
    offsets = FrameOrigins(snapshots)
    for number in range(10 * FRAMES_MAX):
        source = (f"F{number}", 0)
        offsets.scrolled(source, number, (0, 1))
        snapshots.add(shown("ad", number, source))
        snapshots.leave(source, number, "left")
    main = shown("main", 0, frames=tuple(entry(f"F{number}") for number in range(FRAMES_LISTED_MAX)))
    assert set(seen(snapshots, main)) == {"unseen"}
    assert len(snapshots._frames) == FRAMES_MAX
    assert max(len(snapshots._left), len(offsets._scrolls)) == 4 * FRAMES_MAX


def test_before_is_by_counter_in_the_main_frame_and_by_time_elsewhere() -> None:
    snapshots = SnapshotHistory()
    for one in (shown("main", 10, seq=1), shown("main", 20, seq=5), shown("ad", 15, AD, seq=9)):
        snapshots.add(one)
    assert ids(snapshots.before(0, MAIN, 4, 99), snapshots.before(0, AD, 0, 99)) == ["main@10", "main@20"]
    assert ids(snapshots.of_frame(0, AD, 9), snapshots.of_frame(0, AD, 8)) == ["ad@15", None]
    assert snapshots.url(AD) == "http://ad/"
    assert snapshots.url(MAIN) is None


def ids(*found: PushedSnapshot | None) -> list[str | None]:
    return [one.blob.id if one else None for one in found]
