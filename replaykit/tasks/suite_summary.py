"""Summary of a task file: counts of tasks, checks, requirements, and of the evidence they need."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.tasks.checks import Check, HtmlTarget, PageCheck, ProgramHtml, StringMatch, UrlMatch, texts
from replaykit.tasks.grammar import xpath_grammar
from replaykit.tasks.grammar.locator_grammar import parse
from replaykit.tasks.site_api import is_api_call
from replaykit.tasks.task import Task

LAST = "last"
"""The page that the run ends on."""

_LAMBDA = "lambda:"
_CALL = "func:"


class Summary(Struct, frozen=True, kw_only=True):
    """Counts over the tasks of one file."""

    tasks: int
    """How many there are."""
    dialects: dict[str, int]
    """Tasks by whose rules their checks follow."""
    checks: dict[str, int]
    """Checks by type."""
    kinds: dict[str, int]
    """Tasks by the types of their checks, joined by `+`."""
    references: dict[str, int]
    """Requirements on answers by field, in checks."""
    targets: dict[str, int]
    """Targets on pages by which page: `last`, `fixed`, or the call that gives it."""
    locators: dict[str, int]
    """Targets by what they read: `source script path page_call api_call unsupported`."""
    needs: dict[str, int]
    """Tasks by what they need: `model`, `api`, `answer and final page only` ..."""
    policies: int
    """Policies of all tasks."""
    sites: dict[str, int]
    """Tasks by site."""


def summarize_tasks(tasks: Sequence[Task]) -> Summary:
    """Count what the tasks of a file hold."""
    checks = [check for task in tasks for check in task.checks]
    targets = [target for check in checks if isinstance(check, ProgramHtml) for target in check.targets]
    return Summary(
        tasks=len(tasks),
        dialects=_counted(task.dialect for task in tasks),
        checks=_counted(type_of(check) for check in checks),
        kinds=_counted("+".join(type_of(check) for check in task.checks) or "none" for task in tasks),
        references=_counted(
            kind for check in checks if isinstance(check, StringMatch) for kind in _fields(check)
        ),
        targets=_counted(_page_of(target.url) for target in targets),
        locators=_counted(locator_class(target.locator) for target in targets),
        needs=_counted(need for task in tasks for need in needs_of(task)),
        policies=sum(len(task.policies) for task in tasks),
        sites=_counted(site for task in tasks for site in task.sites),
    )


def needs_of(task: Task) -> tuple[str, ...]:
    """Return what has to be at hand so that a task's checks can be graded."""
    found = []
    if any(_needs_model(check) for check in task.checks):
        found.append("model")
    targets = [target for check in task.checks if isinstance(check, ProgramHtml) for target in check.targets]
    if any(is_api_call(text) for target in targets for text in (target.url, target.locator)):
        found.append("api")
    pages = [target.url for target in targets]
    pages += [check.url for check in task.checks if isinstance(check, PageCheck)]
    simple = all(isinstance(check, StringMatch | UrlMatch | ProgramHtml | PageCheck) for check in task.checks)
    if simple and task.checks and all(page == LAST for page in pages) and not found:
        found.append("answer and final page only")
    return tuple(found)


def locator_class(locator: str) -> str:
    """Return what a target's locator is; `unsupported` for what only a browser could answer."""
    plain = locator.strip()
    if not plain:
        return "source"
    if plain.startswith(_CALL):
        return "api_call" if is_api_call(plain) else "page_call"
    try:
        if xpath_grammar.is_xpath(plain):
            xpath_grammar.parse(plain)
            return "path"
        parse(plain.removeprefix(_LAMBDA))
    except (Unsupported, LocatorLimit):
        return "unsupported"
    return "script"


def sample(tasks: Sequence[Task], count: int, seed: int, by: str | None = None) -> list[Task]:
    """Return some tasks, of every value of a metadata field as many; the same ones for the same seed.

    A task is chosen by the digest of seed and id, so adding tasks to a file moves few of them.
    """
    groups: dict[Any, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: hashlib.sha256(f"{seed}:{task.id}".encode()).digest()):
        groups.setdefault(None if by is None else str(_field(task, by)), []).append(task)
    chosen = {task.id for group in groups.values() for task in group[:count]}
    return [task for task in tasks if task.id in chosen]


def fields_of(tasks: Sequence[Task]) -> list[str]:
    """Return what `sample` can group tasks by."""
    return sorted({*_OWN, "sites", *(name for task in tasks for name in task.metadata)})


def type_of(check: Check) -> str:
    """Return the type of a check as files write it."""
    return str(type(check).__struct_config__.tag)


_OWN = ("dialect", "judge")


def _field(task: Task, name: str) -> Any:
    if name in _OWN:
        return getattr(task, name)
    return "+".join(task.sites) if name == "sites" else task.metadata.get(name)


def _needs_model(check: Check) -> bool:
    if isinstance(check, StringMatch):
        return bool(check.fuzzy)
    return isinstance(check, ProgramHtml) and any(target.fuzzy_match for target in check.targets)


def _fields(check: StringMatch) -> list[str]:
    kinds = ("exact", "must_include", "must_exclude", "one_of", "required_values", "fuzzy")
    return [kind for kind in kinds if texts(getattr(check, kind))]


def _page_of(url: str) -> str:
    if url == LAST:
        return LAST
    return url.removeprefix(_CALL).split("(")[0].strip() if url.startswith(_CALL) else "fixed"


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def target_faults(target: HtmlTarget) -> list[str]:
    """Return what is wrong with a target, in words."""
    found = []
    kinds = ("exact_match", "must_include", "must_exclude", "required_values", "fuzzy_match")
    given = [kind for kind in kinds if getattr(target, kind) not in ((), None)]
    if not given and not target.not_empty:
        found.append("nothing is required of it")
    if any(not part.strip() for part in target.must_include):
        found.append("an empty part is in every text")
    return found
