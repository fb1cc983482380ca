"""The tape: replies of models, recorded once beside a bundle and played back forever.

`<stem>.replies.jsonl`: a first line `{"tape":"replaykit.replies","version":1,"trajectory":"<digest>"}`, then
one entry a line. A reply is found by its request only, so grading again needs no network and no key.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct

from replaykit.decoders import decode
from replaykit.errors import TapeError
from replaykit.file_types import HEAD, READ_ONLY, is_appendable, kind_of_bytes, read_whole
from replaykit.grading.judges.judge_options import canonical, provider_of
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, Usage

_NO_TAPES = (
    "a bundle", "a text file", "a task file", "a policy file", "a zip archive", "a gzip file", "an HTML page",
)  # fmt: skip
"""Kinds of files that are named in the place of a tape; any JSON may be a damaged one."""

VERSION = 1
"""Of the file's layout."""

KEY_PREFIX = b"replaykit.judge/1\n"
"""Beginning of the text whose digest is the key."""

LINE_MAX = 4 * 2**20
"""Bytes of a line."""

REPLY_MAX = 2**20
"""Bytes of a reply's text."""

ORIGINS = ("live", "imported", "synthetic")
"""A model's, another recording's, or written by a person or a test."""

Ordinal = tuple[int, int]
"""Sample, and occurrence of the key within that sample."""

_KEYED = (
    "provider", "model", "max_tokens", "effort", "system", "messages", "output_config", "thinking", "tools",
    "tool_choice", "stop_sequences", "transformations", "temperature", "top_p", "top_k", "seed",
)  # fmt: skip
"""Fields of a request that shape its reply; all others are left out of the key."""


class TapeHead(Struct, frozen=True, kw_only=True):
    """First line of a tape."""

    tape: str
    """`replaykit.replies`."""
    version: int
    """Of the layout."""
    trajectory: str
    """Digest of the bundle that the replies are about, 64 hex digits."""


class RecordedReply(Struct, frozen=True, kw_only=True):
    """A reply as the tape keeps it."""

    text: str
    """All text blocks, joined."""
    blocks: tuple[dict[str, Any], ...] = ()
    """Text blocks as they came."""
    stop_reason: str
    """Why the model stopped."""
    stop_sequence: str | None = None
    """Sequence that stopped it."""
    stop_detail: str | None = None
    """Detail of a refusal."""
    model: str
    """Model that answered."""
    usage: Usage = Usage()
    """Tokens billed."""


class TapeEntry(Struct, frozen=True, kw_only=True):
    """One recorded reply with the request that it answers."""

    key: str
    """Digest of the normalised request, 64 hex digits."""
    ordinal: Ordinal = (0, 0)
    """Sample and occurrence."""
    judge: str
    """Who asked."""
    stage: str
    """Where in its protocol."""
    index: int = 0
    """Position in the stage."""
    provider: str
    """Who answered."""
    request: dict[str, Any]
    """The normalised request."""
    reply: RecordedReply
    """The reply."""
    provenance: dict[str, Any] = {}
    """When and how it was obtained; never credentials."""
    origin: str
    """`live imported synthetic`."""


class Tape(Struct, frozen=True, kw_only=True):
    """Recorded replies in memory."""

    name: str
    """File name, without its folder."""
    digest: str
    """`sha256:...` of the lines read."""
    trajectory: str
    """Digest of the bundle that they are about."""
    entries: tuple[TapeEntry, ...]
    """In file order."""
    found: dict[tuple[str, Ordinal], TapeEntry]
    """By key and ordinal: the later line wins."""
    torn: bool = False
    """The last line was cut off and dropped."""

    @property
    def superseded(self) -> int:
        """Entries that a later line replaces."""
        return len(self.entries) - len(self.found)

    def reply(self, request: ModelRequest, ordinal: Ordinal) -> ModelReply | None:
        """Return the recorded reply to a request; None = never asked."""
        entry = self.found.get((request_key(request), ordinal))
        if entry is None:
            return None
        recorded = entry.reply
        return ModelReply(
            text=recorded.text,
            stop_reason=recorded.stop_reason,
            stop_detail=recorded.stop_detail,
            model=recorded.model,
            usage=recorded.usage,
            origin=entry.origin,
        )


def tape_beside(bundle: str | Path) -> Path:
    """Return the default path of the tape of a bundle: `a.replies.jsonl` beside `a.zst`."""
    folder, name = os.path.split(bundle)  # a path object for each part takes longer than a check
    return Path(folder, name.removesuffix(".zst") + ".replies.jsonl")


def read_tape(path: str | Path) -> Tape | None:
    """Read a tape; None if absent. Raises TapeError with the line of what is malformed."""
    try:
        data = read_whole(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = f"cannot read the tape: {error.strerror}"
        raise TapeError(source=Path(path).name, line=0, reason=reason) from error
    return parse_tape(data, Path(path).name)


def parse_tape(data: bytes, name: str = "tape") -> Tape:
    """Read a tape from its bytes; a last line without its newline is dropped."""
    if (found := kind_of_bytes(data[:HEAD])) in _NO_TAPES:
        reason = f"not a tape of replies: found {found}; `replaykit judge run` writes tapes"
        raise TapeError(source=name, line=0, reason=reason)
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.split(b"\n")[:-1]
    head = _decode(lines[0], TapeHead, name, 1) if lines else TapeHead(tape=_NAME, version=1, trajectory="")
    if head.tape != _NAME or head.version != VERSION:
        reason = f"expected {_NAME} version {VERSION}, found {head.tape} version {head.version}"
        raise TapeError(source=name, line=1, reason=reason)
    entries = tuple(_entry(line, name, at) for at, line in enumerate(lines[1:], 2))
    return Tape(
        name=name,
        digest="sha256:" + hashlib.sha256(whole).hexdigest(),
        trajectory=head.trajectory,
        entries=entries,
        found={(entry.key, entry.ordinal): entry for entry in entries},
        torn=len(whole) < len(data),
    )


def append_reply(
    path: str | Path,
    request: ModelRequest,
    reply: ModelReply,
    *,
    trajectory: str,
    ordinal: Ordinal = (0, 0),
    provenance: Mapping[str, Any] | None = None,
) -> TapeEntry:
    """Append one reply to a tape, under a lock, on the disk before it returns; a new file gets its head.

    `trajectory` is the digest of the bundle. A torn last line is cut away first. Raises TapeError for
    an origin that does not exist, a reply too long, or a tape of another layout.
    """
    entry = entry_of(request, reply, ordinal, provenance or {})
    line = canonical(msgspec.to_builtins(entry))
    _check(entry, line, Path(path).name)
    with _locked(Path(path)) as file:
        _repair(file, Path(path).name, trajectory)
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return entry


def check_appendable(path: Path) -> None:
    """Raise TapeError where rights show that no reply can be recorded."""
    if not is_appendable(path):
        raise TapeError(source=str(path), line=0, reason=f"cannot write the tape: {READ_ONLY}")


def entry_of(
    request: ModelRequest, reply: ModelReply, ordinal: Ordinal, provenance: Mapping[str, Any]
) -> TapeEntry:
    """Return the tape's line for a reply."""
    normal = normal_request(plain_request(request))
    return TapeEntry(
        key=_key(normal),
        ordinal=ordinal,
        judge=request.judge,
        stage=request.stage,
        index=request.index,
        provider=provider_of(request.model)[0],
        request=normal,
        reply=RecordedReply(
            text=reply.text,
            blocks=({"type": "text", "text": reply.text},),
            stop_reason=reply.stop_reason,
            stop_detail=reply.stop_detail,
            model=reply.model,
            usage=reply.usage,
        ),
        provenance=dict(provenance),
        origin=reply.origin,
    )


def request_key(request: ModelRequest) -> str:
    """Return the key of a request: who asks, and where in a protocol, does not count."""
    return _key(normal_request(plain_request(request)))


def plain_request(request: ModelRequest) -> dict[str, Any]:
    """Return a request as a provider's parameters, screenshots by identity."""
    provider, model = provider_of(request.model)
    downsized = {"oversized_image": "downsize"} if request.oversized_image == "downsize" else None
    return {
        "provider": provider,
        "model": model,
        "max_tokens": request.max_tokens,
        "effort": request.effort,
        "system": request.system,
        "messages": [{"role": "user", "content": [_block(part) for part in request.content]}],
        "transformations": downsized,
    }


def normal_request(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a request that shapes its reply: texts as blocks, no cache marks, no None."""
    kept = {name: plain[name] for name in _KEYED if plain.get(name) is not None}
    if "system" in kept:
        kept["system"] = _blocks(kept["system"])
    if "messages" in kept:
        kept["messages"] = [
            {"role": message["role"], "content": _blocks(message["content"])} for message in kept["messages"]
        ]
    return kept


_NAME = "replaykit.replies"


def _key(normal: Mapping[str, Any]) -> str:
    return hashlib.sha256(KEY_PREFIX + canonical(dict(normal))).hexdigest()


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "blob", "media_type": part.media_type, "sha256": part.sha256}
    return {"type": "text", "text": part.text}


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in content]


def _decode(line: bytes, kind: type[Any], name: str, at: int) -> Any:
    if len(line) > LINE_MAX:
        raise TapeError(source=name, line=at, reason=f"longer than {LINE_MAX} bytes")
    try:
        return decode(line, kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TapeError(source=name, line=at, reason=f"malformed: {error}") from error


def _entry(line: bytes, name: str, at: int) -> TapeEntry:
    entry: TapeEntry = _decode(line, TapeEntry, name, at)
    if entry.origin not in ORIGINS:
        reason = f"origin {entry.origin!r} is not one of {', '.join(ORIGINS)}"
        raise TapeError(source=name, line=at, reason=reason)
    if _key(normal_request(entry.request)) != entry.key:
        raise TapeError(source=name, line=at, reason="the key is not that of the request")
    return entry


def _check(entry: TapeEntry, line: bytes, name: str) -> None:
    if entry.origin not in ORIGINS:
        reason = f"cannot record a reply of origin {entry.origin!r}: it is not one of {', '.join(ORIGINS)}"
        raise TapeError(source=name, line=0, reason=reason)
    if len(entry.reply.text.encode("utf-8", "surrogatepass")) > REPLY_MAX or len(line) > LINE_MAX:
        raise TapeError(source=name, line=0, reason=f"cannot record a reply of more than {REPLY_MAX} bytes")


def _repair(file: IO[bytes], name: str, trajectory: str) -> None:
    """Leave the file at its end, after whole lines and with a head."""
    whole = _end_of_lines(file, name)
    if whole:
        file.seek(0)
        parse_tape(file.readline(LINE_MAX + 1), name)
    else:
        _refuse_other(file, name)
    file.truncate(whole)
    file.seek(whole)
    if not whole:
        head = TapeHead(tape=_NAME, version=VERSION, trajectory=trajectory)
        file.write(canonical(msgspec.to_builtins(head)) + b"\n")


def _refuse_other(file: IO[bytes], name: str) -> None:
    """Raise TapeError for one line without its end that is not the begin of a tape: it would be lost."""
    start = canonical({"tape": _NAME})[:-1]
    file.seek(0)
    if not start.startswith(file.read(len(start))):
        raise TapeError(source=name, line=1, reason="not a tape of replies: it would be replaced")


def _end_of_lines(file: IO[bytes], name: str) -> int:
    """Return where the last whole line of a tape ends; each new reply asks, so only the end is read."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - LINE_MAX - 1)
    file.seek(start)
    end = file.read().rfind(b"\n") + 1
    if start and not end:
        raise TapeError(source=name, line=0, reason=f"the last line is longer than {LINE_MAX} bytes")
    return start + end


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    try:
        opened = path.open("a+b")
    except OSError as error:
        reason = f"cannot write the tape: {error.strerror}"
        raise TapeError(source=path.name, line=0, reason=reason) from error
    with opened as file:
        with suppress(ImportError):
            import fcntl  # not on every platform: there, one writer at a time is the caller's business

            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
