from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from replaykit.bundle import sealing
from replaykit.bundle.bundle_format import Limits
from replaykit.bundle.byte_source import open_source
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.recovery import recover
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import Journal, salvage, seal
from replaykit.errors import (
    BundleDamaged,
    BundleError,
    BundleTruncated,
    BundleWriteError,
    LimitExceeded,
    NotABundle,
)
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Derivation, Header

LINE = b'{"type":"header","channels":{},"later":{"kept":true}}'


def say(text: str) -> bytes:
    return b'{"type":"message","role":"agent","kind":"say","text":"%b"}' % text.encode()


def spoil(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


@pytest.fixture
def run(tmp_path: Path, hands) -> tuple[Path, list[int]]:
    """A journal of header, then three commits of one blob and one event; and the offsets of its frames."""
    frames = [hands.story_raw([LINE])]
    for n in range(3):
        frames += [hands.blob_raw(b"<p>%d</p>" % n), hands.story_raw([say(f'"{n}"'.replace('"', ""))], n)]
    parts = [hands.journal_bytes(frame)[24:] for frame in frames]
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes() + b"".join(parts))
    ends = [24 + sum(map(len, parts[: n + 1])) for n in range(len(parts))]
    return path, ends


def salvaged(path: Path, target: Path) -> tuple[list[str], int, int]:
    """Return texts, number of blobs and lost events of what is salvaged."""
    with pytest.raises(BundleError):
        open_bundle(path)
    result = salvage(path, target)
    assert verify(target).error == ""
    with open_bundle(target) as bundle:
        assert bundle.digest == result.digest
        assert bundle.layout == "sealed"
        assert [entry.by for entry in bundle.header.derived_from] == ["salvage"]
        assert bundle.header.lost == result.lost
        assert b'"later":{"kept":true}' in bundle.lines[0]
        return [event.text for event in bundle.trajectory.events], len(bundle.blob_ids), result.lost


def test_a_damaged_story_frame(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = run
    before = path.read_bytes()
    spoil(path, ends[4] - 1)
    damaged = path.read_bytes()
    assert salvaged(path, tmp_path / "out.zst") == (["0"], 1, 2)
    assert path.read_bytes() == damaged != before


def test_a_damaged_blob_frame(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = run
    spoil(path, ends[3] - 1)
    assert salvaged(path, tmp_path / "out.zst") == (["0", "1", "2"], 2, 0)


def test_a_damaged_last_frame(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = run
    spoil(path, ends[6] - 1)
    assert salvaged(path, tmp_path / "out.zst") == (["0", "1"], 2, 1)


def test_garbage_in_the_middle(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = run
    content = path.read_bytes()
    path.write_bytes(content[: ends[2]] + b"garbage" + content[ends[2] :])
    assert salvaged(path, tmp_path / "out.zst") == (["0"], 1, 1)


def test_a_blob_that_fails_its_digest(run: tuple[Path, list[int]], tmp_path: Path, hands) -> None:
    path, ends = run
    content = path.read_bytes()
    wrong = hands.journal_bytes(hands.blob_raw(b"<p>1</p>").replace(b"<p>1", b"<p>9"))[24:]
    path.write_bytes(content[: ends[2]] + wrong + content[ends[3] :] + b"x")
    assert salvaged(path, tmp_path / "out.zst") == (["0", "1", "2"], 2, 1)


def test_event_lines_are_copied_byte_for_byte(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, _ = run
    with open_bundle(path) as bundle:
        lines, digest = bundle.lines, bundle.digest
    path.write_bytes(path.read_bytes() + b"x")
    salvage(path, tmp_path / "out.zst")
    with open_bundle(tmp_path / "out.zst") as bundle:
        assert bundle.lines[1:] == lines[1:]
        assert bundle.header.derived_from == (Derivation(digest=digest, by="salvage"),)
        assert bundle.digest != digest


def test_a_sealed_bundle_with_a_damaged_blob(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, _ = run
    seal(path)
    with open_bundle(path) as bundle:
        frames = bundle._container.tables.frames
        at = frames.offsets[1] + frames.lengths[1] - 1
    spoil(path, at)
    assert verify(path).error == "BundleDamaged"
    salvage(path, tmp_path / "out.zst")
    with open_bundle(tmp_path / "out.zst") as bundle:
        assert len(bundle.trajectory.events) == 3
        assert len(bundle.blob_ids) == 1, "the newest page is read without its neighbours, and verifies"
    assert len(verify(tmp_path / "out.zst").findings) == 0


def test_a_sealed_bundle_cut_at_any_byte(
    run: tuple[Path, list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "STORY_RAW", 1)  # whole story frames stand before most cuts
    path, out = run[0], tmp_path / "out.zst"
    seal(path)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        for attempt in (lambda: salvage(path, out), lambda: seal(path)):
            with pytest.raises((NotABundle, BundleTruncated)) as refused:
                attempt()
            assert cut < 24 or "Copy the file again" in refused.value.message
        assert path.read_bytes() == whole[:cut]
        assert not out.exists()


@pytest.mark.parametrize("end", [bytes(60), b"x" * 60])
def test_a_sealed_bundle_whose_end_was_never_copied(
    end: bytes, run: tuple[Path, list[int]], tmp_path: Path
) -> None:
    path, _ = run
    seal(path)
    path.write_bytes(path.read_bytes()[:-60] + end)
    with pytest.raises(BundleTruncated):
        salvage(path, tmp_path / "out.zst")


@pytest.mark.parametrize("at", range(0, 24, 4))
def test_a_sealed_bundle_with_a_damaged_preamble(
    at: int, run: tuple[Path, list[int]], tmp_path: Path
) -> None:
    path, _ = run
    seal(path)
    spoil(path, at)
    assert salvaged(path, tmp_path / "out.zst") == (["0", "1", "2"], 3, 0)


def test_a_sealed_bundle_with_a_damaged_story_frame(
    tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "STORY_RAW", 1)  # a frame for each line
    path = tmp_path / "run.zst"
    with Journal(path) as journal:
        said = [Message(role="agent", kind="say", text=f"{n}") for n in range(3)]
        journal.commit([Header(channels={}), *said])
    seal(path)
    with open_bundle(path) as bundle:
        frames, third = bundle._container.tables.frames, bundle._container.tables.story[2]
        at = frames.offsets[third] + frames.lengths[third] - 1
    spoil(path, at)
    result = salvage(path, tmp_path / "out.zst")
    assert (result.events, result.lost) == (1, 2)
    assert verify(tmp_path / "out.zst").findings == ()


def test_salvage_of_a_salvage_counts_on(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = run
    spoil(path, ends[4] - 1)
    salvage(path, tmp_path / "one.zst")
    salvage(tmp_path / "one.zst", tmp_path / "two.zst")
    with open_bundle(tmp_path / "two.zst") as bundle:
        assert [entry.by for entry in bundle.header.derived_from] == ["salvage", "salvage"]
        assert bundle.header.lost == 2


def test_targets_are_never_overwritten(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, _ = run
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for target in (path, tmp_path / "link"):
        with pytest.raises(BundleWriteError, match="exists"):
            salvage(path, target)


def test_nothing_to_salvage(run: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = run
    spoil(path, ends[0] - 1)
    with pytest.raises((NotABundle, BundleDamaged)):
        salvage(path, tmp_path / "out.zst")
    assert not (tmp_path / "out.zst").exists()


def test_salvage_of_any_flipped_byte(
    run: tuple[Path, list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    path, _ = run
    whole = path.read_bytes()
    target = tmp_path / "out.zst"
    for at in range(24, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        target.unlink(missing_ok=True)
        try:
            salvage(path, target)
        except BundleError:
            assert not target.exists()
            continue
        with open_bundle(target) as bundle:
            texts = [event.text for event in bundle.trajectory.events]
        assert texts == ["0", "1", "2"][: len(texts)], at


@pytest.mark.parametrize("claimed", [3, 2**53])
def test_lost_events_are_no_more_than_a_bundle_can_hold(claimed: int, tmp_path: Path, hands) -> None:
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(hands.story_raw([LINE]), hands.story_raw([say("far")], claimed)))
    assert salvaged(path, tmp_path / "out.zst") == ([], 0, min(claimed, 1_000_000) + 1)


def test_lost_events_are_counted_up_to_the_largest_number(tmp_path: Path, hands) -> None:
    line = LINE.replace(b"{}", b'{},"lost":%d' % (2**53 - 1), 1)
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(hands.story_raw([line]), hands.story_raw([say("far")], 5)))
    salvage(path, tmp_path / "out.zst")
    with open_bundle(tmp_path / "out.zst") as bundle:
        assert bundle.header.lost == 2**53


def test_a_blob_belongs_to_the_commit_after_it(tmp_path: Path, hands) -> None:
    """The same blob twice, sound and spoiled: the sound one counts, wherever it stands."""
    sound, spoiled = hands.blob_raw(b"<p>1</p>"), hands.blob_raw(b"<p>1</p>").replace(b"<p>1", b"<p>2")
    for n, frames in enumerate(([sound, spoiled], [spoiled, sound], [sound + spoiled], [spoiled + sound])):
        path = tmp_path / f"{n}.zst"
        late = hands.blob_raw(b"<p>late</p>")
        parts = [hands.story_raw([LINE]), *frames, hands.story_raw([say("0")], 0), late]
        path.write_bytes(hands.journal_bytes(*parts) + b"x")
        assert salvaged(path, tmp_path / f"{n}.out.zst") == (["0"], 1, 1)


@pytest.mark.parametrize("limit", ["frames", "raw", "blobs", "events"])
def test_salvage_has_the_limits_of_a_reader(limit: str, run: tuple[Path, list[int]]) -> None:
    path, _ = run
    path.write_bytes(path.read_bytes() + b"x")
    with closing(open_source(path)) as source, pytest.raises(LimitExceeded, match=f"{limit.upper()}_MAX"):
        recover(source, Limits(**{limit: 300 if limit == "raw" else 0 if limit == "blobs" else 2}))


def test_the_order_of_commits_is_kept(tmp_path: Path, hands) -> None:
    commits = 50
    path, pages = tmp_path / "run.zst", [hands.blob(b"<p>%d" % n) for n in range(commits)]
    with Journal(path) as journal:
        journal.commit([Header(channels={})])
        for page in pages:
            journal.commit([Message(role="agent", kind="say", text="x")], [page])
    path.write_bytes(path.read_bytes() + b"x")
    with closing(open_source(path)) as source:
        recovered = recover(source, Limits())
    assert (recovered.tables.events, list(recovered.tables.blobs)) == (commits, [page[0] for page in pages])
