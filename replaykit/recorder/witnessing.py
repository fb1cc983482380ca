"""What witnesses beside the pages tell the session: commands of the agent, and what each saw in the end."""

from __future__ import annotations

from msgspec import Struct


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


class Answered(Struct, frozen=True, kw_only=True):
    """The agent itself answers a request of a page."""

    at: float
    url: str
    method: str


class Witnessed(Struct, frozen=True, kw_only=True):
    """What a witness saw is complete, or what it lacks; comes before `End`."""

    at: float
    witness: str
    """Words of `WITNESSES`."""
    lacks: tuple[str, ...] = ()
    """Codes of gaps; none = it missed nothing."""
    counts: dict[str, int] = {}
