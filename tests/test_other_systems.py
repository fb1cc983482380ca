"""Features that macOS and Windows lack, taken away here: locks, signals, process groups, open files.

No test ran on these systems. Each test removes what a system lacks, or refuses what it refuses.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import replaykit
from replaykit.browser import _end_group
from replaykit.bundle import locking
from replaykit.grading.checks import verifier_child
from replaykit.recorder.agent_limits import alarm
from replaykit.recorder.live_run import LiveRun
from replaykit.recorder.suite_runs import runs_of
from replaykit.tasks.task import Task
from replaykit.testing import trajectory

ROOT = Path(__file__).resolve().parents[1]
RUN = ROOT / "recordings" / "conformance" / "order-total--good.zst"
TASK = {"id": "t", "intent": "Go.", "checks": [{"type": "string_match", "exact": "x"}]}

LOADING = r"""
import importlib, os, signal, sys
from pathlib import Path
import replaykit

def loaded():
    folder = Path(replaykit.__file__).parent
    for file in folder.rglob("*.py"):
        name = ".".join(file.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        if not name.endswith("__main__") and "integrations" not in name:
            yield importlib.import_module(name)

count = len(list(loaded()))  # the standard library and other packages are loaded as they are
for name in [name for name in sys.modules if name.partition(".")[0] == "replaykit"]:
    del sys.modules[name]
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("killpg", "geteuid", "getuid", "fork", "pread", "fchmod", "fdatasync", "O_NONBLOCK", "O_CLOEXEC"):
    delattr(os, name)
for name in ("SIGALRM", "SIGKILL", "setitimer", "pthread_kill"):
    delattr(signal, name)
sys.platform = "win32"
import replaykit
assert len(list(loaded())) == count > 300
(verdict,) = replaykit.grade_many([sys.argv[1]]).verdicts
print(verdict.success.value)
"""


def test_every_module_loads_and_grades_without_what_windows_lacks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(RUN)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "PASS\n"), done.stderr


@pytest.fixture
def like_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No locks, and no open file is replaced or removed."""

    def refuse(*_: object) -> None:
        raise OSError(38, "no locks")

    def guarded(change: Callable[..., object]) -> Callable[..., object]:
        def checked(self: Path, *others: Path, **options: object) -> object:
            opened = {os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()}
            for path in (self, *others):
                if os.path.realpath(path) in opened:
                    raise PermissionError(13, "another process uses the file", str(path))
            return change(self, *others, **options)

        return checked

    monkeypatch.setattr(locking.fcntl, "flock", refuse)
    monkeypatch.delattr(os, "fchmod")
    monkeypatch.setattr(Path, "replace", guarded(Path.replace))
    monkeypatch.setattr(Path, "unlink", guarded(Path.unlink))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc names the open files")
@pytest.mark.usefixtures("like_windows")
def test_bundles_are_written_sealed_and_imported_where_no_open_file_is_replaced(tmp_path: Path) -> None:
    run = trajectory(TASK).answer("x")
    run.write(tmp_path / "run.zst")
    assert replaykit.seal(tmp_path / "run.zst").events > 0
    exported = replaykit.export_run("webvoyager", tmp_path / "run.zst", tmp_path / "exported")
    assert exported
    replaykit.import_run("auto", tmp_path / "exported", tmp_path / "again.zst")
    report = replaykit.grade_many([tmp_path / "run.zst"], results=tmp_path / "kept")
    assert report.verdicts[0].success.value == "PASS"
    names = {"run.zst", "exported", "again.zst", "kept"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_whoever_reads_or_writes_by_number_keeps_line_ends() -> None:
    for path in (ROOT / "replaykit").rglob("*.py"):
        text = path.read_text("utf-8")
        calls = {ast.unparse(one.func) for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)}
        if "os.open" in calls and calls & {"os.read", "os.write"}:
            assert "BINARY" in text, path


def test_workers_that_are_spawned_give_the_same_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = sorted(RUN.parent.glob("order-*.zst"))
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    started = []
    begin = multiprocessing.get_context

    def context(method: str | None = None) -> object:
        started.append(method)
        return begin(method)

    monkeypatch.setattr(multiprocessing, "get_context", context)
    assert replaykit.grade_many(runs, jobs=2) == replaykit.grade_many(runs)
    assert "spawn" in started


def test_a_browser_is_ended_without_groups_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "killpg")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        _end_group(process)
        assert process.poll() is not None


def test_without_alarms_an_agent_is_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "setitimer")
    before = signal.getsignal(signal.SIGINT)
    with alarm(cast(LiveRun, object()), 0.001):  # only the alarm asks the run
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        assert signal.getsignal(signal.SIGINT) is before


def test_a_verifier_runs_where_its_memory_cannot_be_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    verifier_child._limit()


def test_names_of_runs_differ_in_more_than_case_and_are_no_devices(tmp_path: Path) -> None:
    tasks = [Task(id=id, intent="Go.") for id in ("a", "A", "b-1", "nul", "COM1")]
    names = [run.path.name for run in runs_of(tasks, 1, tmp_path)]
    assert len({name.lower() for name in names}) == len(names)
    assert names[2] == "b-1.1.zst"
    assert all("-" in name for name in names)
