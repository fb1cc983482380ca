"""Faults that only a whole task file shows: roots of sites, ids of checks, scopes of policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from replaykit.tasks.checks import CheckFault
from replaykit.tasks.faults.url_faults import address_fault
from replaykit.tasks.policy_rules import Informational, Policy, Scope
from replaykit.tasks.task import Task

_NAMES_MAX = 12
"""Names that a message lists."""

_NEAR = 0.75
"""So alike is a name that is meant for another one."""


class FileNames(NamedTuple):
    """Names that the scopes of policies may use."""

    tasks: tuple[str, ...]
    """Ids of the tasks that may be graded."""
    sites: tuple[str, ...]
    """Names of their sites."""


class ScopeFault(NamedTuple):
    """A task or site in the scope of a policy that does not exist: the policy would never apply for it."""

    path: str
    """Place in the policies: `[0].when.tasks[1]`."""
    message: str
    """In words."""
    is_near: bool
    """Whether the name is almost a known one, and probably meant for it."""


def root_faults(sites: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield place and message of each site that no placeholder names, or whose root no browser opens."""
    for name, roots in sites.items():
        if name != name.lower():
            yield f".{name}", f"write {name.lower()!r}: __{name.upper()}__ stands for names in small letters"
        if not roots:
            yield f".{name}", "no root URL is given"
        for number, root in enumerate(roots):
            if fault := _root_fault(root):
                yield f".{name}[{number}]" if len(roots) > 1 else f".{name}", fault


def _root_fault(root: str) -> str:
    if "://" not in root:
        return f"{root!r} is not a root: begin with http:// or https://"
    if "__" in root:
        return f"{root!r} is not a root: give the address itself, without placeholders"
    if fault := address_fault(root):
        return fault
    found = next((sign for sign in "?#*" if sign in root), "")
    return f"{root!r} is not a root: it has a `{found}`; give scheme, host and port" if found else ""


def task_faults(task: Task) -> Iterator[tuple[str, str]]:
    """Yield place and message of repeated ids of checks, and of policies that do not concern the task."""
    for fault in scope_faults(task.policies, FileNames((task.id,), task.sites)):
        yield f".policies{fault.path}", fault.message
    names = [
        check.id or f"{check.__struct_config__.tag}[{number}]" for number, check in enumerate(task.checks)
    ]
    for number, name in enumerate(names):
        first = names.index(name)
        if first != number:
            yield f".checks[{number}].id", f"duplicate id {name!r}: check {first} has it"


def scope_faults(policies: Iterable[Policy], known: FileNames) -> Iterator[ScopeFault]:
    """Yield the names in scopes that are not known; policies that are not graded have no scope."""
    for number, policy in enumerate(policies):
        if policy.when is not None and policy.enabled and not isinstance(policy.rule, Informational):
            yield from _unknown(policy.when, f"[{number}].when", known)


def scope_notes(tasks: Sequence[Task], sites: Iterable[str]) -> list[CheckFault]:
    """Return the same of all policies of the tasks, each once: those of a file of its own may name others.

    A name that is meant for a known one is an error.
    """
    known = names_of(tasks, sites)
    found: dict[tuple[str, str], CheckFault] = {}
    for task in tasks:
        for number, policy in enumerate(task.policies):
            for path, message, is_near in scope_faults((policy,), known):
                at = f"$.policies{path.replace('[0]', f'[{number}]', 1)}"
                fault = CheckFault(task=task.id, path=at, message=message, is_error=is_near)
                found.setdefault((policy.id, message), fault)
    return list(found.values())


def names_of(tasks: Iterable[Task], sites: Iterable[str] = ()) -> FileNames:
    """Return the names of some tasks and of their sites; `sites` are those of their file."""
    return names_in(({"id": task.id, "sites": task.sites} for task in tasks), sites)


def names_in(records: Iterable[Any], sites: Iterable[str]) -> FileNames:
    """Return the same of tasks as a file has them, some of which may be faulty."""
    plain = [record for record in records if isinstance(record, Mapping)]
    listed = (record.get("sites") for record in plain)
    used = {str(name) for names in listed if isinstance(names, list | tuple) for name in names}
    # A policy for a site is about tasks that name it: where none names any, none can be meant.
    known = (*dict.fromkeys(sites), *sorted(used.difference(sites))) if used else ()
    return FileNames(tuple(str(record.get("id")) for record in plain), known)


def _unknown(scope: Scope, at: str, known: FileNames) -> Iterator[ScopeFault]:
    for field, names, there in (("tasks", scope.tasks, known.tasks), ("sites", scope.sites, known.sites)):
        for number, name in enumerate(names):
            if name not in there:
                near = _nearest(name, there)
                hint = f"did you mean {near}?" if near else _listed(there)
                message = f"no {field.removesuffix('s')} {name!r}; {hint}"
                yield ScopeFault(f"{at}.{field}[{number}]", message, near is not None)


def _nearest(name: str, there: Sequence[str]) -> str | None:
    from difflib import get_close_matches  # for what is wrong only

    return next(iter(get_close_matches(name, there, 1, _NEAR)), None)


def _listed(there: Sequence[str]) -> str:
    more = ", ..." if len(there) > _NAMES_MAX else ""
    return f"there are {', '.join(there[:_NAMES_MAX])}{more}" if there else "no task names one"
