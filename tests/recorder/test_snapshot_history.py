from __future__ import annotations

from typing import Any

from replaykit.recorder.page.page_script import PageFrame, PageNode, PagePush
from replaykit.recorder.session.driver_messages import MAIN, Source
from replaykit.recorder.session.outbox import Blob
from replaykit.recorder.session.snapshot_history import (
    DEPTH_MAX,
    FRAMES_MAX,
    FRAMES_TOLD_MAX,
    PushedSnapshot,
    Sights,
)
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


def seen(sights: Sights, main: PushedSnapshot, until: float = float("inf")) -> list[Any]:
    return [told(frame) for frame in sights.frames(main, until)[0]]


def told(frame: Frame) -> Any:
    inner = [told(one) for one in frame.frames]
    name = frame.snapshot if frame.snapshot is not None else frame.why
    return (name, inner) if inner else name


def test_a_page_is_told_with_its_frames_as_they_were() -> None:
    sights = Sights()
    main = shown("main", 10, frames=(entry("F"), entry("G")))
    for one in (main, shown("ad", 11, AD), shown("ad", 20, AD, seq=1)):
        sights.add(one)
    assert seen(sights, main) == ["ad@20", "unseen"]
    assert seen(sights, main, until=15) == ["ad@11", "unseen"]
    assert seen(sights, main, until=10) == ["unseen", "unseen"]
    assert [blob.id for blob in sights.frames(main)[1]] == ["ad@20"]


def test_a_document_that_was_left_is_not_shown_any_more() -> None:
    sights = Sights()
    main = shown("main", 10, frames=(entry("F"),))
    sights.add(main)
    sights.add(shown("ad", 11, AD))
    sights.leave(AD, 15, "left")
    assert seen(sights, main, until=14) == ["ad@11"]
    assert seen(sights, main) == ["unseen"]
    sights.add(shown("next", 20, ("F", 1)))
    assert seen(sights, main) == ["next@20"]
    sights.leave(("F", 1), 30, "crashed")
    assert seen(sights, main) == ["crashed"]


def test_a_frame_of_another_page_is_not_this_one_s() -> None:
    sights = Sights()
    main = shown("main", 10, document=1, frames=(entry("F"),))
    sights.add(shown("ad", 5, AD, document=0))
    sights.add(main)
    assert seen(sights, main) == ["unseen"]


def test_an_element_that_nobody_has_told_of_holds_an_unknown_frame() -> None:
    sights = Sights()
    main = shown("main", 10, seq=4, frames=(entry("", 3), entry("", 8)))
    sights.add(main)
    sights.add(shown("ad", 11, AD))
    assert seen(sights, main) == ["unmatched", "unmatched"]
    sights.own(MAIN, PageNode(push=4, number=8), "F")
    assert seen(sights, main) == ["unmatched", "ad@11"]


def test_frames_in_frames() -> None:
    sights = Sights()
    main = shown("main", 10, frames=(entry("F"),))
    for one in (main, shown("ad", 11, AD, frames=(entry("H"),)), shown("deep", 12, ("H", 0))):
        sights.add(one)
    assert seen(sights, main) == [("ad@11", ["deep@12"])]
    assert [one.blob.id for one in sights.all_in(main) if one] == ["ad@11", "deep@12"]


def test_a_frame_that_claims_to_hold_itself_ends_somewhere() -> None:
    sights = Sights()
    many = tuple(entry("F", number) for number in range(20))
    main = shown("main", 10, frames=many)
    sights.add(main)
    sights.add(shown("ad", 11, AD, frames=many))
    frames, blobs = sights.frames(main)
    assert len(blobs) <= FRAMES_TOLD_MAX
    assert depth(frames) <= DEPTH_MAX + 1
    assert len(list(sights.all_in(main))) <= FRAMES_TOLD_MAX + len(many)
    assert sights.origin(("Z", 0), 0, 20) is None


def depth(frames: tuple[Frame, ...]) -> int:
    return 1 + max(depth(frame.frames) for frame in frames) if frames else 0


def test_memory_is_bounded() -> None:
    sights = Sights()
    for number in range(10 * FRAMES_MAX):
        source = (f"F{number}", 0)
        sights.add(shown("ad", number, source))
        sights.leave(source, number, "left")
    main = shown("main", 0, frames=tuple(entry(f"F{number}") for number in range(FRAMES_TOLD_MAX)))
    assert set(seen(sights, main)) == {"unseen"}
    assert len(sights._frames) == FRAMES_MAX
    assert max(len(sights._left), len(sights._scrolls)) == 4 * FRAMES_MAX


def test_a_frame_begins_where_its_content_does_less_what_is_scrolled() -> None:
    sights = Sights()
    sights.add(shown("main", 10, scroll=(0, 100), frames=(entry("F", origin=(50, 400)),)))
    sights.add(shown("ad", 11, AD, frames=(entry("H", origin=(5, 70)),)))
    assert sights.origin(MAIN, 0, 20) == (0, 0)
    assert sights.origin(AD, 0, 20) == (50, 300)
    sights.scrolled(MAIN, 15, (0, 250))
    sights.scrolled(AD, 16, (1, 20))
    assert sights.origin(AD, 0, 14) == (50, 300)
    assert sights.origin(AD, 0, 20) == (50, 150)
    assert sights.origin(("H", 3), 0, 20) == (54, 200)
    assert sights.origin(("unknown", 0), 0, 20) is None
    assert sights.origin(AD, 1, 20) is None


def test_before_is_by_counter_in_the_main_frame_and_by_time_elsewhere() -> None:
    sights = Sights()
    for one in (shown("main", 10, seq=1), shown("main", 20, seq=5), shown("ad", 15, AD, seq=9)):
        sights.add(one)
    assert ids(sights.before(0, MAIN, 4, 99), sights.before(0, AD, 0, 99)) == ["main@10", "main@20"]
    assert ids(sights.told_from(0, AD, 9), sights.told_from(0, AD, 8)) == ["ad@15", None]
    assert sights.url(AD) == "http://ad/"
    assert sights.url(MAIN) is None


def ids(*found: PushedSnapshot | None) -> list[str | None]:
    return [one.blob.id if one else None for one in found]
