"""Many threads may grade at once, from the first moment of a process on.

msgspec 0.22 crashes the interpreter where two threads read a recursive struct for the first time; only a fresh
process has a first time, so each try has its own. The tiny switch interval makes the race likely: without the
turns of `replaykit.decoders` 16 of 20 such processes ended by a segmentation fault.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from replaykit.testing import trajectory
from tests.thorough import one_in

RUNS = 16
TRIES = 6

GATHERED = """
async def main():
    return await asyncio.gather(*(replaykit.grade_async(path) for path in PATHS))
verdicts = asyncio.run(main())
"""

POOLED = """
barrier = threading.Barrier(len(PATHS))
def one(path):
    barrier.wait()
    return replaykit.grade(path)
with ThreadPoolExecutor(len(PATHS)) as pool:
    verdicts = list(pool.map(one, PATHS))
"""

MIXED = """
barrier = threading.Barrier(len(PATHS))
def one(numbered):
    number, path = numbered
    barrier.wait()
    if number % 4 == 0:
        return replaykit.grade_many([path]).verdicts[0]
    if number % 4 == 1:
        with replaykit.open_bundle(path) as bundle:
            return replaykit.grade(bundle, dict(bundle.header.task))
    return replaykit.grade(path)
with ThreadPoolExecutor(len(PATHS)) as pool:
    verdicts = list(pool.map(one, enumerate(PATHS)))
"""

HEAD = """
import asyncio, json, sys, threading
from concurrent.futures import ThreadPoolExecutor
import replaykit
sys.setswitchinterval(1e-6)
PATHS = json.loads(sys.argv[1])
"""

TAIL = """
print(json.dumps([[verdict.task_id, str(verdict.success)] for verdict in verdicts]))
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("runs")
    return [str(_run(number, folder / f"{number:02}.zst")) for number in range(RUNS)]


def _run(number: int, path: Path) -> Path:
    task = {
        "id": f"t{number}",
        "intent": "Read the title.",
        "start_urls": ["http://shop.test/"],
        "checks": [
            {"type": "string_match", "exact": "Orders"},
            {"type": "url_match", "url": "http://shop.test/"},
        ],
        "policies": [{"id": "p", "source": "user", "dimension": "user_consent", "rule": _NEVER}],
    }
    run = trajectory(task).goto("http://shop.test/", "<h1>Orders</h1>").screenshot().final()
    return Path(run.answer("Orders" if number % 2 else "Nothing").write(path))


_NEVER = {"type": "never", "match": {"action": "click"}}


@pytest.mark.parametrize("script", one_in(3, [MIXED, GATHERED, POOLED]), ids=["mixed", "gather", "barrier"])
def test_fresh_processes_grade_from_many_threads(script: str, paths: list[str]) -> None:
    expected = [[f"t{number}", "PASS" if number % 2 else "FAIL"] for number in range(RUNS)]
    for _ in range(TRIES):
        words = [sys.executable, "-W", "error", "-c", HEAD + script + TAIL, json.dumps(paths)]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (done.returncode, done.stderr[-500:])
        assert json.loads(done.stdout) == expected
