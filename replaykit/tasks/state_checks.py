"""Checks on the final state of an app: JSON that it sent or received, and globals of a page."""

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
"""Relation of a value to the expected one."""


class ExchangeChoice(Written, frozen=True, kw_only=True):
    """Selects the exchange (request and response) that holds the state."""

    method: str
    """HTTP method."""
    path: str
    """Path, with the query if there is one, or a full URL."""
    which: Literal["first", "last", "any", "count"] = "last"
    """`first` or `last` such exchange; `any`: one of them must match; `count`: their number."""
    side: Literal["request", "response", "status", "headers"] | None = None
    """Part to read: the body of `request` or `response` as JSON, the HTTP `status`, or the response `headers`
    by lower-case name. Default: the request body; the response body if a request has no body (GET, HEAD,
    DELETE, phases `pre` and `post`).
    """
    phase: Literal["run", "pre", "post"] = "run"
    """`run`: requests of the run. `pre` or `post`: the recorder requests the path before or after the run."""
    ok: bool = True
    """Only successful exchanges (2xx) count."""

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
        """The side that the check reads."""
        if self.side is not None:
            return self.side
        has_body = self.phase == "run" and self.method.upper() not in ("GET", "HEAD", "DELETE", "OPTIONS")
        return "request" if has_body else "response"


class Predicate(Written, frozen=True, kw_only=True):
    """A condition on one place of the state."""

    at: str = ""
    """Place as JSONPath (`$...`) or JSON Pointer (`/...`); empty = the whole value."""
    op: Operator = "equals"
    """How the value is compared."""
    value: Any = None
    """The expected value."""
    value_type: ValueType | None = field(name="type", default=None)
    """Type as which the value is read."""
    any: bool = False
    """If the place matches several nodes, one is enough."""


class StateHttp(NativeCheck, frozen=True, kw_only=True, tag="state.http"):
    """Compares state that an app sent or received as JSON."""

    exchange: ExchangeChoice
    """The exchange that holds the state."""
    where: tuple[Predicate, ...] = ()
    """Conditions that must all hold; without conditions, the exchange must exist."""

    def __post_init__(self) -> None:
        """Look at what cannot be meant."""
        if self.exchange.which == "count" and not self.where:
            raise ValueError("`which: count` needs `where`, such as [{op: ge, value: 1}]")


class StateVerifier(NativeCheck, frozen=True, kw_only=True, tag="state.verifier"):
    """Runs an existing verifier program that asks the app's server; only where verifiers are allowed."""

    file: str
    """Path of the Python file, relative to the task file."""
    function: str = "verify"
    """Function that is called with the server's URL; returns a bool, (bool, message) or {"passed": bool}."""
    site: str | None = None
    """Name or origin of the site, if the run has several."""
    states: tuple[str, ...] = ()
    """Paths for which GET returns the JSON last sent by PUT or POST, in addition to those that the run shows
    to be such paths.
    """


class StateScript(NativeCheck, frozen=True, kw_only=True, tag="state.script"):
    """Compares a global variable of the page, as it was last read."""

    value: str
    """Name of the global variable."""
    op: Operator = "equals"
    """How the value is compared."""
    expected: Any = None
    """The expected value."""
