"""Level `full`: every frame, record, blob and event is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.blobs import pixmap_size
from replaykit.bundle.bundle_format import PIXMAP, PREAMBLE_HEAD, Layout, Limits, Place
from replaykit.bundle.container import Container
from replaykit.bundle.content_digest import content_digest
from replaykit.bundle.opening import open_container
from replaykit.bundle.sealed_order import References, arrange
from replaykit.bundle.story_lines import Line, decode_line
from replaykit.bundle.zstd_frames import is_skippable
from replaykit.decoders import decode_as_python
from replaykit.errors import BundleDamaged, BundleError, EventInvalid, SourceError
from replaykit.trajectory.step import Ending, Step

_REFERENCES = frozenset({"snapshot", "screenshot", "clean", "a11y", "post", "body", "replies", "sheets"})
"""Fields that hold blob ids; other ids (of omitted blobs, of bundles) refer to nothing here."""

_FINDINGS_MAX = 100


class Verification(Struct, frozen=True, kw_only=True):
    """Result of verifying a whole bundle."""

    source: str
    """Path or URL, as given."""
    layout: Layout | Literal["unknown"] = "unknown"
    """`journal`, `sealed`, or `unknown` if it could not be opened."""
    format: int = 0
    """Format version; 0 if it could not be opened."""
    digest: str = ""
    """Trajectory digest, 64 hex digits; empty if it could not be opened."""
    content_digest: str = ""
    """Content digest, 64 hex digits; empty if an event cannot be read."""
    events: int = 0
    """Number of events, without the header."""
    steps: int = 0
    """Number of steps."""
    blobs: int = 0
    """Number of committed blobs."""
    torn_bytes: int = 0
    """Bytes after the last commit of a journal."""
    private: int = 0
    """Number of private records, which `seal` drops."""
    interrupted: bool = False
    """Whether the recording was cut off: it has no ending event."""
    error: str = ""
    """Class of the error that contradicts the format: BundleTruncated, DigestMismatch; empty if none."""
    findings: tuple[str, ...] = ()
    """Everything wrong or missing, at most 100 lines."""
    gradable: bool = False
    """Whether every event can be read. A missing blob only leaves some checks undecided."""
    why: str = ""
    """Reason why it cannot be graded; empty if it can."""


def verify(source: str | Path, limits: Limits | None = None) -> Verification:
    """Verify a whole bundle: every frame, digest, event and reference.

    `limits`: greatest sizes and counts; default: those of the format. In the result, `error` explains why a
    bundle contradicts the format; such a bundle cannot be graded. Raises only SourceError.

    Example:
        found = replaykit.verify("run.zst")
        print(found.error or "intact")
    """
    try:
        container = open_container(source, limits)
    # A source that cannot be read says nothing about the bundle in it.
    except SourceError:
        raise
    except BundleError as error:
        return _broken(error, Verification(source=str(source)))
    try:
        found = examine(container)
        return replace(found, content_digest=content_digest(container)) if found.gradable else found
    except BundleError as error:
        return _broken(error, _outline(container))
    finally:
        container.close()


def examine(container: Container) -> Verification:
    """Verify a bundle at level `full`. Raises BundleError for whatever contradicts the format."""
    examination = _Examination(container)
    if container.tables.layout == "sealed":
        examination.check_skippable()
    examination.load_blobs()
    examination.read_story()
    return examination.result()


class _Examination:
    def __init__(self, container: Container) -> None:
        self._container = container
        self._tables = container.tables
        self._findings: list[str] = []
        self._why = ""
        self._steps = 0
        self._ended = False
        self._references = References(container.tables.blobs)

    def check_skippable(self) -> None:
        """Look at the frames of a sealed file that hold nothing; opening looked at their rows only."""
        for number, raw in enumerate(self._tables.frames.raws):
            if not raw:
                self._check_skippable(number)

    def load_blobs(self) -> None:
        """Verify the blobs, which fill all frames before the story of a sealed file."""
        for id, blob in self._tables.blobs.items():
            self._look(id, blob.media_type, self._container.blob(id))

    def read_story(self) -> None:
        """Decode every event and follow its references."""
        for number, line in enumerate(self._container.lines(), -1):
            self._references.add(line)
            try:
                self._read(decode_line(line, number, self._container.name, self._tables.format), number)
                _check_keys(line, number, self._container.name)
            except EventInvalid as error:
                self._find(str(error))
                self._why = self._why or str(error)

    def result(self) -> Verification:
        """Return what was found."""
        if self._tables.layout == "sealed":
            self._check_arrangement()
        return replace(
            _outline(self._container), steps=self._steps, private=self._tables.private,
            interrupted=not self._ended, findings=tuple(self._findings),
            gradable=not self._why, why=self._why,
        )  # fmt: skip

    def _find(self, text: str) -> None:
        if len(self._findings) < _FINDINGS_MAX:
            self._findings.append(text)

    def _look(self, id: str, media_type: str, payload: bytes | memoryview) -> None:
        try:
            if media_type == PIXMAP:
                pixmap_size(payload, f"blob {id}")
        except BundleDamaged as error:
            self._find(str(error))

    def _check_skippable(self, number: int) -> None:
        offset, length = self._tables.frames.offsets[number], self._tables.frames.lengths[number]
        head = self._container.source.read_range(offset, min(length, len(PREAMBLE_HEAD)))
        found = 8 + int.from_bytes(head[4:8], "little") if is_skippable(head) else 0
        if found != length or (number and head == PREAMBLE_HEAD):
            place = Place(self._container.name, offset)
            raise place.damaged("skippable frame", f"{length} bytes, no second preamble", found)

    def _read(self, event: Line, number: int) -> None:
        self._steps += isinstance(event, Step)
        self._ended |= isinstance(event, Ending)
        for id in references(event):
            if id not in self._tables.blobs:
                self._find(f"blob {id} is missing (referred to by {_name(number)})")

    def _check_arrangement(self) -> None:
        expected = [id for part in arrange(self._references, self._tables.blobs) for id in part.ids]
        if expected != list(self._tables.blobs):
            self._find("blobs do not stand in the order of the format; `replaykit seal` puts them right")


def _outline(container: Container) -> Verification:
    tables = container.tables
    return Verification(
        source=container.name, layout=tables.layout, format=tables.format, digest=container.digest,
        events=tables.events, blobs=len(tables.blobs), torn_bytes=tables.torn_bytes, private=tables.private,
    )  # fmt: skip


def _broken(error: BundleError, known: Verification) -> Verification:
    return replace(known, error=type(error).__name__, findings=(str(error),), why=str(error))


def references(event: Line) -> Iterator[str]:
    """Yield the blob ids that an event of a known type refers to."""
    stack: list[Any] = [event]
    while stack:
        part = stack.pop()
        if isinstance(part, Struct):
            named = [(name, getattr(part, name)) for name in part.__struct_fields__]
            stack += [value for _, value in named if isinstance(value, (Struct, tuple))]
            for name, value in named:
                yield from _ids(value) if name in _REFERENCES else ()
        elif isinstance(part, tuple):
            stack += part


def _ids(value: Any) -> Iterator[str]:
    values = value if isinstance(value, tuple) else (value,)
    return (id for id in values if isinstance(id, str))


def _name(number: int) -> str:
    return "the header" if number < 0 else f"event {number}"


def _check_keys(line: bytes, number: int, source: str) -> None:
    # msgspec takes the last of several equal keys; the standard library shows them all.
    try:
        decode_as_python(line, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise EventInvalid(source=source, number=number, path="$", reason=str(error)) from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("an object has the same key twice")
    return result
