"""Reader of WebArena-Verified task files (`webarena-verified.json`, revision 6473f72).

Placeholders are kept; the record itself stays in `Task.source_record`, for the mode `compat`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from replaykit.decoders import convert
from replaykit.errors import TaskError
from replaykit.tasks.checks import Check
from replaykit.tasks.network_checks import AgentResponse, ExpectedRequest, ExpectedResponse, NetworkMatch
from replaykit.tasks.task import Task, task_error
from replaykit.tasks.task_values import Written
from replaykit.tasks.value_schema import require_schema

DIALECT: Final = "webarena-verified"
"""Whose rules the checks follow."""

_EVALUATORS_MAX = 11


class _Response(Written, frozen=True, kw_only=True, tag_field="evaluator", tag="AgentResponseEvaluator"):
    expected: dict[str, Any]
    results_schema: dict[str, Any]
    ordered: bool = False

    def __post_init__(self) -> None:
        """Look at the schema."""
        require_schema(self.results_schema, "results_schema")


class _Network(Written, frozen=True, kw_only=True, tag_field="evaluator", tag="NetworkEventEvaluator"):
    expected: ExpectedRequest
    last_event_only: bool = True
    should_not_exist: bool = False
    ignored_query_params: tuple[str, ...] | None = None
    ignored_query_params_patterns: tuple[str, ...] | None = None
    decode_base64_query: bool = False
    query_params_schema: dict[str, Any] | None = None
    post_data_schema: dict[str, Any] | None = None
    ignored_post_data_params_patterns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Look at the schemas."""
        require_schema(self.query_params_schema or {}, "query_params_schema")
        require_schema(self.post_data_schema or {}, "post_data_schema")


_Evaluator: TypeAlias = _Response | _Network


class _Record(Written, frozen=True, kw_only=True):
    task_id: int
    intent_template_id: int
    sites: tuple[str, ...]
    start_urls: tuple[str, ...]
    intent: str
    intent_template: str
    instantiation_dict: dict[str, Any]
    revision: int
    eval: tuple[_Evaluator, ...]


def read_verified(records: Iterable[Mapping[str, Any]], source: str) -> list[Task]:
    """Turn the records of a WebArena-Verified file into tasks, in order; raises `TaskError` with the path."""
    return [_task(dict(record), f"{source}#{record.get('task_id', n)}") for n, record in enumerate(records)]


def _task(record: dict[str, Any], source: str) -> Task:
    try:
        read = convert(record, _Record)
        responses = [_response(rule) for rule in read.eval if isinstance(rule, _Response)]
    except msgspec.ValidationError as error:
        raise task_error(source, error) from error
    if len(responses) != 1 or len(read.eval) > _EVALUATORS_MAX:
        reason = f"expected one AgentResponseEvaluator and up to ten others, got {len(read.eval)} evaluators"
        raise TaskError(source=source, path="$.eval", reason=reason)
    is_navigation = responses[0].expected.task_type == "navigate"
    checks = [
        responses[0] if isinstance(rule, _Response) else _network(rule, is_navigation) for rule in read.eval
    ]
    return Task(
        id=str(read.task_id),
        intent=read.intent,
        start_urls=read.start_urls,
        sites=read.sites,
        checks=tuple(checks),
        metadata={"template": read.intent_template_id, "revision": read.revision},
        dialect=DIALECT,
        source_record=record,
    )


def _response(rule: _Response) -> AgentResponse:
    plain = dict(rule.expected)
    for old, new in (("performed_operation", "task_type"),):
        if old in plain and new not in plain:
            plain[new] = plain.pop(old)
    plain["task_type"] = str(plain.get("task_type", "")).lower()
    expected = convert(plain, ExpectedResponse)
    return AgentResponse(expected=expected, results_schema=rule.results_schema, ordered=rule.ordered)


def _network(rule: _Network, is_navigation: bool) -> Check:
    return NetworkMatch(
        expected=_with_method(rule.expected),
        last_event_only=rule.last_event_only,
        should_not_exist=rule.should_not_exist,
        is_navigation=is_navigation,
        ignored_query_params=rule.ignored_query_params or (),
        ignored_query_params_patterns=rule.ignored_query_params_patterns or (),
        decode_base64_query=rule.decode_base64_query,
        query_params_schema=rule.query_params_schema,
        post_data_schema=rule.post_data_schema,
        ignored_post_data_params_patterns=rule.ignored_post_data_params_patterns or (),
    )


def _with_method(expected: ExpectedRequest) -> ExpectedRequest:
    """Name the method that its files leave out: it is GET, also where the request must not exist."""
    if expected.http_method is not msgspec.UNSET:
        return expected
    return msgspec.structs.replace(expected, http_method=expected.method)
