"""Faults of expected requests and answers that show before anything is graded: URLs, places, expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import UNSET

from replaykit.grading.checks.structured_answer import TYPES
from replaykit.grading.peers.webarena_verified.normal_text import is_pattern
from replaykit.grading.values.jsonpath import check_path
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.tasks.checks import Check, CheckFault, texts
from replaykit.tasks.faults.http_faults import header_fault, method_fault, request_url_fault, status_fault
from replaykit.tasks.faults.url_faults import parameter_fault, spelt_pattern
from replaykit.tasks.grammar.regex_reach import match_fault, reach_fault
from replaykit.tasks.network_checks import NO_RESPONSE, AgentResponse, ExpectedRequest, NetworkMatch
from replaykit.tasks.task import Task

_NAMED = ("headers", "query_params", "post_data", "response_content", "response_cookies")
_WITHOUT_BODY = ("GET", "HEAD")
"""Methods whose requests a browser sends without a body."""
_PLACED = ("post_data", "response_content")


def request_faults(tasks: Sequence[Task]) -> list[CheckFault]:
    """Return the faults of all expected requests and answers, each with its path in the task."""
    return [
        CheckFault(task=task.id, path=f"$.checks[{number}]{path}", message=message)
        for task in tasks
        for number, check in enumerate(task.checks)
        for path, message in faults_of(check)
    ]


def faults_of(check: Check) -> Iterator[tuple[str, str]]:
    """Yield place and message of what cannot be compared; nothing for checks of another type."""
    if isinstance(check, NetworkMatch):
        yield from _of_request(check)
    elif isinstance(check, AgentResponse):
        yield from _of_value(".expected.retrieved_data", check.expected.retrieved_data)
        if fault := _any_answer(check.expected.retrieved_data):
            yield ".expected.retrieved_data", fault
        yield from _of_schema(".results_schema", check.results_schema)


def _any_answer(value: Any) -> str:
    """Return why every answer would be the expected one; empty if not."""
    values = value if isinstance(value, list | tuple) else (value,)
    patterns = [one for one in values if is_pattern(one) and not match_fault(one)]
    if not patterns or len(patterns) < len(values) or not all(reach_fault(one) for one in patterns):
        return ""
    return f"{patterns[0]!r} is found in every text: any answer would be the expected one"


def _of_schema(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each type that is misspelt: its values would be compared as texts."""
    kind = schema.get("type")
    for one in kind if isinstance(kind, list) else (kind,):
        if isinstance(one, str) and one not in TYPES and (near := get_close_matches(one, TYPES, 1, 0.7)):
            yield f"{path}.type", f"no type {one!r}; did you mean {near[0]}?"
    inner = {f"{path}.properties.{name}": part for name, part in schema.get("properties", {}).items()}
    inner |= {f"{path}.items": schema["items"]} if "items" in schema else {}
    for place, part in inner.items():
        yield from _of_schema(place, part)


def _of_request(check: NetworkMatch) -> Iterator[tuple[str, str]]:
    expected = check.expected
    if not texts(expected.url):
        yield ".expected.url", "no URL is given"
    for number, url in enumerate(texts(expected.url)):
        if fault := request_url_fault(url, is_pattern=is_pattern(url)):
            yield f".expected.url[{number}]", fault
    yield from _of_http(expected)
    if check.should_not_exist:
        yield from _of_absence(check)
    for name in _NAMED:
        yield from _of_fields(f".expected.{name}", getattr(expected, name) or {}, name in _PLACED)
    for field in ("query_params_schema", "post_data_schema"):
        yield from _of_schema(f".{field}", getattr(check, field) or {})
    for number, name in enumerate(check.ignored_query_params):
        if fault := parameter_fault(name):
            yield f".ignored_query_params[{number}]", fault
    for name in ("ignored_query_params_patterns", "ignored_post_data_params_patterns"):
        for number, pattern in enumerate(getattr(check, name)):
            yield from _of_pattern(f".{name}[{number}]", pattern)


def _of_http(expected: ExpectedRequest) -> Iterator[tuple[str, str]]:
    """Yield what no request has: its absence would say nothing."""
    if fault := method_fault(expected.method):
        yield ".expected.http_method", fault
    status = expected.response_status
    if status is not None and (fault := status_fault(status)):
        yield ".expected.response_status", fault
    for name, value in (expected.headers or {}).items():
        if fault := header_fault(name):
            yield f".expected.headers.{name}", fault
        if value is None:
            yield f".expected.headers.{name}", "null is the value of no header: leave it out"
    for field in ("headers", "query_params", "response_cookies"):
        for name, value in (getattr(expected, field) or {}).items():
            if isinstance(value, bool):
                yield (
                    f".expected.{field}.{name}",
                    f"{value!r} is no text: quote it as it stands in the request",
                )


def _of_absence(check: NetworkMatch) -> Iterator[tuple[str, str]]:
    """Yield parts of a request that no request has together."""
    expected, method = check.expected, check.expected.method
    if expected.http_method is not UNSET and method in _WITHOUT_BODY and _demanded(expected.post_data):
        yield ".expected.post_data", f"a {method} request has no body: give http_method: POST, PUT or PATCH"
    for name in ("response_content", "response_cookies"):
        if expected.response_status == NO_RESPONSE and _demanded(getattr(expected, name)):
            yield f".expected.{name}", "a request with `response_status: -1` has no response"
    for number, url in enumerate(texts(expected.url)):
        if not is_pattern(url) and (found := spelt_pattern(url)):
            reason = f"`{found}` is a pattern: write an expression, such as ^.*/orders/[^/]+$"
            yield f".expected.url[{number}]", reason
        if not is_pattern(url) and "#" in url and not check.is_navigation:
            reason = "no request has a fragment (`#`): leave it out, or give is_navigation: true for a page"
            yield f".expected.url[{number}]", reason


def _demanded(fields: Mapping[str, Any] | None) -> bool:
    return any(value is not None for value in (fields or {}).values())


def _of_fields(path: str, fields: Mapping[str, Any], is_placed: bool) -> Iterator[tuple[str, str]]:
    for key, value in fields.items():
        yield from _of_value(f"{path}.{key}", value)
        if not is_placed:
            continue
        pattern = key[2:] if key.startswith("$.^") else key
        if is_pattern(pattern):
            yield from _of_pattern(f"{path}.{key}", pattern)
        elif key.startswith("$"):
            yield from _of_place(f"{path}.{key}", key)


def _of_place(path: str, place: str) -> Iterator[tuple[str, str]]:
    try:
        check_path(place)
    except PathFault as fault:
        yield path, f"{place!r} cannot be read: {fault}"


def _of_value(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if is_pattern(value):
        yield from _of_pattern(path, value)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _of_value(f"{path}[{number}]", one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _of_value(f"{path}.{key}", one)


def _of_pattern(path: str, pattern: str) -> Iterator[tuple[str, str]]:
    if fault := match_fault(pattern):
        yield path, fault[1]
