"""Scalar types of the data model: counts, times, pixels, identifiers, words."""

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct

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

Word: TypeAlias = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_.-]{0,63}\\Z")]
"""An open vocabulary: writers use the listed words, readers take any."""

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
    """`cap evicted too_long type off withheld dialog_open timeout failed stream unread unheard`."""
    n: N | None = None
    """Size of what was left out, bytes."""
    sha256: Id | None = None
    """Digest of what was left out, where it was computed."""


Blob: TypeAlias = Id | Omitted
"""A blob, or why there is none."""


class Threw(Record, frozen=True, kw_only=True):
    """An exception, as its thrower named it."""

    name: str
    """Class or error name, as thrown."""
    message: str = ""
    """Message, as thrown."""
