"""Input of WebArena-Verified's rules: fields as its task file has them, and the roots of its sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from replaykit.grading.checks.agent_response import PeerResponse
from replaykit.grading.checks.requests.run_requests import requests_of
from replaykit.grading.checks.requests.webarena_verified_network import PeerRule
from replaykit.grading.peers.webarena_verified.normal_text import Derender
from replaykit.grading.peers.webarena_verified.peer_urls import UrlOptions, active_roots, site_names
from replaykit.grading.peers.webarena_verified.typed_values import PeerOptions
from replaykit.grading.values.urls import Sites
from replaykit.replay.player import Replay
from replaykit.tasks.network_checks import AgentResponse, NetworkMatch
from replaykit.tasks.task import Task

Roots = Mapping[str, Sequence[str]]
"""Site name to roots, the active one first."""


def peer_answer(check: AgentResponse, number: int, task: Task, replay: Replay, sites: Sites) -> PeerResponse:
    """Return what the package compares an answer with."""
    written = _written(task, number)
    expected = written.get("expected") or msgspec.to_builtins(check.expected)
    if "task_type" not in expected and "performed_operation" in expected:
        expected = {**expected, "task_type": expected["performed_operation"]}
    strict, lenient = _options(roots_of(task, replay, sites), replay)
    # Answers are compared without rendering: a placeholder in a URL has no root there.
    plain, below = (UrlOptions(derender=one.url.derender) for one in (lenient, strict))
    return PeerResponse(
        expected={**expected, "status": expected.get("status", "SUCCESS")},
        schema=written.get("results_schema", check.results_schema),
        is_ordered=check.ordered,
        options=msgspec.structs.replace(lenient, url=plain),
        strict=msgspec.structs.replace(strict, url=below),
    )


def peer_rule(check: NetworkMatch, number: int, task: Task, replay: Replay, sites: Sites) -> PeerRule:
    """Return the evaluator that the package runs."""
    written = _written(task, number)
    strict, lenient = _options(roots_of(task, replay, sites), replay)
    return PeerRule(
        rule=written or msgspec.to_builtins(check),
        is_navigation=check.is_navigation,
        options=lenient,
        strict=strict,
    )


def roots_of(task: Task, replay: Replay, sites: Sites) -> Roots:
    """Return the roots of the task's sites; where none is known, the origins of its first requests."""
    names = task.sites or tuple(sites)
    known = {name: sites[name] for name in names if sites.get(name)}
    if known or not task.sites:
        return known
    requests = requests_of(replay)
    guessed = {}
    for name, request in zip(task.sites, requests, strict=False):
        origin = "/".join(request.url.split("/")[:3])
        guessed[name] = (origin + "/admin" if name == "shopping_admin" else origin,)
    return guessed


def _written(task: Task, number: int) -> Mapping[str, Any]:
    """Return the evaluator's record: filling placeholders would change what the package compares."""
    rules = task.source_record.get("eval")
    if not isinstance(rules, list) or number >= len(rules) or not isinstance(rules[number], dict):
        return {}
    record: Mapping[str, Any] = rules[number]
    return record


def _options(roots: Roots, replay: Replay) -> tuple[PeerOptions, PeerOptions]:
    """Return the options for what is expected, which has to lie below a root, and for what was found."""
    names = site_names(roots)
    today = _today(replay)
    render = active_roots(roots)
    strict = UrlOptions(render=render, derender=_below_a_root(names))
    lenient = UrlOptions(render=_rendered_if_known(render), derender=names)
    return (
        PeerOptions(derender=names, url=strict, today=today),
        PeerOptions(derender=names, url=lenient, today=today),
    )


def _below_a_root(names: Derender) -> Derender:
    def derender(text: str) -> str:
        found = names(text)
        if found == text:
            raise ValueError(f"{text!r} lies below no root")
        return found

    return derender


def _rendered_if_known(render: Derender) -> Derender:
    def rendered(text: str) -> str:
        try:
            return render(text)
        except ValueError:
            return text

    return rendered


def _today(replay: Replay) -> date:
    """Return the day of the run: it stands for the parts that a date does not state."""
    try:
        return date.fromisoformat((replay.trajectory.header.created or "")[:10])
    except ValueError:
        return date(2000, 1, 1)
