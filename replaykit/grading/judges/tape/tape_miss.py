"""A miss explains the nearest hit: which recorded request came closest, what differs, how to record it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from replaykit.grading.judges.tape.tape import (
    Ordinal,
    Tape,
    TapeEntry,
    normal_request,
    plain_request,
    request_key,
)
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, ReplyFailure

AROUND = 30
"""Characters shown on both sides of a difference."""


COMMAND = "to record it: replaykit grade BUNDLE --judge-mode new, with the other options of this grading"
"""Last line of every explanation."""


def recorded(request: ModelRequest, ordinal: Ordinal, tape: Tape | None) -> ModelReply | ReplyFailure:
    """Return the recorded reply, or a miss that names what came nearest."""
    found = tape.reply(request, ordinal) if tape is not None else None
    return found or ReplyFailure(kind="tape_miss", message=explain(request, ordinal, tape))


def explain(request: ModelRequest, ordinal: Ordinal, tape: Tape | None) -> str:
    """Return why no recorded reply answers a request, and the command that records one."""
    return f"{_why(request, ordinal, tape)}\n{COMMAND}"


def _why(request: ModelRequest, ordinal: Ordinal, tape: Tape | None) -> str:
    asked = f"{request.judge}/{request.stage} {request_key(request)[:12]}"
    if tape is None:
        return f"no reply to {asked}: there is no tape beside the bundle, nor where `--replies` points"
    same = [entry for entry in tape.entries if (entry.judge, entry.stage) == (request.judge, request.stage)]
    if not same:
        return f"no reply to {asked}: {tape.name} has none for this judge and stage"
    if any(entry.key == request_key(request) for entry in same):
        number = f"sample {ordinal[0]}, occurrence {ordinal[1]}"
        return f"no reply to {asked}: {tape.name} has this request, but not {number} of it"
    nearest = min(same, key=lambda entry: len(list(_differences(entry, request))))
    place = tape.entries.index(nearest) + 2
    lines = [f"no reply to {asked}: the nearest request of {tape.name} is line {place}; it differs in:"]
    return "\n".join([*lines, *(f"  {difference}" for difference in _differences(nearest, request))])


def _differences(entry: TapeEntry, request: ModelRequest) -> Iterator[str]:
    recorded = normal_request(entry.request)
    wanted = normal_request(plain_request(request))
    for name in sorted(recorded.keys() | wanted.keys()):
        if recorded.get(name) == wanted.get(name):
            continue
        if name in ("system", "messages"):
            yield from _texts(name, _words(recorded.get(name)), _words(wanted.get(name)))
        else:
            yield f"{name}: tape has {recorded.get(name)!r} / request has {wanted.get(name)!r}"
    yield from _image_differences(_image_names(recorded), _image_names(wanted), _steps(request))


def _words(value: Any) -> str:
    """Return the texts of system or messages, in order."""
    blocks = [b for item in value or () for b in item.get("content", [item])]
    return "\n".join(str(block["text"]) for block in blocks if "text" in block)


def _texts(name: str, recorded: str, wanted: str) -> Iterator[str]:
    if recorded == wanted:
        return
    pairs = zip(recorded, wanted, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(recorded), len(wanted)))
    yield f"{name}: tape has {_around(recorded, at)!r} / request has {_around(wanted, at)!r}"


def _around(text: str, at: int) -> str:
    low, high = max(0, at - AROUND), at + AROUND
    return ("…" if low else "") + text[low:high] + ("…" if high < len(text) else "")


def _image_names(normal: Mapping[str, Any]) -> list[str]:
    blocks = [block for message in normal.get("messages", ()) for block in message["content"]]
    return [block["sha256"] for block in blocks if block["type"] == "blob"]


def _steps(request: ModelRequest) -> dict[str, int]:
    return {part.sha256: part.step for part in request.content if isinstance(part, ImagePart)}


def _image_differences(recorded: list[str], wanted: list[str], steps: Mapping[str, int]) -> Iterator[str]:
    if recorded == wanted:
        return
    added = [f"step {steps[id]} ({id[:12]})" for id in wanted if id not in recorded]
    removed = [id[:12] for id in recorded if id not in wanted]
    if added:
        yield f"images: the request adds {', '.join(added)}"
    if removed:
        yield f"images: only the tape has {', '.join(removed)}"
    if not added and not removed:
        order = ", ".join(str(steps[id]) for id in wanted)
        yield f"images: the same ones in another order or number; the request sends steps {order}"
