"""Story lines: event structs <-> compact JSON, one object per line.

What cannot be stored is repaired before it is written, never silently: surrogates, NaN, values outside
of their range. What cannot be read is refused, apart from tags of newer versions, which become `Unknown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec import Raw, Struct

from replaykit.bundle.bundle_format import FORMAT_VERSION
from replaykit.bundle.migrate import upgrade
from replaykit.bundle.storable_values import numbers_fit, repair
from replaykit.decoders import check_nesting, check_nesting_of_all, decode_plain, decoder
from replaykit.errors import EventInvalid
from replaykit.trajectory.action import Action, ToolCall, Unknown
from replaykit.trajectory.exchange import Imported, Rest, Script
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import WORD
from replaykit.trajectory.step import Event, Header, Probe, Step

Line: TypeAlias = Header | Event | Unknown
"""Any line of a story."""


class _Tagged(Struct):
    type: str


def _tags(union: object) -> frozenset[str]:
    return frozenset(str(member.__struct_config__.tag) for member in get_args(union))


EVENT_TAGS = _tags(Event) | {"header"}
ACTION_TAGS = _tags(Action)

_header = decoder(Header)
_event: msgspec.json.Decoder[Event] = decoder(Event)
_tagged = decoder(_Tagged)
_parts = decoder(dict[str, Raw])
_actions = decoder(list[Raw])
_encoder = msgspec.json.Encoder()

# RecursionError: JSON nested deeper than is read.
_FAILURES = (msgspec.MsgspecError, UnicodeError, RecursionError)


def encode_line(event: Line, number: int, source: str) -> tuple[bytes, int]:
    """Return the line of an event and how many values had to be repaired.

    The line has been decoded once as a reader would: what is committed can be read. Raises EventInvalid.
    """
    try:
        line = _encode(event)
        decoded = decode_line(line, number, source)
    except (EventInvalid, UnicodeError, TypeError, RecursionError):
        return _encode_repaired(event, number, source)
    # NaN and infinity are written as null without an error.
    if b"null" in line and decoded != event:
        return _encode_repaired(event, number, source)
    return line, 0


def decode_story(lines: Iterable[bytes], source: str, format_found: int = FORMAT_VERSION) -> list[Line]:
    """Return header and events of a story, each as `decode_line` returns it. Raises EventInvalid."""
    listed = list(lines)
    if format_found == FORMAT_VERSION:
        # Nearly always every line is what it should be: which one is not can be found out then.
        with suppress(*_FAILURES):
            check_nesting_of_all(listed)
            story: list[Line] = [_header.decode(listed[0]), *map(_event.decode, listed[1:])]
            if (b"".join(listed).isascii() or all(map(_is_text, listed))) and _are_in_range(story):
                return story
    return [decode_line(line, number, source, format_found) for number, line in enumerate(listed, -1)]


def decode_line(line: bytes, number: int, source: str, format_found: int = FORMAT_VERSION) -> Line:
    """Return the event of a line; number -1 is the header. Raises EventInvalid."""
    try:
        if format_found < FORMAT_VERSION:
            line = _encoder.encode(upgrade(decode_plain(line), format_found))
        check_nesting(line)
        _is_text(line)
        event: Line = _header.decode(line) if number < 0 else _decode_event(line)
    except _FAILURES as error:
        raise _invalid(error, number, source) from error
    if not _are_in_range([event]):
        raise EventInvalid(source=source, number=number, path="$", reason="a number over 2^53")
    return event


def _is_text(line: bytes) -> bool:
    """Raise UnicodeError for anything else: msgspec does not look at the bytes of fields that it skips."""
    return line.isascii() or line.decode("utf-8") is not None


def _are_in_range(events: Iterable[Line]) -> bool:
    free = [value for event in events if (of := _FREE.get(type(event))) for value in of(event)]
    return all(numbers_fit(value) for value in free if value is not None)


def _encode(event: Line) -> bytes:
    if isinstance(event, Unknown):
        # Outside of strings, which cannot hold one, a line feed is only white space.
        return event.raw.replace("\n", " ").encode() or _encoder.encode({"type": event.name})
    return _encoder.encode(event)


def _encode_repaired(event: Line, number: int, source: str) -> tuple[bytes, int]:
    repaired, count = repair(event)
    try:
        line = _encode(repaired)
    except (UnicodeError, TypeError, RecursionError) as error:
        raise _invalid(error, number, source) from error
    decode_line(line, number, source)
    return line, count


def _decode_event(line: bytes) -> Event | Unknown:
    try:
        return _event.decode(line)
    except msgspec.ValidationError:
        tag = _tagged.decode(line).type
        if tag not in EVENT_TAGS:
            return Unknown(name=tag, raw=line.decode())
        # Only steps hold actions, whose kinds may be newer than this release.
        if tag != "step":
            raise
        return _event.decode(_with_unknown_actions(line))


def _with_unknown_actions(line: bytes) -> bytes:
    parts = _parts.decode(line)
    for field in ("action", "declared"):
        if field in parts:
            parts[field] = _known(parts[field])
    if "observed" in parts:
        parts["observed"] = Raw(
            _encoder.encode([_known(action) for action in _actions.decode(parts["observed"])])
        )
    return _encoder.encode(parts)


def _known(raw: Raw) -> Raw:
    text = bytes(raw)
    if not text.startswith(b"{"):
        return raw
    tag = _tagged.decode(text).type
    return raw if tag in ACTION_TAGS else Raw(_encoder.encode(Unknown(name=tag, raw=text.decode())))


def _of_header(header: Header) -> Iterable[Any]:
    source = header.source
    return (header.task, header.options, source and (source.options, source.extra))


def _of_step(step: Step) -> Iterable[Any]:
    reads = step.before.reads if step.before is not None else ()
    if type(step.action) is not ToolCall and not (
        step.declared or step.observed or step.raw or step.returned or reads
    ):
        return ()  # nearly always
    actions = (step.action, step.declared, *step.observed)
    calls = [action.arguments for action in actions if type(action) is ToolCall]
    return [*calls, *(read.value for read in reads), step.raw, step.returned]


def _of_reads(event: Observation | Probe) -> Iterable[Any]:
    return [read.value for read in event.reads] if event.reads else ()


_FREE: dict[type[Struct], Callable[[Any], Iterable[Any]]] = {
    Header: _of_header,
    Step: _of_step,
    Observation: _of_reads,
    Probe: _of_reads,
    Script: lambda script: (script.read.value,),
    Imported: lambda imported: (imported.value,),
    Rest: lambda rest: (rest.value,),
}
"""Event to its fields of any type: the schema cannot check the range of their integers."""


def _invalid(error: Exception, number: int, source: str) -> EventInvalid:
    reason, _, path = str(error).partition(" - at `")
    if reason.startswith("Invalid enum value"):  # of an open vocabulary
        reason = f"Expected `str` matching regex {WORD!r}"
    return EventInvalid(source=source, number=number, path=path.rstrip("`") or "$", reason=reason)
