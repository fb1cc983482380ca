"""Workers that die, hang or are lost: every bundle is reported, and the others are graded."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import EngineError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.workers import fork_server
from replaykit.grading.workers.executors import NO_WORKERS, Foreign, Processes
from replaykit.grading.workers.worker_messages import WorkItem
from tests.grading.workers.dying_work import outcomes, stand_in

LIMIT_S = 3.0

ROOT = Path(__file__).parents[3]


def test_a_bundle_that_ends_its_worker_is_one_error() -> None:
    sources = [f"r{n}" for n in range(20)]
    sources[3:3] = ["dies", "dies-once"]
    with closing(Processes(2, GradeOptions(), LIMIT_S, work=stand_in)) as workers:
        found = outcomes(workers, sources)
    assert found == {source: "WorkerDied" if source == "dies" else "graded" for source in sources}


def test_a_bundle_that_never_ends_is_one_error() -> None:
    with closing(Processes(2, GradeOptions(), LIMIT_S, work=stand_in)) as workers:
        found = outcomes(workers, ["a", "hangs", "b", "c"])
    assert found == {"a": "graded", "hangs": "TimeLimit", "b": "graded", "c": "graded"}


class Lossy(Executor):
    """Threads that lose every chunk with a certain bundle in it, so often."""

    def __init__(self, pool: Executor, losses: int) -> None:
        self._pool = pool
        self.losses = losses

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if b'"bad"' in args[0] and self.losses:
            self.losses -= 1
            future: Future[Any] = Future()
            future.set_exception(ConnectionError("lost"))
            return future
        return self._pool.submit(fn, *args, **kwargs)


@pytest.mark.parametrize(("losses", "outcome"), [(3, "graded"), (99, "WorkerDied")])
def test_what_a_foreign_executor_loses_is_given_again(losses: int, outcome: str) -> None:
    sources = ["a", "b", "bad", *(f"r{n}" for n in range(30))]
    with ThreadPoolExecutor(2) as pool:
        found = outcomes(Foreign(Lossy(pool, losses), GradeOptions(), work=stand_in), sources)
    assert found == {source: outcome if source == "bad" else "graded" for source in sources}


def test_an_executor_that_refuses_is_an_error_that_says_how_to_go_on() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(EngineError, match=r"refuses work.*results="):
        outcomes(Foreign(pool, GradeOptions(), work=stand_in), ["a"])


UNGUARDED = """
import replaykit
replaykit.grade_many(["a.zst", "b.zst", "c.zst"], jobs=2)
"""


def test_a_script_that_every_worker_runs_again_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "grade.py"
    script.write_text(UNGUARDED)
    words = [sys.executable, str(script)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"replaykit.errors.EngineError: {NO_WORKERS}" in done.stderr.splitlines()


def test_a_pool_that_breaks_while_it_takes_a_chunk_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    submit, calls = ProcessPoolExecutor.submit, itertools.count()

    def breaking(pool: ProcessPoolExecutor, /, *call: Any) -> Future[Any]:
        if next(calls) == 0:
            raise OSError("handle is closed")
        return submit(pool, *call)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", breaking)
    with closing(Processes(1, GradeOptions(), None, work=stand_in)) as workers:
        assert outcomes(workers, ["a", "b"]) == {"a": "graded", "b": "graded"}


PRELOADED = """
import gc, sys
import replaykit.grading.workers.preloaded
print("replaykit.grading.workers.worker" in sys.modules, gc.isenabled(), gc.get_freeze_count() > 10_000)
"""


def test_workers_are_forked_from_what_has_all_they_need_and_no_garbage_to_search() -> None:
    done = subprocess.run([sys.executable, "-c", PRELOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "True True True\n"


WAITING = """
import threading
from replaykit.grading.workers import fork_server
from replaykit.grading.workers.executors import Processes
from replaykit.grading.grade_options import GradeOptions

crew = Processes(2, GradeOptions(), None)
crew.submit([]).result()
print("here", flush=True)
threading.Event().wait()
"""


def test_no_worker_outlives_a_killed_run() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.kill()
        # Its workers hold the same pipe: it ends with the last of them.
        assert process.communicate(timeout=60)[0] == b""


SLOW = """
import time
from pathlib import Path
Path("begun").touch()
while not Path("go").exists():
    time.sleep(0.01)
import replaykit.grading.workers.preloaded
"""
"""Module that the server of workers loads in the tests below."""

DRIVEN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from replaykit.grading.workers import fork_server
fork_server.LOADED = ("slow",)
from replaykit.cli.main import main
main(["grade", *sys.argv[1:], "--jobs", "2"])
"""


def test_ctrl_c_while_workers_start_prints_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    with subprocess.Popen(
        [sys.executable, "-c", DRIVEN, ROOT / "recordings/conformance"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, text=True, cwd=tmp_path,
        start_new_session=True,
    ) as command:  # fmt: skip
        while not (tmp_path / "begun").exists():
            assert command.poll() is None
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does
        (tmp_path / "go").touch()
        _, said = command.communicate(timeout=60)
    assert (command.returncode, said.strip()) == (130, "interrupted")


def test_workers_are_ended_whatever_they_do() -> None:
    workers = Processes(1, GradeOptions(), None, work=stand_in)
    begun = workers.submit([WorkItem(source="hangs")])
    workers.end()
    with pytest.raises(BrokenProcessPool):
        begun.result()


def test_ctrl_c_waits_while_a_worker_is_started() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done = False
    try:
        with pytest.raises(KeyboardInterrupt), fork_server.undisturbed():
            signal.raise_signal(signal.SIGINT)
            done = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert done
