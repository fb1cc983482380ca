"""Reports of witnesses outside the pages to the session: the agent's commands, and a final report each."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from replaykit.recorder.browser.witnesses.net_log import Sent

OF_PAGES = {
    "page": (
        frozenset({
            "document.unopened", "document.unclosed", "document.crashed", "seq.broken", "flood", "failed",
            "message.invalid", "recorder.failed",
        }),
        ("documents", "closed"),
    ),
    "ledger": (frozenset({"events.missed", "ledger.full"}), ("windows", "counted", "received")),
}  # fmt: skip
"""Witnesses in the pages: which gaps of the actions are theirs, and what each counts."""


class Strokes(Struct, frozen=True, kw_only=True):
    """Input that does nothing in a document that does not receive it."""

    event: str
    """DOM type of the event that exactly one document receives for each stroke."""
    count: int = 1
    """How many strokes."""


class Commanded(Struct, frozen=True, kw_only=True):
    """The agent asked its driver, or the browser, for something. Fields: those of its `Command`."""

    at: float
    page: int | None = None
    """Tab ordinal."""
    origin: str = "driver"
    kind: str
    name: str
    url: str | None = None
    method: str | None = None
    selector: str | None = None
    key: str | None = None
    point: tuple[int, int] | None = None
    size: int | None = None
    world: str | None = None
    refused: bool = False
    forges: str = ""
    """`document later both`: the agent has a hand in the present document, or in those that come."""
    within: int | None = None
    """Tab that input through a proxy reaches; None = not known."""
    strokes: Strokes | None = None
    """As `Strokes` says; None = it may do anything."""


class ScriptAsked(Struct, frozen=True, kw_only=True):
    """A command of the agent is about to run a script in a page."""

    at: float
    page: int | None = None
    """Tab ordinal; None = unknown."""
    number: int
    """The same as that of its end."""
    is_apart: bool = False
    """In a world of the driver's own, and not in the page's."""
    within: int | None = None
    """Tab of that world, behind a proxy."""
    is_outermost: bool = False
    """It makes no input, and runs in its tab's outermost process: it reaches no other of that tab."""
    strokes: Strokes | None = None
    """As `Strokes` says; None = it may do anything."""


class ScriptEnded(Struct, frozen=True, kw_only=True):
    """That command is answered: what it ran has run, unless it has set timers of its own."""

    at: float
    number: int


class Answered(Struct, frozen=True, kw_only=True):
    """The agent itself answers a request of a page."""

    at: float
    url: str
    method: str


class Logged(Struct, frozen=True, kw_only=True):
    """Requests that the driver received, from its start until now; sent before `End`."""

    at: float
    sent: tuple[Sent, ...]


class Witnessed(Struct, frozen=True, kw_only=True):
    """Final report of a witness: complete, or with what it lacks; comes before `End`."""

    at: float
    witness: str
    """Words of `WITNESSES`."""
    lacks: tuple[str, ...] = ()
    """Codes of gaps; empty = it missed nothing."""
    counts: dict[str, int] = {}


class Watching:
    """Gaps of the witnesses in the pages."""

    def __init__(self) -> None:
        self._missed: set[str] = set()

    def take(self, channel: str, why: str) -> None:
        """Add a gap."""
        self._missed |= {why} if channel == "actions" else set()

    def of(self, witness: str, at: float, counts: Mapping[str, int]) -> Witnessed:
        """Return what a witness of OF_PAGES says in the end; `counts` are those of all pages."""
        codes, names = OF_PAGES[witness]
        counted = {name: counts.get(name, 0) for name in names}
        return Witnessed(at=at, witness=witness, lacks=tuple(sorted(self._missed & codes)), counts=counted)
