from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from replaykit.bundle import container
from replaykit.bundle.bundle_format import KIB, Limits
from replaykit.bundle.byte_source import LocalSource
from replaykit.bundle.opening import read_container
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.writer import Journal, seal
from replaykit.errors import (
    BlobMissing,
    BundleDamaged,
    DigestMismatch,
    EventInvalid,
    LimitExceeded,
    SourceError,
)
from replaykit.trajectory.action import Click, Unknown
from replaykit.trajectory.step import Ending, Header, Step

LINE = b'{"type":"header","channels":{}}'
RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))


class Counting(LocalSource):
    """A file that counts what is read from it."""

    reads = 0
    total = 0

    def read_range(self, offset: int, length: int) -> bytes:
        self.reads += 1
        self.total += length
        return super().read_range(offset, length)


def counted(path: Path) -> tuple[Counting, Bundle]:
    source = Counting(path)
    return source, Bundle(read_container(source, Limits()))


@pytest.fixture
def sealed(journal: Path) -> Path:
    seal(journal)
    return journal


def test_what_a_bundle_says(sealed: Path, hands) -> None:
    bundle = open_bundle(sealed)
    assert bundle.name == str(sealed)
    assert (bundle.format, bundle.layout, bundle.torn_bytes) == (1, "sealed", 0)
    assert len(bundle.digest) == 64
    assert bundle.header.created == "2026-01-01T00:00:00Z"
    assert [step.index for step in bundle.trajectory.steps] == [0, 1, 2]
    assert bundle.ending == Ending(kind="answered", answer="7", t=900)
    assert set(bundle.blob_ids) == {id for _, blobs in hands.small_commits() for id, _, _ in blobs}
    assert bundle.blob_ids[0] in bundle
    assert "0" * 64 not in bundle
    assert "sealed" in repr(bundle)
    bundle.close()
    bundle.close()


def test_the_header_is_read_without_the_events(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_bundle(sealed) as whole:
        expected = whole.trajectory.header
        assert whole.header is expected
    frames: list[int] = []
    decoded = container.Container.frame

    def counted_frame(self: container.Container, number: int) -> bytes:
        frames.append(number)
        return decoded(self, number)

    monkeypatch.setattr(container.Container, "frame", counted_frame)
    with open_bundle(sealed) as bundle:
        assert bundle.header == expected
        assert "trajectory" not in vars(bundle)
        assert len(bundle.trajectory.steps) == 3
    assert len(frames) == len(set(frames)), "no frame is decoded twice"


def test_what_was_read_stays_usable(sealed: Path) -> None:
    with open_bundle(sealed) as bundle:
        trajectory = bundle.trajectory
        (first, *_) = bundle.blob_ids
    assert bundle.trajectory is trajectory
    with pytest.raises(SourceError):
        bundle.blob(first)


def test_lines_are_the_story(sealed: Path) -> None:
    with open_bundle(sealed) as bundle:
        assert bundle.lines[0].startswith(b'{"type":"header"')
        assert len(bundle.lines) == 6


def test_an_interrupted_run_has_no_ending(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.zst") as journal:
        journal.commit([Header(channels={}), Step(index=0, action=Click())])
    seal(tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.ending is None


def test_missing_blobs(sealed: Path) -> None:
    with open_bundle(sealed) as bundle:
        for ask in (bundle.blob, bundle.blob_type):
            with pytest.raises(BlobMissing, match="0000"):
                ask("0" * 64)


def test_the_first_blob_of_a_frame_is_decoded_alone(tmp_path: Path, hands, monkeypatch) -> None:
    path = tmp_path / "run.zst"
    pages = [hands.blob(b"<p>%d</p>" % n * 500) for n in range(5)]
    with Journal(path) as journal:
        journal.commit([Header(channels={})], pages)
    seal(path)
    asked: list[tuple[int | None, int | None]] = []
    real = container.decode

    def decode(frame, place, limits, expected=None, upto=None):  # type: ignore[no-untyped-def]  # a spy
        asked.append((expected, upto))
        return real(frame, place, limits, expected, upto)

    with open_bundle(path) as bundle:
        monkeypatch.setattr(container, "decode", decode)
        newest, *others = bundle.blob_ids
        contents = {id: payload for id, _, payload in pages}
        assert bundle.blob(newest) == contents[newest]
        assert len(asked) == 1
        assert asked[0][1] is not None
        assert asked[0][1] < 5000 < len(pages) * 4000
        assert [bundle.blob(id) for id in others] == [contents[id] for id in others]
        assert len(asked) == 2
        assert asked[1][1] is None


def test_a_changed_blob_is_noticed_on_its_partial_read(scratch: Callable[[bytes], Path], hands) -> None:
    blobs = [hands.blob(b"<p>1</p>"), hands.blob(b"<p>2</p>")]
    ids, index = [blob[0] for blob in blobs], hands.story_index([LINE], blobs)
    content = hands.sealed_bytes([b"<p>3</p><p>2</p>", hands.story_text([LINE])], index)
    with open_bundle(scratch(content)) as bundle:
        with pytest.raises(DigestMismatch, match=ids[0]):
            bundle.blob(ids[0])
        assert bundle.blob(ids[1]) == b"<p>2</p>"
        with pytest.raises(DigestMismatch):
            bundle.blob(ids[0])


def test_a_changed_story_is_noticed(scratch: Callable[[bytes], Path], hands) -> None:
    ending = b'{"type":"ending","kind":"answered","answer":"7"}'
    index = hands.story_index([LINE, ending])
    story = hands.story_text([LINE, ending.replace(b"7", b"8")])
    with open_bundle(scratch(hands.sealed_bytes([story], index))) as bundle:
        for _ in range(2):
            with pytest.raises(DigestMismatch, match="story"):
                _ = bundle.trajectory


def test_story_frames_out_of_order_are_noticed(scratch: Callable[[bytes], Path], hands) -> None:
    lines = [LINE, *(b'{"type":"ending","kind":"%d"}' % n for n in range(3))]
    frames = [hands.story_text(lines[:2]), hands.story_text(lines[2:3]), hands.story_text(lines[3:])]
    index = hands.story_index(lines)
    assert open_bundle(scratch(hands.sealed_bytes(frames, index))).lines == tuple(lines)
    path = scratch(hands.sealed_bytes([frames[0], *frames[:0:-1]], index))
    with open_bundle(path) as bundle, pytest.raises(DigestMismatch, match="story"):
        _ = bundle.trajectory


def referring(story: bytes, lines: list[bytes], hands) -> bytes:
    """Return a sealed file of two blobs and this raw story."""
    return hands.sealed_bytes([b"<p>1</p>", b"<p>2", story], hands.story_index(lines, PAGES))


PAGES = [(hashlib.sha256(page).hexdigest(), "text/html", page) for page in (b"<p>1</p>", b"<p>2")]


def test_references_are_restored(scratch: Callable[[bytes], Path], hands) -> None:
    said = b'{"type":"hologram","scans":["%b","%b"],"text":"%b"}'
    lines = [LINE, said % (PAGES[1][0].encode(), PAGES[0][0].encode(), b"0" * 64)]
    story = hands.story_text([LINE, said % (b"\x001", b"\x000", b"0" * 64)])
    with open_bundle(scratch(referring(story, lines, hands))) as bundle:
        assert bundle.lines == tuple(lines)


@pytest.mark.parametrize("number", [b"2", b"999999", b"9999999", b"", b"x"])
def test_references_to_nothing_are_refused(number: bytes, scratch: Callable[[bytes], Path], hands) -> None:
    story = hands.story_text([LINE, b'{"type":"hologram","scan":"\0%b"}' % number])
    path = scratch(referring(story, [LINE, b"{}"], hands))
    with open_bundle(path) as bundle, pytest.raises((BundleDamaged, DigestMismatch), match="story"):
        _ = bundle.lines


@pytest.mark.parametrize("many", [1_000, 1_000_000])
def test_references_that_restore_to_more_than_an_event(many: int, scratch, hands) -> None:
    story = hands.story_text([LINE, b'{"type":"x","y":"%b"}' % (b"\x001" * many)])
    path = scratch(referring(story, [LINE, b"{}"], hands))
    with open_bundle(path, Limits(event=60_000)) as bundle:
        tracemalloc.start()
        try:
            with pytest.raises(LimitExceeded, match="EVENT_MAX"):
                _ = bundle.lines
            assert tracemalloc.get_traced_memory()[1] < 5 * len(story) + 2**18
        finally:
            tracemalloc.stop()


def test_unknown_types_are_read(scratch: Callable[[bytes], Path], hands) -> None:
    lines = [LINE, b'{"type":"hologram","x":1}', b'{"type":"step","index":0,"action":{"type":"fly"}}']
    with open_bundle(scratch(hands.journal_bytes(hands.story_raw(lines)))) as bundle:
        assert bundle.trajectory.events[0] == Unknown(name="hologram", raw='{"type":"hologram","x":1}')
        assert bundle.trajectory.steps[0].action == Unknown(name="fly", raw='{"type":"fly"}')


def test_a_bad_event_names_itself(scratch: Callable[[bytes], Path], hands) -> None:
    lines = [LINE, b'{"type":"ending","kind":"answered"}', b'{"type":"ending","kind":7}']
    with open_bundle(scratch(hands.journal_bytes(hands.story_raw(lines)))) as bundle:
        with pytest.raises(EventInvalid) as caught:
            _ = bundle.trajectory
        assert (caught.value.fields["number"], caught.value.fields["path"]) == (1, "$.kind")


@pytest.mark.parametrize("layout", ["journal", "sealed"])
@pytest.mark.parametrize(
    "limit", ["file", "raw", "frame_raw", "window", "frames", "blobs", "events", "steps", "blob", "header",
              "event", "story"]
)  # fmt: skip
def test_limits(journal: Path, layout: str, limit: str) -> None:
    if layout == "sealed":
        seal(journal)
    with pytest.raises(LimitExceeded) as caught, open_bundle(journal, Limits(**{limit: 2})) as bundle:
        _ = bundle.trajectory
        _ = [bundle.blob(id) for id in bundle.blob_ids]
    assert caught.value.fields["limit"] == f"{limit.upper()}_MAX"
    assert caught.value.fields["allowed"] == 2


def test_grading_reads_little() -> None:
    """Story and every page of the shipped recordings: 64 KiB in nine of ten, in two reads."""
    bytes_read, reads = [], []
    for path in RECORDINGS:
        source, bundle = counted(path)
        with bundle:
            _ = bundle.trajectory
            for id in bundle.blob_ids:
                if not bundle.blob_type(id).startswith("image/"):
                    bundle.blob(id)
        bytes_read.append(source.total)
        reads.append(source.reads)
    assert sorted(bytes_read)[9 * len(RECORDINGS) // 10 - 1] <= 64 * KIB
    assert sorted(reads)[9 * len(RECORDINGS) // 10 - 1] <= 2


def test_a_small_bundle_is_one_read(sealed: Path) -> None:
    source, bundle = counted(sealed)
    with bundle:
        _ = bundle.trajectory
        _ = [bundle.blob(id) for id in bundle.blob_ids]
    assert (source.reads, source.total) == (1, sealed.stat().st_size)


def test_no_byte_of_a_segment_is_read_twice(tmp_path: Path, hands) -> None:
    path = tmp_path / "run.zst"
    noise = [hands.blob(hands.image(400, 100, n), "text/plain") for n in range(4)]
    with Journal(path) as journal:
        journal.commit([Header(channels={})], noise)
    seal(path)
    source, bundle = counted(path)
    with bundle:
        assert source.total == 64 * KIB < path.stat().st_size
        contents = {id: payload for id, _, payload in noise}
        assert [bundle.blob(id) for id in (*bundle.blob_ids, *bundle.blob_ids)] == [
            contents[id] for id in (*bundle.blob_ids, *bundle.blob_ids)
        ]
        assert source.total == path.stat().st_size
    assert source.reads == 3


@pytest.mark.parametrize("raw", [b"\n" * 2**23, b"\n" * 2, b"no line feed"], ids=["many", "two", "none"])
def test_a_story_of_line_feeds(raw: bytes, scratch, hands) -> None:
    index = hands.story_index([LINE])
    with open_bundle(scratch(hands.sealed_bytes([raw], index))) as bundle:
        tracemalloc.start()
        try:
            with pytest.raises(BundleDamaged, match="story lines"):
                _ = bundle.trajectory
            assert tracemalloc.get_traced_memory()[1] < 4 * len(raw) + 2**16
        finally:
            tracemalloc.stop()
