"""Pages of web-platform-tests, where REPLAYKIT_WPT names a checkout: static answers against live ones.

These pages were written for browsers. Another number in REPLAYKIT_WPT_SEED tries other ones.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Error

from replaykit.replay.dom import Dom
from tests.live.conftest import ThreadingHTTPServer
from tests.live.test_wild import DRAWN, READ, answers

pytestmark = [pytest.mark.live, pytest.mark.thorough]

FOLDERS = ("html", "css", "shadow-dom", "custom-elements", "inert")
LEFT_OUT = ("-manual", "crash", "print", ".sub.", ".https.")
"""Parts of names of pages that need a person or another server, or are about something else."""

PAGES = 25
"""Pages of each folder."""

WAIT_MS = 5000


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture(scope="module")
def checkout(browser_path: Path) -> Path:
    """Return the checkout. The browser is asked for first: where it is missing, CI fails with or without one."""
    path = os.environ.get("REPLAYKIT_WPT", "")
    if not path:
        # Pages of another project, of which no copy is kept or fetched: only who has them can read them.
        pytest.skip(
            "REPLAYKIT_WPT names no checkout of github.com/web-platform-tests/wpt: clone it, and name it there"
        )
    return Path(path)


@pytest.fixture(scope="module")
def origin(checkout: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(checkout)))
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def chosen(checkout: Path, folder: str) -> list[str]:
    """Return the addresses of some pages of a folder."""
    found = sorted(
        str(path.relative_to(checkout))
        for path in (checkout / folder).rglob("*.html")
        if not any(part in path.name for part in LEFT_OUT)
    )
    chance = random.Random(f"{os.environ.get('REPLAYKIT_WPT_SEED', '1')} {folder}")
    return chance.sample(found, min(PAGES, len(found)))


def shown(watched: Any, address: str) -> tuple[Dom, list[dict[str, Any]]] | None:
    """Return snapshot and live answers of a page; None if it does not load, goes on changing or has no boxes."""
    try:
        watched.page.goto(address, wait_until="load", timeout=WAIT_MS)
        watched.page.evaluate(DRAWN)
        found = msgspec.json.decode(watched.call(READ))
    except (Error, IndexError):
        return None
    dom = Dom(found["push"]["snapshot"].encode())
    # Of pages with very many elements no boxes are taken.
    has_boxes = dom.node(0) is not None and dom.node(0).box is not None
    is_whole = found["push"]["stale"] is None and len(dom.snapshot.nodes) == len(found["reads"])
    return (dom, found["reads"]) if is_whole and has_boxes else None


def differs(live: Any, own: Any) -> bool:
    # A form answers for its fields. Blanks beside an image in an object are of no one's text.
    if live is None or type(live) is not type(own):
        return False
    return bool(live.strip() != own.strip() if isinstance(live, str) and not live.strip() else live != own)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_element_reads_as_live(
    folder: str, checkout: Path, origin: str, watch: Callable[..., Any]
) -> None:
    watched = watch()
    watched.page.on("dialog", lambda dialog: dialog.dismiss())
    seen = 0
    for path in chosen(checkout, folder):
        found = shown(watched, f"{origin}/{path}")
        watched.forget()
        for number, live in enumerate(found[1] if found else ()):
            node = found[0].node(number) if found else None
            assert node is not None
            own = answers(node)
            assert {key: (live[key], own[key]) for key in own if differs(live[key], own[key])} == {}, path
            seen += 1
    assert seen > PAGES
