"""Checks on the state that an app ends in: JSON that it sent or answered, and globals of a page."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import field

from replaykit.tasks.task_values import NativeCheck, ValueType, Written

Operator: TypeAlias = Literal[
    "equals",
    "not_equals",
    "in",
    "contains",
    "subset",
    "matches",
    "exists",
    "absent",
    "length",
    "lt",
    "le",
    "gt",
    "ge",
    "changed",
]
"""What a value has to do with the one that is expected."""


class ExchangeChoice(Written, frozen=True, kw_only=True):
    """Which exchange holds the state."""

    method: str
    """HTTP method."""
    path: str
    """Path, with its query where it has one; or a full URL."""
    which: Literal["first", "last", "any", "count"] = "last"
    """The first or last of them, `any`: one of them fulfils it, `count`: how many there are."""
    side: Literal["request", "response", "status", "headers"] | None = None
    """Body of request or response as JSON, HTTP status, or response headers by lower-case name. Default: the
    request's body; the response's where a request has none (GET, HEAD, DELETE, phases `pre` and `post`)."""
    phase: Literal["run", "pre", "post"] = "run"
    """Requests that the run made; `pre post`: the recorder asks for the path before or after the run."""
    ok: bool = True
    """Only exchanges that succeeded (2xx)."""

    def __post_init__(self) -> None:
        """Look at what cannot be meant."""
        if "*" in self.path:
            raise ValueError("`path` has no wildcards: name it, with its query where it has one")
        if self.phase != "run" and self.side in ("request", "headers"):
            raise ValueError(f"`side: {self.side}` is not kept in phase {self.phase}: use response or status")
        if self.phase != "run" and self.method.upper() != "GET":
            raise ValueError(f"`method` in phase {self.phase} is GET: the recorder only looks")

    @property
    def part(self) -> str:
        """The side that is meant."""
        if self.side is not None:
            return self.side
        has_body = self.phase == "run" and self.method.upper() not in ("GET", "HEAD", "DELETE", "OPTIONS")
        return "request" if has_body else "response"


class Predicate(Written, frozen=True, kw_only=True):
    """What holds at one place of the state."""

    at: str = ""
    """JSONPath (`$...`) or JSON Pointer (`/...`); empty = the whole."""
    op: Operator = "equals"
    """How it is compared."""
    value: Any = None
    """What is expected."""
    value_type: ValueType | None = field(name="type", default=None)
    """How it is read before it is compared."""
    any: bool = False
    """One of several nodes is enough."""


class StateHttp(NativeCheck, frozen=True, kw_only=True, tag="state.http"):
    """State that an app sent or answered."""

    exchange: ExchangeChoice
    """Where it is."""
    where: tuple[Predicate, ...] = ()
    """All must hold; none = there is such an exchange."""

    def __post_init__(self) -> None:
        """Look at what cannot be meant."""
        if self.exchange.which == "count" and not self.where:
            raise ValueError("`which: count` needs `where`: [{op: ge, value: 1}], say")


class StateVerifier(NativeCheck, frozen=True, kw_only=True, tag="state.verifier"):
    """An existing program that judges a run by asking its server; run only where verifiers are allowed."""

    file: str
    """Python file, from the folder of the task file on."""
    function: str = "verify"
    """Called with the server's address; returns a bool, (bool, message) or {"passed": bool}."""
    site: str | None = None
    """Site of the task, or origin, where the run has several."""
    states: tuple[str, ...] = ()
    """Paths that GET answers with the last JSON that was sent to them (PUT, POST), beside those that the run
    shows to be such."""


class StateScript(NativeCheck, frozen=True, kw_only=True, tag="state.script"):
    """A global of the page, as it was read last."""

    value: str
    """Name of the global."""
    op: Operator = "equals"
    """How it is compared."""
    expected: Any = None
    """What is expected."""
