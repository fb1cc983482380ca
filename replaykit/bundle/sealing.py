"""Write a container as a sealed file: the same content gives the same bytes, whoever wrote it before."""

from __future__ import annotations

import os
import shutil
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from replaykit.bundle.bundle_format import (
    APART_FROM,
    PLAIN_RATIO,
    SEALED_LEVELS,
    SMALL_LEVEL,
    SMALL_RAW,
    STORY_RAW,
    ZSTD_BLOCK,
    Preamble,
)
from replaykit.bundle.container import Container
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.index import FrameOffsets, build_index, seek_table
from replaykit.bundle.locking import lock, remove_abandoned
from replaykit.bundle.opening import open_container
from replaykit.bundle.records import LF
from replaykit.bundle.sealed_order import References, Segment, arrange, shortened
from replaykit.bundle.verification import examine
from replaykit.bundle.zstd_frames import compress
from replaykit.errors import BundleWriteError, DigestMismatch, OutputExists, UsageError
from replaykit.file_types import DEVICE, is_device

_WINDOW_MAX = {"pixels": 26}
"""Window logs: a pixel segment of 64 MiB is one window; 8 MiB are enough for everything else."""
_WINDOW_DEFAULT = 23

_NAME_MAX = 48
"""Characters of the target's name in that of its temporary file: at most 192 bytes of the usual 255."""


def write_sealed(container: Container, file: BinaryIO) -> None:
    """Write preamble, blobs, story, index and seek table.

    Memory: one segment and one blob. Raises what reading the container raises; OSError.
    """
    writing = _Writing(file, container.tables.format)
    references = References(container.tables.blobs)
    for line in container.lines():
        references.add(line)
    for segment in arrange(references, container.tables.blobs):
        writing.add_segment(segment, container)
    writing.add_story(container)
    writing.finish(container)


class _Writing:
    def __init__(self, file: BinaryIO, version: int) -> None:
        # Story lines are copied, never lifted: they stay in the format they were written in.
        self._version = version
        self._file = file
        self._offset = 0
        self._frames = FrameOffsets(array("Q"), array("Q"), array("Q"))
        self._blobs: dict[str, BlobPlace] = {}
        self._put(Preamble("sealed", version).pack(), 0)

    def add_segment(self, segment: Segment, container: Container) -> None:
        frame, raw, head = len(self._frames.raws), bytearray(), 0
        for id in segment.ids:
            blob = container.tables.blobs[id]
            self._blobs[id] = BlobPlace(blob.media_type, frame, len(raw), blob.n)
            raw += container.blob(id)
            head = head or len(raw)
        is_apart = head < ZSTD_BLOCK and len(raw) > APART_FROM
        if raw:
            self._compress(raw, segment.blob_class, head if is_apart else 0)

    def add_story(self, container: Container) -> None:
        numbers = {id: number for number, id in enumerate(self._blobs)}
        raw = bytearray()
        for line in container.lines():
            short = shortened(line, numbers) + LF
            if raw and len(raw) + len(short) > STORY_RAW:
                self._compress(raw, "story")
                raw = bytearray()
            raw += short
        self._compress(raw, "story")

    def finish(self, container: Container) -> None:
        tables = container.tables
        index = build_index(tables.digest(), tables.events, tables.story_sha256, self._blobs, self._version)
        self._compress(index, "story")
        self._file.write(seek_table(self._frames.lengths, self._frames.raws))

    def _compress(self, raw: bytes | bytearray, name: str, head: int = 0) -> None:
        is_small = name in ("text", "story") and len(raw) <= SMALL_RAW
        level = SMALL_LEVEL if is_small else SEALED_LEVELS[name]
        window_max = _WINDOW_MAX.get(name, _WINDOW_DEFAULT)
        frame = compress(raw, level, window_max, head=head)
        if name == "pixels" and len(raw) >= PLAIN_RATIO * len(frame):
            frame = compress(raw, level, window_max, head=head, is_thorough=True)
        self._put(frame, len(raw))

    def _put(self, frame: bytes, raw: int) -> None:
        self._frames.append(self._offset, len(frame), raw)
        self._file.write(frame)
        self._offset += len(frame)


def seal_into(
    container: Container, target: Path, mode: int, *, is_new: bool = False, is_passing: bool = False
) -> int:
    """Write a container as the sealed file `target`, at once or not at all; return its size in bytes.

    A temporary file in the same folder is read back at level `full` first. On any failure it is removed
    and `target` stays as it was; one that a killed process left behind is removed by the next seal of
    `target`. Raises BundleError. `is_new`: no file may have that name. `is_passing`: `target` is moved
    elsewhere at once, so that its folder is neither searched nor synced.
    """
    prefix = f".{target.name[:_NAME_MAX]}.sealing-"
    if not is_passing:
        remove_abandoned(target.parent, prefix)
    try:
        handle, temporary = tempfile.mkstemp(prefix=prefix, dir=target.parent)
    except OSError as error:
        raise write_error(str(target), "seal", error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            is_locked = lock(handle, shared=True)
            size = _write(container, file, mode)
            _read_back(container, temporary)
            if is_locked:
                put(Path(temporary), target, "seal", is_forced=not is_new)
        if not is_locked:
            # Windows has no such locks, and replaces no file that is open.
            container.close()
            put(Path(temporary), target, "seal", is_forced=not is_new)
    except OSError as error:
        _remove(temporary)
        raise write_error(str(target), "seal", error) from error
    except BaseException:
        _remove(temporary)
        raise
    if not is_passing:
        _sync_folder(target.parent)
    return size


def write_error(source: str, operation: str, cause: Exception) -> BundleWriteError:
    """Build the error of a refused write."""
    reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return BundleWriteError(source=source, operation=operation, reason=reason)


def _write(container: Container, file: BinaryIO, mode: int) -> int:
    write_sealed(container, file)
    file.flush()
    # `mkstemp` makes private files; a sealed bundle keeps the mode of its journal.
    if hasattr(os, "fchmod"):  # Windows has it from Python 3.13 on
        os.fchmod(file.fileno(), mode)
    # Before it takes the name: after a power cut the name must not lead to an empty file.
    os.fsync(file.fileno())
    return file.tell()


def _read_back(container: Container, path: str) -> None:
    written = open_container(path)
    try:
        found = examine(written).digest
    finally:
        written.close()
    if found != container.digest:
        raise DigestMismatch(
            source=container.name, what="the sealed file read back", offset=0,
            expected=container.digest, found=found,
        )  # fmt: skip


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()


def _sync_folder(folder: Path) -> None:
    # Not every file system lets a folder be opened or synced; the file itself is.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def put(written: Path, target: Path, operation: str, *, is_forced: bool) -> None:
    """Give a finished file its name; unless it is forced, only if no file has it.

    Of two writers of one name, the second is refused, even if it looked before the first was ready. Raises
    BundleWriteError.
    """
    try:
        if is_forced:
            written.replace(target)
        else:
            _put_new(written, target)
    except FileExistsError as error:
        raise OutputExists(source=str(target), operation=operation) from error
    except OSError as error:
        raise write_error(str(target), operation, error) from error


def _put_new(written: Path, target: Path) -> None:
    try:
        os.link(written, target)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has hard links: an empty file holds the name until the content is there.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        written.replace(target)
    else:
        written.unlink()


def put_copy(
    written: Path, target: Path, beside: Mapping[Path, bytes | None], word: str, *, is_forced: bool
) -> None:
    """Put a copy and the files beside it in place, all or none; None: there is no such file.

    `word`: `redacted packed`. Raises OutputExists, OSError.
    """
    operation = f"write the {word} bundle"
    with ExitStack() as undone:
        for path, data in beside.items():
            if data is not None:
                part = written.with_name("beside")
                part.write_bytes(data)
                put(part, path, operation, is_forced=is_forced)
                undone.callback(path.unlink, missing_ok=True)
            elif is_forced:
                path.unlink(missing_ok=True)  # it belongs to the bundle that is replaced
        # The bundle comes last: with it in place, the files beside it must be right.
        put(written, target, operation, is_forced=is_forced)
        undone.pop_all()


def check_copy(source: Path, targets: Sequence[Path], word: str, *, is_forced: bool) -> None:
    """Raise UsageError for a copy in its source's place, OutputExists for one of files that are there.

    `targets`: the copy, and the files beside it. `word`: `redacted packed`.
    """
    # Links count too: the source must survive whatever name it has.
    if targets[0].exists() and source.exists() and targets[0].samefile(source):
        raise UsageError(what=f"{targets[0]}: a bundle is not {word} in place: name another file with -o")
    for path in targets:
        if is_device(path):
            raise BundleWriteError(source=str(path), operation=f"write the {word} bundle", reason=DEVICE)
        if os.path.lexists(path) and not is_forced:
            raise OutputExists(source=str(path), operation=f"write the {word} bundle")


@contextmanager
def folder_beside(target: Path, work: str) -> Iterator[Path]:
    """Make a folder on the target's file system, as `scratch_folder` does; errors name the target."""
    parent = target.absolute().parent
    with ExitStack() as made:
        try:
            place = made.enter_context(scratch_folder(parent, work))
        except OSError as error:
            raise write_error(str(target), "write", error) from error
        remove_abandoned_folders(parent, work)
        with named_as(target):
            yield place


@contextmanager
def named_as(target: Path) -> Iterator[None]:
    """Let an error of a file that is written aside name the file that it was to become."""
    try:
        yield
    except OutputExists:
        raise
    except BundleWriteError as error:
        if error.fields["source"] == str(target) or not isinstance(error.__cause__, OSError):
            raise
        raise write_error(str(target), "write", error.__cause__) from error


LOCK = ".lock"
"""A file in it that is locked while the folder is in use."""


@contextmanager
def scratch_folder(parent: Path, work: str) -> Iterator[Path]:
    """Make a folder that lives as long as the block. Raises OSError.

    No one else can read it. `work`: `importing packing redacting`. What a killed process leaves behind, the
    next one of the same work removes.
    """
    place, held = _held_folder(parent, work)
    try:
        with held:
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_abandoned_folders(parent: Path, work: str) -> None:
    """Remove what killed processes left in a folder; what another one works in stays."""
    for place in parent.glob(f".{work}-*"):
        with suppress(OSError):
            if place.is_dir() and not place.is_symlink():
                _remove_unheld(place)


def _held_folder(parent: Path, work: str) -> tuple[Path, BinaryIO]:
    """Make a folder and lock it; one that another process removes before it is locked is made again."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=f".{work}-", dir=parent))
        with suppress(FileNotFoundError), ExitStack() as opened:
            held = opened.enter_context((place / LOCK).open("wb"))
            with suppress(BlockingIOError):
                if not lock(held.fileno(), shared=False) or (place / LOCK).exists():
                    opened.pop_all()
                    return place, held


def _remove_unheld(place: Path) -> None:
    """Remove a folder that no one holds; where there are no locks, this is unknown."""
    # Made where it is missing: whoever was killed, or is about to lock it, has not come that far.
    file = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0))
    try:
        with suppress(BlockingIOError):
            if lock(file, shared=False):
                shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(file)
