"""The page's half of the recorder, seen from Python: the script to install and the messages that it sends.

The script is the files of SCRIPTS in one function. It talks through one binding, BINDING, and answers by an
object of the global scope, API; in Chromium both exist in an isolated world only. A message is a number (from
0 in each document), a blank, and lines of JSON. Page time is `at`: ms since the epoch on the page's own
clock.
"""

from __future__ import annotations

import secrets
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from replaykit.decoders import convert, decode, decode_plain
from replaykit.errors import RecorderError
from replaykit.recorder.page.masked_fields import MaskedFields
from replaykit.trajectory.action import Element
from replaykit.trajectory.observation import Stale
from replaykit.trajectory.scalars import N

BINDING = f"b{secrets.token_hex(12)}"
"""Name of the binding that the script calls, where no one draws another."""

WORLD = f"w{secrets.token_hex(12)}"
"""Name of the isolated world that the script runs in."""

API = f"a{secrets.token_hex(12)}"
"""Name of the object, in that world, that answers questions."""

QUESTION = f"q{secrets.token_hex(12)}"
"""Event by which the script asks the page's own world whether nothing listens for its end."""

ENDINGS = ("pagehide", "unload", "visibilitychange", "freeze")
"""Events that a document gets when it is left."""


class InjectedNames(Struct, frozen=True):
    """Names and a key that only the recorder and its script know; every recording draws its own."""

    world: str = WORLD
    """The isolated world that the script runs in."""
    binding: str = BINDING
    """The binding that the script calls."""
    api: str = API
    """The object, in that world, that answers questions."""
    question: str = QUESTION
    """Event by which the script asks the page's own world whether nothing listens for its end.

    With `!`: whether something does.
    """
    fields: MaskedFields = msgspec.field(default_factory=MaskedFields)
    """Opens the values of masked fields."""

    @classmethod
    def drawn(cls, fields: MaskedFields | None = None) -> InjectedNames:
        """Draw names that no one can guess."""
        world, binding, api, question = (f"{kind}{secrets.token_hex(12)}" for kind in "wbaq")
        return cls(world, binding, api, question, fields or MaskedFields())


SCRIPTS = (
    "pristine.js",
    "masking.js",
    "element_state.js",
    "capture.js",
    "style_sheets.js",
    "style_rules.js",
    "generated_text.js",
    "rendered_text.js",
    "text_rows.js",
    "idle.js",
    "element.js",
    "accessible_name.js",
    "ledger.js",
    "document_closing.js",
    "earlier_names.js",
    "closed_shadow_trees.js",
    "bootstrap.js",
    "pointer.js",
    "form_submissions.js",
    "gestures.js",
)
"""Files of the script, in order: later ones use what earlier ones define."""

PARTS_MAX = 256
"""Parts of one message: 4 MiB units each, so 1 GiB units; the largest honest snapshot has about 100 MiB."""

PENDING_MAX = 8
"""Messages that may arrive in parts at one time; a page has one script, which sends one after the other."""


class PageOptions(Struct, frozen=True, kw_only=True):
    """Facts about this recording that the script needs."""

    mask: tuple[str, ...] = ()
    """CSS selectors whose subtrees are masked."""
    boxes: bool = True
    """Whether snapshots carry bounding boxes."""
    main_world: bool = False
    """Whether the script shares the page's own world, where the page could forge messages."""
    nonce: str = msgspec.field(default_factory=lambda: secrets.token_hex(16))
    """Event name by which a frame informs its parent of a new document; the same in all frames of a page."""
    binding: str = BINDING
    """Name of the binding."""
    api: str = API
    """Name of the object that answers questions."""
    question: str = QUESTION
    """Name of the event that asks the page's own world."""
    key: tuple[int, ...] = ()
    """Key of `MaskedFields`; empty = values of masked fields stay in the page."""
    label: str = msgspec.field(default_factory=lambda: secrets.token_hex(16))
    """Name of the script on a call stack."""


class PageNode(Struct, frozen=True, kw_only=True):
    """Where an element stands in a pushed snapshot."""

    push: N
    """`seq` of the push."""
    number: N
    """Element number in it."""


class PageEvent(Struct, frozen=True, kw_only=True):
    """A DOM event."""

    seq: N
    """The document's own message counter, from 0."""
    at: float
    """Page time of the event, epoch ms."""
    name: str
    """DOM event type."""
    trusted: bool = True
    """`isTrusted`: made by a user agent, not by a script."""
    activated: str = ""
    """Origin of the document, where a gesture of a user has activated it."""
    cause: str = ""
    """Whose doing it is: `key pointer driver page`; `unseen`, a script's; empty = not known."""
    task: N | None = None
    """The page's task that it came in, counted; `idle` reports that a task is over."""
    element: Element | None = None
    """The control acted on, as it was before the action; its `node` is absent, see below."""
    node: PageNode | None = None
    """The control's place in the latest push; absent = not in it."""
    data: dict[str, Any] = {}
    """Fields of the event's type."""


class PagePush(Struct, frozen=True, kw_only=True):
    """A snapshot."""

    seq: N
    """The document's own message counter, from 0."""
    at: float
    """Page time of the serialization (`before`: of the event that caused it), epoch ms."""
    purpose: str
    """`before early rest left asked final probe`."""
    snapshot: str
    """The four lines of `application/x-replaykit-dom`."""
    cost: float = 0.0
    """Time that the serialization took, ms."""
    stale: Stale | None = None
    """The latest push stands in, since serializing takes too long inside of an event."""
    settled: bool = False
    """Nothing had happened for 100 ms."""
    url: str = ""
    """Address of the document."""
    title: str = ""
    """Its title."""
    viewport: tuple[N, N] | None = None
    """Inner size of the window, CSS px."""
    scroll: tuple[int, int] = (0, 0)
    """How far the document is scrolled: left, top in CSS px."""
    pointer: tuple[int, int] | None = None
    """Where the pointer was seen last, CSS px of the viewport."""
    painted: bool = False
    """The document has drawn something."""
    listened: bool | None = None
    """Whether something of the page listens for the document's end; absent = not known."""
    repaired: N = 0
    """Texts that held lone surrogates."""
    changed: tuple[tuple[str, str, str], ...] = ()
    """Fields that changed without an event since the push before: CSS path, value before, value after."""
    frames: tuple[PageFrame, ...] = ()
    """Frames that the page cannot read, by the ordinal that the snapshot gives them."""
    sheets: tuple[str | N | None, ...] | None = None
    """Style sheets in the order of the head; absent = as reported before.

    Each a text, the place of the same sheet before it, or None for one that cannot be read.
    """
    hidden: N = 0
    """Closed shadow roots that the browser did not show; filled in by whoever asked it."""


class PageFrame(Struct, frozen=True, kw_only=True):
    """A frame that the page cannot read."""

    number: N
    """Element number of its owner."""
    path: tuple[N, ...]
    """Frame ordinals from the pushing document: which frame element of each document, in document order."""
    url: str = ""
    """URL that its owner element requests; the frame may be elsewhere by now."""
    id: str = ""
    """The browser's id of the frame; empty = the page does not know it yet."""
    origin: tuple[int, int] = (0, 0)
    """Where its content begins: left, top in CSS px of the pushing document."""


class PageOpen(Struct, frozen=True, kw_only=True):
    """The script is in a document."""

    seq: N
    """The document's own message counter, from 0."""
    at: float
    """Page time, epoch ms."""
    role: str
    """Who listens to what happens in it: `main frame part none`.

    Its own script: as the page, or as a frame that its parent cannot read; the script of the document around
    it; or no one.
    """
    touched: bool = False
    """Somebody had acted in it before."""


class PageClose(Struct, frozen=True, kw_only=True):
    """A document may be leaving, or has been asked: what the browser counted, and what was seen of it."""

    seq: N
    """The document's own message counter, from 0."""
    at: float
    """Page time, epoch ms."""
    windows: N
    """Windows that it listened to."""
    received: N
    """Input events seen."""
    missed: N
    """Further input events that the browser counted; each was reported as a gap."""
    leaving: bool = False
    """The document may give way to another."""
    listened: bool | None = None
    """Whether something of the page listens for the document's end; absent = not known."""


class PagePart(Struct, frozen=True, kw_only=True):
    """A piece of a long message."""

    id: N
    """Which message of this document."""
    i: N
    """Which piece, from 0."""
    of: Annotated[int, Meta(ge=1, le=PARTS_MAX)]
    """How many pieces."""
    text: str
    """The piece."""


class PageGap(Struct, frozen=True, kw_only=True):
    """Messages that were not sent."""

    seq: N
    """The document's own message counter, from 0."""
    why: str
    """`flood`: more messages or bytes per second than allowed; `failed`: the script met an error; others."""
    count: N = 1
    """How many."""
    detail: str = ""
    """The error's text; of `events.missed` type and document: scheme, state, place among the frames."""


PageText: TypeAlias = PageEvent | PagePush | PageOpen | PageClose | PagePart | PageGap

CLOSING = '{"k":"close",'
"""How the text of a `PageClose` begins."""

_TYPES: dict[str, type[PageText]] = {
    "event": PageEvent,
    "push": PagePush,
    "open": PageOpen,
    "close": PageClose,
    "part": PagePart,
    "gap": PageGap,
}


class _Kind(Struct):
    k: str


def page_script(options: PageOptions) -> str:
    """Return the script to evaluate in every new document, and in the one that is there."""
    literal = msgspec.json.encode(options).decode()
    # A JSON text is a JavaScript expression; `</` cannot end anything here, since no HTML parser reads it.
    return (
        f"(() => {{\n'use strict';\nconst OPTIONS = {literal};\n{_source()}\ninstall();\n}})();\n"
        f"//# sourceURL={options.label}\n"
    )


def witness_script(question: str) -> str:
    """Return the script for the page's own world; it needs the functions of the protocol's command line."""
    source = (files("replaykit.recorder.page") / "end_witness.js").read_text("utf-8")
    arguments = ", ".join(msgspec.json.encode(one).decode() for one in (question, f"{question}!", ENDINGS))
    # A comment of the file ends in a line break, and so may stand in parentheses.
    return f"(\n{source.rstrip()}\n)({arguments});\n"


def split_number(text: str) -> tuple[int | None, str]:
    """Return the number of what a page says, None where it has none, and the message."""
    number, blank, message = text.partition(" ")
    # Longer numbers are beyond 2**53, where JavaScript counts exactly.
    is_numbered = blank and number.isascii() and number.isdecimal() and len(number) < 16
    return (int(number), message) if is_numbered else (None, text)


def decode_message(text: str) -> PageText:
    """Decode one message of the binding.

    Raises RecorderError for anything that the script does not send: in a page's own world, the page could.
    """
    try:
        kind = _TYPES[decode(text, _Kind).k]
        if kind is PageEvent:
            return _event(decode_plain(text))
        return decode(text, kind)
    except (msgspec.DecodeError, KeyError, UnicodeError, RecursionError) as error:
        raise RecorderError(what=f"a page sent a message that is not ours: {error}") from error


class Parts:
    """Puts long messages of one document together again."""

    def __init__(self) -> None:
        self._pending: dict[int, list[str | None]] = {}

    def add(self, part: PagePart) -> str | None:
        """Take a piece in; return the message when it was the last one missing.

        Raises RecorderError for a piece that contradicts the ones before it.
        """
        pieces = self._pending.setdefault(part.id, [None] * part.of)
        if len(pieces) != part.of or part.i >= part.of:
            del self._pending[part.id]
            raise RecorderError(what=f"a page sent piece {part.i} of {part.of}, {len(pieces)} were announced")
        pieces[part.i] = part.text
        if None not in pieces:
            del self._pending[part.id]
            return "".join(piece for piece in pieces if piece is not None)
        self._forget_oldest()
        return None

    def _forget_oldest(self) -> None:
        while len(self._pending) > PENDING_MAX:
            del self._pending[next(iter(self._pending))]


@cache
def _source() -> str:
    folder = files("replaykit.recorder.page")
    return "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS)


def _event(message: dict[str, Any]) -> PageEvent:
    # The wire keeps the node inside the element; a stored element names a blob there, unknown to the page.
    element = message.get("element")
    if isinstance(element, dict):
        message["node"] = element.pop("node", None)
    return convert(message, PageEvent)
