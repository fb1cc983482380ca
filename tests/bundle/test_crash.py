"""Files after a cut, a full disk, no write access, a kill and Ctrl-C: done to real processes."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from replaykit.bundle import locking
from replaykit.bundle import writer as writing
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import references, verify
from replaykit.bundle.writer import Journal, salvage, seal
from replaykit.errors import BundleBusy, BundleWriteError, NotABundle
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Header
from tests.thorough import one_in

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "recordings" / "conformance" / "return-window--good.zst"
HEADER = Header(channels={"actions": "recorded"})


def say(text: str) -> Message:
    return Message(role="agent", kind="say", text=text)


def texts(path: Path) -> list[str]:
    with open_bundle(path) as bundle:
        return [event.text for event in bundle.trajectory.events]


def content(path: Path) -> tuple[tuple[bytes, ...], dict[str, bytes]]:
    with open_bundle(path) as bundle:
        return bundle.lines, {id: bundle.blob(id) for id in bundle.blob_ids}


def start(script: str, *arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start Python with this script, or with `-m replaykit` if it is empty."""
    head = ["-c", script] if script else ["-m", "replaykit"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, *head, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, text=True, **options,
    )  # fmt: skip


def finish(script: str, *arguments: str | Path) -> SimpleNamespace:
    """Run it to its end; return exit code, output and complaints."""
    with start(script, *arguments) as process:
        out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    return SimpleNamespace(code=process.returncode, out=out, err=err)


# Cuts


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[tuple[int, int, set[str]]]]:
    """The journal of a real recording; after each commit its size, lines and blobs."""
    path, commits = tmp_path_factory.mktemp("journal") / "run.zst", []
    with open_bundle(RECORDING) as bundle, Journal(path) as journal:
        journal.commit([bundle.header])
        commits.append((journal.size, 1, set[str]()))
        for event in bundle.trajectory.events:
            ids = [id for id in references(event) if id in bundle]
            journal.commit([event], [(id, bundle.blob_type(id), bundle.blob(id)) for id in ids])
            commits.append((journal.size, commits[-1][1] + 1, commits[-1][2] | set(ids)))
    return path.read_bytes(), commits


@pytest.mark.parametrize("cuts", one_in(2, [60, 300]))
def test_cuts_of_a_real_recording(
    cuts: int,
    recorded: tuple[bytes, list[tuple[int, int, set[str]]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    whole, commits = recorded
    lines, blobs = content(RECORDING)
    chance, path = random.Random(300), tmp_path / "run.zst"
    for _ in range(cuts):
        cut = chance.randrange(len(whole) + 1)
        path.write_bytes(whole[:cut])
        kept = [commit for commit in commits if commit[0] <= cut]
        if not kept:
            with pytest.raises(NotABundle):
                open_bundle(path)
            continue
        size, many, ids = kept[-1]
        expected = (lines[:many], {id: blobs[id] for id in ids})
        assert content(path) == expected, cut
        result = seal(path)
        assert (result.torn_bytes, result.events) == (cut - size, many - 1)
        assert content(path) == expected, cut


# Interrupts between any two instructions


def interrupt(moment: int, action: Callable[[], None]) -> bool:
    """Raise KeyboardInterrupt before the instruction of that number in the writer; whether it came to that."""
    passed = count()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != writing.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(passed) == moment:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("is_second", [False, True])
def test_ctrl_c_at_any_instruction_of_a_commit(
    is_second: bool, tmp_path: Path, hands: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [hands.blob(b"<p>%d</p>" % n) for n in range(4)]
    seen: set[tuple[str, ...]] = set()
    for moment in count():
        path = tmp_path / "run.zst"
        path.unlink(missing_ok=True)
        with Journal(path) as journal:
            journal.commit([HEADER, say("before")], pages[:1])
            if is_second:
                interrupted_write(
                    journal, say("a longer one, written but not counted"), pages[1:2], monkeypatch
                )
            came = interrupt(moment, lambda: journal.commit([say("during")], pages[1:3]))
            journal.commit([say("after")], pages[1:])
        seen.add(tuple(texts(path)))
        assert content(path)[1] == {id: payload for id, _, payload in pages}, moment
        if not came:
            break
    assert moment > 300
    assert seen == {("before", "during", "after"), ("before", "after")}


def interrupted_write(
    journal: Journal, event: Message, blobs: list[tuple[str, str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write a whole commit, and be interrupted as the write returns."""
    real = os.write

    def write(file: int, data: memoryview) -> int:
        real(file, data)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(KeyboardInterrupt):
        journal.commit([event], blobs)
    monkeypatch.setattr(os, "write", real)


# A full disk


FULL = """
import os, resource, sys
from replaykit.bundle.blobs import blob_id
from replaykit.bundle.writer import Journal
from replaykit.errors import BundleWriteError
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Header

hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))  # Python itself ignores SIGXFSZ
with Journal(sys.argv[1]) as journal:
    journal.commit([Header(channels={})])
    try:
        for number in range(1000):
            page = os.urandom(3000)
            blobs = [(blob_id(page), "image/png", page)]
            journal.commit([Message(role="agent", kind="say", text=str(number))], blobs)
    except BundleWriteError as error:
        print(number, journal.size, error.message, sep="|", flush=True)
    if sys.argv[3] == "room again":
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        journal.commit([Message(role="agent", kind="say", text="after")], blobs)
"""


@pytest.mark.parametrize("ending", ["room again", "still full"])
@pytest.mark.parametrize("room", [20_000, 33_333])
def test_a_full_disk_keeps_every_commit(room: int, ending: str, tmp_path: Path) -> None:
    path = tmp_path / "run.zst"
    done = finish(FULL, path, str(room), ending)
    assert done.code == 0, done.err
    number, size, *message = done.out.strip().split("|")
    assert message[0].startswith(
        f"{path}: cannot write to the bundle: File too large; `replaykit seal` completes"
    )
    assert "space" in message[0]
    committed = [str(n) for n in range(int(number))]
    assert len(committed) > 3
    if ending == "still full":
        assert path.stat().st_size == int(size)  # cut back, not torn
        (tmp_path / "elsewhere").mkdir()
        seal(shutil.copy(path, tmp_path / "elsewhere" / "run.zst"))
        assert texts(tmp_path / "elsewhere" / "run.zst") == committed
    assert texts(path) == (committed if ending == "still full" else [*committed, "after"])
    assert seal(path).torn_bytes == 0
    assert verify(path).error == ""


CONFINED = """
import os, resource, sys
import replaykit.bundle.writer, replaykit.cli.record.seal
from replaykit.cli.main import run
from replaykit.errors import BundleError

what, limit = sys.argv[1], int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
elif os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)  # root may write anywhere
if what == "seal":
    sys.exit(run(["seal", sys.argv[3]]))
try:
    if what == "salvage":
        replaykit.bundle.writer.salvage(sys.argv[3], sys.argv[4])
    else:
        replaykit.bundle.writer.Journal.create(sys.argv[3])
except BundleError as error:
    print(error.message, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def test_no_room_to_seal(journal: Path, hands: SimpleNamespace) -> None:
    before = journal.read_bytes()
    done = finish(CONFINED, "seal", "600", journal)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"error: {journal}: cannot seal: File too large\n")
    assert journal.read_bytes() == before
    assert names(journal.parent) == ["run.zst"]
    seal(journal)


# A folder that nobody may write to


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder outside of pytest's own, which other users cannot enter."""
    folder = Path(tempfile.mkdtemp(prefix="replaykit-test-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize("what", ["seal", "salvage", "journal"])
def test_a_read_only_folder(what: str, locked_folder: Path, hands: SimpleNamespace) -> None:
    path, new = locked_folder / "run.zst", locked_folder / "new.zst"
    hands.write_journal(path, hands.small_commits())
    path.chmod(0o444)
    locked_folder.chmod(0o555)
    before = path.read_bytes()
    target = {"seal": path, "salvage": new, "journal": new}[what]
    done = finish(CONFINED, what, "0", *([path, new] if what == "salvage" else [target]))
    operation = "create the bundle" if what == "journal" else "seal"
    assert f"{target}: cannot {operation}: Permission denied\n" in done.err
    assert (done.code, done.out) == (3, "")
    assert path.read_bytes() == before
    assert names(locked_folder) == ["run.zst"]


# Two writers


RECORDING_NOW = """
import os, sys
from replaykit.bundle.writer import Journal, seal
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Header

journal = Journal.create(sys.argv[1])
journal.commit([Header(channels={}), Message(role="agent", kind="say", text="kept")])
if sys.argv[2] == "fork":
    reading, writing = os.pipe()
    if not os.fork():
        os.close(writing)
        os.read(reading, 1)  # until the parent is gone
        os._exit(0)
    journal.close()
    seal(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def live(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is recording into run.zst."""
    with start(RECORDING_NOW, tmp_path / "run.zst", "wait", stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
        yield process
        process.kill()


def test_a_live_journal_is_read_but_neither_sealed_nor_written(
    live: subprocess.Popen[str], tmp_path: Path
) -> None:
    path = tmp_path / "run.zst"
    before = path.read_bytes()
    with pytest.raises(BundleBusy, match="still being recorded") as caught:
        seal(path)
    assert "recording" in caught.value.message.partition("\n")[2]
    with pytest.raises(BundleWriteError, match="exists"):
        Journal(path)
    assert texts(path) == ["kept"]
    assert verify(path).error == ""
    assert salvage(path, tmp_path / "copy.zst").events == 1
    assert path.read_bytes() == before
    done = finish("", "seal", path)
    assert (done.code, done.out) == (3, "")
    assert "still being recorded" in done.err


def test_the_lock_dies_with_its_process(live: subprocess.Popen[str], tmp_path: Path) -> None:
    live.kill()
    live.wait()
    assert seal(tmp_path / "run.zst").events == 1
    assert texts(tmp_path / "run.zst") == ["kept"]


def test_a_journal_is_its_own_process_s_too(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.zst") as journal:
        journal.commit([HEADER])
        with pytest.raises(BundleBusy):
            seal(tmp_path / "run.zst")
        journal.close()
        seal(tmp_path / "run.zst")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    with start(RECORDING_NOW, tmp_path / "run.zst", "fork", stdin=subprocess.PIPE) as process:
        out, err = process.communicate("", timeout=60)
    assert (out, err) == ("ready\n", "")
    assert verify(tmp_path / "run.zst").layout == "sealed"


def test_a_file_system_without_locks(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locking.fcntl, "flock", refuse)
    abandoned = tmp_path / ".run.zst.sealing-old"
    abandoned.write_bytes(b"whose is it?")
    with Journal(tmp_path / "new.zst") as new:
        new.commit([HEADER])
        seal(tmp_path / "new.zst")
    seal(journal)
    assert abandoned.exists()


def test_a_name_that_another_process_locks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError(errno.EWOULDBLOCK, "Resource temporarily unavailable")

    monkeypatch.setattr(locking.fcntl, "flock", refuse)
    with pytest.raises(BundleBusy, match="create"):
        Journal(tmp_path / "run.zst")
    assert names(tmp_path) == []


# Sealing, cut short


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory, hands: SimpleNamespace) -> tuple[bytes, bytes]:
    """A journal that takes a while to seal, and its seal."""
    path, chance = tmp_path_factory.mktemp("long") / "run.zst", random.Random(1)
    words = [chance.randbytes(chance.randrange(2, 6)).hex() for _ in range(4000)]
    with Journal(path) as journal:
        journal.commit([HEADER])
        for number in range(24):
            page = " ".join(chance.choices(words, k=30_000)).encode()
            journal.commit([say(str(number))], [hands.blob(page)])
    whole = path.read_bytes()
    seal(path)
    return whole, path.read_bytes()


def wait_for_temporary(path: Path, size: int, process: subprocess.Popen[str]) -> None:
    """Wait until the temporary file of a seal has that size, or the process is over."""
    while process.poll() is None:
        for found in path.parent.glob(f".{path.name}.sealing-*"):
            try:
                if found.stat().st_size >= size:
                    return
            except FileNotFoundError:
                continue
        try:
            process.wait(0.002)
        except subprocess.TimeoutExpired:
            continue


def test_a_killed_seal_leaves_a_readable_file_and_the_next_one_tidies_up(
    long_run: tuple[bytes, bytes], tmp_path: Path
) -> None:
    whole, sealed = long_run
    path, chance, left = tmp_path / "run.zst", random.Random(9), 0
    path.write_bytes(whole)
    expected = content(path)
    for share in [0.0, 1.0, *(chance.random() for _ in range(6))]:
        path.write_bytes(whole)
        with start("", "seal", path) as process:
            wait_for_temporary(path, int(share * len(sealed)), process)
            process.kill()
        assert content(path) == expected
        assert path.read_bytes() in (whole, sealed)
        left += len(names(tmp_path)) - 1
        assert len(names(tmp_path)) <= 2  # each one found and removed what the last one left
    assert left > 3
    seal(path)
    assert path.read_bytes() == sealed
    assert names(tmp_path) == ["run.zst"]
    seal(path)
    assert path.read_bytes() == sealed


AWAKE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
)
"""A shell that starts the tests in the background has them ignore Ctrl-C, and `nohup` the end of a terminal."""
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""As in a background job of a script."""


@pytest.mark.parametrize(
    ("setup", "number"),
    [(AWAKE, signal.SIGINT), (AWAKE, signal.SIGTERM), (AWAKE, signal.SIGHUP), (DEAF, signal.SIGTERM)],
)
def test_an_interrupt_while_sealing(
    setup: str, number: signal.Signals, long_run: tuple[bytes, bytes], tmp_path: Path
) -> None:
    whole, sealed = long_run
    path = tmp_path / "run.zst"
    path.write_bytes(whole)
    script = setup + "import sys; from replaykit.cli.main import main; main(sys.argv[1:])"
    with start(script, "seal", path) as process:
        wait_for_temporary(path, len(sealed) // 2, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")
    assert path.read_bytes() == whole
    assert names(tmp_path) == ["run.zst"]


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    script = (
        "import signal, os; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from replaykit.cli import main\n"
        "main.run = lambda _: os.kill(os.getpid(), signal.SIGHUP) or 7\n"
        "main.main([])\n"
    )
    with start(script) as process:
        assert process.wait(60) == 7  # as `nohup` has it


@pytest.mark.parametrize("command", ["record", "rerun"])
def test_a_signal_ends_a_recording_at_once(command: str) -> None:
    script = (
        "import signal, os\n"
        f"from replaykit.cli.record import {command} as module\n"
        "def killed(*_, **__): os.kill(os.getpid(), signal.SIGTERM)\n"
        "module._url_or_command = module._kinds = killed\n"
        "from replaykit.cli.main import main\n"
        f"main(['{command}', 'x'])\n"
    )
    with start(script) as process:
        assert process.wait(60) == -signal.SIGTERM


def test_a_seal_at_work_keeps_its_temporary_file(journal: Path, tmp_path: Path) -> None:
    working = tmp_path / ".run.zst.sealing-working"
    with working.open("wb") as file:
        locking.lock(file.fileno(), shared=True)
        seal(journal)
        assert working.exists()
    seal(journal)
    assert not working.exists()


def test_other_names_and_what_is_no_file_are_left_alone(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / ".run.zst.sealing-link").symlink_to("precious")
    (tmp_path / ".run.zst.sealing-folder").mkdir()
    (tmp_path / ".other.zst.sealing-x").write_bytes(b"")
    os.mkfifo(tmp_path / ".other.zst.sealing-fifo")
    before = names(tmp_path)
    seal(journal)
    assert names(tmp_path) == before
    assert (tmp_path / "precious").read_bytes() == b"precious"
