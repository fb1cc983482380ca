"""Checks on requests, answers and navigation of a run (WebArena-Verified)."""

from collections.abc import Container
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from replaykit.tasks.task_values import CheckBase, Texts, Written
from replaykit.tasks.value_schema import require_schema

SUCCESS = range(200, 300)
"""Statuses that count if a task gives no status."""

NO_RESPONSE = -1
"""Status of a request that no one answered."""

STATUSES = range(100, 1000)
"""Every status that a response may have: servers also send some above 599."""

STATIC = (
    ".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp",
)  # fmt: skip
"""How the paths of static files end: checks on requests leave them out, as WebArena-Verified does."""

TaskType: TypeAlias = Literal["retrieve", "mutate", "navigate"]
"""Main kind of a task."""

Status: TypeAlias = Literal[
    "SUCCESS",
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    "NOT_FOUND_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
]
"""How the agent reports that it ended."""


class ExpectedResponse(Written, frozen=True, kw_only=True):
    """The structured answer that a task expects."""

    task_type: TaskType
    """Kind of task that the answer must name."""
    status: Status = "SUCCESS"
    """How the agent must report that it ended."""
    retrieved_data: list[Any] | UnsetType | None = UNSET
    """The expected data. A list where a single value belongs holds alternatives; a text between `^` and `$`
    is a regular expression.
    """


class AgentResponse(CheckBase, frozen=True, kw_only=True, tag="agent_response"):
    """Compares the agent's answer as JSON: `{task_type, status, retrieved_data}`."""

    expected: ExpectedResponse
    """The expected answer."""
    results_schema: dict[str, Any] = {}
    """JSON Schema of the data: `type`, `format`, `items`, `properties`."""
    ordered: bool = False
    """Whether the order of the data counts."""

    def __post_init__(self) -> None:
        """Look at the schema."""
        require_schema(self.results_schema, "results_schema")


class ExpectedRequest(Written, frozen=True, kw_only=True):
    """The request that a task expects. Fields that are not given are not compared."""

    url: Texts
    """The URL, alternatives, or a regular expression between `^` and `$`."""
    http_method: str | UnsetType = UNSET
    """HTTP method. Default: GET; any, if the request must not exist."""
    response_status: int | None = None
    """HTTP status; -1 = no response. Default: 200 to 299, or any status if the request must not exist."""
    headers: dict[str, Any] | None = None
    """Expected request headers, by name."""
    query_params: dict[str, Any] | None = None
    """Expected query parameters, by name, instead of those of the URL."""
    post_data: dict[str, Any] | None = None
    """Expected fields of the request body, by name, JSONPath (`$...`) or expression (`$.^...$`)."""
    response_content: dict[str, Any] | None = None
    """Expected fields of a JSON response, by name, JSONPath (`$...`) or expression (`$.^...$`)."""
    response_cookies: dict[str, Any] | None = None
    """Expected cookies that the response sets, by name."""

    @property
    def method(self) -> str:
        """The method of a request that must exist, in capitals."""
        return "GET" if self.http_method is UNSET else self.http_method.upper()

    def is_asked_by(self, method: str, *, is_absent: bool) -> bool:
        """Whether a request of this method may be meant; OPTIONS only goes before another one."""
        if self.http_method is UNSET and is_absent:
            return method.upper() != "OPTIONS"
        return method.upper() == self.method

    def statuses(self, *, is_absent: bool = False) -> Container[int] | None:
        """Return the accepted statuses; None = any, also an unrecorded one."""
        if self.response_status is not None:
            return (self.response_status,)
        return None if is_absent else SUCCESS


class NetworkMatch(CheckBase, frozen=True, kw_only=True, tag="network"):
    """Requires or forbids a request of the run."""

    expected: ExpectedRequest
    """The request to look for."""
    last_event_only: bool = True
    """Only the last request to that URL counts."""
    should_not_exist: bool = False
    """No such request may exist. URL, method, status, headers, bodies and cookies are compared as far as they
    are given.
    """
    is_navigation: bool = False
    """If a GET is expected, the page on which the run ended also counts."""
    ignored_query_params: tuple[str, ...] = ()
    """Names of query parameters that do not count."""
    ignored_query_params_patterns: tuple[str, ...] = ()
    """Regular expressions for names of query parameters that do not count."""
    decode_base64_query: bool = False
    """Path segments that decode from Base64 to `name=value` belong to the query."""
    query_params_schema: dict[str, Any] | None = None
    """JSON Schema with the types of query parameters."""
    post_data_schema: dict[str, Any] | None = None
    """JSON Schema with the types of body fields."""
    ignored_post_data_params_patterns: tuple[str, ...] = ()
    """Regular expressions for names of body fields that do not count."""

    def __post_init__(self) -> None:
        """Look at the schemas."""
        require_schema(self.query_params_schema or {}, "query_params_schema")
        require_schema(self.post_data_schema or {}, "post_data_schema")
