"""Files of rrweb events: a list, JSON lines, an object with metadata; packed events and gzip files."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from replaykit.errors import InteropError
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import PEEK_MAX, files
from replaykit.interop.imported_run import Run
from replaykit.interop.repaired_values import whole_numbers
from replaykit.interop.source_files import Archive, SourceLimits
from replaykit.interop.untrusted_json import JsonFault, decode_json

DOM_LOADED, LOADED, FULL, INCREMENT, META, CUSTOM, PLUGIN = range(7)
"""Types of events."""

ENDINGS = (".json", ".jsonl", ".ndjson", ".rrweb", ".json.gz", ".jsonl.gz", ".ndjson.gz", ".rrweb.gz")
"""How files of events end."""

LEVELS_MAX = 4
"""Objects and lists in which the events may lie."""

MEMBERS_MAX = 1000
"""Members of an archive that are looked at."""

HEAD = 65_536

WINDOWS = ("windowId", "window_id", "$window_id", "tabId")
"""Names by which session recorders call the tab of an event."""

_BY_WINDOW = "snapshotsByWindowId"

_PACKED = ("texts", "attributes", "removes", "adds")
"""Parts of a change that PostHog packs one by one."""

Event = dict[str, Any]


def is_event(plain: Any) -> bool:
    """Whether a JSON value is an event."""
    if (
        not isinstance(plain, dict)
        or plain.get("type") not in range(7)
        or isinstance(plain.get("type"), bool)
    ):
        return False
    return "data" in plain and isinstance(plain.get("timestamp"), int | float)


def is_stream(plain: Any) -> bool:
    """Whether a JSON value holds events, a page or the address of one among them."""
    found = (event for event in events_of(plain, PEEK_MAX) if is_event(event))
    return any(event["type"] in (FULL, META) for event in found)


def events_of(plain: Any, limit: int, level: int = 0, window: Any = None) -> Iterator[Any]:
    """Yield the events of a JSON value, packed ones unpacked; broken ones as they are.

    `window`: the tab that what is around the events names, which each of them gets.
    """
    if isinstance(plain, list):
        rest = plain
        # PostHog writes a line with the name of a window and an event of it.
        if len(plain) == 2 and isinstance(plain[0], str) and is_event(plain[1]):
            window, rest = plain[0], plain[1:]
        if not any(isinstance(one, list | dict) or _is_packed(one) for one in rest):
            return  # words about the recording
        for one in rest:
            yield from _events_in(one, limit, level, window)
    elif isinstance(plain, dict) and is_event(plain):
        yield _of_window(opened(plain, limit), window)
    elif isinstance(plain, dict) and level < LEVELS_MAX:
        window = next((plain[key] for key in WINDOWS if isinstance(plain.get(key), str | int)), window)
        for key, part in plain.items():
            if key == _BY_WINDOW and isinstance(part, dict):
                for name, inner in part.items():
                    yield from events_of(inner, limit, level + 1, name)
            elif isinstance(part, list | dict):
                yield from events_of(part, limit, level + 1, window)


def _events_in(one: Any, limit: int, level: int, window: Any) -> Iterator[Any]:
    if is_event(one) or level == LEVELS_MAX:
        yield _of_window(opened(one, limit), window) if is_event(one) else one
    elif isinstance(one, str):
        found = unpacked(one, limit)
        yield _of_window(opened(found, limit), window) if is_event(found) else found
    elif isinstance(one, list | dict):
        yield from events_of(one, limit, level + 1, window)
    else:
        yield one


def _is_packed(text: Any) -> bool:
    return isinstance(text, str) and text.startswith("x\x9c")


def _of_window(event: Event, window: Any) -> Event:
    is_named = window is None or any(key in event for key in WINDOWS)
    return event if is_named else {**event, "windowId": window}


def beside(plain: Any, level: int = 0) -> Any:
    """Return the fields of a JSON value other than its events; None if absent."""
    if is_event(plain) or isinstance(plain, str) or level > LEVELS_MAX:
        return None
    if isinstance(plain, list):
        return [one for one in (beside(part, level + 1) for part in plain) if holds_data(one)] or None
    if not isinstance(plain, dict):
        return None
    found = {
        key: beside(part, level + 1) if isinstance(part, list | dict) else part for key, part in plain.items()
    }
    return {key: part for key, part in found.items() if holds_data(part)} or None


def address_of(payload: Any, base: str) -> str | None:
    """Return the absolute address that a custom event carries; None where it carries none."""
    if isinstance(payload, dict):
        payload = next((payload[key] for key in _ADDRESSES if isinstance(payload.get(key), str)), None)
    if not isinstance(payload, str) or not payload:
        return None
    try:
        url = urljoin(base, payload)
        return url if urlsplit(url).scheme else None
    except ValueError:
        return None


_ADDRESSES = ("href", "url", "to", "location", "path", "pathname")


def unpacked(text: str, limit: int) -> Any:
    """Return an event that rrweb's `pack` wrote; for any other text, the text itself."""
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(text.encode("latin-1"), limit + 1)
        return decode_json(data) if len(data) <= limit else text
    except (UnicodeError, zlib.error, JsonFault):
        return text


def opened(event: Event, limit: int) -> Event:
    """Return an event of PostHog (`cv`) with its packed parts unpacked; what cannot be unpacked stays."""
    data = event["data"]
    if "cv" not in event:
        return event
    if isinstance(data, str):
        return {**event, "data": _gunzipped(data, limit)}
    if not isinstance(data, dict):
        return event
    parts = {key: _gunzipped(data[key], limit) for key in _PACKED if isinstance(data.get(key), str)}
    return {**event, "data": {**data, **parts}}


def _gunzipped(text: str, limit: int) -> Any:
    try:
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data = stream.decompress(text.encode("latin-1"), limit + 1)
        return decode_json(data) if len(data) <= limit and stream.eof else text
    except (UnicodeError, zlib.error, JsonFault):
        return text


def read_events(run: Run, name: str) -> Iterator[Any]:
    """Yield the events of a file in its order, broken ones as they are. Raises InteropError."""
    limit = run.source.limits.line
    base = name.lower().removesuffix(".gz")
    data = run.source.read(name)
    data = _inflated(run, name, data) if name.lower().endswith(".gz") else data
    if base.endswith((".jsonl", ".ndjson")) or _has_lines(data):
        due = 0
        for number, line in enumerate(data.split(b"\n"), 1):
            run.source.check("line", len(line), f"{name} line {number}", "bytes")
            if not line.strip():
                continue
            try:
                plain = decode_json(line)
            except JsonFault as error:
                run.cut(f"no JSON ({error}): left out, what it changed is not known", f"{name} line {number}")
                yield None
                continue
            due = _next_segment(run, plain, due, f"{name} line {number}")
            yield from _events(run, plain, limit, f"{name} line {number}")
        return
    yield from _events(run, run.source.decode(data, name), limit, name)


def _next_segment(run: Run, plain: Any, due: int, place: str) -> int:
    """Return the number of the segment that is due after a line; Sentry numbers them."""
    number = plain.get("segment_id") if isinstance(plain, dict) else None
    if not isinstance(number, int):
        return due
    if number > due:
        run.cut(f"segments before {number} are missing: what happened in them is not known", place)
    return max(due, number + 1)


def _events(run: Run, plain: Any, limit: int, place: str) -> Iterator[Any]:
    rest = beside(plain)
    run.keep(place, rest if isinstance(rest, dict) else {"": rest} if rest else {})
    for one in events_of(plain, limit):
        yield whole_numbers(one) if isinstance(one, dict) and isinstance(one.get("type"), float) else one


def _has_lines(data: bytes) -> bool:
    """Whether a file begins with a line that is a JSON value of its own."""
    first, _, rest = data.partition(b"\n")
    if not rest.strip() or len(first) > PEEK_MAX:
        return False
    try:
        return isinstance(decode_json(first), dict | list)
    except JsonFault:
        return False


def _inflated(run: Run, name: str, data: bytes) -> bytes:
    limit = run.source.limits.member
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            found = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        run.source.malformed(name, f"no gzip file ({error})", "a gzip file", error)
    run.source.check("member", len(found), f"{name} unpacked", "bytes")
    return found


def streams(path: Path) -> Iterator[Path]:
    """Yield the files of events under a path."""
    for file in files(path, *ENDINGS):
        if _is_one(file):
            yield file


def packed_streams(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the zip archives under a path, each with the members that are files of events."""
    for file in files(path, ".zip"):
        with suppress(InteropError):
            yield from ((file, name) for name in _streams_in(file))


def _streams_in(file: Path) -> list[str]:
    archive = Archive("rrweb", file, SourceLimits())
    try:
        named = (name for name in archive.names() if name.lower().endswith(ENDINGS))
        return [name for name in islice(named, MEMBERS_MAX) if _is_data_of_one(name, _head(archive, name))]
    finally:
        archive.close()


def _head(archive: Archive, name: str) -> bytes:
    try:
        return archive.head(name, PEEK_MAX + 1)
    except InteropError:
        return b""


def _is_one(file: Path) -> bool:
    try:
        with file.open("rb") as raw:
            data = raw.read(PEEK_MAX + 1)
    except OSError:
        return False
    return _is_data_of_one(file.name, data)


def _is_data_of_one(name: str, data: bytes) -> bool:
    try:
        if name.lower().endswith(".gz"):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                data = stream.read(PEEK_MAX + 1)
    except (OSError, EOFError, zlib.error):
        return False
    head = data[:HEAD]
    is_named = b'"timestamp"' in head and b'"type"' in head and b'"data"' in head
    if not is_named and b"x\\u009c" not in head and b"x\xc2\x9c" not in head:
        return False
    return _is_whole_stream(data) or any(_is_line_of_one(line) for line in data.split(b"\n", 8)[:8])


def _is_whole_stream(data: bytes) -> bool:
    if len(data) > PEEK_MAX:
        return b'"href"' in data[:HEAD]
    try:
        return is_stream(decode_json(data))
    except JsonFault:
        return False


def _is_line_of_one(line: bytes) -> bool:
    try:
        return is_stream(decode_json(line))
    except JsonFault:
        return False
