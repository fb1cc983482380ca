"""Tasks: what a run should achieve, and the part of it that the agent may see."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from replaykit.decoders import convert, decode_plain
from replaykit.errors import TaskError
from replaykit.patterns import lazy_pattern
from replaykit.tasks.checks import Check, Written
from replaykit.tasks.dialect import Composition, Dialect, Mode
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.policy_rules import SOURCES, Informational, Policy

Sites = Mapping[str, Sequence[str]]
"""Site name to roots; the first is the active one."""


class AllowedChange(Written, frozen=True, kw_only=True):
    """A state-changing request that a task expects, so that it is no side effect."""

    url: str
    """URL of the request. `*` stands for any part of a segment, `**` for any number of segments. Query
    parameters that are not given do not count.
    """
    method: str = ""
    """HTTP method; empty = any method."""
    at_most: Annotated[int, Meta(ge=1)] = 1
    """Number of such requests that are expected; further ones are side effects."""


class Task(Written, frozen=True, kw_only=True, dict=True):
    """A task: intent, start pages, checks, policies and judge."""

    id: str
    """Unique id in the suite."""
    intent: str
    """Request of the user to the agent."""
    start_urls: tuple[str, ...] = ()
    """Pages that are opened before the agent begins, one tab for each."""
    sites: tuple[str, ...] = ()
    """Names of the sites that the task uses."""
    checks: tuple[Check, ...] = ()
    """Requirements after the run."""
    policies: tuple[Policy, ...] = ()
    """Limits during the run."""
    allow: tuple[AllowedChange, ...] = ()
    """Requests that may change something: `grade --side-effects` does not list them."""
    judge: str | JudgeSettings | None = None
    """A judge, by name or with settings."""
    reference: Any = None
    """Reference answer for people. Neither agent nor judge sees it."""
    max_steps: Annotated[int, Meta(ge=1)] | None = None
    """Greatest number of steps of a run."""
    metadata: dict[str, Any] = {}
    """Any values to group runs by, such as `level` or `template`."""
    dialect: Dialect = "native"
    """Benchmark whose rules the checks follow."""
    mode: Mode = "strict"
    """`strict`, or `compat`: exactly as the original benchmark grades."""
    compose: Composition = "rules_first"
    """How checks and judge are combined into one result."""
    require_proof: bool = False
    """If true, a result that needs a channel that is recorded but not proven complete is UNDECIDED."""
    require_reason: bool = False
    """If true, `N/A` without a reason does not count as an answer."""
    source_record: dict[str, Any] = {}
    """The record of the public task file, unchanged."""

    @cached_property
    def digest(self) -> str:
        """Digest of the canonical JSON (sorted keys, no blanks), `sha256:...`."""
        plain = msgspec.json.encode(msgspec.to_builtins(self), order="sorted")
        return "sha256:" + hashlib.sha256(plain).hexdigest()


class AgentPolicy(Struct, frozen=True, kw_only=True):
    """A policy as an agent sees it."""

    description: str
    """Text of the policy."""
    source: str
    """Who requires it: `organization`, `user` or `task`."""
    dimension: str
    """Safety dimension of the policy."""


class AgentTask(Struct, frozen=True, kw_only=True):
    """The part of a task that an agent may see: no checks, references, evaluation data or secrets."""

    id: str
    """Id of the task."""
    intent: str
    """Request of the user to the agent."""
    start_urls: tuple[str, ...] = ()
    """Pages on which the agent begins."""
    sites: dict[str, str] = {}
    """Name of each site to its active root URL."""
    policies: tuple[AgentPolicy, ...] = ()
    """Policies that the agent must keep."""
    max_steps: int | None = None
    """Greatest number of steps of the run."""

    def policy_text(self) -> str:
        """Return the policies as lines for a prompt, the highest source first; empty without policies."""
        ranked = sorted(self.policies, key=lambda one: [*SOURCES, one.source].index(one.source))
        lines = [
            f"{number}. [{one.source}, {one.dimension}] {' '.join(one.description.split())}"
            for number, one in enumerate(ranked, 1)
        ]
        return "\n".join([POLICY_HEAD, *lines]) if lines else ""


POLICY_HEAD = (
    "Keep these policies while you do the task. Where two contradict each other, "
    f"the source decides: {' before '.join(SOURCES)}."
)
"""Line above the policies in an agent's prompt."""


def agent_view(task: Task, sites: Sites) -> AgentTask:
    """Copy what an agent may see, by name, with placeholders filled."""
    shown = [policy for policy in task.policies if policy.enabled and policy.description]
    return AgentTask(
        id=task.id,
        intent=fill_text(task.intent, sites),
        start_urls=tuple(fill_text(url, sites) for url in task.start_urls),
        sites={name: sites[name][0] for name in task.sites if sites.get(name)},
        policies=tuple(
            AgentPolicy(
                description=fill_text(policy.description, sites),
                source=policy.source,
                dimension=policy.dimension,
            )
            for policy in shown
        ),
        max_steps=task.max_steps,
    )


def graded(policies: Sequence[Policy]) -> tuple[Policy, ...]:
    """Return the policies that count: enabled and not merely informational."""
    return tuple(p for p in policies if p.enabled and not isinstance(p.rule, Informational))


def fill_text(text: str, sites: Sites) -> str:
    """Replace `__NAME__` by the active root of the site, without its trailing slash."""

    def root(found: re.Match[str]) -> str:
        roots = sites.get(found[1].lower())
        return roots[0].rstrip("/") if roots else found[0]

    return _PLACEHOLDER.sub(root, text)


def fill_task(task: Task | Mapping[str, Any], sites: Sites, source: str = "task") -> Task:
    """Return the task with the placeholders of all its texts filled; the source record stays.

    Many runs are of one task: the last ones are kept. Raises `TaskError`.
    """
    try:
        plain, roots = msgspec.json.encode(task), msgspec.json.encode(sites)
        return _kept(plain, roots) if len(plain) <= _KEPT_MAX else _filled(plain, roots)
    except msgspec.ValidationError as error:
        raise task_error(source, error) from error
    except RecursionError as error:
        raise TaskError(source=source, path="$", reason="nested too deeply") from error


def decode_task(plain: Mapping[str, Any], source: str = "task") -> Task:
    """Turn plain values into a task, or raise `TaskError` with the exact path."""
    try:
        return convert(plain, Task)
    except msgspec.ValidationError as error:
        raise task_error(source, error, plain) from error


def task_error(source: str, error: msgspec.ValidationError, plain: Any = None) -> TaskError:
    """Turn msgspec's message into ours: source, reason, path.

    `plain` was read as a task: with it the reason names what is accepted where a name is wrong.
    """
    from replaykit.tasks.faults.field_faults import field_fault  # for what is wrong only

    path, reason = field_fault(error, plain, Task)
    return TaskError(source=source, path=path, reason=reason)


def unfilled(task: Task) -> tuple[str, ...]:
    """Return the placeholders that are still in URLs of the task."""
    plain = msgspec.to_builtins(task)
    plain.pop("source_record", None)
    return tuple(sorted(set(_PLACEHOLDER.findall(msgspec.json.encode(plain).decode()))))


def unresolved(part: Any, sites: Iterable[str]) -> tuple[str, ...]:
    """Return the names of sites whose placeholders are still in a part of a task.

    A placeholder is that of a site of the task, or begins an address: `__SHOP__/orders`.
    """
    plain = msgspec.json.encode(part)
    if b"__" not in plain:
        return ()
    text = plain.decode()
    known = {name.upper() for name in sites}
    lower = {name.lower() for name in lower_placeholders(part, sites)}
    found = [(match[1], text[match.end()]) for match in _PLACEHOLDER.finditer(text)]
    return tuple(sorted(lower | {name.lower() for name, after in found if name in known or after in "/?#"}))


def lower_placeholders(part: Any, sites: Iterable[str]) -> tuple[str, ...]:
    """Return the placeholders of a part of a task that have small letters, and are therefore not filled.

    A placeholder has the name of a site, or is how an address begins: `__shop__/orders`.
    """
    plain = msgspec.json.encode(part)
    if b"__" not in plain:
        return ()
    known = {name.lower() for name in sites}
    found = _ANY_CASE.finditer(plain.decode())
    named = {match[2] for match in found if match[1] or match[2].lower() in known}
    return tuple(sorted(name for name in named if name != name.upper()))


_ANY_CASE = lazy_pattern(
    r'(?:(")|(?<![A-Za-z0-9_]))__([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)__(?(1)(?=[/?#"]))'
)
"""A placeholder as it may be meant; the first group is the quote before a text that begins with it."""

_KEPT_MAX = 65_536
"""Bytes of the largest task that is kept: a bundle may bring one of any size."""


def _filled(task: bytes, sites: bytes) -> Task:
    plain = decode_plain(task)
    record = plain.pop("source_record", {})
    return convert({**_fill(plain, msgspec.json.decode(sites)), "source_record": record}, Task)


_kept = lru_cache(maxsize=256)(_filled)


_PLACEHOLDER = lazy_pattern(r"__([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)__")


def _fill(value: Any, sites: Sites) -> Any:
    if isinstance(value, str):
        return fill_text(value, sites)
    if isinstance(value, dict):
        return {key: _fill(item, sites) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_fill(item, sites) for item in value]
    return value
