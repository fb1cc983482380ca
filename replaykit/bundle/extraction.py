"""A bundle as plain files: the story as JSON lines, images as PNG, snapshots, bodies, and a list of them.

File names are made of numbers and words of ours and of blob ids, never of what was recorded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from replaykit.bundle.blobs import png
from replaykit.bundle.bundle_format import PIXMAP, SNAPSHOT
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.story_lines import Line, decode_line
from replaykit.errors import BundleDamaged, BundleError, EventInvalid, UsageError
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Header, Probe, Step

STORY = "trajectory.jsonl"
"""Header and events, one a line, as they stand in the bundle: its sha256 is that of the manifest's story."""

MANIFEST = "manifest.json"
"""Written last: a folder without it is no whole extraction."""

FOLDERS = ("a11y", "bodies", "dom", "other", "replies", "screenshots", "styles")
"""Where blobs go, by the field that refers to them first; `other`: nothing known refers to them."""

_EXTENSIONS = {
    "application/json": "json", "application/pdf": "pdf", SNAPSHOT: "jsonl",
    "application/xhtml+xml": "xhtml", "application/zip": "zip", "image/avif": "avif", "image/gif": "gif",
    "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg", "image/webp": "webp", PIXMAP: "ppm",
    "text/css": "css", "text/csv": "csv", "text/html": "html", "text/javascript": "js",
    "text/plain": "txt", "text/yaml": "yaml",
}  # fmt: skip
_UNKNOWN = "bin"

_FIELDS = {
    "screenshot": "screenshots", "clean": "screenshots", "snapshot": "dom", "a11y": "a11y",
    "post": "bodies", "body": "bodies", "sheets": "styles", "replies": "replies",
}  # fmt: skip
"""Field of an event or frame to the folder of its blobs."""

_RANKS = {"start": 0, "before": 1, "after": 2, "final": 3}
_PROBE = 4
_ELSE = 5

_ID_DIGITS = 12


class Extraction(Struct, frozen=True, kw_only=True):
    """Files that `extract` wrote."""

    folder: str
    """Folder that holds the files."""
    digest: str
    """Trajectory digest, 64 hex digits."""
    content_digest: str | None
    """Content digest; None if an event cannot be read."""
    files: dict[str, int]
    """Name of each subfolder to the number of its files, without events and manifest."""


class _Place(NamedTuple):
    """Where a blob goes."""

    folder: str
    name: str
    """First part of the file's name: numbers that sort, then a word; may be empty."""


def extract(bundle: Bundle | str | Path, folder: str | Path, *, force: bool = False) -> Extraction:
    """Write the content of a bundle as plain files into a folder.

    `folder`: created if it is missing. `force`: the folder may hold other files; files of the same name are
    replaced. It needs memory for the events and one blob. Raises UsageError for a file or a folder that is
    not empty, BundleError if something cannot be read or written. Files written before an error remain,
    without a manifest.
    """
    if not isinstance(bundle, Bundle):
        with open_bundle(bundle) as opened:
            return extract(opened, folder, force=force)
    folder = Path(folder)
    try:
        _prepare(folder, force=force)
        return _extract(bundle, folder)
    except OSError as error:
        is_begun = folder.is_dir() and any(folder.iterdir())
        left = f"; the existing content has no {MANIFEST}" if is_begun else ""
        what = f"cannot extract: {error.strerror or error}{left}"
        raise BundleError(source=str(error.filename or folder), what=what) from error


def _prepare(folder: Path, *, force: bool) -> None:
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(what=f"{folder} is a file: name the folder to write")
    folder.mkdir(parents=True, exist_ok=True)
    with os.scandir(folder) as entries:
        if not force and any(entries):
            raise UsageError(what=f"{folder} is not empty; name another folder, or use --force")
    # Removed first: with it an extraction that fails would look whole.
    (folder / MANIFEST).unlink(missing_ok=True)


def _extract(bundle: Bundle, folder: Path) -> Extraction:
    lines = bundle.lines
    story = sha256()
    with _new(folder / STORY) as file:
        for line in lines:
            story.update(line + b"\n")
            file.write(line + b"\n")
    events = _events(lines, bundle)
    content = None if None in events else bundle.content_digest
    rows = _write_blobs(bundle, folder, _places([event for event in events if event is not None]))
    manifest = {
        "format": bundle.format,
        "digest": bundle.digest,
        "content_digest": content,
        "story": {"events": len(lines) - 1, "sha256": story.hexdigest(), "file": STORY},
        "blobs": rows,
    }
    with _new(folder / MANIFEST) as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    used = [row["file"].partition("/")[0] for row in rows.values()]
    files = {name: used.count(name) for name in FOLDERS if name in used}
    return Extraction(folder=str(folder), digest=bundle.digest, content_digest=content, files=files)


# Names


def _events(lines: tuple[bytes, ...], bundle: Bundle) -> list[Line | None]:
    # An event that cannot be read is a line of the story all the same; only its blobs lose their names.
    return [_event(line, number, bundle) for number, line in enumerate(lines, -1)]


def _event(line: bytes, number: int, bundle: Bundle) -> Line | None:
    try:
        return decode_line(line, number, bundle.name, bundle.format)
    except EventInvalid:
        return None


def _places(events: list[Line]) -> dict[str, _Place]:
    """Return the place of each blob by the first event that refers to it."""
    last = max((event.index for event in events if isinstance(event, Step)), default=0)
    places: dict[str, _Place] = {}
    for event in events:
        for id, place in _referred(event, last):
            places.setdefault(id, place)
    return places


def _referred(event: Line, last: int) -> Iterator[tuple[str, _Place]]:
    width = max(3, len(str(last)))
    match event:
        case Step(index=step, before=Observation() as before):
            yield from _blobs(before, f"{step:0{width}}-{_RANKS['before']}-before")
        case Observation(role=role, of=of):
            word = role if role in _RANKS else "look"
            step = of if of is not None else 0 if role == "start" else last
            yield from _blobs(event, f"{step:0{width}}-{_RANKS.get(role, _ELSE)}-{word}")
        case Probe(phase=phase):
            yield from _blobs(event, f"{0 if phase == 'pre' else last:0{width}}-{_PROBE}-probe")
        case Exchange(id=number):
            yield from _blobs(event, f"{number:05}")
        case Header():
            yield from _blobs(event, "")


def _blobs(struct: Struct, name: str) -> Iterator[tuple[str, _Place]]:
    for field, folder in _FIELDS.items():
        value: Any = getattr(struct, field, None)
        for id in value if isinstance(value, tuple) else (value,):
            if isinstance(id, str):
                yield id, _Place(folder, f"{name}-{field}" if folder == "bodies" else name)
    for frame in getattr(struct, "frames", ()):
        yield from _blobs(frame, f"{name}-frame")


# Files


def _write_blobs(bundle: Bundle, folder: Path, places: dict[str, _Place]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    taken: set[str] = set()
    for id in bundle.blob_ids:
        place = places.get(id, _Place("other", ""))
        payload, media_type = bundle.blob(id), bundle.blob_type(id)
        content, extension = _as_file(payload, media_type)
        short = "-".join(part for part in (place.name, id[:_ID_DIGITS]) if part)
        file = f"{place.folder}/{short}.{extension}"
        # Ids that begin alike can be made on purpose.
        file = f"{place.folder}/{id}.{extension}" if file in taken else file
        taken.add(file)
        _make_folder(folder / place.folder)
        with _new(folder / file) as opened:
            opened.write(content)
        is_verbatim = content is payload
        rows[id] = {"type": media_type, "n": len(payload), "file": file, "verbatim": is_verbatim}
    return rows


def _as_file(payload: bytes, media_type: str) -> tuple[bytes, str]:
    if media_type == PIXMAP:
        try:
            return png(payload), "png"
        except BundleDamaged:
            return payload, _EXTENSIONS[PIXMAP]
    return payload, _EXTENSIONS.get(media_type, _UNKNOWN)


def _make_folder(folder: Path) -> None:
    # A link in a folder that was there before would lead out of it.
    folder.mkdir(exist_ok=True)
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise NotADirectoryError(0, "a link stands in the place of a folder", str(folder))


def _new(path: Path) -> Any:
    # A new file, never the target of a link: what is not there cannot lead elsewhere.
    path.unlink(missing_ok=True)
    return path.open("xb")
