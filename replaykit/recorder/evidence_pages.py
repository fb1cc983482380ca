"""Which pages are looked at for checks: those of the task, of its whole suite, or a list of URLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from replaykit.errors import RecorderError, UsageError
from replaykit.patterns import lazy_pattern
from replaykit.tasks.checks import Check
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import Sites, Task, fill_task, fill_text

FILE_MAX = 1 << 20
"""Bytes of a list of URLs."""

_URL = lazy_pattern(r"(?:https?://|__[A-Z][A-Z0-9_]*__)\S*")
_UNFILLED = lazy_pattern(r"__[A-Z][A-Z0-9_]*__")


class EvidencePages(Struct, frozen=True, kw_only=True):
    """Pages to read in addition to those of the task's own checks."""

    kind: Literal["task", "suite", "urls"] = "task"
    """Nothing else, the pages of other tasks, or a list."""
    tasks: tuple[Task, ...] = ()
    """Tasks of the suite."""
    urls: tuple[str, ...] = ()
    """Addresses, placeholders kept."""

    def checks(self, task: Task | None, sites: Sites) -> Iterator[Check]:
        """Yield the checks of all tasks on the same sites, placeholders filled."""
        known = frozenset(task.sites if task and task.sites else sites)
        for other in self.tasks:
            if known.issuperset(other.sites):
                yield from fill_task(other, sites).checks

    def pages(self, sites: Sites) -> tuple[str, ...]:
        """Return the addresses, placeholders filled. Raises UsageError for a site without a root."""
        filled = tuple(fill_text(url, sites) for url in self.urls)
        unknown = next((found[0] for url in filled if (found := _UNFILLED.match(url))), None)
        if unknown is not None:
            known = ", ".join(f"__{name.upper()}__" for name in sites) or "none"
            raise UsageError(what=f"evidence: no root for {unknown}, there are {known}; name it with --site")
        return filled


def as_evidence(value: object) -> EvidencePages:
    """Return what an option means: `task`, a suite or its tasks, addresses, or a file of addresses.

    Raises UsageError for any other value, RecorderError for a file that is no list of URLs.
    """
    match value:
        case EvidencePages():
            return value
        case "task":
            return EvidencePages()
        case "suite":
            raise UsageError(what="evidence: `suite` needs the suite itself: evidence=load_tasks(FILE)")
        case Suite():
            return EvidencePages(kind="suite", tasks=value.tasks)
        case str() | Path():
            return EvidencePages(kind="urls", urls=load_urls(value))
        case list() | tuple() if value and all(isinstance(one, Task) for one in value):
            return EvidencePages(kind="suite", tasks=tuple(value))
        case list() | tuple() if all(isinstance(one, str) and _URL.fullmatch(one) for one in value):
            return EvidencePages(kind="urls", urls=tuple(value))
    raise UsageError(what=f"evidence: expected `task`, tasks, URLs or a file of URLs, got {value!r:.80}")


def load_urls(path: str | Path) -> tuple[str, ...]:
    """Read a list of URLs, one a line; `#` begins a line of comment. Raises RecorderError."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(FILE_MAX + 1).decode("utf-8-sig")
    except OSError as error:
        raise _refused(path, f"cannot read the list of URLs: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _refused(path, "not a list of URLs: it is not UTF-8") from error
    if len(text.encode()) > FILE_MAX:
        raise _refused(path, f"not a list of URLs: more than {FILE_MAX} bytes")
    return tuple(_urls(text.splitlines(), path))


def _urls(lines: Iterable[str], path: str | Path) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        url = line.strip()
        if not url or url.startswith("#"):
            continue
        if not _URL.fullmatch(url):
            reason = "expected http://..., https://... or __SITE__/..."
            raise _refused(path, f"line {number}: {url!r:.80} is no URL: {reason}")
        yield url


def _refused(path: str | Path, why: str) -> RecorderError:
    return RecorderError(what=f"{path}: {why}")
