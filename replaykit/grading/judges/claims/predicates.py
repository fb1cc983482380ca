"""Predicates: what a model may ask of a recording. It names no selector, script or regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from replaykit.decoders import convert

ITEMS_MAX = 20
"""Items of one reply."""

PREDICATES_MAX = 5
"""Predicates of one item."""

Text: TypeAlias = Annotated[str, Meta(max_length=300)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000)]
Where: TypeAlias = Literal["final", "any"]
Op: TypeAlias = Literal["equals", "at_least", "at_most"]
Kind: TypeAlias = Literal["auto", "text", "number", "currency", "date", "duration", "distance", "url"]


class ClaimPredicate(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """A statement about the recording that code decides."""


class TextVisible(ClaimPredicate, frozen=True, kw_only=True, tag="text_visible"):
    """A page shows a text."""

    text: Text
    """The text, as whole words."""
    where: Where = "final"
    """The last page, or any."""
    url: Text = ""
    """Only pages at this address; `*` and `**` as in `allow:`."""


class ValueShown(ClaimPredicate, frozen=True, kw_only=True, tag="value"):
    """A page shows a value beside its label: in its row, its line, its definition, its field."""

    label: Text
    """The label, or the cell that names the row."""
    value: Text
    """The value."""
    kind_of: Kind = field(name="as", default="auto")
    """Type as which the value is compared."""
    op: Op = "equals"
    """Numbers may be bounds."""
    where: Where = "final"
    """The last page, or any."""


class Absent(ClaimPredicate, frozen=True, kw_only=True, tag="absent"):
    """The last page no longer shows a text."""

    text: Text
    """The text."""


class ControlState(ClaimPredicate, frozen=True, kw_only=True, tag="state"):
    """A control of the last page is in a state."""

    label: Text
    """Its label."""
    state: Literal["checked", "unchecked", "enabled", "disabled"]
    """The state."""


class AddressPredicate(ClaimPredicate, frozen=True, kw_only=True):
    """Fields of predicates on addresses."""

    url: Text = ""
    """A whole URL, or a path."""
    query: dict[Text, Text] = {}
    """Parameters that it has, among others."""


class UrlVisited(AddressPredicate, frozen=True, kw_only=True, tag="url_visited"):
    """A tab reached a URL."""


class EndedOn(AddressPredicate, frozen=True, kw_only=True, tag="ended_on"):
    """The run ended on an address."""


class RequestSent(ClaimPredicate, frozen=True, kw_only=True, tag="request_sent"):
    """A server took a request that changes something, exactly so many times."""

    method: Text = ""
    """Empty = any."""
    url: Text = ""
    """A URL or a path, with `*` and `**`; empty = any of the sites."""
    fields: dict[Text, Text] = {}
    """Fields of its body; the name `*` stands for any field."""
    status: Number | None = None
    """Status of the last response; None = 2xx or 3xx."""
    n: Annotated[int, Meta(ge=1, le=1000)] = 1
    """How many."""


class NoRequest(ClaimPredicate, frozen=True, kw_only=True, tag="no_request"):
    """No server took such a request."""

    method: Text = ""
    """Empty = any."""
    url: Text = ""
    """A URL or a path, with `*` and `**`; empty = any of the sites."""


class UserAgreed(ClaimPredicate, frozen=True, kw_only=True, tag="user_agreed"):
    """The user agreed before the first change on a server."""


class Entered(ClaimPredicate, frozen=True, kw_only=True, tag="entered"):
    """The agent entered a value into a field, and entered no other there later."""

    label: Text
    """Label or name of the field."""
    value: Text
    """The value."""


class Count(ClaimPredicate, frozen=True, kw_only=True, tag="count"):
    """How often something was done."""

    of: Literal["acts", "requests"]
    """Events that are counted: actions, or requests that changed something."""
    match: Text
    """Words of the action, or a URL or path with `*` and `**`."""
    op: Literal["exactly", "at_least", "at_most"] = "exactly"
    """How the number is compared."""
    n: Number
    """The number."""


class Downloaded(ClaimPredicate, frozen=True, kw_only=True, tag="downloaded"):
    """A download was completed."""

    name: Text
    """Name of the file."""


class CannotCheck(ClaimPredicate, frozen=True, kw_only=True, tag="cannot_check"):
    """Nothing in a recording can show it."""

    why: Text = ""
    """Why not."""


AnyPredicate: TypeAlias = (
    TextVisible | ValueShown | Absent | ControlState | UrlVisited | EndedOn | RequestSent | NoRequest
    | UserAgreed | Entered | Count | Downloaded | CannotCheck
)  # fmt: skip

_WORDS = ("kind", "where", "as", "op", "of", "state")
"""Fields that hold one of several words."""


class ClaimItem(Struct, frozen=True, kw_only=True):
    """One need of the task or one claim of the answer."""

    id: str
    """As the model numbers it."""
    quote: str
    """The words that it is about, verbatim."""
    is_key: bool = True
    """Whether the task fails without it."""
    how: Literal["all", "any"] = "all"
    """Whether all predicates have to hold, or one."""
    predicates: tuple[AnyPredicate, ...] = ()
    """Conditions on the recording; empty = the item could not be read."""


class ClaimItems(Struct, frozen=True, kw_only=True):
    """All items of a reply."""

    items: tuple[ClaimItem, ...]
    """In order; those that could not be read have no predicate."""
    n_ignored: int = 0
    """Keys that mean nothing here."""
    n_unread: int = 0
    """Items that could not be read."""


def read_items(reply: Mapping[str, Any]) -> ClaimItems | str:
    """Read the items of a reply, or return `no_object` where it has no list of them."""
    rows = reply.get("items")
    if not isinstance(rows, list):
        return "no_object"
    found = [_item(row, place) for place, row in enumerate(rows[:ITEMS_MAX])]
    items = [one for place, one in enumerate(found) if one not in found[:place]]
    twice = {one.id for one in items if sum(other.id == one.id for other in items) > 1}
    read = [one if one.id not in twice else _unread(one.id, one.quote) for one in items]
    read += [_unread(f"#{place}") for place in range(ITEMS_MAX, min(len(rows), ITEMS_MAX + 1))]
    ignored = len(set(reply) - {"items", "asks"}) + sum(_ignored(row) for row in rows[:ITEMS_MAX])
    return ClaimItems(items=tuple(read), n_ignored=ignored, n_unread=sum(not one.predicates for one in read))


def _unread(id: str, quote: str = "") -> ClaimItem:
    return ClaimItem(id=id, quote=quote)


def _item(row: Any, place: int) -> ClaimItem:
    """Read one item; what is wrong in it leaves it without predicates, and a key item."""
    plain = row if isinstance(row, dict) else {}
    id, quote, key = plain.get("id"), plain.get("quote"), plain.get("key", True)
    named = str(id)[:80] if isinstance(id, str | int) and not isinstance(id, bool) else f"#{place}"
    wording = quote[:2000] if isinstance(quote, str) else ""
    how: Literal["all", "any"] = "any" if "any" in plain else "all"
    if id is None or not wording or not isinstance(key, bool) or ("all" in plain and "any" in plain):
        return _unread(named, wording)
    predicates = _predicates(plain.get(how))
    return ClaimItem(id=named, quote=wording, is_key=key or not predicates, how=how, predicates=predicates)


def _predicates(rows: Any) -> tuple[AnyPredicate, ...]:
    """Return the predicates of an item; empty where one of them cannot be read."""
    if not isinstance(rows, list) or not 1 <= len(rows) <= PREDICATES_MAX:
        return ()
    try:
        return tuple(convert(_worded(row), AnyPredicate) for row in rows)
    except (msgspec.ValidationError, RecursionError):
        return ()


def _worded(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return {
        name: value.strip().casefold() if name in _WORDS and isinstance(value, str) else value
        for name, value in row.items()
    }


def _ignored(row: Any) -> int:
    if not isinstance(row, dict):
        return 0
    inner = [one for how in ("all", "any") if isinstance(row.get(how), list) for one in row[how]]
    return len(set(row) - {"id", "quote", "key", "all", "any"}) + sum(_unknown(one) for one in inner)


def _unknown(row: Any) -> int:
    kind = _KINDS.get(row.get("kind", "")) if isinstance(row, dict) else None
    return len(set(row) - {"kind", *kind.__struct_encode_fields__}) if kind is not None else 0


_KINDS = {str(one.__struct_config__.tag): one for one in AnyPredicate.__args__}
