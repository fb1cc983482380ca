"""Make the frozen files of recordings/format/: what every later release reads, or refuses, as written down.

Run: .venv/bin/python -m recordings.freeze_format NAME...

The folder is append-only. A file that exists is never written again: a new format version adds files, under
new names. Beside `NAME.zst` stands `NAME.json`, which docs/bundle-format.md describes in section 5. Read it
before it is committed: other readers are held to it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from recordings.frozen_files import FILES, FrozenFile
from replaykit.bundle.opening import open_container
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import salvage
from replaykit.errors import BundleError
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.step import Step

FOLDER = Path(__file__).parent / "format"

_STABLE = ("found", "size", "offset")
"""Fields of errors that are facts about the file; the others are our words."""

_ONE_PER_LINE = ("blobs", "story", "unknown")


def freeze(name: str, folder: Path = FOLDER) -> Path:
    """Make a file and its description. Raises FileExistsError if one is there, KeyError for another name."""
    path = folder / f"{name}.zst"
    if path.exists() or path.with_suffix(".json").exists():
        raise FileExistsError(f"{path} is frozen: add a file under a new name")
    path.write_bytes(FILES[name].make())
    path.with_suffix(".json").write_text(readable(describe(path, FILES[name])))
    return path


def describe(path: Path, file: FrozenFile) -> dict[str, Any]:
    """Return what a reader makes of a file: the content of its `.json`."""
    found: dict[str, Any] = {"what": file.what, "sha256": sha256(path.read_bytes()).hexdigest()}
    try:
        with open_bundle(path) as bundle:
            found |= {**_opened(path), **_verified(path), **_read(bundle)}
    except BundleError as error:
        found["refused"] = [_refusal("opening", error)]
    if file.story_as and "story" in found:
        found["story_as"] = file.story_as
        del found["story"], found["unknown"]
    return found | (_salvaged(path) if found["refused"] else {})


def readable(description: dict[str, Any]) -> str:
    """Return a description as JSON, a story line or blob a line."""
    rows = [f" {json.dumps(key)}: {_value(key, value)}" for key, value in description.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _value(key: str, value: Any) -> str:
    if key not in _ONE_PER_LINE or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value) + "\n ]"


def _opened(path: Path) -> dict[str, Any]:
    container = open_container(path)
    container.close()
    tables = container.tables
    return {
        "format": tables.format, "layout": tables.layout, "digest": container.digest,
        "story_sha256": tables.story_sha256, "events": tables.events, "torn_bytes": tables.torn_bytes,
    }  # fmt: skip


def _read(bundle: Bundle) -> dict[str, Any]:
    refused, blobs = [], []
    for id in bundle.blob_ids:
        try:
            blobs.append([id, bundle.blob_type(id), len(bundle.blob(id))])
        except BundleError as error:
            refused.append({**_refusal("blob", error), "id": id})
    try:
        return {"blobs": blobs, "refused": refused, **_story(bundle)}
    except BundleError as error:
        return {"blobs": blobs, "refused": [*refused, _refusal("story", error)]}


def _story(bundle: Bundle) -> dict[str, Any]:
    unknown = [
        {"event": number, "at": at, "name": name}
        for number, event in enumerate(bundle.trajectory.events)
        for at, name in _unknown(event)
    ]
    return {"unknown": unknown, "story": [json.loads(line) for line in bundle.lines]}


def _unknown(event: object) -> Iterator[tuple[str, str]]:
    if isinstance(event, Unknown):
        yield "event", event.name
    if isinstance(event, Step):
        actions = {"action": event.action, "declared": event.declared}
        actions |= {f"observed {number}": action for number, action in enumerate(event.observed)}
        yield from ((at, action.name) for at, action in actions.items() if isinstance(action, Unknown))


def _verified(path: Path) -> dict[str, Any]:
    found = verify(path)
    outcome = {
        "error": found.error, "findings": len(found.findings), "gradable": found.gradable,
        "interrupted": found.interrupted,
    }  # fmt: skip
    return {"private": found.private, "verified": outcome}


def _salvaged(path: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = salvage(path, Path(folder) / "salvaged.zst")
        except BundleError as error:
            return {"salvaged": _refusal("salvage", error)}
    return {"salvaged": {"events": found.events, "blobs": found.blobs, "lost": found.lost}}


def _refusal(when: str, error: BundleError) -> dict[str, Any]:
    fields = {name: error.fields[name] for name in _STABLE if isinstance(error.fields.get(name), int)}
    return {"when": when, "error": type(error).__name__, **fields}


def main() -> None:
    """Make the files named."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:]:
        try:
            print(freeze(name))
        except FileExistsError as error:
            sys.exit(str(error))
        except KeyError:
            sys.exit(f"no frozen file is called {name!r}; there are {', '.join(FILES)}")


if __name__ == "__main__":
    main()
