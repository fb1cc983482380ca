"""Faults of checks that a schema cannot see, each with its path, before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from replaykit.tasks.checks import (
    OR,
    Check,
    CheckFault,
    PageCheck,
    ProgramHtml,
    StringMatch,
    UrlMatch,
    texts,
)
from replaykit.tasks.faults.http_faults import method_fault
from replaykit.tasks.faults.url_faults import address_fault, parameter_fault, url_fault
from replaykit.tasks.faults.value_faults import (
    excluded_fault,
    expect_faults,
    has_blank_alternative,
    locator_faults,
    selected_fault,
    separator_fault,
)
from replaykit.tasks.grammar import xpath_grammar
from replaykit.tasks.suite_summary import target_faults
from replaykit.tasks.task import Task, lower_placeholders, unfilled

_SSH_HOST = "ssh_host"  # stands for any host in addresses of repositories (WebArena-Verified)

_NEAR_SITE = 0.75
"""So alike is a name that is meant for another one: `shopping_admin` is not meant for `shopping`."""


def check_faults(tasks: Sequence[Task], known_sites: Sequence[str] = ()) -> list[CheckFault]:
    """Return the faults of all checks; `known_sites` are those whose roots are known."""
    return [fault for task in tasks for fault in _of_task(task, known_sites)]


def _of_task(task: Task, known_sites: Sequence[str]) -> Iterator[CheckFault]:
    for number, check in enumerate(task.checks):
        for path, message, is_error in _of_check(check):
            at = f"$.checks[{number}]{path}"
            yield CheckFault(task=task.id, path=at, message=message, is_error=is_error)
    for path, message, is_error in _of_task_fields(task):
        yield CheckFault(task=task.id, path=path, message=message, is_error=is_error)
    yield from _of_sites(task, known_sites)
    known = {*known_sites, *task.sites, _SSH_HOST}
    for name in lower_placeholders(msgspec.structs.replace(task, source_record={}), known):
        reason = f"__{name}__ is not filled: write __{name.upper()}__"
        yield CheckFault(task=task.id, path="$", message=reason)
    for name in unfilled(task):
        if name.lower() not in known:
            yield CheckFault(task=task.id, path="$", message=_unknown_site(name))


def _of_task_fields(task: Task) -> Iterator[tuple[str, str, bool]]:
    """Yield what is wrong beside the checks."""
    if not (task.checks or task.policies or task.judge):
        yield "$.checks", "no check, policy or judge: only what `grade` is given could be graded", False
    for number, url in enumerate(task.start_urls):
        if not url.startswith(("about:", "data:")) and (fault := address_fault(url)):
            yield f"$.start_urls[{number}]", fault, True
    for number, change in enumerate(task.allow):
        if change.method and (fault := method_fault(change.method)):
            yield f"$.allow[{number}].method", fault, True
        if not change.url.startswith("*") and (fault := address_fault(change.url.replace("*", "x"))):
            yield f"$.allow[{number}].url", fault, True
    for number, check in enumerate(task.checks if task.dialect == "native" else ()):
        for name in _WITH_ALTERNATIVES if isinstance(check, StringMatch) else ():
            for place, reference in enumerate(texts(getattr(check, name))):
                if fault := separator_fault(reference):
                    yield f"$.checks[{number}].{name}[{place}]", fault, True


_WITH_ALTERNATIVES = ("must_include", "required_values")
"""Fields whose texts may hold alternatives."""


def _of_sites(task: Task, known_sites: Sequence[str]) -> Iterator[CheckFault]:
    """Yield a fault for each site that is not among those of the file, where the file has some."""
    for number, name in enumerate(task.sites if known_sites else ()):
        if name in known_sites:
            continue
        from difflib import get_close_matches  # for what is wrong only

        near = get_close_matches(name, known_sites, 1, _NEAR_SITE)
        hint = f"did you mean {near[0]}?" if near else f"give it there, or with --site {name}=URL"
        message = (
            f"site {name!r} has no URL in `sites` of the file; {hint} (there are {', '.join(known_sites)})"
        )
        yield CheckFault(task=task.id, path=f"$.sites[{number}]", message=message, is_error=bool(near))


def _unknown_site(name: str) -> str:
    return f"__{name}__ is no site of the task: add `sites: {{{name.lower()}: URL}}` to the file"


def _of_check(check: Check) -> Iterator[tuple[str, str, bool]]:
    if isinstance(check, StringMatch):
        yield from _of_references(check)
    elif isinstance(check, UrlMatch):
        if not texts(check.url):
            yield ".url", "no URL is given", True
        for number, url in enumerate(texts(check.url)):
            faults = (url_fault(part, check.path) for part in url.split(OR))
            yield from ((f".url[{number}]", fault[1], True) for fault in faults if fault)
        for number, name in enumerate(check.ignore):
            if fault := parameter_fault(name):
                yield f".ignore[{number}]", fault, True
    elif isinstance(check, PageCheck):
        yield from _of_page(check)
    elif isinstance(check, ProgramHtml):
        for number, target in enumerate(check.targets):
            at = f".targets[{number}]"
            yield from ((at, message, True) for message in target_faults(target))
            yield from ((f"{at}.locator", *fault) for fault in locator_faults(target.locator))


def _of_references(check: StringMatch) -> Iterator[tuple[str, str, bool]]:
    kinds = ("exact", "must_include", "must_exclude", "one_of", "required_values", "fuzzy")
    if not any(getattr(check, kind) for kind in kinds) and check.exact != "":
        yield "", f"nothing is demanded: use {', '.join(kinds)}", True
    for kind in ("must_include", "one_of", "fuzzy"):
        for number, reference in enumerate(texts(getattr(check, kind))):
            if has_blank_alternative(reference):
                yield f".{kind}[{number}]", "an empty reference is in every text", True
    for number, reference in enumerate(texts(check.must_exclude)):
        if reason := excluded_fault(reference):
            yield f".must_exclude[{number}]", reason, True


def _of_page(check: PageCheck) -> Iterator[tuple[str, str, bool]]:
    if check.selector is not None and (reason := _selector_fault(check.selector)):
        yield ".selector", reason, True
    if check.locator:
        yield from ((".locator", *fault) for fault in locator_faults(check.locator))
    yield from ((f".expect{path}", message, True) for path, message in expect_faults(check.expect))


def _selector_fault(selector: str) -> str:
    if xpath_grammar.is_xpath(selector):
        return "an XPath is not read with a property: write it as `locator`, without `selector`"
    return selected_fault(selector)
