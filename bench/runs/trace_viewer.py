"""A page of real components: Playwright's trace viewer, from the npm package that the tests install.

Its lists, tabs and editors are drawn by React, its trace is read by a service worker. The trace is of a visit
to the shop, made once per process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

from playwright.sync_api import Page, sync_playwright

from bench.runs.actions import Actions, shop
from fixtures.sites.shop.server import serve as serve_shop
from replaykit.browser import find_browser

DRIVERS = Path(__file__).parents[2] / "tests" / "live" / "drivers"
PACKAGE = DRIVERS / "node_modules" / "playwright-core" / "lib" / "vite" / "traceViewer"


class Viewer(NamedTuple):
    """A running viewer."""

    url: str


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def is_installed() -> bool:
    """Whether the package is there; say on stderr what installs it where it is not."""
    if not PACKAGE.is_dir():
        print("no page of real components: `sh .ci/test` installs its npm package", file=sys.stderr)
    return PACKAGE.is_dir()


@contextmanager
def serve() -> Iterator[Viewer]:
    """Serve the viewer and a trace on loopback; the URL opens the trace."""
    with tempfile.TemporaryDirectory() as folder:
        site = copytree(PACKAGE, Path(folder, "site"))
        (site / "trace.zip").write_bytes(_trace())
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield Viewer(f"{root}/index.html?trace={root}/trace.zip")
        finally:
            server.shutdown()
            server.server_close()


def viewer(page: Page, url: str) -> Actions:
    """Look through a trace: its actions, what they looked like, its requests."""

    def chosen(name: str) -> Callable[[], object]:
        def act() -> None:
            item = page.get_by_role("treeitem", name=name).first
            item.click()
            page.wait_for_selector("[role=treeitem][aria-selected=true]")

        return act

    def opened(name: str) -> Callable[[], object]:
        return page.get_by_role("tab", name=name).first.click

    def first() -> None:
        page.goto(url)
        page.get_by_role("treeitem", name="Uncheck").wait_for()

    search = page.get_by_role("searchbox", name="Filter actions")
    return [
        first,
        *map(chosen, ("Click", "Navigate", 'Fill "Ines"', 'Fill "Tom"', "Check")),
        *map(opened, ("Before", "After", "Action")),
        *map(opened, ("Log", "Errors", "Console", "Network", "Source", "Attachments", "Call")),
        lambda: search.fill("Fill"),
        lambda: search.fill(""),
        opened("Metadata"),
        opened("Actions"),
    ]


VIEWER: tuple[Callable[[], Any], Callable[[Page, str], Actions]] = (serve, viewer)
"""How it is served, and the actions on it, like those of `bench.runs.actions.SITES`."""


@cache
def _trace() -> bytes:
    # A browser of its own process: the benchmark's Playwright runs in this one.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.zip")
        subprocess.run([sys.executable, "-m", "bench.runs.trace_viewer", str(path)], check=True)
        return path.read_bytes()


def write_trace(path: Path) -> None:
    """Trace a visit to the shop."""
    with serve_shop() as site, sync_playwright() as playwright:
        launch = playwright.chromium.launch
        with closing(launch(executable_path=str(find_browser()), args=["--no-sandbox"])) as browser:
            context = browser.new_context()
            context.tracing.start(screenshots=True, snapshots=True)
            page = context.new_page()
            for act in shop(page, site.url):
                act()
            context.tracing.stop(path=path)


if __name__ == "__main__":
    write_trace(Path(sys.argv[1]))
