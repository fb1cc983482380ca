"""HAR 1.2 files, both ways: the network of a run, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.reader import Bundle
from replaykit.interop.bundle_export import Choices, Exporter, Files, zipped
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import files, is_marked
from replaykit.interop.har.har_entries import (
    Attach,
    Base,
    NotAnEntry,
    entry_of,
    exchange_of,
    linked,
    moment,
    stamp,
)
from replaykit.interop.har.har_gaps import gaps_of
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.source_files import kind_of
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Exchange

ENDINGS = (".har", ".har.zip")
"""How names of HAR files end."""

_ENDING = lazy_pattern(r"\.har(\.zip)?$", re.IGNORECASE)


def read(run: Run, candidate: Candidate) -> None:
    """Read one HAR file, or the one inside of an archive."""
    name = candidate.file or next((name for name in run.source.names() if is_har_name(name)), "har.har")
    read_har(run, name)
    run.end("unknown", cause="harness")


def is_har_name(name: str) -> bool:
    """Whether a member of an archive is the HAR file in it."""
    return name.lower().endswith(".har")


def read_har(run: Run, name: str, *, by_start: bool = True) -> None:
    """Add the exchanges of a HAR file; bad entries are skipped and counted.

    `by_start`: in order of their starts, else in that of the file.
    """
    har = log_of(run, name)
    base = _base(har["entries"])
    if base.start is not None:
        run.header.update(created=stamp(base.start), clock="source")
    add_entries(run, har, base, name, by_start=by_start)


def log_of(run: Run, name: str) -> dict[str, Any]:
    """Return the log of a HAR file, with its entries; note the tool that wrote it. Raises MalformedSource."""
    plain = run.source.json(name)
    log = plain.get("log") if isinstance(plain, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    # Entries are the file: without them, nothing could be imported.
    if not isinstance(log, dict) or not isinstance(entries, list):
        run.source.malformed(f"{name} log.entries", kind_of(entries), "array")
    for path, value in _unread(log, {"entries": {}, "version": {}, "creator": {"name": {}, "version": {}}}):
        if holds_data(value):
            run.leave_out(f"log.{path}", len(value) if isinstance(value, list) else 1)
    creator = log.get("creator")
    if isinstance(creator, dict) and isinstance(creator.get("name"), str):
        run.origin["tool"] = " ".join(str(creator.get(key, "")) for key in ("name", "version")).strip()
    return log


def add_entries(run: Run, log: dict[str, Any], base: Base, name: str, *, by_start: bool = True) -> None:
    """Add the exchanges of a log; the channel is partial if one is invalid, or the file shows a gap."""
    entries = _in_order(log["entries"]) if by_start else log["entries"]
    found: list[Exchange] = []
    targets: dict[int, str] = {}
    bad = 0
    for entry in entries:
        try:
            one = exchange_of(run, entry, len(found), base)
        except NotAnEntry:
            bad += 1
            continue
        found.append(one)
        count_unread(run, entry)
        target = entry["response"].get("redirectURL") if isinstance(entry.get("response"), dict) else None
        if isinstance(target, str):
            targets[one.id] = target
    if bad:
        run.warn(f"{name}: {bad} entries without method or URL: left out")
    # A recorder that was never attached writes an empty list too.
    elif not entries:
        run.warn(f"{name} holds no entries: whether there were requests is not known")
    found = linked(found, targets)
    gaps = list(gaps_of(log, found, targets))
    for gap in gaps:
        run.warn(f"{name}: requests are missing: {gap}")
    for one in found:
        run.add(one)
    run.fills(network="recorded" if found and not bad and not gaps else "partial")


def _in_order(entries: list[Any]) -> list[Any]:
    """Return entries in order of their starts: proxies write them as they end, tables as they are sorted.

    Without all starts, the order of the file counts.
    """
    starts = [moment(one.get("startedDateTime")) if isinstance(one, dict) else None for one in entries]
    known = [(start, place) for place, start in enumerate(starts) if start is not None]
    return [entries[place] for _, place in sorted(known)] if len(known) == len(entries) else entries


def count_unread(run: Run, entry: Any) -> None:
    """Count what an entry holds that an exchange has no place for, by its path."""
    for path, value in _unread(entry, _READ):
        if holds_data(value):
            run.leave_out(f"log.entries[].{path}")


_PAIR: dict[str, Any] = {"name": {}, "value": {}}
_TEXT: dict[str, Any] = {
    "text": {}, "mimeType": {}, "encoding": {}, "size": {}, "_file": {}, "_sha1": {}, "params": _PAIR,
}  # fmt: skip
_TIMINGS: dict[str, Any] = {
    key: {} for key in ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
}
_READ: dict[str, Any] = {
    "startedDateTime": {}, "time": {}, "timings": _TIMINGS, "serverIPAddress": {}, "_serverPort": {},
    "_resourceType": {}, "_webSocketMessages": {}, "_monotonicTime": {}, "pageref": {}, "_fromCache": {},
    "_fetchType": {},
    "request": {"method": {}, "url": {}, "httpVersion": {}, "headers": _PAIR, "bodySize": {},
                "postData": _TEXT},
    "response": {
        "status": {}, "statusText": {}, "httpVersion": {}, "headers": _PAIR, "content": _TEXT,
        "redirectURL": {},
        "bodySize": {}, "_transferSize": {}, "_failureText": {}, "_error": {}, "_fromCache": {},
        "fromDiskCache": {}, "_fetchedViaServiceWorker": {},
    },
}  # fmt: skip
"""Fields of an entry that are read."""


def _unread(value: Any, read: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for one in value if isinstance(value, list) else ():
        yield from _unread(one, read, f"{path}[]")
    for key, part in value.items() if isinstance(value, dict) else ():
        inner = f"{path}.{key}" if path else key
        if key not in read:
            yield inner, part
        elif read[key]:
            yield from _unread(part, read[key], inner)


def _base(entries: list[Any]) -> Base:
    starts = (moment(entry.get("startedDateTime")) for entry in entries if isinstance(entry, dict))
    # Not every tool sorts its entries by time.
    return Base(start=min((start for start in starts if start is not None), default=None))


def find(path: Path) -> Iterator[Candidate]:
    """Yield the HAR files under a path; a file of another name only where it was named itself."""
    for file in files(path, *ENDINGS) if not path.is_file() else ():
        yield _candidate(file)
    if path.is_file() and _is_har(path):
        yield _candidate(path)


def _candidate(file: Path) -> Candidate:
    name = _ENDING.sub("", file.name)
    if file.name.lower().endswith(".zip"):
        return Candidate(name=name, root=file)
    return Candidate(name=name, root=file.parent, file=file.name)


def _is_har(file: Path) -> bool:
    if file.name.lower().endswith(ENDINGS):
        return True
    return file.suffix.lower() == ".json" and is_marked(file, b'"log"', b'"entries"')


def har_of(bundle: Bundle, attach: Attach | None = None) -> bytes:
    """Return the exchanges of a bundle as a HAR file, in order of request start; probes are left out.

    Bodies are embedded; `attach` takes each instead and returns the name of its file.
    """
    # Probes are requests of the recorder, not of the run.
    found = [one for one in bundle.trajectory.of_type(Exchange) if one.actor != "probe"]
    # The layout demands a date, and a bundle may have none.
    start = moment(bundle.header.created) or datetime(1970, 1, 1, tzinfo=UTC)
    urls = {one.id: one.url for one in found}
    entries = [
        entry_of(
            one,
            bundle.blob,
            start,
            urls.get(one.redirect_to, "") if one.redirect_to is not None else "",
            attach,
        )
        for one in sorted(found, key=lambda one: one.id)
    ]
    log = {
        "version": "1.2",
        "creator": {"name": "replaykit", "version": "1"},
        "pages": [],
        "entries": entries,
    }
    return msgspec.json.format(msgspec.json.encode({"log": log}), indent=1) + b"\n"


def har_zip_of(bundle: Bundle) -> bytes:
    """Return a zip of the HAR file and of each body, named by its digest; equal bodies are one file."""
    bodies: dict[str, bytes] = {}

    def attach(data: bytes) -> str:
        name = f"{blob_id(data)}.bin"
        bodies[name] = data
        return name

    return zipped({"har.har": har_of(bundle, attach), **bodies})


def _files(bundle: Bundle, choices: Choices) -> Files:
    if choices.attaches:
        return {"network.har.zip": har_zip_of(bundle)}
    return {"network.har": har_of(bundle)}


EXPORTER = Exporter(
    name="har", writes="a HAR 1.2 file", make=_files, ending=".har", ending_attached=".har.zip"
)

IMPORTER = Importer(
    name="har",
    reads="HAR 1.2 files",
    looks_for="*.har, *.har.zip",
    channels=letters("R network times"),
    find=find,
    read=read,
)
