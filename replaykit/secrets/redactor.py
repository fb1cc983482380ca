"""Secrets leave before anything reaches the disk: declared values, and what is secret by look or name.

Replacement is structural: inside of string values only, never in keys, ids, digests, words or tags. A
declared secret becomes `⟦secret:ID⟧` in every form of `forms`, so blob ids are ids of what is in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cached_property, partial
from typing import Any, TypeVar
from urllib.parse import unquote, unquote_plus

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.patterns import lazy_pattern
from replaykit.secrets.addresses import hide_in_addresses, hide_in_query
from replaykit.secrets.cleaned_texts import CleanedTexts
from replaykit.secrets.compressed_body import innermost
from replaykit.secrets.json_texts import JSON_PART, is_json, looks_like_json, quoted, unquoted
from replaykit.secrets.multipart_fields import hide_in_parts
from replaykit.secrets.named_values import hide_named
from replaykit.secrets.packed_texts import packed_texts
from replaykit.secrets.secret_looks import LOOK_MIN, LOOKS, is_secret_look
from replaykit.secrets.secret_patterns import (
    Look,
    Looks,
    is_secret_field,
    is_secret_header,
    is_secret_value,
    spans,
)
from replaykit.secrets.secret_pieces import SecretPieces, holds_letters
from replaykit.secrets.secret_spellings import ordered, secrets_pattern
from replaykit.secrets.snapshot_secrets import Rewrite, rewrite_snapshot
from replaykit.secrets.text_fields import is_free, text_fields
from replaykit.secrets.utf16_bodies import wide_texts
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.redaction_marks import HIDDEN_HEADER, KNOWN_HEADER, MARK, MASKED, MASKED_OTHER
from replaykit.trajectory.step import Header

_S = TypeVar("_S", bound=Struct)

_TEXTUAL = ("text/", "application/javascript", "application/xml", "application/ecmascript", "image/svg+xml")
_FORM = lazy_pattern(r"[^\s=&]{1,256}=[^\s=&]*(?:&[^\s=&]{1,256}=[^\s=&]*)*")
"""A text in the form of an encoded form: `name=value&name=value`."""

NAMED_MIN = 10
"""Shortest text that names a secret and holds it, characters."""

PLAIN_MAX = 2**24
"""Bytes of a compressed payload that are searched for declared secrets."""

NAMED_MAX = 2**21
"""Bytes of a compressed payload, or of all in a text, that are searched for secrets by name or look."""

NESTED_MAX = 4
"""How deep a text may lie within another that is read: an address in an address, base64 in base64."""

_depth = ContextVar("depth of a text", default=0)


class LeftSecret(Struct, frozen=True, kw_only=True):
    """A secret that is still there. The value is never named."""

    id: str
    """Id of the declared secret, or name of the pattern."""
    is_declared: bool
    """Whether it was declared, and not only looks like a secret."""
    offset: int
    """Where, characters of the decoded text."""


class Redactor:
    """Takes secrets out of events, texts and blobs.

    `secrets`: id to value. `plain`: test data that the task names anyway, which names and looks do not hide.
    `keep_headers`, `fields`: header names to keep, field names to hide as well. `given`: patterns of a user,
    hidden everywhere as secrets are. `sought`: test data that rules look for; if given, what a name or a
    mask hides is marked where it holds none of it, and no secret. `has_names`: whether texts hide what they
    name as a secret; `found` gets each such value. `hides_keys`: whether keys of free JSON are texts. Raises
    RecorderError for a secret too short to be found safely.
    """

    def __init__(
        self,
        secrets: Mapping[str, str] | None = None,
        *,
        plain: Collection[str] = (),
        keep_headers: Collection[str] = (),
        fields: Collection[str] = (),
        has_patterns: bool = True,
        given: Looks = (),
        sought: Collection[str] | None = None,
        has_names: bool = True,
        hides_keys: bool = False,
        found: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ids = [name for name, _ in ordered(secrets or {})]
        self._marks = [_mark(value, secrets or {}, sought or ()) for _, value in ordered(secrets or {})]
        self._secrets = secrets_pattern(secrets or {})
        self._plain = frozenset(plain)
        self._keep = frozenset(name.lower() for name in keep_headers)
        self._fields = {name.lower() for name in fields}
        self._looks = LOOKS if has_patterns else ()
        self._given = given
        self._has_names = has_names and has_patterns
        self._hides_keys = hides_keys
        self._found = found
        self._pieces = None if sought is None else SecretPieces([*(secrets or {}).values(), *sought])
        self._cleaned = CleanedTexts(self._clean)

    def hide_fields(self, names: Iterable[str]) -> None:
        """Hide from now on what fields of these names hold: a page masks them, whatever they are called."""
        new = set(names) - self._fields
        if new:
            self._fields |= new
            # Texts that were cleaned before may hold what the new fields mask.
            self._cleaned.forget()

    def event(self, event: _S) -> _S:
        """Return an event without secrets in any of its texts."""
        # A header holds the task: its test data stays, declared values do not.
        rewrite = self._asked if isinstance(event, Header) else self.text
        return self._struct(event, rewrite)

    def text(self, text: str) -> str:
        """Return a text without secrets; query fields of a URL are judged by their names."""
        return self._clean(text) if _depth.get() else self._cleaned.text(text)

    def masked(self, value: str) -> str:
        """Return what stands for the value of a masked field: the secrets in it, or that it holds none."""
        # Marks that somebody typed hide nothing.
        return value if value in self._plain else self._with_masks(self._declared(value.replace("⟦", "(")))

    def _with_masks(self, value: str) -> str:
        """Return the marks in a value, and one mask for each part around them."""
        is_other = self._pieces is not None and "⟦" not in value and self._pieces.are_absent(value)
        mask = MASKED_OTHER if is_other else MASKED
        parts, at = [], 0
        for token in MARK.finditer(value):
            parts += [mask if token.start() > at else "", token.group()]
            at = token.end()
        return "".join([*parts, mask if at < len(value) else ""])

    def _clean(self, text: str) -> str:
        text = self._unpacked(self._named(self._looking(self._asked(text))))
        return hide_in_addresses(text, self._value)

    def _script(self, text: str) -> str:
        """Return a program without secrets: only absolute addresses differ from its own signs."""
        hidden = self._named(self._looking(self._asked(text)), is_program=True)
        return hide_in_addresses(hidden, self._value, is_program=True)

    def _named(self, text: str, *, is_program: bool = False) -> str:
        """Hide what a text itself names as a secret."""
        is_free = not self._has_names or len(text) < NAMED_MIN
        return text if is_free else hide_named(text, self._credential, self._unnamed, is_program=is_program)

    def _credential(self, value: str) -> str:
        if value not in self._plain and "⟦" not in value:
            self._found(value)
        return self._unnamed(value)

    def _unnamed(self, value: str) -> str:
        return value if value in self._plain else self._with_masks(value)

    def _unpacked(self, text: str) -> str:
        """Hide each part of a text that is base64 of what holds a secret."""
        parts, at, left = [], 0, NAMED_MAX
        for start, end, data in packed_texts(text):
            inner = _opened(data, left)
            # A few letters may be much when they are unpacked.
            left -= len(inner or "")
            if inner is None or self._hides(inner, self._untyped):
                parts += [
                    text[at:start],
                    MASKED if inner is None else self._with_masks(self._declared(inner)),
                ]
                at = end
        return "".join([*parts, text[at:]])

    def _hides(self, text: str, rewrite: Rewrite) -> bool:
        """Whether a text within another holds a secret; one that lies too deep is taken to hold one."""
        depth = _depth.get()
        if depth == NESTED_MAX:
            return True
        token = _depth.set(depth + 1)
        try:
            return rewrite(text) != text
        finally:
            _depth.reset(token)

    def _looking(self, text: str) -> str:
        # Most texts of a page are shorter, and each pattern costs a pass.
        if len(text) >= LOOK_MIN:
            for name, look in self._looks:
                text = look.sub(partial(self._looked, name), text)
        return text

    def headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Return headers; the values of secret ones are hidden, names and order stay."""
        return tuple((self._asked(name), self._header(name, value)) for name, value in headers)

    def blob(self, media_type: str, data: bytes) -> bytes:
        """Return a payload without secrets; its bytes are untouched where it has none, or is no text."""
        packed = self._packed(data)
        if packed is not None:
            return packed
        kind = media_type.partition(";")[0].strip().lower()
        if kind == MEDIA_TYPE:
            rewritten = rewrite_snapshot(data, self.text, self._holds_secret, self._cleaned.keeps)
            # A snapshot that cannot be read is still a text that may hold secrets.
            return self._payload(data, self.text) if rewritten is None else rewritten
        rewrite = self._rewriter(kind)
        return data if rewrite is None else self._payload(data, rewrite)

    def _packed(self, data: bytes) -> bytes | None:
        """Return a compressed payload, or instead of it the marks of the secrets in it.

        None: it is not compressed, or only begins as if it were.
        """
        packed = innermost(data, PLAIN_MAX)
        if packed is None:
            return None
        text = packed.data.decode("utf-8", "surrogateescape")
        found = self._secrets.finditer(text) if self._secrets is not None else ()
        if marks := "\n".join(dict.fromkeys(map(self._token, found))):
            return marks.encode()
        text = text[:NAMED_MAX]
        if self._untyped(text) != text:
            return self._with_masks(text).encode()
        return data if packed.is_whole else None

    def _holds_secret(self, text: str) -> bool:
        """Whether a text holds a secret, in letters of any case."""
        if self._any_case is not None and self._any_case.search(text):
            return True
        # CSS may show a text in other letters, and patterns distinguish cases.
        return any(self.text(one) != one for one in (text, text.lower(), text.upper()) if one.strip())

    @cached_property
    def _any_case(self) -> re.Pattern[str] | None:
        found = self._secrets
        return None if found is None else re.compile(found.pattern, found.flags | re.IGNORECASE)

    def scan(self, data: bytes) -> LeftSecret | None:
        """Return what a payload still holds: a declared secret first, else what looks like one."""
        # Bytes that are no UTF-8 come back as they were.
        texts = (data.decode("utf-8", "surrogateescape"), *wide_texts(data))
        found = [left for left in map(self.search, texts) if left is not None]
        return min(found, key=lambda left: not left.is_declared, default=None)

    def search(self, text: str) -> LeftSecret | None:
        """Return what a text still holds, likewise."""
        match = self._secrets.search(text) if self._secrets else None
        if match is not None and match.lastindex is not None:
            return LeftSecret(id=self._ids[match.lastindex - 1], is_declared=True, offset=match.start())
        return next(self._left(text), None)

    def _left(self, text: str) -> Iterator[LeftSecret]:
        for name, look in self._given:
            for start, _ in _matches(look, text):
                yield LeftSecret(id=name, is_declared=False, offset=start)
        for name, look in self._looks:
            for found in look.finditer(text):
                # A match may be no secret by a second rule, such as a check digit.
                if self._looked(name, found) != found.group():
                    yield LeftSecret(id=name, is_declared=False, offset=found.start())

    def _asked(self, text: str) -> str:
        """Hide what somebody asked for: declared values, then what matches a given pattern."""
        # Declared values first: a pattern might take a part of one and leave the rest.
        text = self._declared(text)
        for name, look in self._given:
            text = _replaced(text, _matches(look, text), f"⟦pattern:{name}⟧")
        return text

    def _declared(self, text: str) -> str:
        if self._secrets is None:
            return text
        # Another recorder knew nothing of these secrets.
        text = text if self._pieces is not None else text.replace(MASKED_OTHER, MASKED)
        return self._secrets.sub(self._token, text)

    def _token(self, match: re.Match[str]) -> str:
        return self._marks[(match.lastindex or 1) - 1]

    def _looked(self, name: str, match: re.Match[str]) -> str:
        is_kept = match.group() in self._plain or not is_secret_look(name, match)
        return match.group() if is_kept else f"⟦pattern:{name}⟧"

    def _value(self, name: str, value: str) -> str:
        is_hidden = is_secret_field(name) or (
            bool(self._fields) and unquote_plus(name).lower() in self._fields
        )
        if not value or value in self._plain:
            return value
        # An address within an address.
        plain = unquote(value) if "%" in value else value
        is_hidden |= is_secret_value(name, value) or (plain != value and self._hides(plain, self.text))
        return self._with_masks(value) if is_hidden else value

    def _header(self, name: str, value: str) -> str:
        is_hidden = is_secret_header(name) and name.lower() not in self._keep and value != KNOWN_HEADER
        # Only a header's name decides: session ids look like any other text.
        return HIDDEN_HEADER if is_hidden else self.text(value)

    def _struct(self, struct: _S, rewrite: Rewrite) -> _S:
        changes = {}
        for name, has_texts in text_fields(type(struct)):
            value = getattr(struct, name)
            # Keys of a task are names of its layout.
            is_layout = isinstance(struct, Header) or not self._hides_keys
            has_keys = not is_layout and is_free(type(struct), name)
            new = self._any(value, rewrite, has_texts=has_texts, has_keys=has_keys)
            if new is not value:
                changes[name] = new
        # Headers are pairs of name and value, where the name decides about the value.
        if isinstance(struct, Exchange):
            for name in ("request_headers", "response_headers"):
                headers = getattr(struct, name)
                changes[name] = None if headers is None else self.headers(headers)
        return replace(struct, **changes) if changes else struct

    def _any(self, value: Any, rewrite: Rewrite, *, has_texts: bool, has_keys: bool = False) -> Any:
        if isinstance(value, str):
            return rewrite(value) if has_texts else value
        if has_texts and isinstance(value, (int, float)) and not isinstance(value, bool):
            # A free value: a page or a harness may have given a secret as a number.
            return value if (shown := rewrite(str(value))) == str(value) else shown
        if isinstance(value, Struct):
            return self._struct(value, rewrite)
        clean = partial(self._any, rewrite=rewrite, has_texts=has_texts, has_keys=has_keys)
        if isinstance(value, dict) and value:
            keys = self.names(value) if has_keys else value
            return {key: clean(part) for key, part in zip(keys, value.values(), strict=True)}
        if isinstance(value, (list, tuple)) and value:
            return type(value)(clean(part) for part in value)
        return value

    def names(self, names: Collection[str]) -> list[str]:
        """Return names, such as keys, without declared values; those that become equal get a number."""
        clean = dict[str, None]()
        for name in names:
            shown, number = self._asked(name), 1
            while shown in clean:
                number += 1
                shown = f"{self._asked(name)} {number}"
            clean[shown] = None
        return list(clean)

    def _rewriter(self, kind: str) -> Rewrite | None:
        if kind.endswith(("/json", "+json", "/x-ndjson")):
            return self._json
        if kind == "application/x-www-form-urlencoded":
            return self._urlencoded
        if kind == "text/plain":
            return self._untyped
        if kind == "multipart/form-data":
            return self._multipart
        if kind.endswith(("javascript", "ecmascript")):
            return self._script
        return self.text if kind.startswith(_TEXTUAL) or kind.endswith("+xml") else None

    def _payload(self, data: bytes, rewrite: Rewrite) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        new = rewrite(text)
        return data if new == text else new.encode("utf-8", "surrogateescape")

    def _untyped(self, text: str) -> str:
        """Return a text without secrets. Scripts that name no type send JSON and forms as plain text."""
        if looks_like_json(text):
            return self._json(text)
        return self._urlencoded(text) if _FORM.fullmatch(text) else self.text(text)

    def _json(self, text: str) -> str:
        # String by string, so that numbers, order and white space of the source stay.
        hidden = JSON_PART.sub(self._json_part, text)
        # A broken or cut JSON text holds strings that the pattern misses.
        return hidden if is_json(text) else self.text(hidden)

    def _json_part(self, match: re.Match[str]) -> str:
        first, rest, value, number, bare = match.groups()
        if bare is not None:
            return quoted(bare, self._asked(bare))
        if rest is None:
            return self._json_string(first, None)
        if value is None and number is None:
            return match.group()
        name = unquoted(first)
        # A secret's number needs its field's name; its digits look like any number.
        shown = self._json_string(value, name) if value else self._json_number(number, name)
        gap = rest[: len(rest) - len(value or number)]
        return f"{first}{gap}{shown}"

    def _json_string(self, literal: str, name: str | None) -> str:
        value = unquoted(literal)
        # Each level doubles the escapes, so a text holds few.
        new = self._json(value) if looks_like_json(value) else self.text(value)
        new = new if name is None else self._value(name, new)
        return literal if new == value else msgspec.json.encode(new).decode()

    def _json_number(self, number: str, name: str) -> str:
        return quoted(number, self._value(name, self._asked(number)))

    def _urlencoded(self, text: str) -> str:
        # A field has a sign before it, and the first one has none.
        return hide_in_query(f"&{self.text(text)}", self._value)[1:]

    def _multipart(self, text: str) -> str:
        # Marks of declared secrets first: they show more than a mask.
        return hide_in_parts(self.text(text), self._value)


def _mark(value: str, secrets: Mapping[str, str], sought: Iterable[str]) -> str:
    """Return what stands for a declared secret, and for all that is within it."""
    first = min(name for name, other in secrets.items() if other == value)
    inner = (name for name, other in sorted(secrets.items()) if name != first and other in value)
    is_more = any(holds_letters(value, text) for text in sought)
    return "".join(f"⟦secret:{name}⟧" for name in (first, *inner)) + (MASKED if is_more else "")


def _opened(data: bytes, most: int) -> str | None:
    """Return the text that bytes hold, compressed or not; else empty; None beyond `most` bytes."""
    if most <= 0:
        return None
    packed = innermost(data, most)
    if packed is not None:
        return packed.data.decode("utf-8", "surrogateescape") if len(packed.data) < most else None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _matches(look: Look, text: str) -> Iterator[tuple[int, int]]:
    """Yield the matches of a given pattern outside of what stands for secrets already."""
    at = 0
    for token in MARK.finditer(text):
        yield from spans(look, text, at, token.start())
        # A pattern such as `\w+` would match inside of a mark and destroy it.
        at = token.end()
    yield from spans(look, text, at, len(text))


def _replaced(text: str, places: Iterable[tuple[int, int]], token: str) -> str:
    parts, at = [], 0
    for start, end in places:
        parts += [text[at:start], token]
        at = end
    return "".join([*parts, text[at:]])
