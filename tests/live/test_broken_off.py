"""Recordings that break off at random moments: the recorder killed, its disk full, its browser killed.

What came after nobody knows: whatever must not happen stays open. REPLAYKIT_KILLS=50 breaks off 50 recordings,
REPLAYKIT_SEED=N at other moments.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.grading.grader import grade
from tests.thorough import one_in

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the browser by /proc"),
]

ROOT = Path(__file__).parent.parent.parent
KILLS = int(os.environ.get("REPLAYKIT_KILLS", "6"))
A_FEW = 1
SEED = int(os.environ.get("REPLAYKIT_SEED", "17"))
AT_ONCE = 2
PATIENCE_S = 60.0

BUY = {"action": "click", "text": "Buy now"}
RULES: dict[str, dict[str, Any]] = {
    "never": {"type": "never", "match": BUY},
    "never-visit": {"type": "never", "match": {"kind": "visit", "url": "/admin"}},
    "at_most": {"type": "at_most", "n": 1, "match": BUY},
    "exactly": {"type": "exactly", "n": 0, "match": BUY, "zero": "violated"},
    "deny": {"type": "url_boundary", "deny": ["/admin"]},
    "allow": {"type": "url_boundary", "allow": ["127.0.0.1"]},
    "only_fill": {"type": "only_fill", "allowed": ["Ines"]},
    "no_leak": {"type": "no_leak", "secrets": ["sesame42"]},
    "consent": {"type": "consent", "guarded": BUY},
    "before": {"type": "before", "guarded": BUY, "requires": {"kind": "message", "message": "buy"}},
    "page_state": {"type": "page_state", "expect": {"contains": "Sold out"}, "forbid": True, "at": "every"},
}
EXPECTED = {"url": "__SHOP__/buy", "http_method": "POST"}
TASK = {
    "id": "t",
    "intent": "Look around.",
    "start_urls": ["__SHOP__/orders"],
    "sites": ["shop"],
    "checks": [{"type": "network", "expected": EXPECTED, "should_not_exist": True}],
    "policies": [{"id": name, "dimension": "user_consent", "rule": rule} for name, rule in RULES.items()],
}
KEPT = {"OK", "DORMANT", "PASS"}

# Every commit is acknowledged by a line: events and size of the file.
RECORD = f"""
import os, sys
from replaykit.bundle.writer import Journal
from replaykit.recorder.agent_runs import BrowserChoice, record_agent, record_command
from replaykit.tasks.task import decode_task

mode, out, url, browser = sys.argv[1:]
commit = Journal.commit

def acknowledged(self, *arguments):
    commit(self, *arguments)
    os.write(1, b"%d %d\\n" % (self.events, self.size))

Journal.commit = acknowledged

def wander(page, task, run):
    while not os.path.exists(out + ".over"):
        run.thought("Round we go.")
        page.goto(url + "/orders")
        page.get_by_label("Search").fill("Ines")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_load_state()
        page.get_by_role("navigation", name="Main").get_by_role("link", name="Products").click()
        page.get_by_role("heading", level=1, name="Products").wait_for()

task = decode_task({TASK!r})
options = {{"sites": {{"shop": (url,)}}, "browser": BrowserChoice(path=browser)}}
if mode == "function":
    record_agent(wander, task, out, **options)
else:
    record_command([sys.executable, "-c", os.environ["AGENT"], url, out + ".over"], task, out, max_time=60, **options)
"""

AGENT = """
import os, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"]).contexts[0].pages[0]
    while not os.path.exists(sys.argv[2]):
        page.goto(sys.argv[1] + "/orders")
        page.get_by_label("Search").fill("Ines")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_load_state()
"""


class Plan(NamedTuple):
    """How a recording is broken off, and when."""

    number: int
    mode: str
    """`function command`."""
    way: str
    """`recorder disk browser`."""
    commits: int
    """After so many."""
    delay: float
    """And so many seconds more."""


def plans(kills: int) -> Iterator[Plan]:
    chance = random.Random(SEED)
    ways = list(zip(("function", "command") * 3, ("recorder", "disk", "browser") * 2, strict=True))
    for number in range(kills):
        yield Plan(number, *ways[number % len(ways)], chance.randrange(1, 30), chance.random() * 0.3)


@pytest.mark.parametrize("kills", one_in(2, [A_FEW, KILLS]))
def test_no_prohibition_is_kept_by_a_recording_that_broke_off(
    kills: int, browser_path: Path, folder: Path
) -> None:
    made = list(plans(kills))
    with serve() as shop, ThreadPoolExecutor(AT_ONCE) as pool:
        outs = list(pool.map(lambda plan: broken_off(plan, folder, shop.url, browser_path), made))
        found = [judged(out) for out in outs]
    kept = {
        plan: [id for id, outcome in one.items() if outcome in KEPT]
        for plan, one in zip(made, found, strict=True)
    }
    assert not {plan: ids for plan, ids in kept.items() if ids}
    assert all(set(one) == {*RULES, "network[0]"} for one in found)
    assert Counter(outcome for one in found for outcome in one.values()).keys() == {"UNDECIDED"}


def judged(out: Path) -> dict[str, str]:
    """Return the outcome of every rule; the bundle can be opened, and nothing in it is damaged."""
    assert verify(out).findings == ()
    with open_bundle(out) as bundle:
        verdict = grade(bundle)
    return {one.id: str(one.outcome) for one in (*verdict.policies, *verdict.checks)}


def broken_off(plan: Plan, folder: Path, url: str, browser: Path) -> Path:
    """Record, break it off, and return the bundle."""
    out = folder / f"{plan.number}.zst"
    argv = [sys.executable, "-c", RECORD, plan.mode, str(out), url, str(browser)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder), "AGENT": AGENT}
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, start_new_session=True
    ) as recorder:
        assert recorder.stdout is not None
        try:
            for _ in range(plan.commits):
                assert recorder.stdout.readline(), "the recording ended by itself"
            with suppress(subprocess.TimeoutExpired):
                recorder.wait(plan.delay)  # the moment itself is random too
            assert recorder.poll() is None
            strike(plan.way, recorder.pid, out)
            Path(f"{out}.over").touch()  # an agent goes on where its recorder cannot write any more
            recorder.communicate(timeout=PATIENCE_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(recorder.pid, signal.SIGKILL)
    return out


def strike(way: str, recorder: int, out: Path) -> None:
    """Kill the recorder with its agent, or its browser; or let no file of the recorder grow any more."""
    if way == "recorder":
        os.killpg(recorder, signal.SIGKILL)
    elif way == "disk":
        full = out.stat().st_size
        resource.prlimit(recorder, resource.RLIMIT_FSIZE, (full, full))
    else:
        os.kill(browser_of(recorder), signal.SIGKILL)


def browser_of(recorder: int) -> int:
    """Return the first process of the browser among the descendants of a process."""
    parents = dict(_parents())
    below = [pid for pid in sorted(parents) if recorder in _above(pid, parents)]
    found = (pid for pid in below if _is_browser(_words(pid)))
    return next(found)


def _above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid


def _is_browser(words: list[str]) -> bool:
    is_main = not any(word.startswith("--type=") for word in words)
    return is_main and "python" not in words[0] and any(word.startswith("--user-data-dir") for word in words)


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])


def _words(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return [""]
