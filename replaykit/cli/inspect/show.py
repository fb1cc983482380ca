"""`replaykit show`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click
import msgspec

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.cli.command_options import option
from replaykit.cli.maintain import completion
from replaykit.errors import ReplaykitError, UsageError
from replaykit.grading.findings.detection import findings_of
from replaykit.grading.verdict import RunFinding
from replaykit.replay.player import Replay
from replaykit.report.json_text import json_text
from replaykit.report.text.table import safe, short, table
from replaykit.trajectory.action_rendering import render_action, render_step
from replaykit.trajectory.completeness import assumes, channel_lines
from replaykit.trajectory.exchange import Message, Navigation
from replaykit.trajectory.plurals import counted
from replaykit.trajectory.step import Probe, Step, Trajectory


@click.command(epilog="Example: replaykit show run.zst --step 0")
@click.argument("bundle", shell_complete=completion.files)
@option("--step N", "Show one step in full; steps count from 0.", name="number", type=click.IntRange(min=0))
@option(
    "--json",
    "Print header and events as recorded, as JSON lines. With --step: that step and its observations.",
    name="as_json",
)
def command(bundle: str, number: int | None, as_json: bool) -> None:
    """List what a bundle contains: header, one line per step, ending, probes."""
    with open_bundle(bundle) as opened:
        events = _selected(opened.trajectory, number)
        if as_json:
            for event in events:
                click.echo(json_text(event))
        elif number is not None:
            click.echo("\n".join(_in_full(opened.trajectory, number)))
        else:
            click.echo("\n".join(_overview(opened)))


def _selected(run: Trajectory, number: int | None) -> list[Any]:
    if number is None:
        return [run.header, *run.events]
    step = _step(run, number)
    return [step, *run.looks(step)]


def _step(run: Trajectory, number: int) -> Step:
    if number >= len(run.steps):
        raise UsageError(what=f"no step {number}; the run has {len(run.steps)}, counted from 0")
    return run.steps[number]


def _overview(bundle: Bundle) -> Iterator[str]:
    run = bundle.trajectory
    yield from _header(bundle)
    yield ""
    yield from _steps(run) if run.steps else ["no steps"]
    messages = [f"  {m.role} {m.kind}: {safe(short(m.text, 100))}" for m in run.of_type(Message)]
    if messages:
        yield from ("", "messages", *messages)
    loads = [_failed_load(one) for one in run.of_type(Navigation) if _is_failed_load(one)]
    if loads:
        yield from ("", "page loads that failed", *loads)
    replay = Replay(bundle)
    probes = [*_probes(replay)]
    if probes:
        yield from ("", "probes", *probes)
    findings = [_finding(one) for one in _findings(bundle, replay)]
    if findings:
        yield from ("", "findings", *findings)
    yield from ("", _ending(run))


def _header(bundle: Bundle) -> Iterator[str]:
    header = bundle.header
    task = header.task or {}
    intent = f": {short(str(task.get('intent', '')), 200)}" if task else ""
    yield safe(f"{task.get('id', 'no task')}{intent}")
    yield f"sha256:{bundle.digest} ({bundle.layout}, format {bundle.format})"
    environment = header.environment
    facts = [header.created, environment.browser, environment.browser_version, environment.driver]
    yield safe(", ".join(fact for fact in facts if fact))
    yield "channels"
    yield from (safe(f"  {line}") for line in channel_lines(bundle.trajectory))
    yield f"assumes: {assumes(bundle.trajectory)}"
    if bundle.torn_bytes:
        yield f"{bundle.torn_bytes} torn bytes after the last commit: `replaykit seal` drops them"


def _steps(run: Trajectory) -> list[str]:
    rows = [["step", "ms", "action", "url"]]
    for step in run.steps:
        time = "-" if step.t is None else str(step.t)
        rows.append(
            [str(step.index), time, short(_flagged(step), 90) + _error(step), short(step.url or "-", 70)]
        )
    return table(rows)


def _flagged(step: Step) -> str:
    mark = f" (reported: {render_action(step.reported)})" if step.mismatch else ""
    mark += "" if step.seen else " (reported, but the page saw nothing of it)"
    return render_step(step) + mark


def _error(step: Step) -> str:
    if step.error is None:
        return ""
    lines = step.error.message.splitlines() or [""]
    return short(f" [{step.error.name}: {lines[0]}]" if lines[0] else f" [{step.error.name}]", 160)


def _is_failed_load(one: Navigation) -> bool:
    return not one.frame and (one.error is not None or (one.status or 0) >= 400)


def _failed_load(one: Navigation) -> str:
    at = "-" if one.step is None else f"step {one.step}"
    why = one.error or f"the server answered {one.status}"
    return safe(f"  {at} {short(one.url, 120)}: {why}")


def _findings(bundle: Bundle, replay: Replay) -> tuple[RunFinding, ...]:
    """Return what was found; a task or a check that cannot be read explains nothing."""
    found = findings_of(replay)
    if bundle.header.task and any(one.code == "S1" and not one.unknown for one in found):
        from replaykit.grading.grader import findings_explained  # for runs that changed something

        with suppress(ReplaykitError):
            return findings_explained(bundle, replay)
    return found


def _finding(one: RunFinding) -> str:
    at = "-" if one.step is None else f"step {one.step}"
    shown = one.evidence[0] if one.evidence else None
    facts = (
        (shown.source if one.code == "R1" else None, shown.excerpt, shown.note or shown.url) if shown else ()
    )
    why = ", ".join(fact for fact in facts if fact)
    state = ", recovered" if one.recovered else ""
    return safe(short(f"  {one.code} {at}: {one.name}{state}" + (f" ({why})" if why else ""), 200))


def _probes(replay: Replay) -> Iterator[str]:
    for page in replay.probes:
        from replaykit.grading.checks.pages.page_evidence import visit_fault  # for runs that have probes

        if isinstance(page.seen, Probe):
            yield _probe(page.seen, visit_fault(page))


def _probe(probe: Probe, fault: str | None) -> str:
    asked = probe.requested or f"{probe.name or ''} {probe.method or ''} {probe.path or probe.url}".strip()
    state = str(probe.status or "-") if fault is None else f"not reached: {fault}"
    threw = [f"{read.locator}: {read.threw.name}" for read in probe.reads if read.threw is not None]
    reads = f", {counted(len(probe.reads), 'read')}" if probe.reads else ""
    failed = f", failed reads: {short('; '.join(threw), 160)}" if threw else ""
    return safe(f"  {probe.phase} {probe.id} {asked}: {state}{reads}{failed}")


def _ending(run: Trajectory) -> str:
    if run.ending is None:
        return "interrupted: the recording has no ending" + _answered(run.answer)
    error = run.ending.error
    why = f": {error.name}: {short(error.message, 200)}" if error else ""
    return safe(f"ended: {run.ending.kind} by {run.ending.cause}{why}" + _answered(run.answer))


def _answered(answer: str | None) -> str:
    return "" if answer is None else f", answer: {short(answer, 200)!r}"


def _in_full(run: Trajectory, number: int) -> Iterator[str]:
    step = _step(run, number)
    yield f"step {number}: {safe(_flagged(step) + _error(step))}"
    for name, value in msgspec.to_builtins(step).items():
        if name not in ("type", "index"):
            yield f"  {name}: {safe(msgspec.json.encode(value).decode())}"
    for look in run.looks(step):
        yield f"  {look.role}: {safe(msgspec.json.encode(look).decode())}"
