"""Open a bundle and read its trajectory and blobs. Raises BundleError only, on any bytes."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import cast

from replaykit.bundle.bundle_format import Layout, Limits
from replaykit.bundle.container import Container
from replaykit.bundle.opening import open_container
from replaykit.bundle.story_lines import decode_line, decode_story
from replaykit.display_hooks import display
from replaykit.errors import BlobMissing, LimitExceeded
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.step import Ending, Event, Header, Trajectory


class Bundle:
    """A recorded run in a file, read-only.

    Opening checks the tail of a sealed file, or every frame of a journal. The events are verified and decoded
    when they are first needed, and each blob when it is read. Use a bundle in one thread only.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._tables = container.tables

    def __enter__(self) -> Bundle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Bundle {self.name} {self.layout} sha256:{self.digest}>"

    def _repr_html_(self) -> str:
        return str(display("bundle_html", self))

    @property
    def name(self) -> str:
        """Path or URL as it was given."""
        return self._container.name

    @property
    def format(self) -> int:
        """Version of the file format."""
        return self._tables.format

    @property
    def layout(self) -> Layout:
        """`journal` during recording or after a crash, `sealed` when finished."""
        return self._tables.layout

    @property
    def digest(self) -> str:
        """Digest of the content, 64 hex digits: the same for a journal and its sealed form."""
        return self._container.digest

    @cached_property
    def content_digest(self) -> str:
        """Content digest, 64 hex digits: the same for two recordings of one deterministic run.

        Computed, which reads the story and every text it refers to. Raises BundleError.
        """
        from replaykit.bundle.content_digest import content_digest  # for those who compare recordings

        return content_digest(self._container)

    @property
    def torn_bytes(self) -> int:
        """Number of bytes after the last commit of a journal; they are not read."""
        return self._tables.torn_bytes

    @cached_property
    def trajectory(self) -> Trajectory:
        """Header and events. Raises BundleDamaged, DigestMismatch, EventInvalid, LimitExceeded."""
        decoded = decode_story(self._container.lines(), self.name, self.format)
        header, events = cast(Header, decoded[0]), cast("list[Event | Unknown]", decoded[1:])
        trajectory = Trajectory(header=header, events=tuple(events))
        # Steps are events: fewer events than that need no counting.
        if len(events) > self._container.limits.steps:
            self._check_steps(len(trajectory.steps))
        return trajectory

    @cached_property
    def header(self) -> Header:
        """Header of the recording: task, agent, sites and recorder."""
        if "trajectory" in self.__dict__:
            return self.trajectory.header
        # Who asks for no more need not wait for the events, of which there may be thousands.
        return cast(Header, decode_line(self._container.header_line(), -1, self.name, self.format))

    @property
    def ending(self) -> Ending | None:
        """How the run ended; None if the recording was interrupted."""
        return self.trajectory.ending

    @property
    def lines(self) -> tuple[bytes, ...]:
        """Header and events as the file holds them, one JSON object each."""
        return tuple(self._container.lines())

    @property
    def blob_ids(self) -> tuple[str, ...]:
        """Ids of all committed blobs, in the order of the file."""
        return tuple(self._tables.blobs)

    def __contains__(self, id: object) -> bool:
        return id in self._tables.blobs

    def blob(self, id: str) -> bytes:
        """Return the bytes of a blob. Raises BlobMissing, DigestMismatch, BundleDamaged."""
        return self._container.blob(id)

    def blob_type(self, id: str) -> str:
        """Return the media type of a blob. Raises BlobMissing."""
        blob = self._tables.blobs.get(id)
        if blob is None:
            raise BlobMissing(source=self.name, id=id, referred_by="the request")
        return blob.media_type

    def close(self) -> None:
        """Close the file. A second call does nothing. Values already read stay usable."""
        self._container.close()

    def _check_steps(self, found: int) -> None:
        allowed = self._container.limits.steps
        if found > allowed:
            raise LimitExceeded(
                source=self.name, limit="STEPS_MAX", allowed=allowed, found=found, unit="steps"
            )


def open_bundle(source: str | Path, limits: Limits | None = None) -> Bundle:
    """Open a bundle for reading.

    `source`: a path, a URL, or `-` for standard input. `limits`: greatest sizes and counts; default: those of
    the format. Close the bundle, or use it as a context manager. Raises SourceError, NotABundle,
    BundleTruncated, BundleDamaged, BundleFromTheFuture, LimitExceeded.

    Example:
        with replaykit.open_bundle("run.zst") as bundle:
            print(bundle.digest, len(bundle.lines), bundle.ending)
    """
    return Bundle(open_container(source, limits))
