"""Reader of ST-WebAgentBench task files (arXiv 2410.06703), that of 2024 included: WebArena tasks, policies.

The record itself stays in `Task.source_record`; each policy is a rule `stwab` that holds its own record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from replaykit.decoders import decode_plain
from replaykit.errors import TaskError
from replaykit.file_types import read_whole
from replaykit.patterns import lazy_pattern
from replaykit.tasks import policy_rules
from replaykit.tasks.benchmarks.webarena import read_webarena
from replaykit.tasks.task import Task, fill_task

DIALECT: Final = "stwebagentbench"
"""Whose rules checks and policies follow."""

PLACEHOLDERS = ("IPA_HOME", "SUITECRM", "GITLAB", "REDDIT", "SHOPPING", "SHOPPING_ADMIN", "WIKIPEDIA", "MAP")
"""Names between double underscores that stand for the roots of sites."""

OLD_CATEGORIES: dict[str, policy_rules.Dimension] = {
    "consent": "user_consent",
    "boundary": "boundary_and_scope_limitation",
    "exact_task": "strict_execution",
    "general": "strict_execution",
}
"""Categories of the 2024 file; `general` is only shown to the agent."""


def load(
    path: str | Path, sites: Mapping[str, str] | None = None, *, allow_unresolved: bool = False
) -> list[Task]:
    """Read a task file; `sites` maps lower-case names to roots that replace the placeholders.

    Without `sites` the placeholders stay, for recorder or grader to fill. One that `sites` leaves in a check
    or policy raises `TaskError` with its JSON path, unless `allow_unresolved`.
    """
    tasks = read_stwebagentbench(_records(Path(path)), str(path))
    if sites is None:
        return tasks
    roots = {name: (root,) for name, root in sites.items()}
    tasks = [fill_task(task, roots) for task in tasks]
    for task in () if allow_unresolved else tasks:
        _refuse_unresolved(task, str(path), sites)
    return tasks


def read_stwebagentbench(records: Iterable[Mapping[str, Any]], source: str) -> list[Task]:
    """Turn the records of a task file into tasks, in order; raises `TaskError` with the exact path."""
    return [_task(dict(record), f"{source}#{record.get('task_id', n)}") for n, record in enumerate(records)]


def flattened(policies: Any) -> Iterator[Any]:
    """Yield the policies of a record; the 2024 file nests lists in lists, read depth first."""
    for policy in policies:
        if isinstance(policy, list):
            yield from flattened(policy)
        else:
            yield policy


def _records(path: Path) -> list[Mapping[str, Any]]:
    try:
        found = decode_plain(read_whole(path))
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise TaskError(source=path, path="$", reason=f"cannot read the task file: {error}") from error
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        raise TaskError(source=path, path="$", reason="expected a list of tasks")
    return found


def _task(record: dict[str, Any], source: str) -> Task:
    (task,) = read_webarena([record], source.rpartition("#")[0])
    policies = record.get("policies", [])
    if not isinstance(policies, list):
        raise TaskError(source=source, path="$.policies", reason="expected a list of policies")
    about = record.get("task_metadata")
    return msgspec.structs.replace(
        task,
        policies=tuple(_policy(policy, n, source) for n, policy in enumerate(flattened(policies))),
        metadata={**task.metadata, **(about if isinstance(about, dict) else {})},
        dialect=DIALECT,
    )


def _policy(record: Any, number: int, source: str) -> policy_rules.Policy:
    at = f"$.policies[{number}]"
    if not isinstance(record, dict):
        raise TaskError(source=source, path=at, reason=f"expected an object, got {type(record).__name__}")
    if "eval" in record and not isinstance(record["eval"], dict):
        raise TaskError(source=source, path=f"{at}.eval", reason="expected an object")
    category = record.get("policy_category")
    template = str(record.get("policy_template_id") or record.get("policy_template") or "policy")
    description = record.get("description")
    return policy_rules.Policy(
        id=f"{number}-{_word(template)}",
        dimension=_dimension(category, source, at),
        source=_demanded_by(record.get("source"), source, at),
        description=description if isinstance(description, str) else "",
        rule=policy_rules.Informational() if category == "general" else policy_rules.Stwab(record=record),
        tags={"template": template},
    )


def _dimension(category: Any, source: str, at: str) -> policy_rules.Dimension:
    if category in policy_rules.DIMENSIONS:
        return policy_rules.DIMENSIONS[policy_rules.DIMENSIONS.index(category)]
    if isinstance(category, str) and category in OLD_CATEGORIES:
        return OLD_CATEGORIES[category]
    known = ", ".join((*policy_rules.DIMENSIONS, *OLD_CATEGORIES))
    raise TaskError(
        source=source, path=f"{at}.policy_category", reason=f"no category {category!r}; there are {known}"
    )


def _demanded_by(stated: Any, source: str, at: str) -> policy_rules.PolicySource:
    if stated is None:
        return "organization"
    if stated in policy_rules.SOURCES:
        return policy_rules.SOURCES[policy_rules.SOURCES.index(stated)]
    known = ", ".join(policy_rules.SOURCES)
    raise TaskError(source=source, path=f"{at}.source", reason=f"no source {stated!r}; there are {known}")


def _word(template: str) -> str:
    """Return a template's name in the characters of an id."""
    return "".join(
        char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in template
    )[:100]


def _refuse_unresolved(task: Task, source: str, sites: Mapping[str, str]) -> None:
    parts = {name: task.source_record.get(name) for name in ("eval", "policies")}
    left = [row for row in _placeholders(parts, "$") if row[1].strip("_").lower() not in sites]
    if left:
        path, name = left[0]
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        reason = f"no root for {name}{more}; sites given: {', '.join(sites) or 'none'}"
        raise TaskError(source=f"{source}#{task.id}", path=path, reason=reason)


_PLACEHOLDER = lazy_pattern("__(?:" + "|".join(PLACEHOLDERS) + ")__")


def _placeholders(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield the JSON path and the name of every placeholder."""
    if isinstance(value, str):
        yield from ((at, found) for found in dict.fromkeys(_PLACEHOLDER.findall(value)))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _placeholders(item, f"{at}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _placeholders(item, f"{at}[{number}]")
