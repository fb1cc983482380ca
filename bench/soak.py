"""Recordings beside busy browsers: is every channel proven, and every list of actions the same?

Run: .venv/bin/python -m bench.soak [--runs 200] [--browsers 2]

Each pair of agent and task of the conformance set is recorded again and again, in turn, while other browsers
compute and paint. A channel that is not proven, a gap, and an action more or less than in the first recording
of the pair are printed; exit 1 for any. A site whose own state is not the expected one ends the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.figures.figure import Figure
from bench.figures.reporting import options, report
from fixtures.agents.pairs import Pair, load_pairs
from replaykit.browser import find_browser
from replaykit.bundle.reader import open_bundle
from replaykit.recorder.agent_runs import record_agent
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.completeness_proof import NEEDS
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.step import Step

BUSY = """data:text/html,<canvas id=c width=800 height=600></canvas><script>
const draw = () => {
  for (let x = 0, end = performance.now() + 30; performance.now() < end; x += Math.sqrt(x + 1));
  c.getContext('2d').fillRect(Math.random() * 800, Math.random() * 600, 9, 9);
  setTimeout(draw, 5);
};
draw();
</script>"""
"""A page that computes for 30 ms and paints, without end."""


@contextmanager
def busy_browsers(count: int) -> Iterator[None]:
    """Keep browsers busy beside."""
    with ExitStack() as stack:
        for _ in range(count):
            profile = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            flags = ["--headless=new", "--no-sandbox", "--no-first-run", f"--user-data-dir={profile}"]
            browser = subprocess.Popen(
                [str(find_browser()), *flags, "--remote-debugging-port=0", BUSY],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(browser.wait)
            stack.callback(browser.kill)
        yield


def record(pair: Pair, path: Path) -> None:
    """Record one run against a fresh site, whose own state must be the expected one."""
    with pair.serve() as site:
        record_agent(pair.entry, pair.load_task(), path, sites=pair.roots(site), user=pair.load_user())
        pair.prove(site.state.as_json())


def faults(path: Path) -> list[str]:
    """Return what a recording misses: gaps, and channels that are not proven."""
    with open_bundle(path) as bundle:
        gaps = [event for event in bundle.trajectory.events if isinstance(event, Gap)]
        states = {channel: str(state_of(bundle.trajectory, channel)) for channel in NEEDS}
    missed = [f"gap {gap.channel}: {gap.why}" for gap in gaps]
    return missed + [f"{channel} is {state}" for channel, state in states.items() if state != "proven"]


def actions(path: Path) -> list[str]:
    """Return the kinds and targets of a run's actions, in order."""
    with open_bundle(path) as bundle:
        steps = [event for event in bundle.trajectory.events if isinstance(event, Step)]
    targets = [getattr(step.action, "element", None) for step in steps]
    return [
        f"{type(step.action).__name__} {target.css if target else ''}".strip()
        for step, target in zip(steps, targets, strict=True)
    ]


def soak(pairs: Sequence[Pair], runs: int, folder: Path) -> int:
    """Record so many runs, print what is wrong with each, and return how many had faults."""
    first: dict[str, list[str]] = {}
    faulty = 0
    for number in range(runs):
        pair = pairs[number % len(pairs)]
        path = folder / "run.zst"
        path.unlink(missing_ok=True)
        record(pair, path)
        found, done = faults(path), actions(path)
        if done != first.setdefault(pair.name, done):
            found.append(f"actions {json.dumps(done)} instead of {json.dumps(first[pair.name])}")
        faulty += bool(found)
        load = os.getloadavg()[0]
        print(f"{number + 1}/{runs} {pair.name} load {load:.1f}: {'; '.join(found) or 'proven'}", flush=True)
    return faulty


def main() -> int:
    """Print each run, then how many had faults."""
    given = options(__doc__, runs=200, browsers=2).parse_args()
    pairs = [pair for pair in load_pairs() if pair.record]
    with busy_browsers(given.browsers), tempfile.TemporaryDirectory() as folder:
        faulty = soak(pairs, given.runs, Path(folder))
    found = Figure("recordings with faults", faulty, "runs", 0, "all of them", given.runs, 0)
    return report("soak", [found], given)


if __name__ == "__main__":
    sys.exit(main())
