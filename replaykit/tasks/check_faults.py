"""Faults of checks that a schema cannot see, each with its path, before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.tasks import xpath
from replaykit.tasks.api import is_api_call
from replaykit.tasks.checks import Check, Expect, PageCheck, ProgramHtml, StringMatch, UrlMatch, texts
from replaykit.tasks.locator import parse
from replaykit.tasks.network_checks import NetworkMatch
from replaykit.tasks.policy_faults import bad_selector
from replaykit.tasks.regexes import regex_fault
from replaykit.tasks.summary import target_faults
from replaykit.tasks.task import Task, unfilled

_CALL = "func:"
_SSH_HOST = "ssh_host"  # stands for any host in addresses of repositories (WebArena-Verified)


class CheckFault(Struct, frozen=True, kw_only=True):
    """One fault."""

    task: str
    """Task id."""
    path: str
    """Where: `$.checks[0].targets[1].locator`."""
    message: str
    """What is wrong."""
    is_error: bool = True
    """False: it works, but a browser has to have read the value while the run was recorded."""


def check_faults(tasks: Sequence[Task], known_sites: Sequence[str] = ()) -> list[CheckFault]:
    """Return the faults of all checks; `known_sites` are those whose roots are known."""
    return [fault for task in tasks for fault in _of_task(task, known_sites)]


def star_fault(url: str) -> str:
    """Return what is wrong with a URL that has a wildcard and is no expression; nothing where it has none."""
    if "*" not in url or (url.startswith("^") and url.endswith("$")):
        return ""
    return "a URL of a check has no wildcards: use a regular expression or a prefix, or write %2A for a `*`"


def _url_fault(url: str, path: str) -> str:
    if not url.strip():
        return "an empty URL"
    fault = regex_fault(url) if path == "regex" else None
    if fault is not None:
        return fault[1]
    return "" if path == "regex" else star_fault(url)


def _of_task(task: Task, known_sites: Sequence[str]) -> Iterator[CheckFault]:
    for number, check in enumerate(task.checks):
        for path, message, is_error in _of_check(check):
            at = f"$.checks[{number}]{path}"
            yield CheckFault(task=task.id, path=at, message=message, is_error=is_error)
    known = {*known_sites, *task.sites, _SSH_HOST}
    for name in unfilled(task):
        if name.lower() not in known:
            yield CheckFault(task=task.id, path="$", message=f"__{name}__ is no site of the task")


def _of_check(check: Check) -> Iterator[tuple[str, str, bool]]:
    if isinstance(check, StringMatch):
        yield from _of_references(check)
    elif isinstance(check, UrlMatch):
        for number, url in enumerate(texts(check.url)):
            if fault := _url_fault(url, check.path):
                yield f".url[{number}]", fault, True
    elif isinstance(check, NetworkMatch):
        stars = ((number, star_fault(url)) for number, url in enumerate(texts(check.expected.url)))
        yield from ((f".expected.url[{number}]", fault, True) for number, fault in stars if fault)
    elif isinstance(check, PageCheck):
        yield from _of_page(check)
    elif isinstance(check, ProgramHtml):
        for number, target in enumerate(check.targets):
            at = f".targets[{number}]"
            yield from ((at, message, True) for message in target_faults(target))
            yield from ((f"{at}.locator", *fault) for fault in _of_locator(target.locator))


def _of_references(check: StringMatch) -> Iterator[tuple[str, str, bool]]:
    for kind in ("must_include", "must_exclude", "one_of", "fuzzy"):
        for number, reference in enumerate(texts(getattr(check, kind))):
            if not reference.strip():
                yield f".{kind}[{number}]", "an empty reference is in every answer", True


def _of_page(check: PageCheck) -> Iterator[tuple[str, str, bool]]:
    if check.selector is not None and (reason := bad_selector(check.selector)):
        yield ".selector", reason, True
    if check.expect == Expect():
        yield ".expect", "no operator is given: use equals, contains, not_empty ...", True
    if check.locator:
        yield from ((".locator", *fault) for fault in _of_locator(check.locator))
    fault = regex_fault(check.expect.regex) if check.expect.regex is not None else None
    if fault is not None:
        yield ".expect.regex", fault[1], True


def _of_locator(locator: str) -> Iterator[tuple[str, bool]]:
    plain = locator.strip()
    if not plain or is_api_call(plain) or plain.startswith(_CALL):
        return
    try:
        if xpath.is_xpath(plain):
            xpath.parse(plain)
        else:
            parse(plain.removeprefix("lambda:"))
    except LocatorLimit as error:
        yield str(error), True
    except Unsupported as error:
        yield f"only a live page answers it: {error.fields['reason']}", False
