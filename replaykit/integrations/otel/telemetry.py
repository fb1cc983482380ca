"""Send results with an exporter of OpenTelemetry: no provider, no queue, no thread, no random id.

Upstream: https://opentelemetry.io/docs/languages/python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import entry_points
from typing import Any, Literal

from opentelemetry._logs import LogRecord
from opentelemetry.context import Context
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

import replaykit
from replaykit.integrations.otel.evaluations import EVENT, Attributes, attributes, evaluations
from replaykit.integrations.otel.run_times import (
    Ids,
    RunTimes,
    ids_of,
    read_times,
    result_ids,
    step_ids,
    unread_ids,
)

LOGS, TRACES = "opentelemetry_logs_exporter", "opentelemetry_traces_exporter"
"""Groups of entry points in which exporters are registered."""

BATCH = 512
"""Records in one call of an exporter."""

RESOURCE = Resource({"service.name": "replaykit"})
"""Not `Resource.create`, which adds a random id of this process."""

SCOPE = InstrumentationScope("replaykit", replaykit.__version__)
"""Who sends."""


class Telemetry:
    """An exporter for evaluation events, and one for spans if they are wanted.

    `exporter`: a name in the group of entry points `opentelemetry_logs_exporter`, such as `otlp_proto_http`;
    with `results_as="span"` in the group `opentelemetry_traces_exporter`. It reads its own environment
    variables. Raises UsageError for a name that is not installed, InteropError for an exporter that cannot
    be made.
    """

    def __init__(
        self, exporter: str, *, has_spans: bool = False, results_as: Literal["log", "span"] = "log"
    ) -> None:
        self._name = exporter
        self._has_steps, is_traced = has_spans, results_as == "span"
        self._logs = None if is_traced else _exporter(LOGS, exporter)
        self._traces = _exporter(TRACES, exporter) if has_spans or is_traced else None

    def send(self, report: replaykit.Report, sources: Iterable[str]) -> None:
        """Send the results of a report; `sources` are its bundles, which say when their runs took place.

        Raises InteropError where the exporter does not accept them.
        """
        times = read_times(sources)
        if self._logs is not None:
            self._export(
                self._logs, [one for verdict in report.verdicts for one in log_records(verdict, times)]
            )
        if self._traces is not None:
            self._export(
                self._traces, [one for verdict in report.verdicts for one in self._spans(verdict, times)]
            )

    def _spans(self, verdict: replaykit.Verdict, times: dict[str, RunTimes]) -> Iterator[ReadableSpan]:
        yield from spans(verdict, times, has_steps=self._has_steps)
        if self._logs is None:
            yield from result_spans(verdict, times)

    def _export(self, exporter: Any, items: Sequence[Any]) -> None:
        try:
            for start in range(0, len(items), BATCH):
                if exporter.export(items[start : start + BATCH]).name != "SUCCESS":
                    raise self._failed(items, "it reports a failure")
            exporter.shutdown()
        except replaykit.ReplaykitError:
            raise
        except (Exception, SystemExit) as error:  # an exporter is code of others
            raise self._failed(items, str(error) or type(error).__name__) from error

    def _failed(self, items: Sequence[Any], reason: str) -> replaykit.InteropError:
        kind = "spans" if items and isinstance(items[0], ReadableSpan) else "results"
        what = f"cannot send {len(items)} {kind}: {reason}; the report itself is complete"
        return replaykit.InteropError(source=f"OpenTelemetry exporter {self._name}", what=what)


def log_records(verdict: replaykit.Verdict, times: dict[str, RunTimes]) -> Iterator[ReadableLogRecord]:
    """Return the events of one run, at the time when it ended."""
    run = times.get(verdict.trajectory or "")
    place = None if verdict.trajectory is None else ids_of(verdict.trajectory)
    if run is not None and run.parent is not None:
        place = run.parent
    at = 0 if run is None else run.end
    for one in evaluations(verdict):
        record = LogRecord(
            timestamp=at,
            observed_timestamp=at,
            context=_context(place),
            attributes=attributes(one, verdict),
            event_name=EVENT,
        )
        yield ReadableLogRecord(record, RESOURCE, SCOPE)


def result_spans(verdict: replaykit.Verdict, times: dict[str, RunTimes]) -> Iterator[ReadableSpan]:
    """Return the results of one run as spans below that of the run, with the attributes of the events.

    For back ends that take no log records. A span has no duration: it stands where the run ended.
    """
    run = times.get(verdict.trajectory or "")
    place, parent = _run_place(verdict, run), None
    at = 0 if run is None else run.end
    if run is not None:
        parent = place
    for index, one in enumerate(evaluations(verdict)):
        name, is_failed = f"{EVENT} {one.name}", one.label == "ERROR"
        about = attributes(one, verdict)
        yield _span(name, result_ids(place, index), parent, (at, at), about, is_failed=is_failed)


def spans(
    verdict: replaykit.Verdict, times: dict[str, RunTimes], *, has_steps: bool = True
) -> Iterator[ReadableSpan]:
    """Return `invoke_agent` for a run and `execute_tool` for each of its steps: names and times only."""
    run = times.get(verdict.trajectory or "")
    if run is None or verdict.trajectory is None:
        return
    place = _run_place(verdict, run)
    about: Attributes = {"replaykit.trajectory": verdict.trajectory, "replaykit.task": verdict.task_id}
    about |= {"gen_ai.operation.name": "invoke_agent"}
    if run.agent is not None:
        about["gen_ai.agent.name"] = run.agent
    name = f"invoke_agent {run.agent}" if run.agent else "invoke_agent"
    yield _span(name, place, run.parent, (run.start, run.end), about, is_failed=run.is_crashed)
    for index, step in enumerate(run.steps if has_steps else ()):
        about = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": step.name,
            "replaykit.step": index,
        }
        if step.error is not None:
            about["error.type"] = step.error
        name, when = f"execute_tool {step.name}", (step.start, step.end)
        yield _span(name, step_ids(place, index), place, when, about, is_failed=step.error is not None)


def _run_place(verdict: replaykit.Verdict, run: RunTimes | None) -> Ids:
    """Return the ids of a run's span; a bundle that could not be read has ids made from its verdict."""
    place = ids_of(verdict.trajectory) if verdict.trajectory else unread_ids(verdict)
    return place if run is None or run.parent is None else Ids(run.parent.trace, place.span)


def _span(
    name: str, place: Ids, parent: Ids | None, when: tuple[int, int], about: Attributes, *, is_failed: bool
) -> ReadableSpan:
    return ReadableSpan(
        name,
        context=_place(place),
        parent=None if parent is None else _place(parent),
        resource=RESOURCE,
        attributes=about,
        status=Status(StatusCode.ERROR if is_failed else StatusCode.UNSET),
        start_time=when[0],
        end_time=when[1],
        instrumentation_scope=SCOPE,
    )


def _exporter(group: str, name: str) -> Any:
    found = {point.name: point for point in entry_points(group=group)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise replaykit.UsageError(
            what=f"no OpenTelemetry exporter {name!r} in group {group}; installed: {known}"
        )
    try:
        return found[name].load()()
    except (Exception, SystemExit) as error:  # an exporter is code of others
        what = f"cannot be made: {error or type(error).__name__}"
        raise replaykit.InteropError(source=f"OpenTelemetry exporter {name}", what=what) from error


def _place(place: Ids) -> SpanContext:
    return SpanContext(place.trace, place.span, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _context(place: Ids | None) -> Context:
    return Context() if place is None else set_span_in_context(NonRecordingSpan(_place(place)), Context())
