"""Cost of the proxy of `record -- COMMAND` per command of an agent, and of holding new targets.

Run: .venv/bin/python -m bench.proxy [--rounds 3]

One client does the same over a browser's own port, through the proxy only, and while it is recorded, with
frames and workers held until they are listened to and without; these take turns, in one run. All figures are
medians in ms: a CDP command that does nothing, a click, a new page, the first message of a worker, the load
of a frame of another site.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

from playwright.sync_api import Page, sync_playwright

from bench.figures.figure import Figure
from bench.figures.reporting import options, report
from replaykit.browser import launch
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.browser import frames_and_workers, instrumentation
from replaykit.recorder.proxy.cdp_proxy import Proxy
from replaykit.tasks.task import decode_task

COMMAND_GOAL_MS = 1.0
"""Most that the proxy may add to one command."""

HOLD_GOAL_MS = 20.0
"""Most that a new target may wait."""

TIMES = {"command": 300, "click": 20, "page": 8, "worker": 20, "frame": 12}
"""Measurements, and their number in a round."""

WORKER = """() => new Promise((done) => {
  const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
  worker.onmessage = () => { worker.terminate(); done(1); };
})"""

FRAME = """(url) => new Promise((done) => {
  const frame = document.createElement('iframe');
  frame.onload = () => { frame.remove(); done(1); };
  frame.src = url;
  document.body.append(frame);
})"""

Spent = dict[str, list[float]]


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>Page</title><button id=b>Go</button>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[int]:
    """Serve one page under every address; yield the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


def drive(endpoint: str, port: int) -> Spent:
    """Do all that is measured; return the ms that each took."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(endpoint)
        context = browser.contexts[0]
        page = context.pages[0] if context.pages else context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        session = context.new_cdp_session(page)
        works: dict[str, Callable[[], object]] = {
            "command": lambda: session.send("Runtime.evaluate", {"expression": "1"}),
            "click": lambda: page.click("#b"),
            "page": lambda: context.new_page().close(),
            "worker": lambda: page.evaluate(WORKER),
            "frame": lambda: page.evaluate(FRAME, f"http://localhost:{port}/in"),
        }
        return {name: [_ms(work) for _ in range(TIMES[name])] for name, work in _warm(page, works).items()}


def _warm(page: Page, works: dict[str, Callable[[], object]]) -> dict[str, Callable[[], object]]:
    for work in works.values():
        work()
    page.wait_for_timeout(300)
    return works


def _ms(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def direct(port: int, folder: Path) -> Spent:
    """Over the browser's own port."""
    with launch() as browser:
        return drive(browser.endpoint, port)


def proxied(port: int, folder: Path) -> Spent:
    """Through the proxy, unrecorded."""
    with launch(has_pipe=True) as browser:
        assert browser.pipe is not None
        with Proxy(browser.pipe) as proxy:
            return drive(proxy.endpoint, port)


def recorded(port: int, folder: Path) -> Spent:
    """Recorded as `record -- COMMAND` does it."""
    found = Path(tempfile.mkdtemp(dir=folder)) / "found.json"
    task = {"id": "t", "intent": "-", "start_urls": [f"http://127.0.0.1:{port}/"], "checks": []}
    argv = [sys.executable, "-m", "bench.proxy", "--client", str(port), str(found)]
    record_command(argv, decode_task(task), found.with_suffix(".zst"))
    spent: Spent = json.loads(found.read_text())
    return spent


def unheld(port: int, folder: Path) -> Spent:
    """Recorded, but nothing waits for the recorder."""

    def following(tab: Any) -> dict[str, Any]:
        return {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}

    with (
        patch.object(instrumentation, "following", following),
        patch.object(frames_and_workers, "following", following),
    ):
        return recorded(port, folder)


WAYS = (direct, proxied, unheld, recorded)


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Return the medians of every way, by what was measured."""
    spent: dict[str, Spent] = {way.__name__: defaultdict(list) for way in WAYS}
    with served() as port, tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                for name, times in way(port, Path(folder)).items():
                    spent[way.__name__][name] += times
    return {
        way: {name: statistics.median(times) for name, times in all.items()} for way, all in spent.items()
    }


def figures(found: dict[str, dict[str, float]]) -> list[Figure]:
    """Return what the proxy adds to the direct way, and what holding adds to recording."""
    rows = []
    for name in TIMES:
        goal = COMMAND_GOAL_MS if name == "command" else None
        added = found["proxied"][name] - found["direct"][name]
        rows.append(Figure(f"{name}: added by the proxy", added, "ms", goal, "direct", found["direct"][name]))
    for name in ("worker", "frame"):
        added = found["recorded"][name] - found["unheld"][name]
        peer = found["unheld"][name]
        rows.append(Figure(f"{name}: added by holding", added, "ms", HOLD_GOAL_MS, "recorded, unheld", peer))
    for name in TIMES:
        peer = found["direct"][name]
        rows.append(Figure(f"{name}: recorded", found["recorded"][name], "ms", None, "direct", peer))
    return rows


def main() -> int:
    """Measure and report; with `--client PORT FILE` be the agent."""
    parser = options(__doc__, rounds=3)
    parser.add_argument("--client", nargs=2, metavar=("PORT", "FILE"))
    given = parser.parse_args()
    if given.client:
        port, path = given.client
        Path(path).write_text(json.dumps(drive(os.environ["REPLAYKIT_CDP_URL"], int(port))))
        return 0
    return report("proxy", figures(measure(given.rounds)), given)


if __name__ == "__main__":
    sys.exit(main())
