"""An import that is killed in the middle goes on where it was, and comes to the same result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from replaykit.bundle.verification import verify
from replaykit.interop.run_import import import_runs
from tests.interop.samples import webvoyager, write

POSIX = pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are those of POSIX")

RUNS = 30
"""Enough that a kill comes before the end."""


def many(folder: Path) -> Path:
    for number in range(RUNS):
        webvoyager(folder / f"{number:02}")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def wait_for(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until there are bundles; a minute is for machines under load."""
    end = time.monotonic() + 60
    while len(list(folder.glob("*.zst"))) < count:
        assert process.poll() is None and time.monotonic() < end, "the import ended before it could be killed"
        time.sleep(0.01)  # what it waits for needs the processor


def started(source: Path, target: Path, jobs: int) -> subprocess.Popen[bytes]:
    """The command, in a process group of its own."""
    command = [sys.executable, "-m", "replaykit", "import", "webvoyager", source, "-o", target]
    return subprocess.Popen(
        [*command, "--jobs", str(jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_until_gone(group: int) -> None:
    """Wait until no process of a group is left; a minute is for machines under load."""
    end = time.monotonic() + 60
    with suppress(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(0.01)
        pytest.fail("workers go on after their parent was killed")


@POSIX
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_import_goes_on(jobs: int, tmp_path: Path) -> None:
    source, target = many(tmp_path / "in"), tmp_path / "out"
    with started(source, target, jobs) as process:
        wait_for(target, 2, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # A worker holds the lock of their folder until it is gone.
        wait_until_gone(process.pid)
    check_it_goes_on(source, target, jobs, tmp_path)


@POSIX
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    source, target = many(tmp_path / "in"), tmp_path / "out"
    with started(source, target, 2) as process:
        wait_for(target, 2, process)
        process.kill()
        process.wait()
        wait_until_gone(process.pid)
    check_it_goes_on(source, target, 2, tmp_path)


def check_it_goes_on(source: Path, target: Path, jobs: int, folder: Path) -> None:
    done = import_runs("webvoyager", [source], target, jobs=jobs)
    states = [one.state for one in done]
    assert "kept" in states and set(states) <= {"kept", "imported"} and len(states) == RUNS
    import_runs("webvoyager", [source], folder / "whole")
    assert contents(target) == contents(folder / "whole")
    assert verify(done[0].path).findings == ()


@pytest.mark.parametrize("packed", [False, True])
def test_two_imports_at_once_come_to_the_result_of_one(packed: bool, tmp_path: Path) -> None:
    source, target = many(tmp_path / "in"), tmp_path / "out"
    if packed:
        with tarfile.open(tmp_path / "in.tar.gz", "w:gz") as tape:
            tape.add(source, ".")
        source = tmp_path / "in.tar.gz"
    processes = [started(source, target, jobs) for jobs in (1, 2, 1)]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    import_runs("webvoyager", [source], tmp_path / "whole")
    assert contents(target) == contents(tmp_path / "whole") and len(contents(target)) == RUNS


def test_one_job_and_two_give_the_same_bytes(tmp_path: Path) -> None:
    source = many(tmp_path / "in")
    write(source / "07/taskShop--3", "interact_messages.json", "{")
    one = import_runs("webvoyager", [source], tmp_path / "one")
    two = import_runs("webvoyager", [source], tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert [done.state for done in one] == [done.state for done in two] and one[7].state == "failed"
    assert str(one[7].error) == str(two[7].error) and one[3].digest == two[3].digest
