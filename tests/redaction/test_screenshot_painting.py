"""Screenshots of pages that held a secret: painted over where the page stood still, left out where nobody knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import Journal, seal
from replaykit.redaction.bundle_redaction import Redaction, redact
from replaykit.secrets.black_boxes import MARGIN_PX
from replaykit.trajectory.action import Click
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Header, Step

DOM, PIXMAP = "application/x-replaykit-dom", "image/x-portable-pixmap"
SECRET = "hunter22"
WITHHELD = Omitted(why="withheld")
WIDTH, HEIGHT = 80, 60


def page(text: str, box: tuple[int, int, int, int] = (10, 20, 30, 10), *flags: str) -> bytes:
    """Return the snapshot of one paragraph that stands in a box."""
    head = {
        "snapshot": 1,
        "url": "http://shop.test/",
        "elements": 3,
        "styles": ["none"],
        "flags": list(flags),
    }
    boxes = [0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, *box]
    lines = [head, ["<html", "<body", "<p", "=" + text, 3], [0, 0, 0], [] if "no_box" in flags else boxes]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def screenshot(scale: int = 1, shade: int = 200) -> bytes:
    width, height = WIDTH * scale, HEIGHT * scale
    return b"P6\n%d %d\n255\n" % (width, height) + bytes([shade]) * (3 * width * height)


class Run:
    """Looks at one page, in order."""

    def __init__(self, **header: Any) -> None:
        self.header = Header(**{"channels": {}, **header})
        self.events: list[Any] = []
        self.blobs: dict[str, tuple[str, bytes]] = {}

    def put(self, media_type: str, data: bytes) -> str:
        self.blobs[blob_id(data)] = (media_type, data)
        return blob_id(data)

    def see(self, dom: bytes | None, shot: bytes | None = None, kind: str = PIXMAP, **fields: Any) -> Run:
        t = 100 * (len(self.events) + 1)
        fields = {"role": "after", "viewport": (WIDTH, HEIGHT), "page": 0, "t": t, **fields}
        if dom is not None:
            fields["snapshot"] = self.put(DOM, dom)
        if shot is not None:
            soon = None if fields["t"] is None else fields["t"] + 20
            fields = {"screenshot": self.put(kind, shot), "shot_t": soon, **fields}
        self.events.append(Observation(**fields))
        return self

    def act(self, dom: bytes, **fields: Any) -> Run:
        t = 100 * (len(self.events) + 1)
        before = Observation(role="before", t=t, snapshot=self.put(DOM, dom), **fields)
        self.events.append(Step(index=0, t=t, page=0, action=Click(), before=before))
        return self

    def redact(self, folder: Path, **options: Any) -> tuple[Redaction, list[Any]]:
        """Write it, redact it, and return what was done and the observations with their screenshots loaded."""
        with Journal.create(folder / "run.zst") as journal:
            journal.commit([self.header])
            journal.commit(self.events, [(id, kind, data) for id, (kind, data) in self.blobs.items()])
        seal(folder / "run.zst")
        done = redact(folder / "run.zst", folder / "out.zst", **options)
        assert verify(folder / "out.zst").findings == ()
        with open_bundle(folder / "out.zst") as bundle:
            seen = [one.screenshot for one in bundle.trajectory.of_type(Observation)]
            return done, [bundle.blob(one) if isinstance(one, str) else one for one in seen]


@pytest.fixture
def declared() -> dict[str, Any]:
    return {"secrets": {"PW": SECRET}}


def black(shot: bytes, scale: int = 1) -> set[tuple[int, int]]:
    width, pixels = WIDTH * scale, shot[shot.index(b"\n255\n") + 5 :]
    found = (at for at in range(len(pixels) // 3) if pixels[3 * at : 3 * at + 3] == b"\0\0\0")
    return {(at % width, at // width) for at in found}


@pytest.mark.parametrize("scale", [1, 2])
def test_a_page_that_stood_still_is_painted_over(
    scale: int, tmp_path: Path, declared: dict[str, Any]
) -> None:
    shown = page(f"It is {SECRET}")
    done, (shot, _) = Run().see(shown, screenshot(scale)).see(shown).redact(tmp_path, **declared)
    left, right, top, bottom = 10 - MARGIN_PX, 40 + MARGIN_PX, 20 - MARGIN_PX, 30 + MARGIN_PX
    columns, rows = range(left * scale, right * scale), range(top * scale, bottom * scale)
    assert black(shot, scale) == {(x, y) for x in columns for y in rows}
    assert (done.painted, done.withheld) == (1, 0)


def test_the_next_action_s_own_look_says_that_it_stood_still(
    tmp_path: Path, declared: dict[str, Any]
) -> None:
    shown = page(SECRET)
    _, (shot,) = Run().see(shown, screenshot()).act(shown).redact(tmp_path, **declared)
    assert black(shot)


@pytest.mark.parametrize(
    "later",
    [page("gone"), page(SECRET, (11, 20, 30, 10)), page(f"{SECRET} cut", (10, 20, 30, 10), "cut")],
    ids=["went", "moved", "cut"],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_page_that_did_not_stand_still_is_left_out(
    later: bytes, is_first: bool, tmp_path: Path, declared: dict[str, Any]
) -> None:
    first, second = (page(SECRET), later) if is_first else (later, page(SECRET))
    done, (shot, _) = Run().see(first, screenshot()).see(second).redact(tmp_path, **declared)
    assert shot == WITHHELD
    assert (done.painted, done.withheld) == (0, 1)


def test_what_came_and_went_while_the_screenshot_was_taken_counts(
    tmp_path: Path, declared: dict[str, Any]
) -> None:
    run = Run().see(page("a"), screenshot(), shot_t=250).see(page(SECRET)).see(page("a"))
    _, (shot, *_) = run.redact(tmp_path, **declared)
    assert shot == WITHHELD


def test_looks_at_another_tab_say_nothing(tmp_path: Path, declared: dict[str, Any]) -> None:
    run = Run().see(page("a"), screenshot()).see(page(SECRET), page=1).see(page("a"))
    _, (shot, *_) = run.redact(tmp_path, **declared)
    assert shot == screenshot()


def test_a_page_without_a_secret_keeps_its_screenshot(tmp_path: Path, declared: dict[str, Any]) -> None:
    done, (shot, _) = Run().see(page("a"), screenshot()).see(page("b")).redact(tmp_path, **declared)
    assert shot == screenshot()
    assert (done.blobs, done.painted, done.withheld) == (0, 0, 0)


@pytest.mark.parametrize(
    ("options", "kept"), [({"secrets": {"PW": SECRET}}, False), ({"patterns": ["x{9}"]}, False), ({}, True)]
)
def test_a_screenshot_of_an_unknown_page_is_kept_only_where_nothing_was_named(
    options: dict[str, Any], kept: bool, tmp_path: Path
) -> None:
    _, (shot,) = Run().see(None, screenshot()).redact(tmp_path, **options)
    assert shot == (screenshot() if kept else WITHHELD)


def test_a_frame_that_holds_the_secret_has_no_place(tmp_path: Path, declared: dict[str, Any]) -> None:
    run = Run()
    frames = (Frame(snapshot=run.put(DOM, page(SECRET))),)
    _, (shot,) = run.see(page("a"), screenshot(), frames=frames).redact(tmp_path, **declared)
    assert shot == WITHHELD


def test_an_unreadable_frame_may_show_it(tmp_path: Path, declared: dict[str, Any]) -> None:
    run = Run().see(page("a"), screenshot(), frames=(Frame(why="unreadable"),))
    assert run.redact(tmp_path, **declared)[1] == [WITHHELD]


def test_a_snapshot_without_boxes_has_no_place_either(tmp_path: Path, declared: dict[str, Any]) -> None:
    shown = page(SECRET, (0, 0, 0, 0), "no_box")
    assert Run().see(shown, screenshot()).see(shown).redact(tmp_path, **declared)[1][0] == WITHHELD


def test_a_screenshot_that_is_no_pixmap_cannot_be_painted(tmp_path: Path, declared: dict[str, Any]) -> None:
    shown, png = page(SECRET), b"\x89PNG and so on"
    run = Run().see(shown, png, "image/png").see(shown).see(page("a"), png + b"2", "image/png").see(page("a"))
    _, (first, _, third, _) = run.redact(tmp_path, **declared)
    assert (first, third) == (WITHHELD, png + b"2")


def test_a_secret_in_the_bytes_of_a_screenshot_leaves_it_out(
    tmp_path: Path, declared: dict[str, Any]
) -> None:
    run = Run().see(page("a"), b"\x89PNG tEXt " + SECRET.encode(), "image/png").see(page("a"))
    assert run.redact(tmp_path, **declared)[1][0] == WITHHELD


def test_one_screenshot_shown_twice_obeys_both(tmp_path: Path, declared: dict[str, Any]) -> None:
    here, there = page(SECRET, (0, 0, 9, 9)), page(SECRET, (40, 40, 9, 9))
    run = Run().see(here, screenshot()).see(here).see(there, screenshot(), page=1).see(there, page=1)
    done, (first, _, third, _) = run.redact(tmp_path, **declared)
    assert first == third
    assert {(0, 0), (44, 44)} <= black(first)
    assert done.painted == 1


def test_what_is_known_of_a_screenshot_once_is_known_of_its_pixels(
    tmp_path: Path, declared: dict[str, Any]
) -> None:
    shown = page(SECRET)
    run = Run().see(None, screenshot()).see(shown, screenshot()).see(shown)
    done, (first, second, _) = run.redact(tmp_path, **declared)
    assert first == second
    assert black(first)
    assert (done.painted, done.withheld) == (1, 0)


def test_without_a_viewport_a_screenshot_has_no_scale(tmp_path: Path, declared: dict[str, Any]) -> None:
    shown = page(SECRET)
    run = Run().see(shown, screenshot(), viewport=None).see(shown)
    assert run.redact(tmp_path, **declared)[1][0] == WITHHELD


def test_what_a_built_in_pattern_hides_is_painted_over_too(tmp_path: Path) -> None:
    shown = page("4111 1111 1111 1111")
    _, (shot, _) = Run().see(shown, screenshot()).see(shown).redact(tmp_path)
    assert black(shot)


def test_without_times_the_order_of_lines_counts(tmp_path: Path, declared: dict[str, Any]) -> None:
    run = Run(clock="none").see(page(SECRET), screenshot(), t=None).see(page("a"), t=None)
    assert run.redact(tmp_path, **declared)[1][0] == WITHHELD


def test_a_snapshot_nested_too_deeply_has_no_place(tmp_path: Path, declared: dict[str, Any]) -> None:
    head, _, style, boxes, _ = page(SECRET).split(b"\n")
    tokens = b'["<html",' + b"[" * 900 + f'"{SECRET}"'.encode() + b"]" * 900 + b",1]"
    deep = b"\n".join([head, tokens, style, boxes, b""])
    _, (shot, _) = Run().see(deep, screenshot()).see(deep).redact(tmp_path, **declared)
    assert shot == WITHHELD
