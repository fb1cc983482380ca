"""The journal: commits are whole or absent, whatever happens to the writer."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import Limits
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, journal_frame, seal
from replaykit.errors import BundleDamaged, BundleWriteError, EventInvalid, LimitExceeded, NotABundle
from replaykit.trajectory.action import Click, Fill
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Header, Step

HEADER = Header(channels={"actions": "recorded"})


def say(text: str) -> Message:
    return Message(role="agent", kind="say", text=text)


def texts(path: Path) -> list[str]:
    with open_bundle(path) as bundle:
        return [event.text for event in bundle.trajectory.events]


def test_a_journal_reads_back(journal: Path, hands) -> None:
    commits = hands.small_commits()
    with open_bundle(journal) as bundle:
        assert bundle.layout == "journal"
        assert bundle.torn_bytes == 0
        assert bundle.header == commits[0][0][0]
        assert list(bundle.trajectory.events) == [event for events, _ in commits[1:] for event in events]
        for _, blobs in commits:
            for id, media_type, payload in blobs:
                assert bundle.blob(id) == payload
                assert bundle.blob_type(id) == media_type


def test_every_prefix_gives_exactly_its_commits(
    tmp_path: Path, hands, scratch: Callable[[bytes], Path]
) -> None:
    commits = hands.small_commits()
    path = tmp_path / "run.zst"
    sizes = hands.write_journal(path, commits)
    whole = path.read_bytes()
    assert sizes[-1] == len(whole)
    for cut in range(len(whole)):
        committed = sum(size <= cut for size in sizes[1:])
        if not committed:
            with pytest.raises(NotABundle):
                open_bundle(scratch(whole[:cut]))
            continue
        with open_bundle(scratch(whole[:cut])) as bundle:
            events = [event for events, _ in commits[1:committed] for event in events]
            assert list(bundle.trajectory.events) == events, cut
            assert bundle.torn_bytes == cut - sizes[committed]
            blobs = {id for _, blobs in commits[:committed] for id, _, _ in blobs}
            assert set(bundle.blob_ids) == blobs


@given(st.lists(st.lists(st.text(max_size=20), min_size=1, max_size=3), max_size=4), st.data())
@settings(max_examples=40)
def test_random_journals_and_cuts(
    tmp_path_factory: pytest.TempPathFactory, commits: list[list[str]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal") / "run.zst"
    sizes = []
    with Journal(path) as journal:
        journal.commit([HEADER])
        sizes.append(journal.size)
        for words in commits:
            journal.commit([say(word) for word in words])
            sizes.append(journal.size)
    cut = data.draw(st.integers(sizes[0], sizes[-1]))
    os.truncate(path, cut)
    kept = sum(size <= cut for size in sizes) - 1
    assert texts(path) == [word for words in commits[:kept] for word in words]


def test_header_and_events_in_one_commit(tmp_path: Path, hands) -> None:
    path = tmp_path / "run.zst"
    page = hands.blob(b"<p>")
    with Journal.create(path) as journal:
        journal.commit([HEADER, say("a"), say("b")], [page])
        assert journal.events == 2
        journal.commit([say("c")], [page, hands.blob(b"<p>2")])
        assert page[0] in journal
    assert texts(path) == ["a", "b", "c"]


def test_known_blobs_are_written_once(tmp_path: Path, hands) -> None:
    page = hands.blob(os.urandom(5000))
    with Journal(tmp_path / "run.zst") as journal:
        journal.commit([HEADER], [page, page])
        before = journal.size
        journal.commit([say("a")], [page])
        assert journal.size - before < 200


def test_frames_that_were_made_beforehand_are_the_same_bytes(tmp_path: Path, hands) -> None:
    page, other = hands.blob(b"<p>" * 999), hands.blob(b"other")
    packed = {page[0]: journal_frame(*page)}
    for name, frames in ("plain", {}), ("packed", packed):
        with Journal(tmp_path / name) as journal:
            journal.commit([HEADER], [page, other], frames)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "packed").read_bytes()


def test_an_existing_file_is_never_continued(journal: Path) -> None:
    before = journal.read_bytes()
    with pytest.raises(BundleWriteError, match="exists"):
        Journal(journal)
    assert journal.read_bytes() == before


@pytest.mark.parametrize("name", ["missing/run.zst", ".", "a\0b"])
def test_paths_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(BundleWriteError):
        Journal(tmp_path / name)


def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "run.zst"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleWriteError):
        Journal(link)
    assert not (tmp_path / "elsewhere").exists()


def test_commit_order(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.zst") as journal:
        for events in ([], [say("too early")], [say("a"), HEADER]):
            with pytest.raises(EventInvalid):
                journal.commit(events)
        journal.commit([HEADER])
        for events in ([], [HEADER], [say("a"), HEADER]):
            with pytest.raises(EventInvalid):
                journal.commit(events)
        journal.commit([say("kept")])
    assert texts(tmp_path / "run.zst") == ["kept"]


def test_refused_commits_write_nothing(tmp_path: Path, hands) -> None:
    with Journal(tmp_path / "run.zst") as journal:
        journal.commit([HEADER])
        size = journal.size
        good = hands.blob(b"<p>")
        big = b"x" * (32 * 2**20 + 1)
        with pytest.raises(LimitExceeded, match="BLOB_MAX"):
            journal.commit([say("a")], [good, ("0" * 64, "text/html", big)])
        with pytest.raises(LimitExceeded, match="EVENT_MAX"):
            journal.commit([say("x" * (4 * 2**20))], [good])
        for id, media_type in (("0" * 63, "text/html"), ("0" * 64 + "\n", "a/b"), ("0" * 64, "Text/HTML; x")):
            with pytest.raises(BundleDamaged):
                journal.commit([say("a")], [(id, media_type, b"")])
        with pytest.raises(EventInvalid):
            journal.commit([say("a"), Step(index=0, action=Fill(value=7))], [good])
        assert journal.size == size
        assert good[0] not in journal
        journal.commit([say("kept")], [good])
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.blob(good[0]) == good[2]
    assert texts(tmp_path / "run.zst") == ["kept"]


def test_a_header_over_its_limit(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.zst") as journal, pytest.raises(LimitExceeded, match="HEADER_MAX"):
        journal.commit([Header(channels={}, run="x" * 2**20)])


@pytest.mark.parametrize("limit", ["frames", "raw", "story", "events", "steps", "blobs", "file"])
def test_a_commit_that_would_make_the_file_unreadable(tmp_path: Path, hands, limit: str) -> None:
    path = tmp_path / "run.zst"
    room = {"frames": 5, "raw": 700, "story": 150, "events": 1, "steps": 1, "blobs": 1, "file": 340}
    with Journal(path) as journal:
        journal._limits = Limits(**{limit: room[limit], "index": 0})
        journal.commit([HEADER])
        journal.commit([Step(index=0, action=Click())], [hands.blob(b"<p>1")])
        with pytest.raises(LimitExceeded, match=f"{limit.upper()}_MAX"):
            for index in range(1, 4):
                page = hands.blob(b"<p>%d" % index)
                journal.commit([Step(index=index, action=Click(), thought="x" * 20)], [page])
    with open_bundle(path, Limits(**{limit: room[limit]})) as bundle:
        assert bundle.trajectory.steps[0] == Step(index=0, action=Click())


def test_a_journal_that_cannot_start_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(BundleWriteError, match="No space left"):
        Journal(tmp_path / "run.zst")
    assert list(tmp_path.iterdir()) == []


def test_bad_values_are_repaired_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    with Journal(path) as journal:
        journal.commit([HEADER])
        journal.commit([Step(index=0, action=Fill(value="a\ud83db"), raw=float("nan"), end=-1)])
        assert journal.repaired == 3
    with open_bundle(path) as bundle:
        assert bundle.trajectory.steps == (Step(index=0, action=Fill(value="a\ufffdb")),)


@pytest.mark.parametrize("failure", ["at once", "half-way"])
def test_a_full_disk_cuts_back(tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch, failure: str) -> None:
    path = tmp_path / "run.zst"
    real = os.write
    calls: list[int] = []

    def full(file: int, data: memoryview) -> int:
        calls.append(len(data))
        if failure == "half-way" and len(calls) == 1:
            return real(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    page = hands.blob(os.urandom(3000))
    with Journal(path) as journal:
        journal.commit([HEADER])
        journal.commit([say("a")])
        size = path.stat().st_size
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(BundleWriteError, match="No space left"):
            journal.commit([say("lost")], [page])
        monkeypatch.undo()
        assert path.stat().st_size == size == journal.size
        journal.commit([say("b")], [page])
    assert texts(path) == ["a", "b"]


def test_short_writes_are_continued(tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    hands.write_journal(tmp_path / "run.zst", hands.small_commits())
    monkeypatch.undo()
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert len(bundle.trajectory.steps) == 3
        assert bundle.torn_bytes == 0


def test_one_write_per_commit(tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch) -> None:
    real, writes = os.write, []
    monkeypatch.setattr(os, "write", lambda file, data: (writes.append(len(data)), real(file, data))[1])
    commits = hands.small_commits()
    hands.write_journal(tmp_path / "run.zst", commits)
    assert len(writes) == 1 + len(commits)


def test_when_even_cutting_back_fails_nothing_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "run.zst"
    with Journal(path) as journal:
        journal.commit([HEADER])
        monkeypatch.setattr(os, "write", refuse)
        monkeypatch.setattr(os, "ftruncate", refuse)
        with pytest.raises(BundleWriteError):
            journal.commit([say("lost")])
        monkeypatch.undo()
        with pytest.raises(BundleWriteError):
            journal.commit([say("lost too")])
    assert texts(path) == []


def test_power_durability_syncs_each_commit(tmp_path: Path, hands, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    with Journal(tmp_path / "a.zst", durability="power") as journal:
        journal.commit([HEADER])
    assert len(synced) == 2
    with Journal(tmp_path / "b.zst") as journal:
        journal.commit([HEADER])
    assert len(synced) == 2


def test_a_closed_journal_refuses(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.zst")
    journal.commit([HEADER])
    journal.close()
    journal.close()
    with pytest.raises(BundleWriteError):
        journal.commit([say("late")])


WRITER = """
import sys
from replaykit.bundle.blobs import blob_id
from replaykit.bundle.writer import Journal
from replaykit.trajectory.action import Click
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Header, Step

with Journal.create(sys.argv[1]) as journal:
    journal.commit([Header(channels={"actions": "recorded"})])
    for index in range(1_000_000):
        page = b"<p>%d</p>" % index * 3000
        id = blob_id(page)
        step = Step(index=index, action=Click(), before=Observation(role="before", snapshot=id))
        journal.commit([step], [(id, "text/html", page)])
        print(index, flush=True)
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_kill_keeps_acknowledged_commits(tmp_path: Path, acknowledged: int) -> None:
    path = tmp_path / "run.zst"
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", WRITER, str(path)]
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as writer:
        assert writer.stdout is not None
        last = next(int(line) for line in writer.stdout if int(line) >= acknowledged)
        os.kill(writer.pid, signal.SIGKILL)
        last = max([last, *(int(line) for line in writer.stdout if line.endswith("\n"))])
        assert writer.wait() == -signal.SIGKILL
    with open_bundle(path) as bundle:
        steps = bundle.trajectory.steps
        assert [step.index for step in steps] == list(range(len(steps)))
        assert len(steps) >= last + 1
        assert bundle.ending is None
        newest = steps[-1].before
        assert newest is not None
        assert bundle.blob(str(newest.snapshot)).startswith(b"<p>%d</p>" % steps[-1].index)
    assert seal(path).events == len(steps)


def test_a_journal_can_be_read_while_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    with Journal(path) as journal:
        journal.commit([HEADER])
        with open_bundle(path) as early:
            journal.commit([say("a"), Ending(kind="stopped")])
            assert early.trajectory.events == ()
        with open_bundle(path) as late:
            assert late.ending is not None
            assert late.trajectory.events[0] == say("a")


def test_observation_defaults_survive(tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    look = Observation(role="after", of=0, settled=False, status=200, viewport=(1280, 720))
    with Journal(path) as journal:
        journal.commit([HEADER, Step(index=0, action=Click()), look])
    with open_bundle(path) as bundle:
        assert bundle.trajectory.events[1] == look
