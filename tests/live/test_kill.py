"""Kill -9 at random moments of a real recording in a real browser: what was acknowledged is there afterwards.

REPLAYKIT_KILLS=20 kills 20 recordings.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from fixtures.sites.shop.server import serve
from replaykit.browser import launch
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import seal
from tests.thorough import one_in

pytestmark = pytest.mark.live

ROOT = Path(__file__).parent.parent.parent
SUITE = ROOT / "fixtures" / "tasks" / "shop.yaml"
KILLS = int(os.environ.get("REPLAYKIT_KILLS", "8"))
A_FEW = 3
AT_ONCE = 3
PATIENCE_S = 60.0

# Every commit is acknowledged by a line: events and size of the file.
RECORD = """
import os, sys
from playwright.sync_api import sync_playwright
from replaykit.bundle.writer import Journal
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.suite import load_suite

suite, out, url, endpoint, screenshots = sys.argv[1:]
commit = Journal.commit

def acknowledged(self, *arguments):
    commit(self, *arguments)
    os.write(1, b"%d %d\\n" % (self.events, self.size))

Journal.commit = acknowledged

with sync_playwright() as playwright:
    context = playwright.chromium.connect_over_cdp(endpoint).new_context()
    run = Recorder(out, task=load_suite(suite).task("order-total"), sites={"shop": url}, screenshots=screenshots)
    run.__enter__()
    run.attach(context)
    page = context.new_page()
    while True:
        run.thought("Round we go.")
        page.goto(url + "/orders")
        page.get_by_label("Search").fill("Ines")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_load_state()
        page.get_by_role("navigation", name="Main").get_by_role("link", name="Products").click()
        page.get_by_role("heading", level=1, name="Products").wait_for()
"""


@pytest.mark.parametrize("kills", one_in(2, [A_FEW, KILLS]))
def test_kills_lose_nothing_that_was_acknowledged(kills: int, browser_path: Path, folder: Path) -> None:
    chance = random.Random(20)
    plans = [
        (number, chance.randrange(1, 40), chance.random() * 0.1, chance.choice(["png", "off"]))
        for number in range(kills)
    ]
    with serve() as shop, launch(browser_path) as running, ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [
            pool.submit(
                killed, folder / f"{number}.zst", shop.url, running.endpoint, acknowledged, delay, images
            )
            for number, acknowledged, delay, images in plans
        ]
        results = [run.result() for run in runs]
    for (number, *_), commits in zip(plans, results, strict=True):
        check(folder / f"{number}.zst", commits, chance)


def killed(
    out: Path, url: str, endpoint: str, acknowledged: int, delay: float, images: str
) -> list[tuple[int, int]]:
    """Record, kill the recorder's process group, and return what was acknowledged: events, bytes."""
    argv = [sys.executable, "-c", RECORD, *map(str, (SUITE, out, url, endpoint, images))]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(out.parent)}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environ, start_new_session=True) as recorder:
        assert recorder.stdout is not None
        lines: list[bytes] = []
        try:
            while len(lines) < acknowledged:
                lines.append(recorder.stdout.readline())
                assert lines[-1], "the recording ended by itself"
            with suppress(subprocess.TimeoutExpired):
                recorder.wait(delay)  # the moment itself is random too
        finally:
            os.killpg(recorder.pid, signal.SIGKILL)
        lines += recorder.stdout.readlines()
    whole = [line for line in lines if line.endswith(b"\n")]
    return [(int(events), int(size)) for events, size in map(bytes.split, whole)]


def check(path: Path, commits: list[tuple[int, int]], chance: random.Random) -> None:
    """The journal holds at least what was acknowledged, can be cut anywhere, and can be sealed."""
    whole = path.read_bytes()
    with open_bundle(path) as journal:
        assert journal.layout == "journal"
        assert journal.ending is None
        lines, digest = journal.lines, journal.digest
        assert len(lines) - 1 >= commits[-1][0]
        for id in journal.blob_ids:
            assert journal.blob(id)
    assert verify(path).findings == ()
    for _ in range(5):
        cut = chance.randrange(commits[0][1], len(whole) + 1)
        part = path.with_suffix(".cut")
        part.write_bytes(whole[:cut])
        kept = max(events for events, size in commits if size <= cut)
        with open_bundle(part) as bundle:
            assert bundle.lines == lines[: len(bundle.lines)]
            assert len(bundle.lines) - 1 == kept or cut > commits[-1][1]
    seal(path)
    with open_bundle(path) as sealed:
        assert (sealed.layout, sealed.lines, sealed.digest) == ("sealed", lines, digest)


INTERRUPTED_AGENT = """
import pathlib

def loiter(page, task, run):
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Products").click()
    page.get_by_role("heading", level=1, name="Products").wait_for()
    page.wait_for_timeout(800)
    pathlib.Path("reached").touch()
    page.wait_for_timeout(60000)
"""

# A shell that starts the tests in the background has them ignore Ctrl-C.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from replaykit.cli.main import main
main(sys.argv[1:])
"""


def test_ctrl_c_during_a_recording_seals_it_and_a_second_recorder_is_refused(
    browser_path: Path, folder: Path
) -> None:
    (folder / "loiter.py").write_text(INTERRUPTED_AGENT)
    out = folder / "run.zst"
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "REPLAYKIT_BROWSER": str(browser_path)}
    with serve() as shop:
        record = ["record", "--task", f"{SUITE}#order-total", "--agent", "loiter:loiter", "--site",
                  f"shop={shop.url}", "-o", str(out)]  # fmt: skip
        argv = [sys.executable, "-c", COMMAND]
        with subprocess.Popen(
            [*argv, *record], env=environ, cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        ) as recorder:  # fmt: skip
            wait_for(folder / "reached", recorder)
            before = out.read_bytes()
            second = subprocess.run(
                [*argv, *record], env=environ, cwd=folder, text=True, capture_output=True, check=False
            )
            sealing = subprocess.run(
                [*argv, "seal", str(out)], env=environ, text=True, capture_output=True, check=False
            )
            graded = subprocess.run(
                [*argv, "grade", str(out)], env=environ, text=True, capture_output=True, check=False
            )
            assert out.read_bytes().startswith(before)
            os.killpg(recorder.pid, signal.SIGINT)  # as a terminal does
            said, complaints = recorder.communicate(timeout=PATIENCE_S)
    assert second.returncode == 3
    assert "cannot create the bundle: it exists" in second.stderr
    assert (sealing.returncode, sealing.stdout) == (3, "")
    assert "still being recorded" in sealing.stderr
    assert "missing trajectory.end" in graded.stdout
    assert recorder.returncode == 0, complaints
    assert "stopped" in complaints
    assert "Traceback" not in complaints
    with open_bundle(out) as bundle:
        assert said == f"sha256:{bundle.digest}\n"
        assert (bundle.layout, bundle.ending and bundle.ending.kind) == ("sealed", "stopped")
        assert len(bundle.trajectory.steps) == 1
    assert verify(out).findings == ()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None, process.communicate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
