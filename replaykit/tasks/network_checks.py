"""Checks on what a run sent and answered (WebArena-Verified): structured answers, requests, navigation."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from replaykit.tasks.task_values import CheckBase, Texts, Written
from replaykit.tasks.value_schema import require_schema

SUCCESS = range(200, 300)
"""Statuses that are meant where a task gives none."""

TaskType: TypeAlias = Literal["retrieve", "mutate", "navigate"]
"""What a task is mainly about."""

Status: TypeAlias = Literal[
    "SUCCESS",
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    "NOT_FOUND_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
]
"""How the agent says that it ended."""


class ExpectedResponse(Written, frozen=True, kw_only=True):
    """The answer that a task expects."""

    task_type: TaskType
    """What the task is about."""
    status: Status = "SUCCESS"
    """How it ends."""
    retrieved_data: list[Any] | UnsetType | None = UNSET
    """The data; a list where a scalar belongs = alternatives, a text between `^` and `$` = an expression."""


class AgentResponse(CheckBase, frozen=True, kw_only=True, tag="agent_response"):
    """The answer as JSON: `{task_type, status, retrieved_data}`."""

    expected: ExpectedResponse
    """What it has to say."""
    results_schema: dict[str, Any] = {}
    """JSON Schema of the data: `type`, `format`, `items`, `properties`."""
    ordered: bool = False
    """Whether the order of the data counts."""

    def __post_init__(self) -> None:
        """Look at the schema."""
        require_schema(self.results_schema, "results_schema")


class ExpectedRequest(Written, frozen=True, kw_only=True):
    """The request that a task expects; fields that are not given do not count."""

    url: Texts
    """The URL, alternatives, or an expression between `^` and `$`."""
    http_method: str = "GET"
    """HTTP method."""
    response_status: int | None = None
    """HTTP status; -1 = no response. Default: success (200 to 299); any where the request must not exist."""
    headers: dict[str, Any] | None = None
    """Request headers by name."""
    query_params: dict[str, Any] | None = None
    """Query by name, instead of that of the URL."""
    post_data: dict[str, Any] | None = None
    """Fields of the request body by name, JSONPath (`$...`) or expression (`$.^...$`)."""
    response_content: dict[str, Any] | None = None
    """Fields of a JSON response, likewise."""
    response_cookies: dict[str, Any] | None = None
    """Cookies that the response sets, by name."""

    def statuses(self, *, is_absent: bool = False) -> Container[int] | None:
        """Return the statuses that are meant, None = any, an unheard one too."""
        if self.response_status is not None:
            return (self.response_status,)
        return None if is_absent else SUCCESS


class NetworkMatch(CheckBase, frozen=True, kw_only=True, tag="network"):
    """A request that the run has to have made, or may not have made."""

    expected: ExpectedRequest
    """The request."""
    last_event_only: bool = True
    """Only the last request to that URL counts."""
    should_not_exist: bool = False
    """There may be no such request: what is given of URL, status, headers, bodies and cookies is compared."""
    is_navigation: bool = False
    """The page that the run ended on counts, where a GET is expected."""
    ignored_query_params: tuple[str, ...] = ()
    """Names of query parameters that do not count."""
    ignored_query_params_patterns: tuple[str, ...] = ()
    """Expressions for such names."""
    decode_base64_query: bool = False
    """Path segments that decode to `name=value` belong to the query."""
    query_params_schema: dict[str, Any] | None = None
    """Types of query parameters."""
    post_data_schema: dict[str, Any] | None = None
    """Types of fields of the body."""
    ignored_post_data_params_patterns: tuple[str, ...] = ()
    """Expressions for fields that do not count."""

    def __post_init__(self) -> None:
        """Look at the schemas."""
        require_schema(self.query_params_schema or {}, "query_params_schema")
        require_schema(self.post_data_schema or {}, "post_data_schema")
