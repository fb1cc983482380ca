"""Runs of 20 steps for the benchmarks: pages from fixed seeds, screenshots from the shipped recordings.

Pages are snapshots in the format of docs/snapshot-format.md. Screenshots are pixmaps of 1280 x 720. Events
are those that a recorder writes for a click: step, request, navigation. Made-up screenshots would prove
nothing: the bytes they take depend on how letters are drawn.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.story_lines import Line
from replaykit.bundle.writer import Journal, NewBlob, seal
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory.action import Click, Element
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.step import Ending, Header, Step

STEPS = 20
WIDTH, HEIGHT = 1280, 720
RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))

_ROW = 32
"""Height of a row, CSS px."""

_LENGTHS = [2 + number % 8 for number in range(400)]
_FREQUENCIES = [1 / (number + 3) for number in range(400)]
"""Words of a language: a few make most of the text (Zipf)."""

_HEADERS = (
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("Accept-Language", "en-US,en;q=0.9"),
    ("Connection", "keep-alive"),
    ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Site", "same-origin"),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"),
)


class Look(NamedTuple):
    """Content of one step."""

    snapshot: bytes
    """Page before the step."""
    image: bytes
    """Pixmap of it; empty = none."""


class Run(NamedTuple):
    """A run: what a recorder would commit."""

    name: str
    looks: list[Look]

    def commits(self, images: bool = False) -> Iterator[tuple[list[Line], list[NewBlob]]]:
        """Yield header, steps and ending with their new blobs."""
        yield [Header(created="2026-01-01T00:00:00Z", channels={"actions": "recorded"})], []
        for index, look in enumerate(self.looks):
            blobs = [(blob_id(look.snapshot), MEDIA_TYPE, look.snapshot)]
            if images:
                blobs.append((blob_id(look.image), PIXMAP, look.image))
            yield _events(self.name, index, *[id for id, _, _ in blobs]), blobs
        yield (
            [_final(self.name, blob_id(self.looks[-1].snapshot), len(self.looks)), _ending(len(self.looks))],
            [],
        )

    def blobs(self, images: bool = False) -> dict[str, NewBlob]:
        """Return the blobs of all commits, each once."""
        return {blob[0]: blob for _, blobs in self.commits(images) for blob in blobs}

    def journal(self, path: Path, images: bool = False) -> Path:
        """Record the run."""
        path.unlink(missing_ok=True)
        with Journal(path) as journal:
            for events, blobs in self.commits(images):
                journal.commit(events, blobs)
        return path

    def sealed(self, path: Path, images: bool = False) -> Path:
        """Record and seal the run."""
        seal(self.journal(path, images))
        return path


def _final(name: str, snapshot: str, steps: int) -> Observation:
    url = f"https://{name}.example/items/{steps - 1}"
    return Observation(role="final", t=1000 * steps, page=0, url=url, title=name, snapshot=snapshot)


def _ending(steps: int) -> Ending:
    return Ending(kind="answered", answer="done", t=1000 * steps)


def _events(name: str, index: int, snapshot: str, screenshot: str | None = None) -> list[Line]:
    url, t = f"https://{name}.example/items/{index}", 1000 * index
    tabs = (TabView(page=0, url=url, title=f"{name} {index}", active=True),)
    element = Element(
        tag="button", role="button", name="Open", text="Open", attributes={"data-act": "open"},
        css=f"#row-{1000 + index} > td:nth-of-type(6) > button", box=(1100, 32 * index, 60, 24),
    )  # fmt: skip
    before = Observation(
        role="before", t=t, page=0, url=url, title=f"{name} {index}", tabs=tabs, viewport=(WIDTH, HEIGHT),
        snapshot=snapshot, screenshot=screenshot,
    )  # fmt: skip
    exchange = Exchange(
        id=index, t=t + 40, page=0, method="GET", url=url, resource="document", request_headers=_HEADERS,
        response_headers=(("Content-Type", "text/html"),), status=200, mime="text/html", encoded_size=9000,
    )  # fmt: skip
    return [
        Step(index=index, t=t, page=0, action=Click(element=element, point=(1130, 40)), before=before),
        exchange,
        Navigation(
            t=t + 60, page=0, url=url, kind="link", cause="step", exchange=index, status=200, step=index
        ),
    ]


class _Site:
    """A page of rows of words, and what a step does to it."""

    def __init__(self, name: str, rows: int, words: int) -> None:
        self.name = name
        self.random = random.Random(name)
        self.vocabulary = ["".join(self.random.choices("abcdefghiklmnoprstuvw", k=n)) for n in _LENGTHS]
        self.words = words
        self.views = [[self.row() for _ in range(rows)] for _ in range(2)]
        self.view = 0

    def row(self) -> list[str]:
        """Return the texts of a row: number, words, date, amount, state."""
        chosen = self.random
        text = " ".join(chosen.choices(self.vocabulary, _FREQUENCIES, k=self.words))
        date = f"2026-{chosen.randint(1, 12):02}-{chosen.randint(1, 28):02}"
        state = chosen.choice(("Paid", "Open", "Shipped", "Cancelled"))
        return [
            str(chosen.randint(1000, 99999)),
            text,
            date,
            f"{chosen.randint(100, 99999) / 100:.2f}",
            state,
        ]

    def act(self, index: int) -> None:
        """Change three rows, put in a new one at times, show the other view at others."""
        rows = self.views[self.view]
        for _ in range(3):
            rows[self.random.randrange(len(rows))][3:] = self.row()[3:]
        if index % 4 == 1:
            rows.insert(self.random.randrange(len(rows)), self.row())
        if index % 3 == 2:
            self.view = 1 - self.view

    def grow(self) -> None:
        """Write two more rows at the end and change one."""
        rows = self.views[0]
        rows += [self.row(), self.row()]
        rows[self.random.randrange(len(rows))] = self.row()

    def page(self) -> bytes:
        """Return the page as it is now."""
        return _snapshot(self.name, self.views[self.view])


def apps() -> list[Run]:
    """Return runs on three apps whose pages are 130 KB: long lines, short lines, figures."""
    images = [look.image for run in recorded() for look in run.looks]
    sizes = {"mail": (250, 8), "code": (262, 4), "finance": (270, 2)}
    return [_run(_Site(name, *size), _Site.act, images) for name, size in sizes.items()]


def sized(name: str, steps: int, rows: int) -> Run:
    """Return a run of so many steps on an app of so many rows (500 bytes each); it has no screenshots."""
    return _run(_Site(name, rows, 8), _Site.act, [b""], steps)


def document() -> Run:
    """Return a run on a text of 350 KB that grows with every step; it has no screenshots."""
    return _run(_Site("document", 470, 40), lambda site, _: site.grow(), [b""])


def recorded() -> list[Run]:
    """Return, for each site of the shipped recordings, its first 20 different screens as one run."""
    sites: dict[str, dict[str, Look]] = {}
    for path in RECORDINGS:
        with open_bundle(path) as bundle:
            looks = sites.setdefault("+".join(bundle.header.sites), {})
            for seen in bundle.trajectory.of_type(Observation):
                if isinstance(seen.snapshot, str) and isinstance(seen.screenshot, str):
                    look = Look(bundle.blob(seen.snapshot), bundle.blob(seen.screenshot))
                    looks.setdefault(seen.screenshot, look)
    runs = [Run(site, list(looks.values())[:STEPS]) for site, looks in sites.items()]
    return [run for run in runs if len(run.looks) == STEPS]


def _run(site: _Site, act: Callable[[_Site, int], None], images: list[bytes], steps: int = STEPS) -> Run:
    looks = []
    for index in range(steps):
        looks.append(Look(site.page(), images[index % len(images)]))
        act(site, index)
    return Run(site.name, looks)


def _snapshot(name: str, rows: list[list[str]]) -> bytes:
    tokens: list[object] = [
        "<html",
        ["lang", "en"],
        "<head",
        "<title",
        f"={name}",
        2,
        "<body",
        "<table",
        "<tbody",
    ]
    style, box = [0, 1, -1, 0, 2, 3], [0, 0, WIDTH, HEIGHT] * 6
    for number, row in enumerate(rows):
        tokens += _row_tokens(*row)
        style += [4, 5, 6, 5, 5, 5, 5, 7, 5, 8]
        box += _row_box(_ROW * number + 96)
    tokens += [4]
    head = {
        "snapshot": 1, "url": f"https://{name}.example/", "title": name, "doctype": ["html", "", ""],
        "elements": len(style), "nodes": len(style) + 6 * len(rows) + 2,
        "styles": [f"block|visible|collapse|{n}" for n in range(9)],
    }  # fmt: skip
    lines = (head, tokens, style, box)
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _row_tokens(number: str, text: str, date: str, amount: str, state: str) -> list[object]:
    return [
        "<tr", ["id", f"row-{number}", "class", "line"],
        "<td", ["class", "number"], "<a", ["href", f"./items/{number}"], f"={number}", 2,
        "<td", f"={text}", 1, "<td", f"={date}", 1, "<td", ["class", "amount"], f"={amount}", 1,
        "<td", "<span", ["class", f"badge {state.lower()}"], f"={state}", 2,
        "<td", "<button", ["type", "button", "data-act", "open"], "=Open", 3,
    ]  # fmt: skip


def _row_box(y: int) -> list[int]:
    spans = (
        (0, 1280),
        (0, 90),
        (8, 60),
        (90, 700),
        (790, 120),
        (910, 110),
        (1020, 140),
        (1030, 70),
        (1160, 120),
    )
    return [part for x, width in (*spans, (1170, 60)) for part in (x, y, width, _ROW)]
