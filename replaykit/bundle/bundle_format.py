"""Constants of the bundle format: preamble, record kinds, media classes, limits.

Words and order follow docs/bundle-format.md, which is normative.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, TypeAlias

from msgspec import Meta, Struct

from replaykit.errors import BundleDamaged, BundleFromTheFuture, LimitExceeded, NotABundle
from replaykit.file_types import kind_of_bytes
from replaykit.patterns import lazy_pattern

Layout: TypeAlias = Literal["journal", "sealed"]
"""State of a file: being recorded, or finished."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# 1. The container

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE_MAGIC_TAIL = b"\x2a\x4d\x18"
"""Last three bytes of a skippable magic; the first is 0x50 to 0x5F."""

# 1.1 Preamble

PREAMBLE_HEAD = b"\x50\x2a\x4d\x18\x10\x00\x00\x00replaykit"
PREAMBLE_SIZE = 24
LETTERS: dict[str, Layout] = {"J": "journal", "S": "sealed"}

# 1.2 Records

BlobId: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""Ids that enter the manifest text. Not `$`: it would let a line feed pass."""

_BLOB_ID = lazy_pattern(r"[0-9a-f]{64}")
_MEDIA_TYPE = lazy_pattern(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_MEDIA_TYPE_MAX = 127

# 1.3 Journal: while recording

# `opaque` is compressed already: its level costs next to nothing.
JOURNAL_LEVELS = {"opaque": -5, "pixels": 1, "text": 2, "story": 2}
"""Compression levels that are fast enough while steps are recorded."""

# 1.4 Sealed: at the end

SEEK_TABLE_MAGIC = b"\x5e\x2a\x4d\x18"
SEEK_FOOTER_MAGIC = 0x8F92EAB1
"""Footer of the public zstd seekable format."""
SUFFIX = 64 * KIB
"""First read at the tail: seek table, index and story of nine bundles in ten."""

# 1.5 Order and classes

BlobClass: TypeAlias = Literal["opaque", "pixels", "text"]
CLASSES: tuple[BlobClass, ...] = ("opaque", "pixels", "text")
"""Classes of blobs, in file order."""

PIXMAP = "image/x-portable-pixmap"
SNAPSHOT = "application/x-replaykit-dom"

SEALED_LEVELS = {"opaque": 1, "pixels": 9, "text": 9, "story": 9}
SMALL_RAW, SMALL_LEVEL = 512 * KIB, 16
"""Texts of at most this size, of which a run has few, are worth ten times the CPU for 5 % of the size."""
PLAIN_RATIO = 100
"""Images so many times larger than their frame (applications, no photographs) are worth more effort."""
APART_FROM = 32 * 1024
"""In a larger segment the first record, the only one that most readers want, is a block of its own ..."""
ZSTD_BLOCK = 128 * 1024
"""... where it is not larger than blocks are, which are decoded whole."""
SEGMENT_RAW = 8 * MIB
"""Written segments of text: large enough for the window to see every earlier snapshot of a short run."""
STORY_RAW = MIB

# 1.7 Limits

FILE_MAX = 4 * GIB
RAW_MAX = 4 * GIB
FRAME_RAW_MAX = 64 * MIB
WINDOW_MAX = 64 * MIB
FRAMES_MAX = 262_144
BLOBS_MAX = 100_000
EVENTS_MAX = 1_000_000
STEPS_MAX = 100_000
BLOB_MAX = 32 * MIB
HEADER_MAX = MIB
EVENT_MAX = 4 * MIB
STORY_MAX = 256 * MIB
"""The story is read into memory as a whole, so it has a limit of its own."""
INDEX_MAX = 32 * MIB
LINE_MAX = 4096
# Bounds the memory of whoever decodes an image: 192 MB as RGB.
IMAGE_PIXELS_MAX = 64_000_000

# 1.9 Versions and extension

FORMAT_VERSION = 1
"""One integer for container and events; raised only when a meaning changes."""


class Preamble(NamedTuple):
    """First 24 bytes of every bundle."""

    layout: Layout
    """Journal or sealed."""
    format: int
    """Format version."""

    def pack(self) -> bytes:
        """Return the skippable frame."""
        letter = next(letter for letter, layout in LETTERS.items() if layout == self.layout)
        return PREAMBLE_HEAD + letter.encode() + self.format.to_bytes(2, "little") + bytes(4)


class Limits(Struct, frozen=True, kw_only=True):
    """Greatest sizes and counts that a reader accepts. A service may set lower ones."""

    file: int = FILE_MAX
    """Size of the file, bytes."""
    raw: int = RAW_MAX
    """Total size of all frames after decompression, bytes."""
    frame_raw: int = FRAME_RAW_MAX
    """Size of one frame after decompression, bytes."""
    window: int = WINDOW_MAX
    """zstd window of one frame, bytes."""
    frames: int = FRAMES_MAX
    """Number of frames, including skippable ones."""
    blobs: int = BLOBS_MAX
    """Number of blobs."""
    events: int = EVENTS_MAX
    """Number of events."""
    steps: int = STEPS_MAX
    """Number of steps."""
    blob: int = BLOB_MAX
    """Size of one blob, bytes."""
    header: int = HEADER_MAX
    """Size of the header, bytes."""
    event: int = EVENT_MAX
    """Size of one event, bytes."""
    story: int = STORY_MAX
    """Size of header and events together, bytes."""
    index: int = INDEX_MAX
    """Size of the index, bytes."""


class Place(Struct, frozen=True, gc=False):
    """A byte of a source: where an error is raised."""

    source: str
    """Path or URL, as given."""
    offset: int
    """Bytes from the start of the file."""

    def damaged(self, what: str, expected: object, found: object) -> BundleDamaged:
        """Build the error that says what contradicts the format here."""
        return BundleDamaged(
            source=self.source, what=what, offset=self.offset, expected=expected, found=found
        )

    def check(self, limit: str, allowed: int, found: int, unit: str = "bytes") -> None:
        """Raise LimitExceeded if `found` is over `allowed`."""
        if found > allowed:
            raise LimitExceeded(source=self.source, limit=limit, allowed=allowed, found=found, unit=unit)


def read_preamble(head: bytes, source: str) -> Preamble:
    """Parse the first 24 bytes; more of them show what another file is.

    Raises NotABundle, BundleFromTheFuture and BundleDamaged.
    """
    if len(head) < PREAMBLE_SIZE or not head.startswith(PREAMBLE_HEAD):
        raise NotABundle(source=source, found=_describe(head))
    layout = LETTERS.get(chr(head[17]))
    found = int.from_bytes(head[18:20], "little")
    if layout is None:
        raise Place(source, 17).damaged("layout letter", "J or S", repr(chr(head[17])))
    check_format(found, source, 18)
    if any(head[20:24]):
        raise Place(source, 20).damaged("reserved bytes", "zeros", head[20:24].hex())
    return Preamble(layout, found)


def is_media_type(text: str) -> bool:
    """Whether `text` is a media type without parameters, at most 127 bytes."""
    return len(text) <= _MEDIA_TYPE_MAX and _MEDIA_TYPE.fullmatch(text) is not None


def is_blob_id(text: str) -> bool:
    """Whether `text` is 64 lower-case hex digits."""
    return _BLOB_ID.fullmatch(text) is not None


def check_format(found: int, source: str, offset: int) -> None:
    """Refuse a format version that this release does not read."""
    if found > FORMAT_VERSION:
        raise BundleFromTheFuture(source=source, found=found, supported=FORMAT_VERSION)
    if found < 1:
        raise Place(source, offset).damaged("format version", "1 or more", found)


def _describe(head: bytes) -> str:
    if head and PREAMBLE_HEAD.startswith(head[: len(PREAMBLE_HEAD)]):
        return f"only {len(head)} bytes of a preamble"
    return kind_of_bytes(head)
