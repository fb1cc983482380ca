"""A HAR file joined with a recorded run by time: a derived bundle, in which the network is filled.

For runs whose harness recorded the network on its own, beside a browser that was recorded without it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.story_lines import Line
from replaykit.bundle.verification import references
from replaykit.bundle.writer import Journal, NewBlob, SealResult
from replaykit.errors import OutputExists, UnknownLayout, UsageError
from replaykit.interop.har.har_entries import Base, moment
from replaykit.interop.har.har_files import IMPORTER, add_entries, is_har_name, log_of
from replaykit.interop.har.har_gaps import plain_url
from replaykit.interop.imported_run import Options, Run
from replaykit.interop.registry import check_options
from replaykit.interop.run_import import ImportResult
from replaykit.interop.source_files import open_source
from replaykit.interop.unreadable.path_kinds import kind_of_path
from replaykit.interop.written_bundles import BATCH, loaded, write_sealed
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.step import Derivation, Ending, Event, Header, Step

SLACK_MS = 60_000
"""Requests may begin so long before the run or after its last event."""

_FROM_CACHE = ("back", "forward")
"""Kinds of navigation for which a browser may ask no one."""

_DIGEST = lazy_pattern(r"[0-9a-f]{64}")


def join_har(
    har: str | Path,
    bundle: str | Path,
    folder: str | Path,
    *,
    options: Options | None = None,
    force: bool = False,
) -> ImportResult:
    """Write a bundle of the same name into `folder`, with the exchanges of a HAR file in it.

    Each exchange belongs to the last step that began before it. Raises UsageError for a bundle that has a
    network of its own or no clock, InteropError for what is no HAR file or one of another time, BundleError.
    """
    options, path = options or Options(), Path(har)
    target = Path(folder) / Path(bundle).name
    _check(Path(bundle), target, force=force)
    check_options(IMPORTER, options)
    candidate = next(IMPORTER.find(path), None) if path.is_file() else None
    if candidate is None:
        raise UnknownLayout(
            format="har", source=str(path), found=kind_of_path(path), expected=IMPORTER.looks_for
        )
    source = open_source("har", candidate.root, options.limits)
    try:
        with open_bundle(bundle) as opened, Run(source, candidate.name, options) as run:
            name = candidate.file or next((one for one in source.names() if is_har_name(one)), "har.har")
            found = _exchanges(run, name, opened)
            sealed = _written(run, opened, found, target, is_forced=force)
    finally:
        source.close()
    return ImportResult(
        source=str(path), path=sealed.path, digest=sealed.digest, warnings=tuple(run.warnings)
    )


def _check(bundle: Path, target: Path, *, force: bool) -> None:
    if target.exists() and bundle.exists() and target.samefile(bundle):
        raise UsageError(
            what=f"{target} is the bundle itself, which is never changed: name another folder with -o"
        )
    if target.exists() and not force:
        raise OutputExists(source=str(target), operation="write the bundle")


def _exchanges(run: Run, name: str, bundle: Bundle) -> list[Exchange]:
    """Return the exchanges with the steps that they belong to."""
    start = _start(bundle)
    log = log_of(run, name)
    _check_time(log["entries"], start, bundle, run, name)
    add_entries(run, log, Base(start=start), name)
    found = [event for event in run.events if isinstance(event, Exchange)]
    if (page := next(_unasked(bundle, found), None)) is not None:
        run.warn(f"{name}: requests are missing: the run loaded a page that is not in it: {page}")
        run.fills(network="partial")
    first = 1 + max((one.id for one in bundle.trajectory.of_type(Exchange)), default=-1)
    begun = sorted((step.t, step.index) for step in bundle.trajectory.steps if step.t is not None)
    return [_placed(one, first, begun) for one in found]


def _unasked(bundle: Bundle, found: Sequence[Exchange]) -> Iterator[str]:
    """Yield pages that the run loaded and that the file does not hold: it begins late, or ends early."""
    asked = {plain_url(one.url) for one in found}
    for one in bundle.trajectory.of_type(Navigation):
        is_load = one.committed and not one.same_document and not one.frame and one.kind not in _FROM_CACHE
        if is_load and one.url.startswith(("http:", "https:")) and plain_url(one.url) not in asked:
            yield one.url


def _start(bundle: Bundle) -> datetime:
    start = moment(bundle.header.created) if bundle.header.clock != "none" else None
    if start is None:
        raise UsageError(
            what=f"{bundle.name} does not state when it was recorded: nothing can be joined by time"
        )
    has_own = any(one.actor != "probe" for one in bundle.trajectory.of_type(Exchange))
    if has_own or bundle.trajectory.channel("network") != "absent":
        raise UsageError(what=f"{bundle.name} has a recorded network, which a HAR file does not replace")
    return start


def _check_time(entries: list[Any], start: datetime, bundle: Bundle, run: Run, name: str) -> None:
    """Refuse a file of which no request began while the run went on; without times, it is accepted."""
    starts = (moment(entry.get("startedDateTime")) for entry in entries if isinstance(entry, dict))
    times = [(one - start) / timedelta(milliseconds=1) for one in starts if one is not None]
    last = max((getattr(event, "t", None) or 0 for event in bundle.trajectory.events), default=0)
    if times and not any(-SLACK_MS <= time <= last + SLACK_MS for time in times):
        due = f"requests from {bundle.header.created} to {last / 1000:.0f} s later"
        run.source.malformed(f"{name} startedDateTime", "of another time than the run", due)


def _placed(exchange: Exchange, first: int, begun: Sequence[tuple[int, int]]) -> Exchange:
    """Return an exchange with its step; `begun`: time and index of each step, in order of time."""
    place = 0 if exchange.t is None else bisect_right(begun, exchange.t, key=lambda one: one[0])
    step = begun[place - 1][1] if place else None
    fields = {name: getattr(exchange, name) for name in ("redirect_from", "redirect_to")}
    moved = {name: id + first for name, id in fields.items() if id is not None}
    return replace(exchange, id=exchange.id + first, step=step, **moved)


def _written(
    run: Run, bundle: Bundle, found: Sequence[Exchange], target: Path, *, is_forced: bool
) -> SealResult:
    header = _header(run, bundle)
    events = list(_merged(bundle.trajectory.events, found))

    def journal(path: Path) -> None:
        with Journal.create(path) as written:
            written.commit([header], _blobs([header], bundle, run, written))
            for at in range(0, len(events), BATCH):
                batch = events[at : at + BATCH]
                written.commit(batch, _blobs(batch, bundle, run, written))

    return write_sealed(target, journal, is_forced=is_forced)


def _header(run: Run, bundle: Bundle) -> Header:
    header = bundle.header
    return replace(
        header,
        channels={**header.channels, "network": run.channels["network"]},
        options={**header.options, "har": dict(sorted(run.source.files.items()))},
        secrets=tuple(sorted({*header.secrets, *run.options.secrets})),
        derived_from=(*header.derived_from, Derivation(digest=bundle.digest, by="import")),
    )


def _merged(events: Iterable[Event | Unknown], found: Sequence[Exchange]) -> Iterator[Event | Unknown]:
    """Yield the events, and before each step the exchanges that belong to the one before it."""
    left = sorted(found, key=lambda one: (-1 if one.step is None else one.step, one.id))
    for event in events:
        due = event.index if isinstance(event, Step) else None
        while left and (isinstance(event, Ending) or (due is not None and _is_before(left[0], due))):
            yield left.pop(0)
        yield event
    yield from left


def _is_before(exchange: Exchange, step: int) -> bool:
    return exchange.step is None or exchange.step < step


def _blobs(lines: Iterable[Line], bundle: Bundle, run: Run, journal: Journal) -> Iterator[NewBlob]:
    """Yield the blobs that these lines are the first to refer to."""
    for id in dict.fromkeys(id for line in lines for id in _references(line)):
        if id in journal:
            continue
        if id in run.blobs:
            yield id, *loaded(run, id)
        elif id in bundle:
            yield id, bundle.blob_type(id), bundle.blob(id)


def _references(line: Line) -> Iterator[str]:
    if isinstance(line, Header):
        yield from [line.replies] if line.replies is not None else []
    elif isinstance(line, Unknown):
        yield from _DIGEST.findall(line.raw)
    else:
        yield from references(line)
