from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import replaykit.bundle.sealing as sealing
from replaykit.bundle import bundle_format as constants
from replaykit.bundle import writer
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import Journal, seal
from replaykit.bundle.zstd_frames import compress
from replaykit.cli.main import run
from replaykit.errors import (
    BundleDamaged,
    BundleTruncated,
    BundleWriteError,
    DigestMismatch,
    NotABundle,
    SourceError,
)
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Header

HEADER = Header(channels={"actions": "recorded"})


def content(path: Path) -> tuple:
    with open_bundle(path) as bundle:
        blobs = {id: (bundle.blob_type(id), bundle.blob(id)) for id in bundle.blob_ids}
        return bundle.digest, bundle.lines, blobs, bundle.trajectory.events


def test_seal_keeps_content_and_digest(journal: Path) -> None:
    before = content(journal)
    result = seal(journal)
    assert content(journal) == before
    with open_bundle(journal) as bundle:
        assert bundle.layout == "sealed"
    assert (result.digest, result.events, result.blobs) == (before[0], 5, 7)
    assert result.size == journal.stat().st_size
    assert (result.torn_bytes, result.private, result.lost) == (0, 0, 0)


def test_seal_of_seal_is_identical(journal: Path) -> None:
    seal(journal)
    once = journal.read_bytes()
    assert seal(journal).size == len(once)
    assert journal.read_bytes() == once


def screens(letters: int) -> list[bytes]:
    """Two screenshots of 320 x 240, put together from so many letters: the fewer, the more they repeat."""
    random = Random(1)
    alphabet = [random.randbytes(240) for _ in range(letters)]
    return [b"P6\n320 240\n255\n" + b"".join(random.choices(alphabet, k=960)) for _ in range(2)]


@pytest.mark.parametrize(("letters", "is_thorough"), [(2, True), (5000, False)])
def test_flat_screenshots_are_compressed_thoroughly(
    tmp_path: Path, hands, letters: int, is_thorough: bool
) -> None:
    blobs = [hands.blob(screen, constants.PIXMAP) for screen in screens(letters)]
    with Journal.create(tmp_path / "run.zst") as journal:
        journal.commit(
            [HEADER, *(Message(t=1, role="agent", kind="say", text=id) for id, _, _ in blobs)], blobs
        )
    seal(tmp_path / "run.zst")
    raw = b"".join(data for _, _, data in reversed(blobs))
    frames = [compress(raw, 9, 26, is_thorough=one) for one in (False, True)]
    sealed = (tmp_path / "run.zst").read_bytes()
    assert [frame in sealed for frame in frames] == [not is_thorough, is_thorough]
    assert (len(raw) >= constants.PLAIN_RATIO * len(frames[0])) == is_thorough
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert {id: bundle.blob(id) for id in bundle.blob_ids} == {id: data for id, _, data in blobs}


@pytest.mark.parametrize(
    ("size", "count", "is_apart"), [(3000, 20, True), (3000, 2, False), (150_000, 2, False)]
)
def test_the_newest_of_many_small_pages_is_a_block_of_its_own(
    tmp_path: Path, hands, size: int, count: int, is_apart: bool
) -> None:
    pages = [(f"<p>{number}</p>".encode() * size)[:size] for number in range(count)]
    blobs = [hands.blob(page, "text/html") for page in pages]
    with Journal.create(tmp_path / "run.zst") as journal:
        journal.commit(
            [HEADER, *(Message(t=1, role="agent", kind="say", text=id) for id, _, _ in blobs)], blobs
        )
    seal(tmp_path / "run.zst")
    raw, level = b"".join(reversed(pages)), constants.SMALL_LEVEL
    sealed = (tmp_path / "run.zst").read_bytes()
    assert [compress(raw, level, head=one) in sealed for one in (0, size)] == [not is_apart, is_apart]


@pytest.mark.parametrize(("size", "is_small"), [(1000, True), (constants.SMALL_RAW + 1, False)])
def test_small_texts_are_compressed_more(tmp_path: Path, hands, size: int, is_small: bool) -> None:
    page = (b"".join(b"<p>%d</p>" % (n * n) for n in range(60_000)))[:size]
    with Journal.create(tmp_path / "run.zst") as journal:
        journal.commit([HEADER], [hands.blob(page)])
    seal(tmp_path / "run.zst")
    sealed = (tmp_path / "run.zst").read_bytes()
    levels = (constants.SEALED_LEVELS["text"], constants.SMALL_LEVEL)
    assert [compress(page, level) in sealed for level in levels] == [not is_small, is_small]


def test_an_empty_blob_needs_no_frame(tmp_path: Path, hands) -> None:
    for number, payloads in enumerate(([b""], [b"", b"x"], [b"x", b""])):
        for kind in ("image/png", "text/html", "application/json"):
            path = tmp_path / f"{number}-{kind[-3:]}.zst"
            blobs = [hands.blob(payload, kind) for payload in payloads]
            with Journal.create(path) as journal:
                journal.commit([HEADER], blobs)
            seal(path)
            with open_bundle(path) as bundle:
                assert {id: bundle.blob(id) for id in bundle.blob_ids} == {id: data for id, _, data in blobs}
            assert verify(path).error == ""


def test_bytes_do_not_depend_on_levels_or_order(
    tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = hands.small_commits()
    every_blob = [blob for _, blobs in commits for blob in blobs]
    reordered = [
        (events, list(reversed(every_blob)) if n == 0 else []) for n, (events, _) in enumerate(commits)
    ]
    one_commit = [([event for events, _ in commits for event in events], every_blob)]
    sealed = set()
    for n, (level, variant) in enumerate([(1, commits), (9, commits), (3, reordered), (3, one_commit)]):
        monkeypatch.setattr(writer, "JOURNAL_LEVELS", dict.fromkeys(constants.JOURNAL_LEVELS, level))
        path = tmp_path / f"{n}.zst"
        hands.write_journal(path, variant)
        seal(path)
        sealed.add(path.read_bytes())
    assert len(sealed) == 1


@given(
    st.lists(st.tuples(st.text(max_size=9), st.lists(st.binary(max_size=40), max_size=3)), max_size=6),
    st.data(),
)
@settings(max_examples=40)
def test_random_runs(
    hands, tmp_path_factory: pytest.TempPathFactory, run: list[tuple[str, list[bytes]]], data: st.DataObject
) -> None:
    types = st.sampled_from(["text/html", "image/png", "text/plain", "application/json"])
    kinds: dict[bytes, str] = {}
    path = tmp_path_factory.mktemp("sealed") / "run.zst"
    with Journal(path) as journal:
        journal.commit([HEADER])
        for text, payloads in run:
            blobs = [hands.blob(p, kinds.setdefault(p, data.draw(types))) for p in payloads]
            said = " ".join([text, *(f'"{id}"' for id, _, _ in blobs)])
            journal.commit([Message(role="agent", kind="say", text=said)], blobs)
    before = content(path)
    seal(path)
    assert content(path) == before
    assert verify(path).error == ""
    once = path.read_bytes()
    seal(path)
    assert path.read_bytes() == once


def test_a_torn_tail_is_left_out_and_counted(journal: Path) -> None:
    before = content(journal)
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[24:60])
    assert seal(journal).torn_bytes == 36
    assert content(journal) == before


def test_private_records_are_dropped_and_counted(tmp_path: Path, hands) -> None:
    header = b'{"type":"header","channels":{}}'
    note = b'{"k":"x-note","n":5}\nhello\n'
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(note, hands.story_raw([header]) + note, note + note))
    assert verify(path).private == 4
    assert seal(path).private == 4
    assert b"x-note" not in b"".join(content(path)[1])
    assert verify(path).private == seal(path).private == 0


def test_unknown_content_is_copied_byte_for_byte(tmp_path: Path, hands) -> None:
    lines = [
        b'{"type":"header","channels":{},"zebra":{"b":1,"a":[1.0,2e0]}}',
        b'{"type":"hologram", "spaced" : true}',
        b'{"type":"step","index":0,"action":{"type":"fly","to":"\\u00e9"},"later":null}',
        b'{"later":1,"type":"ending","kind":"answered"}',
    ]
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(hands.blob_raw(b"?", media_type="x/new"), hands.story_raw(lines)))
    seal(path)
    with open_bundle(path) as bundle:
        assert bundle.lines == tuple(lines)
        assert [bundle.blob_type(id) for id in bundle.blob_ids] == ["x/new"]
        assert bundle.ending is not None


def test_mode_and_links_are_kept(journal: Path, tmp_path: Path) -> None:
    journal.chmod(0o640)
    link = tmp_path / "link.zst"
    link.symlink_to(journal)
    seal(link)
    assert link.is_symlink()
    assert stat.S_IMODE(journal.stat().st_mode) == 0o640
    assert verify(journal).layout == "sealed"


def leftovers(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


def refuse(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("place", "name"), [(os, "fsync"), (os, "fchmod"), (Path, "replace"), (sealing.tempfile, "mkstemp")]
)
def test_a_failed_seal_leaves_the_journal(
    journal: Path, monkeypatch: pytest.MonkeyPatch, place: object, name: str
) -> None:
    before = journal.read_bytes()
    monkeypatch.setattr(place, name, refuse)
    with pytest.raises(BundleWriteError, match="No space left"):
        seal(journal)
    monkeypatch.undo()
    assert journal.read_bytes() == before
    assert leftovers(journal) == ["run.zst"]


def test_bytes_that_read_back_otherwise_are_refused(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = journal.read_bytes()
    real = sealing.write_sealed

    def spoil(container: object, file: object) -> None:
        real(container, file)
        file.seek(40)
        file.write(b"\xff\xff\xff\xff")
        file.seek(0, os.SEEK_END)

    monkeypatch.setattr(sealing, "write_sealed", spoil)
    with pytest.raises(BundleDamaged):
        seal(journal)
    assert journal.read_bytes() == before
    assert leftovers(journal) == ["run.zst"]


def test_another_content_that_reads_back_is_refused(
    journal: Path, tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.zst"
    hands.write_journal(other, hands.small_commits()[:2])
    seal(other)
    monkeypatch.setattr(sealing, "write_sealed", lambda _, file: file.write(other.read_bytes()))
    with pytest.raises(DigestMismatch, match="read back"):
        seal(journal)


def test_an_interrupt_leaves_the_journal(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = journal.read_bytes()
    monkeypatch.setattr(sealing, "_read_back", interrupt)
    with pytest.raises(KeyboardInterrupt):
        seal(journal)
    assert journal.read_bytes() == before
    assert leftovers(journal) == ["run.zst"]


def test_damaged_journals_are_refused(journal: Path) -> None:
    whole = bytearray(journal.read_bytes())
    whole[60] ^= 0xFF
    journal.write_bytes(whole)
    with pytest.raises(BundleDamaged):
        seal(journal)
    assert journal.read_bytes() == whole


def test_a_blob_that_fails_its_digest_is_refused(tmp_path: Path, hands) -> None:
    raw = hands.blob_raw(b"<p>1").replace(b"<p>1", b"<p>2")
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(raw, hands.story_raw([b'{"type":"header","channels":{}}'])))
    with pytest.raises(DigestMismatch):
        seal(path)
    assert verify(path).error == "DigestMismatch"


def test_what_cannot_be_sealed(tmp_path: Path, scratch: Callable[[bytes], Path]) -> None:
    with pytest.raises(SourceError):
        seal(tmp_path / "missing.zst")
    with pytest.raises(NotABundle):
        seal(scratch(constants.Preamble("journal", 1).pack()))
    with pytest.raises(BundleTruncated):
        seal(scratch(constants.Preamble("sealed", 1).pack()))


def test_long_stories_take_several_frames(tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    with Journal(path) as journal:
        journal.commit([HEADER])
        for n in range(30):
            journal.commit([Message(role="agent", kind="say", text=f"{n} " * 30_000)])
    before = content(path)
    seal(path)
    assert content(path) == before
    with open_bundle(path) as bundle:
        story = bundle._container.tables.story
        assert len(story) > 1
        sizes = [bundle._container.tables.frames.raws[number] for number in story]
    assert max(sizes) <= constants.STORY_RAW


def test_blob_ids_are_ids() -> None:
    assert constants.is_blob_id("0" * 64)
    assert not constants.is_blob_id("0" * 64 + "\n")


def test_a_temporary_name_that_is_taken_by_a_link(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / ".run.zst.sealing-planted").symlink_to("precious")
    guesses = iter(["planted", "planted", "free"])
    monkeypatch.setattr(sealing.tempfile, "_get_candidate_names", lambda: guesses)
    seal(journal)
    assert next(guesses, None) is None
    assert verify(journal).layout == "sealed"
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (tmp_path / ".run.zst.sealing-planted").is_symlink()
    assert leftovers(journal) == [".run.zst.sealing-planted", "precious", "run.zst"]


def test_names_of_any_length(journal: Path, tmp_path: Path) -> None:
    for name in ("x" * 255, "\N{GRINNING FACE}" * 63):
        path = journal.rename(tmp_path / name)
        seal(path)
        assert verify(path).layout == "sealed"
        assert leftovers(path) == [name]
        journal = path


def test_the_command_prints_what_was_dropped(
    tmp_path: Path, hands, capsys: pytest.CaptureFixture[str]
) -> None:
    path, note = tmp_path / "run.zst", b'{"k":"x-note","n":0}\n\n'
    header = b'{"type":"header","channels":{}}'
    path.write_bytes(hands.journal_bytes(hands.story_raw([header]), note) + b"\x28\xb5")
    assert run(["seal", str(path)]) == 0
    output = capsys.readouterr()
    assert output.err == f"{path}: 0 steps, interrupted, 2 torn bytes dropped, 1 private records dropped\n"
    assert output.out == f"sha256:{open_bundle(path).digest}\n"
    assert run(["seal", str(path)]) == 0
    assert capsys.readouterr().err == f"{path}: 0 steps, interrupted\n"


def test_the_command_seals_unreadable_events(
    tmp_path: Path, hands, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [b'{"type":"header","channels":{}}', b'{"type":"ending","kind":7}']
    path = tmp_path / "run.zst"
    path.write_bytes(hands.journal_bytes(hands.story_raw(lines)))
    assert run(["seal", str(path)]) == 0
    assert "1 event, which cannot all be read" in capsys.readouterr().err
    assert verify(path).layout == "sealed"
