"""Ids, times and names of steps of a run, for telemetry: no page and no value is taken from the bundle."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

import replaykit

TRACEPARENT = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
"""Source: https://www.w3.org/TR/trace-context/#traceparent-header."""

LATEST = 2**63 - 1
"""ns since 1970: no exporter takes more."""


class Ids(NamedTuple):
    """A place in a trace."""

    trace: int
    """16 bytes."""
    span: int
    """8 bytes."""


class StepTime(NamedTuple):
    """One step."""

    name: str
    """Type of the action, such as `click`."""
    start: int
    """ns since 1970."""
    end: int
    """ns since 1970."""
    error: str | None
    """Name of the error with which it failed."""


class RunTimes(NamedTuple):
    """One run."""

    parent: Ids | None
    """Where its harness ran it, if the bundle names it."""
    agent: str | None
    """Name of the agent."""
    start: int
    """ns since 1970; 0 = the recording has no clock."""
    end: int
    """ns since 1970."""
    is_crashed: bool
    """Whether the agent crashed."""
    steps: tuple[StepTime, ...]
    """In order."""


def ids_of(trajectory: str) -> Ids:
    """Return ids made of a digest, `sha256:...`: the first 16 bytes, and the next 8."""
    digest = trajectory.removeprefix("sha256:")
    return Ids(int(digest[:32], 16), int(digest[32:48], 16))


def unread_ids(verdict: replaykit.Verdict) -> Ids:
    """Return ids for a bundle that could not be read: it has no digest."""
    return ids_of(sha256(f"{verdict.task_id} {verdict.error}".encode()).hexdigest())


def step_ids(run: Ids, index: int) -> Ids:
    """Return the ids of a step of a run."""
    return _below(run, f":{index}")


def result_ids(run: Ids, index: int) -> Ids:
    """Return the ids of a result of a run."""
    return _below(run, f":result:{index}")


def _below(run: Ids, place: str) -> Ids:
    digest = sha256(f"{run.trace:032x}{run.span:016x}{place}".encode()).digest()
    return Ids(run.trace, int.from_bytes(digest[:8], "big"))


def parent_of(traceparent: str | None) -> Ids | None:
    """Return the ids of a W3C trace context; None for anything else."""
    found = TRACEPARENT.fullmatch(traceparent or "")
    return None if found is None else Ids(int(found[1], 16), int(found[2], 16))


def read_times(sources: Iterable[str]) -> dict[str, RunTimes]:
    """Return the digest of each bundle, `sha256:...`, with its times; unreadable bundles are left out."""
    found = {}
    for source in sources:
        try:
            with replaykit.open_bundle(source) as bundle:
                found[f"sha256:{bundle.digest}"] = times_of(bundle)
        except replaykit.BundleError:
            continue  # the report lists them already
    return found


def times_of(bundle: replaykit.Bundle) -> RunTimes:
    """Return the times of a run; a step without a time has that of the step before."""
    start, ending = _created(bundle.header.created), bundle.ending
    starts, at = [], 0.0
    for step in bundle.trajectory.steps:
        at = max(at, step.t or 0.0)
        starts.append(_later(start, at))
    end = max([start, *starts, _later(start, ending.t if ending is not None else None)])
    steps = tuple(
        StepTime(_name(step.action), begin, until, None if step.error is None else step.error.name)
        for step, (begin, until) in zip(bundle.trajectory.steps, pairwise([*starts, end]), strict=True)
    )
    agent = None if bundle.header.agent is None else bundle.header.agent.name
    is_crashed = ending is not None and ending.kind == "crashed"
    return RunTimes(parent_of(bundle.header.traceparent), agent, start, end, is_crashed, steps)


def _created(text: str | None) -> int:
    """Return a time of a recording in ns; 0 for anything else."""
    try:
        moment = datetime.fromisoformat(text or "")
        return max(0, min(int(moment.timestamp() * 1000) * 10**6, LATEST))
    except (ValueError, OverflowError, OSError):
        return 0


def _later(start: int, ms: float | None) -> int:
    return min(start + int((ms or 0.0) * 10**6), LATEST)


def _name(action: Struct) -> str:
    return str(action.__struct_config__.tag)
