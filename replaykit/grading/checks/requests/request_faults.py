"""Faults of expected requests and answers that show before anything is graded: URLs, places, expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replaykit.grading.peers.webarena_verified.normal_text import is_pattern
from replaykit.grading.values.jsonpath import check_path
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.tasks.checks import Check, CheckFault, texts
from replaykit.tasks.grammar.regexes import regex_fault
from replaykit.tasks.network_checks import AgentResponse, NetworkMatch
from replaykit.tasks.task import Task
from replaykit.tasks.url_faults import ROOT, star_fault

_NAMED = ("headers", "query_params", "post_data", "response_content", "response_cookies")
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


def _of_request(check: NetworkMatch) -> Iterator[tuple[str, str]]:
    if not texts(check.expected.url):
        yield ".expected.url", "no URL is given"
    for number, url in enumerate(texts(check.expected.url)):
        yield from _of_url(f".expected.url[{number}]", url)
    for name in _NAMED:
        yield from _of_fields(f".expected.{name}", getattr(check.expected, name) or {}, name in _PLACED)
    for name in ("ignored_query_params_patterns", "ignored_post_data_params_patterns"):
        for number, pattern in enumerate(getattr(check, name)):
            yield from _of_pattern(f".{name}[{number}]", pattern)


def _of_url(path: str, url: str) -> Iterator[tuple[str, str]]:
    if is_pattern(url):
        yield from _of_pattern(path, url)
    elif fault := star_fault(url):
        yield path, fault
    elif not ROOT.match(url):
        yield path, f"{url!r} is no URL: begin with http:// or https://, a site such as __SHOP__, or `^`"


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
    if fault := regex_fault(pattern):
        yield path, fault[1]
