"""A bundle's story and blobs without secrets: new payloads, new ids, every reference to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle
from replaykit.decoders import decode_plain
from replaykit.redaction.leftover_scan import DIGEST, find, is_cut
from replaykit.redaction.screenshot_painting import Hidden, PaintingPlan, looks, paint, screenshots_of
from replaykit.secrets.redactor import Redactor
from replaykit.secrets.snapshot_secrets import hidden_boxes
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory.action import Element, Unknown
from replaykit.trajectory.scalars import Id, Omitted
from replaykit.trajectory.step import Derivation, Header

_S = TypeVar("_S", bound=Struct)

WITHHELD = Omitted(why="withheld")
"""Mark of a payload that may hold a secret. No digest: it would confirm a guess."""

_LISTS = frozenset({"sheets"})
_BLOBS = frozenset({"snapshot", "screenshot", "clean", "a11y", "post", "body"})
"""Fields that hold a blob, or why it is missing."""


class Rewriting:
    """Rewritten blobs and lines of a bundle. `is_strict`: secrets or patterns were named."""

    def __init__(self, bundle: Bundle, redactor: Redactor, *, is_strict: bool) -> None:
        self._bundle = bundle
        self._redactor = redactor
        self._is_strict = is_strict
        self._hidden: dict[Id, Hidden] = {}
        self.ids: dict[Id, Id | None] = {}
        """Old id to new; None: the payload is left out."""
        # Screenshots come last: they are painted by the boxes of snapshots that were cleaned before.
        shown = {id for look in looks(bundle.trajectory) for id in screenshots_of(look)}
        for id in bundle.blob_ids:
            if id not in shown:
                self.ids[id] = self._renamed(id, self._text(id))
        self._paintings = PaintingPlan(bundle, self._hidden_in, is_strict=is_strict).decide()
        for id in self._paintings:
            # A screenshot may be named that the bundle never had, such as one that was cut off.
            if id in bundle:
                self.ids[id] = self._renamed(id, self.payload(id))

    @property
    def painted(self) -> int:
        """Screenshots with black boxes."""
        return sum(bool(paintings) for paintings in self._paintings.values())

    @property
    def withheld(self) -> int:
        """Payloads left out."""
        return sum(new is None for new in self.ids.values())

    def payload(self, id: Id) -> bytes | None:
        """Return what a blob becomes; None: it is left out."""
        if id not in self._paintings:
            return self._text(id)
        paintings = self._paintings[id]
        return None if paintings is None else self._checked(id, paint(self._bundle.blob(id), paintings))

    def header(self, secrets: Iterable[str]) -> Header:
        """Return the header, which states what the bundle was made from and which secrets were hidden."""
        # The digest ties the derived bundle to its source, so that a reader can check both.
        header = self.line(self._bundle.header)
        chain = (*header.derived_from, Derivation(digest=self._bundle.digest, by="redact"))
        # Another redaction may have hidden others before.
        names = tuple(sorted({*header.secrets, *secrets}))
        return replace(header, derived_from=chain, secrets=names)

    def line(self, event: _S) -> _S:
        """Return a line of the story without secrets, with the new ids."""
        if isinstance(event, Unknown):
            return replace(event, raw=self._unknown(event.raw))
        return self._linked(self._redactor.event(event))

    def _text(self, id: Id) -> bytes | None:
        return self._checked(id, self._redactor.blob(self._bundle.blob_type(id), self._bundle.blob(id)))

    def _checked(self, id: Id, payload: bytes) -> bytes | None:
        """Return a payload, None where it still holds a secret: in a key, a tag, or what is no text."""
        media_type = self._bundle.blob_type(id)
        found = None if media_type == PIXMAP else find(self._redactor, media_type, payload)
        # Only declared values are sure; a look may be a chance, and is reported instead.
        return None if found is not None and found.is_declared else payload

    def _renamed(self, id: Id, payload: bytes | None) -> Id | None:
        return None if payload is None else blob_id(payload)

    def _hidden_in(self, id: Id) -> Hidden:
        """Return the boxes of what is hidden in a snapshot, by whom and whenever."""
        if id not in self._hidden:
            # Frames and looks share snapshots, and each costs a parse.
            self._hidden[id] = self._find_hidden(id)
        return self._hidden[id]

    def _find_hidden(self, id: Id) -> Hidden:
        if id not in self._bundle:
            return None if self._is_strict else ()
        payload = self._text(id)
        is_ours = self._bundle.blob_type(id) == MEDIA_TYPE
        if payload is None or (self._is_strict and is_ours and is_cut(payload)):
            return None
        return hidden_boxes(payload)

    def _linked(self, struct: _S) -> _S:
        changes: dict[str, Any] = {}
        for name in struct.__struct_fields__:
            value = getattr(struct, name)
            new = self._link(name, value)
            if new is not value:
                changes[name] = new
        return replace(struct, **changes) if changes else struct

    def _link(self, name: str, value: Any) -> Any:
        if isinstance(value, Unknown):
            return replace(
                value, raw=DIGEST.sub(lambda found: self.ids.get(found[0], found[0]) or "", value.raw)
            )
        # A node number means nothing without its snapshot.
        if isinstance(value, Element) and value.node and self.ids.get(value.node.snapshot, "") is None:
            value = replace(value, node=None)
        if isinstance(value, Struct):
            return self._linked(value)
        if isinstance(value, str) and name in _BLOBS:
            return self._new(value, WITHHELD)
        if name == "replies" and isinstance(value, str):
            return self._new(value, None)
        if isinstance(value, tuple) and value:
            parts = tuple(self._part(name, part) for part in value)
            return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
        return value

    def _part(self, name: str, value: Any) -> Any:
        if name in _LISTS and isinstance(value, str):
            return self._new(value, None)
        return self._link("", value)

    def _new(self, id: Id, instead: Omitted | None) -> Any:
        new = self.ids.get(id, id)
        return instead if new is None else (id if new == id else new)

    def _unknown(self, raw: str) -> str:
        """Rewrite an event of a newer version, whose fields no one knows."""
        plain = decode_plain(raw.encode())
        return msgspec.json.encode(self._plain(plain)).decode()

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            # Any text that is an id of the bundle is taken for a reference.
            new = self.ids.get(value, value)
            return "" if new is None else new if value in self.ids else self._redactor.text(value)
        if isinstance(value, list):
            return [self._plain(part) for part in value]
        if isinstance(value, dict):
            return {key: part if key == "type" else self._plain(part) for key, part in value.items()}
        return value
