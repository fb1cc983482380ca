"""Bytes, CPU time and memory of bundles, against zip, zstd frames, plain files, PNG and JSON, in one run.

CPU time is the least of several runs. The exit code is 1 if a ratio to a peer is over what is allowed; goals
in absolute figures only inform. What is measured on: bench/runs/corpus.py.

Run: .venv/bin/python -m bench.bundle
"""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec
import zstandard

from bench.figures.figure import Figure, cpu, least, mean
from bench.figures.reporting import options, report
from bench.runs.corpus import RECORDINGS, STEPS, Run, apps, document, recorded
from bench.runs.reading import counted
from replaykit.bundle.blobs import blob_id, png
from replaykit.bundle.bundle_format import KIB
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, NewBlob, seal

EVENTS = "events.jsonl"

_Target = TypeVar("_Target", Path, io.BytesIO)


class Kit:
    """The runs, and one of them in the form of every peer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.apps = apps()
        self.document = document()
        self.recorded = recorded()
        self.run = self.apps[0]
        self.last_page = blob_id(self.run.looks[-1].snapshot)

    def size(self, run: Run, images: bool = False) -> float:
        """Return bytes per step of a sealed bundle."""
        return run.sealed(self.folder / "size.zst", images).stat().st_size / STEPS

    @cached_property
    def bundles(self) -> list[Path]:
        """Runs with screenshots where they have some."""
        runs = [*self.apps, *self.recorded, self.document]
        return [run.sealed(self.folder / f"{run.name}.zst", run is not self.document) for run in runs]

    @cached_property
    def bundle(self) -> Path:
        """The run as a bundle with screenshots."""
        return self.bundles[0]

    @cached_property
    def archive(self) -> Path:
        """The run as a zip file, screenshots as PNG."""
        return write_zip(self.folder / "run.zip", members(self.run, images=True))

    @cached_property
    def files(self) -> Path:
        """The run as plain files."""
        folder = self.folder / "files"
        folder.mkdir()
        for name, content in members(self.run, images=True).items():
            (folder / name).write_bytes(content)
        return folder

    @cached_property
    def text(self) -> Path:
        """The run as one JSON text: what a harness without a format writes."""
        content = members(self.run, images=True)
        events = [json.loads(line) for line in content.pop(EVENTS).splitlines()]
        images = {id for id, part in content.items() if part.startswith(b"\x89PNG")}
        values = {
            id: base64.b64encode(part).decode() if id in images else part.decode()
            for id, part in content.items()
        }
        path = self.folder / "run.json"
        path.write_text(json.dumps({"events": events, "blobs": values}))
        return path


def members(run: Run, *, images: bool = False) -> dict[str, bytes]:
    """Return events and blobs by file name; screenshots as PNG."""
    events = [event for events, _ in run.commits() for event in events]
    found = {EVENTS: b"".join(msgspec.json.encode(event) + b"\n" for event in events)}
    found |= {id: payload for id, _, payload in run.blobs().values()}
    return found | {id: payload for id, _, payload in captures(run)} if images else found


def captures(run: Run) -> list[NewBlob]:
    """Return the screenshots of a run as PNG: 15 to 30 % smaller than those of a browser."""
    files = [png(image) for image in dict.fromkeys(look.image for look in run.looks)]
    return [(blob_id(file), "image/png", file) for file in files]


def write_zip(target: _Target, content: dict[str, bytes]) -> _Target:
    """Write members with deflate, at the level that everybody uses."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in content.items():
            archive.writestr(name, part)
    return target


def zip_size(run: Run) -> float:
    """Return bytes per step of a zip file without screenshots."""
    file = io.BytesIO()
    write_zip(file, members(run))
    return len(file.getvalue()) / STEPS


def frames_size(run: Run) -> float:
    """Return bytes per step of one zstd frame of level 9 for each member."""
    compressor = zstandard.ZstdCompressor(level=9)
    return sum(len(compressor.compress(part)) for part in members(run).values()) / STEPS


def plain_size(run: Run) -> float:
    """Return bytes per step of plain files."""
    return sum(map(len, members(run).values())) / STEPS


def sizes_of_apps(kit: Kit) -> Iterator[Figure]:
    """Bytes beside screenshots on three apps."""
    name, ours = "beside images, pages of 130 KB", mean(kit.size(run) for run in kit.apps)
    yield Figure(name, ours, "B/step", 1500, "zip", mean(map(zip_size, kit.apps)), 1 / 12)
    yield Figure(name, ours, "B/step", None, "zstd-9 frames", mean(map(frames_size, kit.apps)))
    yield Figure(name, ours, "B/step", None, "plain files", mean(map(plain_size, kit.apps)))


def sizes_of_document(kit: Kit) -> Iterator[Figure]:
    """Bytes of a large page that grows."""
    name, ours = "beside images, 350 KB that grow", kit.size(kit.document)
    yield Figure(name, ours, "B/step", 7500, "zstd-9 frames", frames_size(kit.document), 1 / 8)
    yield Figure(name, ours, "B/step", None, "zip", zip_size(kit.document))
    yield Figure(name, ours, "B/step", None, "plain files", plain_size(kit.document))


def sizes_with_images(kit: Kit) -> Iterator[Figure]:
    """Bytes with screenshots on the sites of the shipped recordings."""
    ours = [kit.size(run, images=True) for run in kit.recorded]
    theirs = [png_size(kit, run) for run in kit.recorded]
    yield Figure(
        "with images, recorded sites", mean(ours), "B/step", 20_000, "PNG bundle", mean(theirs), 0.25
    )
    yield Figure("with images, the worst of them", max(ours), "B/step", 25_000, "PNG bundle", max(theirs))


def png_size(kit: Kit, run: Run) -> float:
    """Return bytes per step of a bundle that keeps PNG files as they are."""
    path = kit.folder / "png.zst"
    path.unlink(missing_ok=True)
    with Journal(path) as journal:
        for events, blobs in run.commits():
            journal.commit(events, blobs)
        journal.commit([msgspec.structs.replace(events[-1], t=0)], captures(run))
    return seal(path).size / STEPS


def journal_cost(kit: Kit) -> Iterator[Figure]:
    """CPU time on the step path, screenshots apart."""
    content, file = members(kit.run), kit.folder / "cost.zip"
    ours, theirs = cpu(lambda: kit.run.journal(kit.folder / "cost.zst"), lambda: write_zip(file, content))
    yield least("journal", ours, 1000 / STEPS, "ms/step", 0.5, "zip", theirs, 1 / 2.5)


def seal_cost(kit: Kit) -> Iterator[Figure]:
    """CPU time of sealing, read-back included."""
    content = members(kit.run)
    pixmaps = {str(number): look.image for number, look in enumerate(kit.run.looks)}
    ours, theirs = cpu(_sealing(kit, images=False), lambda: write_zip(io.BytesIO(), content))
    yield least("seal without images", ours, 1000 / STEPS, "ms/step", 3, "zip", theirs, 3)
    whole, zipped = cpu(_sealing(kit, images=True), lambda: write_zip(io.BytesIO(), pixmaps))
    image, beside = (1000 * found / STEPS for found in (whole.low - ours.low, zipped.low))
    yield Figure("seal, an image", image, "ms", 15, "zip of the pixmap", beside)


def _sealing(kit: Kit, *, images: bool) -> Callable[[], None]:
    journal, copy = kit.run.journal(kit.folder / f"journal-{images}.zst", images), kit.folder / "copy.zst"

    def work() -> None:
        shutil.copyfile(journal, copy)
        seal(copy)

    return work


def open_ours(path: Path) -> None:
    with open_bundle(path):
        pass


def open_zip(path: Path) -> None:
    with zipfile.ZipFile(path):
        pass


def open_files(path: Path) -> None:
    list(path.iterdir())


def story_ours(path: Path) -> None:
    with open_bundle(path) as bundle:
        _ = bundle.trajectory


def story_zip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        [json.loads(line) for line in archive.read(EVENTS).splitlines()]


def story_files(path: Path) -> None:
    [json.loads(line) for line in (path / EVENTS).read_bytes().splitlines()]


def load_json(path: Path) -> None:
    json.loads(path.read_bytes())


def opening_cost(kit: Kit) -> Iterator[Figure]:
    """CPU time until index, and story, are there and verified."""
    ways = (open_ours, open_zip, open_files)
    yield from _reading(kit, "open and verify the index", ways, 60, 1 / 80)
    yield from _reading(kit, "and the story", (story_ours, story_zip, story_files), 120, 1 / 15)


def _reading(
    kit: Kit, name: str, ways: Sequence[Callable[[Path], None]], goal: float, most: float
) -> Iterator[Figure]:
    ours, archive, files = ways
    # In turns with the JSON, which takes a hundred times as long: what disturbs one disturbs both.
    spent, zipped, plain, text = cpu(
        lambda: ours(kit.bundle),
        lambda: archive(kit.archive),
        lambda: files(kit.files),
        lambda: load_json(kit.text),
        batch=20,
        seconds=4,
    )
    yield least(name, spent, 1e6, "us", goal, "one JSON with base64", text, most)
    yield least(name, spent, 1e6, "us", None, "zip", zipped)
    yield least(name, spent, 1e6, "us", None, "plain files", plain)


def page_cost(kit: Kit) -> Iterator[Figure]:
    """CPU time of opening and reading the last page."""

    def ours() -> None:
        with open_bundle(kit.bundle) as bundle:
            bundle.blob(kit.last_page)

    def zipped() -> None:
        with zipfile.ZipFile(kit.archive) as archive:
            archive.read(kit.last_page)

    spent, theirs, plain = cpu(ours, zipped, (kit.files / kit.last_page).read_bytes, batch=20)
    yield least("open and read the last page", spent, 1e6, "us", None, "zip", theirs)
    yield least("open and read the last page", spent, 1e6, "us", None, "plain file", plain)


def bytes_read(kit: Kit) -> Iterator[Figure]:
    """Bytes that a grading reads where no screenshot is asked for."""
    found = sorted((counted(path) for path in (*RECORDINGS, *kit.bundles)), key=lambda source: source.bytes)
    usual, reads = found[9 * len(found) // 10 - 1], sorted(source.reads for source in found)
    yield Figure("bytes read by a grading, 9 of 10", usual.bytes / KIB, "KiB", 64, "limit", 64, 1)
    yield Figure("bytes read by a grading, the most", found[-1].bytes / KIB, "KiB", 132, "limit", 132, 1)
    yield Figure("reads by a grading, 9 of 10", reads[9 * len(reads) // 10 - 1], "reads", 2)


def memory(kit: Kit) -> Iterator[Figure]:
    """Peak memory of a process that reads all bundles as grading does."""
    paths = [str(path) for path in (*RECORDINGS, *kit.bundles)]
    command = [sys.executable, "-m", "bench.runs.reading", *paths]
    found = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent.parent
    )
    yield Figure("peak memory of a reading process", float(found.stdout), "MB", 100, "limit", 100, 1)


MEASUREMENTS: tuple[Callable[[Kit], Iterator[Figure]], ...] = (
    sizes_of_apps, sizes_of_document, sizes_with_images, journal_cost, seal_cost, opening_cost, page_cost,
    bytes_read, memory,
)  # fmt: skip


def main() -> int:
    """Print the table and return the exit code."""
    given = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kit = Kit(Path(folder))
        return report("bundle", [figure for measure in MEASUREMENTS for figure in measure(kit)], given)


if __name__ == "__main__":
    sys.exit(main())
