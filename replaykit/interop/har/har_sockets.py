"""Messages of WebSockets in entries of HAR: in the entry, in a file beside it, or not kept.

Only a list of messages shows what was sent. Playwright writes none unless it is asked to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.interop.har.har_bodies import part, status_of
from replaykit.interop.imported_run import Run
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.trajectory.scalars import Blob, Omitted

FRAMES = "application/x-ndjson"
"""Media type of what went over a WebSocket: a JSON line a message, `time`, `opcode` and `data`."""

_FILE = ".jsonl"
"""End of the name of a file of messages."""


class SocketMessages(Struct, frozen=True, kw_only=True):
    """Messages of one WebSocket, each way."""

    sent: Blob | None
    received: Blob | None
    sent_count: int = 0
    received_count: int = 0


def socket_of(run: Run, entry: Mapping[str, Any]) -> SocketMessages | None:
    """Return what went over the WebSocket of an entry; None where the entry is no WebSocket."""
    messages = entry.get("_webSocketMessages")
    if not isinstance(messages, list):
        if not _is_socket(entry):
            return None
        messages = [] if _never_opened(entry) else _filed(run, entry)
    if messages is None:
        return SocketMessages(sent=Omitted(why="off"), received=Omitted(why="off"))
    sides = [one.get("type") for one in messages if isinstance(one, dict)]
    return SocketMessages(
        sent=_frames(run, messages, "send"),
        received=_frames(run, messages, "receive"),
        sent_count=sides.count("send"),
        received_count=sides.count("receive"),
    )


def _is_socket(entry: Mapping[str, Any]) -> bool:
    url = str(part(entry, "request").get("url"))
    is_upgraded = status_of(part(entry, "response").get("status")) == 101
    return entry.get("_resourceType") == "websocket" or is_upgraded or url.startswith(("ws:", "wss:"))


def _never_opened(entry: Mapping[str, Any]) -> bool:
    """Whether a WebSocket failed before the server took it: nothing went over it."""
    response = part(entry, "response")
    return status_of(response.get("status")) is None and bool(response.get("_failureText"))


def _filed(run: Run, entry: Mapping[str, Any]) -> list[Any] | None:
    """Return the messages in a file beside the entry; None where there is no such file, or a part is lost."""
    name = part(part(entry, "response"), "content").get("_file")
    if not isinstance(name, str) or not name.endswith(_FILE) or name not in run.source:
        return None
    try:
        return [decode_json(line) for line in run.source.read(name).split(b"\n") if line.strip()]
    except JsonFault:
        run.flaw("a file of messages that is no JSON: left out", name)
        return None


def _frames(run: Run, messages: list[Any], side: str) -> Blob | None:
    """Keep what went one way over a WebSocket; None where nothing did."""
    own = [one for one in messages if isinstance(one, dict) and one.get("type") == side]
    lines = [msgspec.json.encode({key: part for key, part in one.items() if key != "type"}) for one in own]
    return run.put(FRAMES, b"\n".join([*lines, b""])) if lines else None
