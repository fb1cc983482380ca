from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from replaykit.bundle.index import seek_table
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import references, verify
from replaykit.bundle.writer import Journal, seal
from replaykit.errors import SourceError
from replaykit.trajectory.action import Click, Element, NodeRef
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Derivation, Header, Step

LINE = b'{"type":"header","channels":{}}'
ENDING = b'{"type":"ending","kind":"answered"}'


@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_a_sound_bundle(journal: Path, layout: str) -> None:
    if layout == "sealed":
        seal(journal)
    found = verify(journal)
    with open_bundle(journal) as bundle:
        assert found.digest == bundle.digest
    assert (found.layout, found.format, found.events, found.steps, found.blobs) == (layout, 1, 5, 3, 7)
    assert (found.torn_bytes, found.interrupted, found.error) == (0, False, "")
    assert (found.findings, found.gradable, found.why) == ((), True, "")


def test_torn_and_interrupted(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes()[:-3])
    found = verify(journal)
    assert found.torn_bytes > 0
    assert found.interrupted
    assert found.gradable
    assert found.findings == ()


def test_what_cannot_be_opened(scratch: Callable[[bytes], Path], tmp_path: Path) -> None:
    found = verify(scratch(b""))
    assert (found.error, found.layout, found.digest, found.gradable) == ("NotABundle", "unknown", "", False)
    assert found.why == found.findings[0]
    with pytest.raises(SourceError):
        verify(tmp_path / "missing.zst")


def test_damage_after_opening_keeps_what_is_known(journal: Path) -> None:
    seal(journal)
    content = bytearray(journal.read_bytes())
    content[40] ^= 1
    journal.write_bytes(content)
    found = verify(journal)
    assert found.error in ("BundleDamaged", "DigestMismatch", "LimitExceeded")
    assert (found.layout, found.events, found.blobs, found.gradable) == ("sealed", 5, 7, False)


def test_a_missing_blob_is_a_finding(tmp_path: Path) -> None:
    look = Observation(role="after", of=0, snapshot="a" * 64, screenshot=Omitted(why="cap", sha256="b" * 64))
    with Journal(tmp_path / "run.zst") as journal:
        journal.commit([Header(channels={}, derived_from=(Derivation(digest="c" * 64, by="redact"),)), look])
    found = verify(tmp_path / "run.zst")
    assert found.findings == (f"blob {'a' * 64} is missing (referred to by event 0)",)
    assert found.gradable
    seal(tmp_path / "run.zst")
    assert verify(tmp_path / "run.zst").findings == found.findings


def test_references() -> None:
    ids = [letter * 64 for letter in "123456789abcde"]
    element = Element(tag="a", node=NodeRef(snapshot=ids[0], number=3))
    before = Observation(
        role="before", snapshot=ids[1], screenshot=ids[2], clean=ids[3], a11y=ids[4], sheets=(ids[5], None),
        frames=(Frame(snapshot=ids[6]), Frame(why="closed")),
    )  # fmt: skip
    step = Step(index=0, action=Click(element=element), observed=(Click(element=element),), before=before)
    assert set(references(step)) == set(ids[:7])
    assert set(references(Exchange(id=0, method="GET", url="/", post=ids[7], body=ids[8]))) == set(ids[7:9])
    assert set(references(Header(channels={}, replies=ids[9]))) == {ids[9]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"type":"ending","kind":"answered","kind":"stopped"}', "same key twice"),
        (b'{"type":"ending","kind":"answered","new":{"a":1,"a":1}}', "same key twice"),
        (b'{"type":"ending","kind":7}', "Expected `str`"),
        (b'{"type":"ending","kind":"answered","new":"\xff"}', "decode"),
    ],
)
def test_events_that_cannot_be_read(line: bytes, words: str, tmp_path: Path, hands) -> None:
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(hands.story_raw([LINE, line])))
    for _ in range(2):
        found = verify(path)
        assert not found.gradable
        assert words in found.why
        assert found.findings == (found.why,)
        assert found.error == ""
        seal(path)  # what is not understood is not thrown away either
    assert open_bundle(path).lines[1] == line


def test_a_pixmap_that_does_not_fit(scratch: Callable[[bytes], Path], hands) -> None:
    raw = hands.blob_raw(b"P6\n9 9\n255\n123", media_type="image/x-portable-pixmap")
    found = verify(scratch(hands.journal_bytes(raw, hands.story_raw([LINE, ENDING]))))
    assert len(found.findings) == 1
    assert "P6 header" in found.findings[0]
    assert found.gradable


def test_findings_are_bounded(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.zst") as journal:
        looks = [Observation(role="after", of=0, snapshot=f"{n:064x}") for n in range(300)]
        journal.commit([Header(channels={}), *looks])
    assert len(verify(tmp_path / "run.zst").findings) == 100


def sealed_file(hands, frames: list[bytes], *payloads: bytes) -> bytes:
    blobs = [hands.blob(payload) for payload in payloads]
    return hands.sealed_bytes(frames, hands.story_index([LINE, ENDING], blobs))


def test_another_order_of_blobs_is_a_finding(scratch: Callable[[bytes], Path], hands) -> None:
    path = scratch(sealed_file(hands, [b"12", hands.story_text([LINE, ENDING])], b"1", b"2"))
    (finding,) = verify(path).findings
    assert "order" in finding
    seal(path)
    assert verify(path).findings == ()


@pytest.mark.parametrize("frames", [[b"1"], [b"1", b"2"], [b"12"], [b"3"]], ids=len)
def test_blob_frames_that_the_index_does_not_list(
    frames: list[bytes], scratch: Callable[[bytes], Path], hands
) -> None:
    story = hands.story_text([LINE, ENDING])
    payloads = () if frames == [b"1"] else (b"1",)
    assert verify(scratch(sealed_file(hands, [*frames, story], *payloads))).error


def test_a_story_frame_more_than_the_index_lists(scratch: Callable[[bytes], Path], hands) -> None:
    frames = [hands.story_text([LINE, ENDING]), hands.story_text([ENDING])]
    assert verify(scratch(sealed_file(hands, frames))).error == "BundleDamaged"


def test_a_story_of_several_frames(scratch: Callable[[bytes], Path], hands) -> None:
    frames = [hands.story_text([LINE]), hands.story_text([ENDING])]
    assert verify(scratch(sealed_file(hands, frames))).error == ""
    assert verify(scratch(sealed_file(hands, frames[::-1]))).error == "DigestMismatch"


def test_blobs_after_the_story(scratch: Callable[[bytes], Path], hands) -> None:
    frames = [hands.story_text([LINE, ENDING]), b"1"]
    assert verify(scratch(sealed_file(hands, frames, b"1"))).error == "BundleDamaged"


def test_foreign_skippable_frames_are_passed_over(
    scratch: Callable[[bytes], Path], hands, tmp_path: Path
) -> None:
    content = sealed_file(hands, [hands.story_text([LINE, ENDING])])
    foreign = b"\x53\x2a\x4d\x18\x04\x00\x00\x00note"
    table = len(seek_table([1, 1, 1], [0, 1, 1]))
    sizes = [int.from_bytes(content[at - table : at - table + 4], "little") for at in range(8, 32, 4)]
    lengths, raws = sizes[0::2], sizes[1::2]
    body = content[:24] + foreign + content[24:-table]
    path = tmp_path / "run.zst"
    path.write_bytes(body + seek_table([24, len(foreign), *lengths[1:]], [0, 0, *raws[1:]]))
    assert verify(path).error == ""
    wrong = [24, len(foreign) - 1, lengths[1] + 1, lengths[2]]
    path.write_bytes(body + seek_table(wrong, [0, 0, *raws[1:]]))
    assert verify(path).error == "BundleDamaged"
    journal = (
        hands.journal_bytes(hands.story_raw([LINE]))
        + foreign
        + hands.journal_bytes(hands.story_raw([ENDING], 0))[24:]
    )
    path.write_bytes(journal + foreign)
    assert (verify(path).error, verify(path).events, verify(path).torn_bytes) == ("", 1, 0)
