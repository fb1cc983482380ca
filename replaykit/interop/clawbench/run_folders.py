"""Run folders of ClawBench: DOM events, requests without responses, screenshots.

Upstream: https://github.com/reacher-z/ClawBench; `runtime-server/server.py` of clawbench-eval 0.11 writes
`data/`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from replaykit.errors import MalformedSource
from replaykit.interop.clawbench.clawbench_events import ClawbenchEvent, ClawbenchGesture, Gestures
from replaykit.interop.clawbench.final_answer import final_answer
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import Listing, folders, peek, relative
from replaykit.interop.har.har_entries import RESOURCES, Base, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Exchange, Imported, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import AgentInfo

META, SCHEMA = "run-meta.json", "eval-schema.json"
"""Files about the run, and about the request that it is watched for."""

DATA = "data/"
ACTIONS, REQUESTS = DATA + "actions.jsonl", DATA + "requests.jsonl"
MESSAGES, INTERCEPTION = DATA + "agent-messages.jsonl", DATA + "interception.json"
SHOTS = DATA + "screenshots/"

BLOCKED = "net::ERR_BLOCKED_BY_CLIENT"
"""Error that the page sees for the request that the benchmark intercepts."""

NEAR_MS = 1000
"""How far an image may lie behind an event, ms, where its name is not the time of one."""

_JUDGE = lazy_pattern(r"judge[^/]*\.json")
_SHOT = lazy_pattern(r"(\d{10,16})\.(?:png|jpe?g|webp)")
_TIMED_OUT = ("time_limit_exceeded", "agent_idle")
_BROKEN = ("failed", "timeout", "missing_harness")


def read(run: Run, candidate: Candidate) -> None:
    """Read one run folder."""
    meta = _object(run, META)
    if not meta:
        # A run that was killed has no such file, and the rest may still be read.
        run.warn(f"no {META} that can be read: the task is not known")
    _head(run, candidate, meta)
    interception = _object(run, INTERCEPTION)
    events, requests = _events(run), _lines(run, REQUESTS)
    base = _clock(
        run, [event.timestamp for event, _ in events], [row.get("timestamp") for _, row in requests]
    )
    gestures = Gestures(run.passwords.__contains__, keeps_secrets=run.options.keeps_secrets)
    found = list(gestures.of(events))
    _steps(run, found, base)
    _exchanges(run, requests, interception, base)
    _verdicts(run, interception, meta)
    _end(run, interception, meta, final_answer(_talk(run)))


def _object(run: Run, name: str) -> dict[str, Any]:
    value = run.beside(name)
    if value is not None and not isinstance(value, dict):
        run.flaw("no object: kept beside", name)
        run.keep(name, {"value": value})
    return value if isinstance(value, dict) else {}


def _head(run: Run, candidate: Candidate, meta: dict[str, Any]) -> None:
    id, intent, model, harness = (meta.get(key) for key in ("test_case", "instruction", "model", "harness"))
    name = id if isinstance(id, str) else candidate.root.resolve().name
    run.task(name, intent=intent if isinstance(intent, str) else None)
    run.header["agent"] = AgentInfo(
        name=harness if isinstance(harness, str) else None,
        model=model if isinstance(model, str) else None,
        harness="clawbench",
    )
    run.keep(
        META,
        {
            key: value
            for key, value in meta.items()
            if key not in ("instruction", "test_case", *OUTCOMES) and holds_data(value)
        },
    )


def _lines(run: Run, name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return number and object of each line; the file may be missing or empty."""
    found = []
    for number, value in run.lines(name) if name in run.source else ():
        if isinstance(value, dict):
            found.append((number, value))
        else:
            run.cut("a line that is no object: kept beside the steps", f"{name} line {number}")
            run.keep(f"{name} line {number}", {"line": value})
    return found


def _events(run: Run) -> list[tuple[ClawbenchEvent, dict[str, Any]]]:
    """Return the events in their order, each with its line; what is no event is kept."""
    if ACTIONS not in run.source:
        run.cut("missing: what was done is not known", ACTIONS)
    found = []
    for number, raw in _lines(run, ACTIONS):
        place = f"{ACTIONS} line {number}"
        try:
            found.append((run.converted(raw, ClawbenchEvent, place), raw))
        except MalformedSource:
            run.cut("no event: kept beside the steps", place)
            run.keep(place, raw)
    return found


def _clock(run: Run, events: list[float | None], requests: list[Any]) -> Base:
    """Return where times count from: events have ms, requests seconds, of the machines' clocks."""
    seconds = [at / 1000 for at in events if at is not None]
    seconds += [float(at) for at in requests if isinstance(at, int | float) and not isinstance(at, bool)]
    # A time of 0 is one that was never set.
    known = [at for at in seconds if 0 < at < 2**33]
    if not known:
        return Base()
    start = _when(min(known))
    run.header.update(created=stamp(start), clock="source")
    return Base(start=start)


def _when(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def _ms(base: Base, seconds: Any) -> int | None:
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < 2**33
    return base.ms(_when(seconds)) if is_time else None


def _steps(run: Run, found: list[ClawbenchGesture], base: Base) -> None:
    """Add what was done; a page that loads is a navigation of unknown cause."""
    shots = _Shots(run, {at for one in found for at in one.times})
    last: Observation | None = None
    for one in found:
        t, first = None if one.t is None else _ms(base, one.t / 1000), one.events[0]
        url = first.url or None
        if one.action is None:
            run.add(Navigation(url=first.url, kind="unknown", t=t, step=run.steps - 1 if run.steps else None))
            run.keep(f"{ACTIONS} pageLoad", {"event": one.raws})
            _add_shots(run, shots.of(one), None)
        else:
            before = Observation(role="before", url=url, t=t) if url else None
            step = run.step(t=t, action=one.action, url=url, raw=one.raws, before=before)
            _add_shots(run, shots.of(one), step.index)
        last = Observation(role="final", url=url, title=first.title, t=t) if url else last
    _add_shots(run, shots.left(), None)
    if last is not None:
        run.add(last)
    run.fills(actions="partial", targets="partial", urls="partial")
    run.fills(screenshots="partial" if run.image_count else "absent")
    run.origin["alignment"] = "exact"


def _add_shots(run: Run, names: list[tuple[str, bool]], of: int | None) -> None:
    """Add images: the last one shows what followed a step, the others hang on the run."""
    for at, (name, is_exact) in enumerate(names):
        shot = run.image(name)
        # Of several images, the last shows the settled page.
        is_after = of is not None and at == len(names) - 1
        if shot is not None:
            run.add(
                Observation(role="after" if is_after else "unaligned", of=of if is_after else None,
                            screenshot=shot, shot_exact=is_exact)
            )  # fmt: skip


class _Shots:
    """Images by their time: of an event, where they have its time; else of the one just before."""

    def __init__(self, run: Run, times: set[int]) -> None:
        names = [name for name in run.source.names() if name.startswith(SHOTS)]
        timed = [(int(match[1]), name) for name in names if (match := _SHOT.fullmatch(name[len(SHOTS) :]))]
        # By time: a folder lists its names as text.
        self._names = dict(sorted(timed))
        self._loose = [at for at in self._names if at not in times]

    def of(self, one: ClawbenchGesture) -> list[tuple[str, bool]]:
        """Return the images of a gesture, each with whether it is keyed, in the order of time."""
        exact = [at for at in dict.fromkeys(one.times) if at in self._names]
        last = one.times[-1] if one.times else None
        # An image with the event's own time needs no guess.
        near = [] if exact or last is None else self._after(last)
        return [(self._names.pop(at), bool(exact)) for at in [*exact, *near]]

    def _after(self, moment: int) -> list[int]:
        """Return the time of the first image that is left and follows soon."""
        first = bisect_left(self._loose, moment)
        soon = takewhile(lambda at: at - moment <= NEAR_MS, self._loose[first : first + NEAR_MS])
        return next(([at] for at in soon if at in self._names), [])

    def left(self) -> list[tuple[str, bool]]:
        """Return the images of no event."""
        return [(name, False) for name in self._names.values()]


def _exchanges(
    run: Run, requests: list[tuple[int, dict[str, Any]]], interception: dict[str, Any], base: Base
) -> None:
    """Add the requests: what was answered is not recorded."""
    if REQUESTS not in run.source:
        return
    blocked = _blocked(interception, requests)
    for id, (number, row) in enumerate(requests):
        exchange = _exchange(run, id, number, row, base)
        if exchange is not None:
            # The file shows it like the others, but it never left the browser.
            run.add(replace(exchange, error=BLOCKED) if number == blocked else exchange)
    run.fills(network="partial")


def _exchange(run: Run, id: int, number: int, row: dict[str, Any], base: Base) -> Exchange | None:
    place, method, url = f"{REQUESTS} line {number}", row.get("method"), row.get("url")
    if not isinstance(method, str) or not isinstance(url, str) or not method or not url:
        run.flaw("a request without method or URL: kept beside", place)
        run.keep(place, row)
        return None
    # Later releases write fields that are unknown here.
    run.keep(place, {key: value for key, value in row.items() if key not in _READ and holds_data(value)})
    run.leave_out(f"{REQUESTS} query_params", int(holds_data(row.get("query_params"))))  # a copy of the URL's
    kind = str(row.get("resource_type", "")).lower()
    return Exchange(
        id=id, t=_ms(base, row.get("timestamp")), method=method, url=url,
        resource=kind if kind in RESOURCES else "other", request_headers=_headers(row.get("headers")),
        post=_post(run, row),
    )  # fmt: skip


_READ = frozenset({"method", "url", "headers", "body", "query_params", "resource_type", "timestamp"})


def _headers(value: Any) -> tuple[tuple[str, str], ...] | None:
    return tuple((str(name), str(part)) for name, part in value.items()) if isinstance(value, dict) else None


def _post(run: Run, row: dict[str, Any]) -> Any:
    """Keep a body: upstream parsed it, so that it is written again in the form its header names."""
    body = row.get("body")
    if body is None:
        return None
    headers = row.get("headers")
    kind = (
        next((str(v) for n, v in headers.items() if n.lower() == "content-type"), "")
        if isinstance(headers, dict)
        else ""
    )
    # A text is as it was sent; other values were parsed.
    if isinstance(body, str):
        return run.put(
            kind.partition(";")[0].strip().lower() or "text/plain", body.encode("utf-8", "replace")
        )
    if "urlencoded" in kind.lower() and isinstance(body, dict):
        return run.put("application/x-www-form-urlencoded", urlencode(body, doseq=True).encode())
    return run.put("application/json", msgspec.json.encode(body))


def _blocked(interception: dict[str, Any], requests: list[tuple[int, dict[str, Any]]]) -> int | None:
    """Return the line of the request that was intercepted; None where none was."""
    found = interception.get("request")
    if interception.get("intercepted") is not True or not isinstance(found, dict):
        return None
    same = [
        n for n, row in requests if all(row.get(key) == found.get(key) for key in ("url", "method", "body"))
    ]
    # A request may be tried again: the last one was stopped.
    return same[-1] if same else None


OUTCOMES = ("pass", "judge_match", "result_category", "failure_category")
"""The benchmark's result of a run."""


def _verdicts(run: Run, interception: dict[str, Any], meta: dict[str, Any]) -> None:
    """Add the results of the benchmark and its judges; the request that it waits for is shown to no judge."""
    schema = run.beside(SCHEMA)
    for name, value in ((INTERCEPTION, interception.get("schema")), (SCHEMA, schema)):
        # Kept where no judge looks: it is the expected request.
        run.keep(name, {"schema": value} if holds_data(value) else {})
    outcome = {key: value for key, value in interception.items() if key != "schema"}
    if outcome:
        run.add(Imported(kind="outcome", name="clawbench", value=outcome, file=INTERCEPTION))
    result = {key: meta[key] for key in OUTCOMES if meta.get(key) is not None}
    if result:
        run.add(Imported(kind="outcome", name="clawbench", value=result, file=META))
    for name in run.source.names():
        value = run.beside(name) if _JUDGE.fullmatch(PurePosixPath(name).name) else None
        if value is not None:
            run.add(Imported(kind="judgement", name="clawbench", value=value, file=name))


def _talk(run: Run) -> list[Any]:
    """Return the lines of the agent's transcript, and keep them; each harness has a form of its own."""
    try:
        found = list(run.lines(MESSAGES)) if MESSAGES in run.source else []
    except MalformedSource as fault:
        run.flaw(f"unreadable ({fault.fields['found']}): left out", MESSAGES)
        run.leave_out(MESSAGES)
        return []
    for number, line in found:
        run.keep(f"{MESSAGES} line {number}", {"line": line})
    return [line for _, line in found]


def _end(run: Run, interception: dict[str, Any], meta: dict[str, Any], answer: str | None) -> None:
    """End the run; one that the benchmark leaves out of its rate, such as for lack of credit, is invalid."""
    reason = str(interception.get("stop_reason") or "")
    # Asked first: such a run may also have a reason of its own.
    if meta.get("adjusted_eligible") is False or meta.get("infra_failure") is True:
        why = meta.get("failure_reason") or meta.get("failure_category") or reason
        error = Threw(name="Error", message=str(why)) if why else None
        run.end("crashed", cause="harness", validity="other", answer=answer, error=error)
    elif interception.get("intercepted") is True:
        run.end("stopped", cause="harness", answer=answer)
    elif reason in _TIMED_OUT:
        run.end("timeout", answer=answer)
    # The harness failed here, and the agent is not to blame.
    elif reason.endswith(_BROKEN):
        run.end("crashed", cause="harness", validity="other", answer=answer)
    else:
        run.end("unknown" if answer is None else "answered", answer=answer)


def _is_one(listing: Listing) -> bool:
    # The folder's name is too common to identify the layout.
    has_data = DATA.rstrip("/") in listing.folders
    if has_data:
        return listing.holds(META) or _has_events(listing.path)
    return listing.holds(META) and _is_meta(listing.path / META)


def _is_meta(file: Path) -> bool:
    """Whether a file is that of a run which failed before there was anything else."""
    plain = peek(file)
    return isinstance(plain, dict) and plain.keys() >= {"test_case", "harness", "result_category"}


def _has_events(folder: Path) -> bool:
    try:
        return (folder / ACTIONS).is_file() and (folder / REQUESTS).is_file()
    except OSError:
        return False


def find(path: Path) -> Iterator[Candidate]:
    """Yield the run folders under a path."""
    for folder in folders(path, _is_one):
        yield Candidate(name=relative(folder, path), root=folder)


IMPORTER = Importer(
    name="clawbench",
    reads="run folders of ClawBench",
    looks_for=f"{META} beside {ACTIONS} and {REQUESTS}",
    channels=letters("R task times; P actions targets urls screenshots network; o answer"),
    find=find,
    read=read,
)
