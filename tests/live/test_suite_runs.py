"""`record --suite` in a real browser: the shop's agent on two tasks, the bundles graded afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.grading.grader import grade

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "fixtures" / "tasks" / "shop.yaml"
TASKS = ("order-total", "return-window")

WAIT_S = 120.0
"""Patience; what it waits for takes seconds."""


def record(browser: Path, out: Path, url: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-m", "replaykit", "record", "--suite", SUITE, "--task-ids", ",".join(TASKS)),
            *("--site", f"shop={url}", "--browser", browser, "-o", out, *more),
        ],
        cwd=ROOT,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_suite_is_recorded_task_by_task_and_goes_on_where_it_stopped(
    browser_path: Path, tmp_path: Path
) -> None:
    good = ("--agent", "fixtures.agents.good:good")
    with serve() as site:
        first = record(browser_path, tmp_path, site.url, *good, "--limit", "1")
        assert first.returncode == 0, first.stderr
        made = tmp_path / "order-total.1.zst"
        assert [path.name for path in tmp_path.glob("*.zst")] == [made.name]
        before = made.read_bytes()
        second = record(browser_path, tmp_path, site.url, *good)
    assert second.returncode == 0, second.stderr
    assert "1 recorded (1 answered), 1 kept" in second.stderr
    assert made.read_bytes() == before
    for id in TASKS:
        path = tmp_path / f"{id}.1.zst"
        assert verify(path).findings == ()
        with open_bundle(path) as bundle:
            assert bundle.trajectory.header.run == "1"
            completion = grade(bundle).completion
            assert completion is not None and completion.outcome == "PASS"
    lines = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert [(line["task"], line["state"]) for line in lines] == [(id, "recorded") for id in TASKS]


@pytest.mark.thorough
def test_agents_that_crash_are_recorded_and_reported(browser_path: Path, tmp_path: Path) -> None:
    with serve() as site:
        done = record(browser_path, tmp_path, site.url, "--", sys.executable, "-c", "raise SystemExit(3)")
    assert done.returncode == 0, done.stderr
    assert "2 recorded (2 crashed)" in done.stderr
    assert len(list(tmp_path.glob("*.zst"))) == 2


WAITING = """
import os, pathlib, time
pathlib.Path(os.environ["MARKER"]).touch()
time.sleep(600)
"""


@pytest.mark.thorough
def test_ctrl_c_keeps_the_run_and_ends_the_suite(browser_path: Path, tmp_path: Path) -> None:
    marker, folder = tmp_path / "begun", tmp_path / "runs"
    with serve() as site:
        argv = [
            *(sys.executable, "-m", "replaykit", "record", "--suite", str(SUITE)),
            *("--task-ids", ",".join(TASKS), "--site", f"shop={site.url}", "--browser", str(browser_path)),
            *("-o", str(folder), "--", sys.executable, "-c", WAITING),
        ]
        running = subprocess.Popen(
            argv, cwd=ROOT, env={**os.environ, "MARKER": str(marker)}, stderr=subprocess.PIPE, text=True
        )
        deadline = monotonic() + WAIT_S
        while not marker.exists():
            assert running.poll() is None and monotonic() < deadline
            sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=WAIT_S)
    assert running.returncode == 130, err
    assert "1 recorded (1 stopped), 1 not begun" in err
    (made,) = folder.glob("*.zst")
    assert verify(made).findings == ()
    with open_bundle(made) as bundle:
        assert bundle.ending is not None
        assert (bundle.ending.kind, bundle.ending.cause) == ("stopped", "person")
