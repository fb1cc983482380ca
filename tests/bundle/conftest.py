"""A small run, and hands to build bundles that no writer of ours would write."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from replaykit.bundle.bundle_format import FORMAT_VERSION, Preamble
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.index import build_index, seek_table
from replaykit.bundle.records import blob_line, event_record, header_record
from replaykit.bundle.trajectory_digest import trajectory_digest
from replaykit.bundle.writer import Journal
from replaykit.bundle.zstd_frames import compress
from replaykit.trajectory.action import Click, Element, Fill
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Header, Step
from tests.needed import missing

HTML = "text/html"


def blob(payload: bytes, media_type: str = HTML) -> tuple[str, str, bytes]:
    return hashlib.sha256(payload).hexdigest(), media_type, payload


def image(width: int, height: int, seed: int) -> bytes:
    pixels = b"".join(
        hashlib.sha256(b"%d %d" % (seed, n)).digest() for n in range(width * height * 3 // 32 + 1)
    )
    return b"P6\n%d %d\n255\n" % (width, height) + pixels[: width * height * 3]


def small_commits() -> list[tuple[list, list]]:
    """Return commits of every blob class: header first, three steps, ending."""
    pages = [blob(b"<title>%d</title><p>page %d" % (n, n) * 20) for n in range(3)]
    shot = blob(image(6, 4, 1), "image/x-portable-pixmap")
    photo = blob(b"\xff\xd8 not really a photo", "image/jpeg")
    tree = blob(b"- button: Buy\n", "text/yaml")
    data = blob(b'{"qty":1}', "application/json")
    look = Observation(role="after", of=1, snapshot=pages[2][0], screenshot=photo[0], a11y=tree[0])
    return [
        ([Header(created="2026-01-01T00:00:00Z", channels={"actions": "recorded"})], []),
        (
            [_step(0, Click(element=Element(tag="button")), snapshot=pages[0][0], screenshot=shot[0])],
            [pages[0], shot],
        ),
        ([_step(1, Fill(value="Zürich 😀"), snapshot=pages[1][0])], [pages[1], pages[0]]),
        ([look], [pages[2], photo, tree, data]),
        ([_step(2, Click(), snapshot=pages[2][0]), Ending(kind="answered", answer="7", t=900)], []),
    ]


def _step(index: int, action: object, **seen: str) -> Step:
    return Step(index=index, t=100 * index, action=action, before=Observation(role="before", **seen))


def write_journal(path: Path, commits: Sequence[tuple[list, list]]) -> list[int]:
    """Write a journal and return its size after each commit, the preamble first."""
    sizes = []
    with Journal.create(path) as journal:
        sizes.append(journal.size)
        for events, blobs in commits:
            journal.commit(events, blobs)
            sizes.append(journal.size)
    return sizes


def journal_bytes(*frames: bytes, version: int = FORMAT_VERSION) -> bytes:
    """Return a journal of these raw frames."""
    return Preamble("journal", version).pack() + b"".join(compress(raw, 3) for raw in frames)


def sealed_bytes(
    frames: Sequence[bytes],
    index: bytes | None = None,
    *,
    raws: Sequence[int] | None = None,
    version: int = FORMAT_VERSION,
    tail: bytes = b"",
) -> bytes:
    """Return a sealed file of these raw frames; `index` is a payload (an honest one needs story_index)."""
    parts = [Preamble("sealed", version).pack(), *(compress(raw, 3) for raw in frames)]
    sizes = [0, *map(len, frames)]
    if index is not None:
        parts.append(compress(index or b"\n", 3))
        sizes.append(len(index or b"\n"))
    return b"".join(parts) + seek_table([len(part) for part in parts], raws or sizes) + tail


def story_index(lines: Sequence[bytes], blobs: Sequence[tuple[str, str, bytes]] = ()) -> bytes:
    """Return an honest index of these whole story lines and blobs."""
    sha256 = hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()
    rows = [(id, len(payload), kind) for id, kind, payload in blobs]
    digest = trajectory_digest(len(lines) - 1, sha256, rows)
    places = {id: BlobPlace(kind, 0, 0, len(payload)) for id, kind, payload in blobs}
    return build_index(digest, len(lines) - 1, sha256, places)


def story_text(lines: Sequence[bytes]) -> bytes:
    """Return a raw story frame of a sealed file, whose lines hold no references."""
    return b"".join(line + b"\n" for line in lines)


def story_raw(lines: Sequence[bytes], first: int = -1) -> bytes:
    """Return a raw story frame of a journal; `first` -1 is the header."""
    return b"".join(
        header_record(line) if number < 0 else event_record(number, line)
        for number, line in enumerate(lines, first)
    )


def blob_raw(*payloads: bytes, media_type: str = HTML) -> bytes:
    """Return a raw blob frame of a journal."""
    raw = io.BytesIO()
    for payload in payloads:
        raw.write(blob_line(hashlib.sha256(payload).hexdigest(), len(payload), media_type) + payload + b"\n")
    return raw.getvalue()


HANDS = SimpleNamespace(
    blob=blob, image=image, small_commits=small_commits, write_journal=write_journal,
    journal_bytes=journal_bytes, sealed_bytes=sealed_bytes, story_index=story_index, story_raw=story_raw,
    story_text=story_text, blob_raw=blob_raw,
)  # fmt: skip


@pytest.fixture(scope="session")
def hands() -> SimpleNamespace:
    """Functions that build bundles and their parts."""
    return HANDS


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Path]:
    """Write bytes to one file that is used again and again, and return its path."""
    path = tmp_path_factory.mktemp("bundle") / "scratch.zst"

    def write(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A small journal with an ending."""
    path = tmp_path / "run.zst"
    write_journal(path, small_commits())
    return path


@pytest.fixture(scope="session")
def zstd() -> str:
    """The zstd command line; needed in CI."""
    found = shutil.which("zstd")
    if found is None:
        missing("the zstd command line is not installed")
    return found
