"""Scalar types of the data model: counts, times, pixels, identifiers, words."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Meta, Struct

from replaykit.patterns import lazy_pattern

INT_MAX = 2**53
"""Largest integer that JSON readers agree on."""

N: TypeAlias = Annotated[int, Meta(ge=0, le=INT_MAX)]
"""A count, an ordinal or an index."""

Ms: TypeAlias = Annotated[int, Meta(ge=0, le=INT_MAX)]
"""Milliseconds since recording start."""

Px: TypeAlias = Annotated[int, Meta(ge=-INT_MAX, le=INT_MAX)]
"""CSS pixels of the viewport; may be negative."""

Box: TypeAlias = tuple[Px, Px, Px, Px]
"""x, y, width, height in CSS px of the viewport."""

Point: TypeAlias = tuple[Px, Px]
"""x, y in CSS px of the viewport."""

WORD = "^[A-Za-z][A-Za-z0-9_.-]{0,63}\\Z"
"""Pattern of a word."""

_WORD = lazy_pattern(WORD)

_COMMON = (
    "type page step script link form goto document stylesheet image xhr fetch websocket other "
    "observed declared both start before after final recorded partial absent unknown "
    "agent probe parser driver netlog input string opened answered"
)
"""Words that most stories are made of."""

if TYPE_CHECKING:
    Word: TypeAlias = str
    """An open vocabulary: writers use the listed words, readers take any."""
else:

    class Word(Enum):
        """An open vocabulary: writers use the listed words, readers take any. Its values are plain texts.

        An enumeration, because msgspec looks its values up, at a tenth of the cost of a pattern. It asks
        `_missing_` about all others.
        """

        UNKNOWN = "unknown"

        @classmethod
        def _missing_(cls, value: str) -> str | None:
            return value if _WORD.match(value) else None

    Word._value2member_map_.update({word: word for word in _COMMON.split()})


Id: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}\\Z")]
"""A blob: sha256 of its payload, lower-case hex."""

Json: TypeAlias = Any
"""Any JSON value (a raw JSON type cannot stand in a union with null)."""


VOLATILE = Meta(extra={"volatile": True})
"""Marks a field that may differ between two recordings of one run: a time, a release, a running number.

The content digest leaves these out."""


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of every struct in a story: frozen, by keyword, defaults left out on disk.

    `kw_only` holds for the class that says it, so every struct repeats both words. What was decoded is a tree
    without a way back up, so the garbage collector need not look at it (`gc=False`).
    """


class Omitted(Record, frozen=True, kw_only=True):
    """A payload that was seen but not kept."""

    why: Word
    """`cap evicted too_long type off withheld dialog_open timeout failed stream unread unreported`."""
    n: N | None = None
    """Size of what was left out, bytes."""
    sha256: Id | None = None
    """Digest of what was left out, where it was computed."""


Blob: TypeAlias = Id | Omitted
"""A blob, or the reason why it is missing."""


class Threw(Record, frozen=True, kw_only=True):
    """An exception, as its thrower named it."""

    name: str
    """Class or error name, as thrown."""
    message: str = ""
    """Message, as thrown."""
