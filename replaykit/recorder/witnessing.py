"""What witnesses beside the pages tell the session: commands of the agent, and what each saw in the end."""

from __future__ import annotations

from msgspec import Struct

from replaykit.recorder.net_log import Sent


class Commanded(Struct, frozen=True, kw_only=True):
    """The agent asked its driver, or the browser, for something. Fields: those of `Command`."""

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
    refused: bool = False
    forges: str = ""
    """`document later both`: the agent has a hand in the present document, or in those that come."""


class ScriptAsked(Struct, frozen=True, kw_only=True):
    """A command of the agent is about to run a script in a page."""

    at: float
    page: int | None = None
    """Tab ordinal; None = nobody knows."""
    number: int
    """The same as that of its end."""
    is_apart: bool = False
    """In a world of the driver's own, and not in the page's."""


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
    """What the driver heard of requests, from its start until now; comes before `End`."""

    at: float
    sent: tuple[Sent, ...]


class Witnessed(Struct, frozen=True, kw_only=True):
    """What a witness saw is complete, or what it lacks; comes before `End`."""

    at: float
    witness: str
    """Words of `WITNESSES`."""
    lacks: tuple[str, ...] = ()
    """Codes of gaps; none = it missed nothing."""
    counts: dict[str, int] = {}
