"""Options that name servers: sites as `NAME=URL`, and the model that judges ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from replaykit.cli.console import notice
from replaykit.errors import JudgeError, ReplaykitError, UsageError

if TYPE_CHECKING:
    from replaykit.tasks.suite import Suite


def check_server(url: str | None) -> None:
    """Raise UsageError for a `--judge-base-url` that no request can go to."""
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(what=f"--judge-base-url: expected http://... or https://..., got {url!r}")


def check_model(model: str | None) -> None:
    """Raise UsageError for a `--judge-model` that no provider answers: each bundle would repeat it."""
    if model is None:
        return
    from replaykit.grading.judges.judge_options import checked_model  # for who names a model

    try:
        checked_model(model, "--judge-model")
    except JudgeError as error:
        raise UsageError(what=str(error)) from error


def parse_sites(given: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return site name to roots; a name given several times has several roots."""
    sites: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, _, url = text.partition("=")
        if not name or "://" not in url:
            raise UsageError(what=f"--site: expected NAME=URL, got {text!r}")
        sites[name] = (*sites.get(name, ()), url)
    if sites:
        from replaykit.tasks.faults.suite_faults import root_faults  # for who names sites

        for place, fault in root_faults(sites):
            raise UsageError(what=f"--site {place[1:]}: {fault}")
    return sites


def warn_of_sites(given: Iterable[str], suite: Suite | None, sources: Iterable[str]) -> None:
    """Say which names of `--site` no task and no recording has: their roots are only equal to each other."""
    left, known = set(given), set[str]()
    if not left:
        return
    for names, plain in sites_named(suite, sources):
        known |= names
        left = {name for name in left - known if f"__{name.upper()}__" not in plain}
        if not left:
            return  # no further recording is opened
    from difflib import get_close_matches  # for what is wrong only

    for name in sorted(left):
        near = "".join(f"; did you mean {one}?" for one in get_close_matches(name, known, 1))
        there = f" (there are {', '.join(sorted(known)[:_NAMES_MAX])})" if known else ""
        notice(f"--site {name}: no task and no recording has a site of this name{near}{there}")


def sites_named(suite: Suite | None, sources: Iterable[str]) -> Iterator[tuple[set[str], str]]:
    """Yield the names of sites of the suite and of each recording, with their tasks as text."""
    from replaykit.bundle.reader import open_bundle  # for who names sites

    if suite is not None:
        yield {*suite.sites, *(name for task in suite.tasks for name in task.sites)}, _text(suite.tasks)
    for source in sources:
        with suppress(ReplaykitError), open_bundle(source) as bundle:  # grading reports what is wrong with it
            header = bundle.header
            listed = (header.task or {}).get("sites")
            named = listed if isinstance(listed, list | tuple) else ()
            yield {*header.sites, *(name for name in named if isinstance(name, str))}, _text(header.task)


def _text(plain: Any) -> str:
    return msgspec.json.encode(plain).decode()


_NAMES_MAX = 20
"""Names that a message lists."""
