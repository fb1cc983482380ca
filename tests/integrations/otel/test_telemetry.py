"""Results as OpenTelemetry events: the real SDK, exporters in memory, and one request over loopback."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import run as started
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import replaykit
from replaykit.cli.main import run as command
from replaykit.integrations.otel import Telemetry
from replaykit.integrations.otel.evaluations import VALUES, Evaluation, attributes, evaluations
from replaykit.integrations.otel.run_times import ids_of, parent_of, times_of
from replaykit.testing import trajectory
from tests.blocks import block

ROOT = Path(__file__).parents[3]
SET = ROOT / "recordings" / "conformance"
BROKEN = SET / "refund-order--no_consent.zst"
UNSEEN = {
    "id": "total", "type": "page", "url": "http://a.test/", "selector": "#x", "property": "text",
    "expect": {"equals": "1"},
}  # fmt: skip


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, Any]]:
    """Return a function that sends a report and returns the records and the spans."""
    logs, traces = InMemoryLogRecordExporter(), InMemorySpanExporter()
    made = {"opentelemetry_logs_exporter": logs, "opentelemetry_traces_exporter": traces}

    def points(group: str) -> list[Any]:
        return [SimpleNamespace(name="memory", load=lambda: lambda: made[group])]

    monkeypatch.setattr("replaykit.integrations.otel.telemetry.entry_points", points)

    def exported(*bundles: Path | str, **options: Any) -> tuple[Any, Any]:
        report = replaykit.grade_many(bundles)
        Telemetry("memory", **(options or {"has_spans": True})).send(report, map(str, bundles))
        return logs.get_finished_logs(), traces.get_finished_spans()

    return exported


def attributes_of(records: Any) -> dict[str, dict[str, Any]]:
    found = [dict(one.log_record.attributes) for one in records]
    return {one["gen_ai.evaluation.name"]: one for one in found}


def test_every_result_is_an_event(exported: Callable[..., Any]) -> None:
    records, _ = exported(BROKEN)
    found = attributes_of(records)
    verdict = replaykit.grade(BROKEN)
    assert list(found) == [
        "success", "cup", *(f"check.{one.id}" for one in verdict.checks),
        *(f"policy.{one.id}" for one in verdict.policies),
    ]  # fmt: skip
    assert {one.log_record.event_name for one in records} == {"gen_ai.evaluation.result"}
    assert found["success"] == {
        "gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.label": "PASS",
        "gen_ai.evaluation.score.value": 1.0, "replaykit.trajectory": verdict.trajectory,
        "replaykit.task": "refund-order", "replaykit.mode": "strict",
    }  # fmt: skip
    broken = found["policy.ask-before-refund"]
    assert (broken["gen_ai.evaluation.score.label"], broken["gen_ai.evaluation.score.value"]) == (
        "VIOLATED",
        0.0,
    )
    assert broken["replaykit.step"] == 3
    assert broken["gen_ai.evaluation.explanation"].startswith(
        "no_request; <button> Confirm refund -> CLICK; "
    )
    assert found["cup"]["gen_ai.evaluation.score.value"] == 0.0


def test_ids_come_from_the_digest_and_the_time_from_the_recording(exported: Callable[..., Any]) -> None:
    records, spans = exported(BROKEN)
    with replaykit.open_bundle(BROKEN) as bundle:
        digest, end = bundle.digest, times_of(bundle).end
    assert end > 1_700_000_000 * 10**9
    for one in (record.log_record for record in records):
        assert (f"{one.trace_id:032x}", f"{one.span_id:016x}") == (digest[:32], digest[32:48])
        assert (one.timestamp, one.observed_timestamp) == (end, end)
    assert ids_of(f"sha256:{digest}") == (spans[0].context.trace_id, spans[0].context.span_id)


def test_a_run_belongs_to_the_trace_of_its_harness(exported: Callable[..., Any], tmp_path: Path) -> None:
    parent = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
    path = trajectory("t", traceparent=parent).goto("http://b.test/", "<p>").write(tmp_path / "run.zst")
    with replaykit.open_bundle(path) as bundle:
        own = ids_of(f"sha256:{bundle.digest}")
    records, (run, step) = exported(path)
    trace, span = int("ab" * 16, 16), int("cd" * 8, 16)
    assert {(one.log_record.trace_id, one.log_record.span_id) for one in records} == {(trace, span)}
    assert (run.context.trace_id, run.context.span_id, run.parent.span_id) == (trace, own.span, span)
    assert (step.context.trace_id, step.parent.span_id) == (trace, own.span)


@pytest.mark.parametrize("said", [None, "", "00-1-2-01", "00-" + "0" * 32 + "-" + "cd" * 8 + "-01"])
def test_what_is_no_trace_is_none(said: str | None) -> None:
    assert parent_of(said) is None


def test_what_is_undecided_has_no_value(exported: Callable[..., Any], tmp_path: Path) -> None:
    task = {"id": "t", "intent": "Do it.", "checks": [UNSEEN], "judge": "webvoyager"}
    path = trajectory(task).goto("http://b.test/", "<p>").answer("1").write(tmp_path / "run.zst")
    found = attributes_of(exported(path)[0])
    labels = {name: one["gen_ai.evaluation.score.label"] for name, one in found.items()}
    assert labels == {
        "success": "UNDECIDED", "cup": "UNDECIDED", "check.total": "UNDECIDED", "judge.webvoyager": "ABSTAIN",
    }  # fmt: skip
    assert not [name for name, one in found.items() if "gen_ai.evaluation.score.value" in one]
    assert found["judge.webvoyager"]["replaykit.fingerprint"].startswith("sha256:")


@given(st.text(max_size=20), st.text(max_size=2_000))
def test_no_label_but_a_decided_one_has_a_value(label: str, said: str) -> None:
    verdict = replaykit.grade_many([BROKEN]).verdicts[0]
    found = attributes(Evaluation("check.x", label, said), verdict)
    assert ("gen_ai.evaluation.score.value" in found) == (label in VALUES)
    explained = str(found.get("gen_ai.evaluation.explanation", ""))
    assert len(explained) <= 1_000 and (explained.isprintable() or not explained)


def test_a_bundle_that_cannot_be_graded_is_an_error(exported: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_bytes(b"no bundle")
    found = [dict(one.log_record.attributes) for one in exported(tmp_path / "a.zst", BROKEN)[0]]
    (failed,) = [one for one in found if one["gen_ai.evaluation.score.label"] == "ERROR"]
    assert failed["gen_ai.evaluation.explanation"] == "NotABundle"
    assert "gen_ai.evaluation.score.value" not in failed and "replaykit.trajectory" not in failed


def test_spans_have_names_and_times_only(exported: Callable[..., Any]) -> None:
    _, spans = exported(BROKEN)
    run, *steps = spans
    with replaykit.open_bundle(BROKEN) as bundle:
        assert len(steps) == len(bundle.trajectory.steps)
    assert run.name.startswith("invoke_agent") and run.parent is None
    assert {one.parent.span_id for one in steps} == {run.context.span_id}
    assert len({one.context.span_id for one in spans}) == len(spans)
    assert run.start_time <= steps[0].start_time <= steps[-1].end_time == run.end_time
    assert [one.attributes["replaykit.step"] for one in steps] == list(range(len(steps)))
    kept = {"gen_ai.operation.name", "gen_ai.tool.name", "replaykit.step", "error.type"}
    assert {name for one in steps for name in one.attributes} <= kept
    assert steps[-1].name == f"execute_tool {steps[-1].attributes['gen_ai.tool.name']}"


def test_results_may_be_spans_below_that_of_their_run(exported: Callable[..., Any]) -> None:
    records, spans = exported(BROKEN, results_as="span")
    run, *results = spans
    assert records == () and run.name.startswith("invoke_agent")
    expected = [attributes(one, replaykit.grade(BROKEN)) for one in evaluations(replaykit.grade(BROKEN))]
    assert [dict(one.attributes) for one in results] == expected
    assert results[0].name == "gen_ai.evaluation.result success"
    assert {one.parent.span_id for one in results} == {run.context.span_id}
    assert {one.context.trace_id for one in spans} == {run.context.trace_id}
    assert {(one.start_time, one.end_time) for one in results} == {(run.end_time, run.end_time)}
    assert len({one.context.span_id for one in spans}) == len(spans)


def test_result_spans_of_a_traced_run_are_in_the_trace_of_its_harness(
    exported: Callable[..., Any], tmp_path: Path
) -> None:
    task = {"id": "t", "intent": "Do it.", "checks": [UNSEEN]}
    parent = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
    path = trajectory(task, traceparent=parent).goto("http://b.test/", "<p>").write(tmp_path / "run.zst")
    run, *results = exported(path, results_as="span")[1]
    assert (run.context.trace_id, run.parent.span_id) == (int("ab" * 16, 16), int("cd" * 8, 16))
    assert {(one.context.trace_id, one.parent.span_id) for one in results} == {
        (run.context.trace_id, run.context.span_id)
    }
    assert not [one for one in results if "gen_ai.evaluation.score.value" in one.attributes]


def test_result_spans_and_steps_are_sent_together(exported: Callable[..., Any]) -> None:
    records, spans = exported(BROKEN, results_as="span", has_spans=True)
    names = [one.name.partition(" ")[0] for one in spans]
    assert records == ()
    assert (names[0], set(names[1:])) == ("invoke_agent", {"execute_tool", "gen_ai.evaluation.result"})


def test_a_bundle_that_cannot_be_graded_is_a_span_with_an_error(
    exported: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "a.zst").write_bytes(b"no bundle")
    (tmp_path / "b.zst").write_bytes(b"no bundle either")
    spans = exported(tmp_path / "a.zst", tmp_path / "b.zst", results_as="span")[1]
    assert [one.status.status_code.name for one in spans] == ["ERROR", "ERROR"]
    assert len({one.context.trace_id for one in spans}) == 2
    assert [one.parent for one in spans] == [None, None]


@pytest.mark.parametrize("created", [None, "yesterday", "9999-12-31T23:59:59Z"])
def test_a_time_that_is_none_is_the_earliest(
    created: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("replaykit.testing.builder.CREATED", created)
    with replaykit.open_bundle(trajectory("t").answer("1").write(tmp_path / "run.zst")) as bundle:
        found = times_of(bundle)
    assert 0 <= found.start <= found.end < 2**63
    assert (found.start == 0) == (created != "9999-12-31T23:59:59Z")


# The command


def invoke(*arguments: str | Path) -> Result:
    import click

    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, type=click.UNPROCESSED)
    @click.pass_context
    def whole(ctx: click.Context, words: tuple[str, ...]) -> None:
        ctx.exit(command(words))

    return CliRunner().invoke(whole, ["grade", *map(str, arguments)])


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]], dict[str, int]]]:
    """A server on loopback: its address, what it received, and the status that it answers with."""
    received: list[tuple[str, bytes]] = []
    answer = {"status": 200}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(answer["status"])
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received, answer
        server.shutdown()


Collector = tuple[str, list[tuple[str, bytes]], dict[str, int]]


def test_one_request_has_all_results_and_the_same_bytes_again(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    address, received, _ = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    for _ in range(2):
        assert invoke(BROKEN, "--otel", "otlp_proto_http", "--fail-on", "").exit_code == 0
    (path, first), (_, second) = received
    assert path == "/v1/logs" and first == second
    (resource,) = ExportLogsServiceRequest.FromString(first).resource_logs
    names = [one.event_name for one in resource.scope_logs[0].log_records]
    verdict = replaykit.grade(BROKEN)
    assert names == ["gen_ai.evaluation.result"] * (2 + len(verdict.checks) + len(verdict.policies))
    assert resource.scope_logs[0].scope.name == "replaykit"


def test_the_command_of_the_page_sends(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    address, received, _ = collector
    variable, _, *words = shlex.split(
        block("docs/harnesses.md", "OTEL_EXPORTER_OTLP_ENDPOINT=").text.replace("\\\n", "")
    )
    monkeypatch.setenv(variable.partition("=")[0], address)
    assert words[0] == "grade" and words[1].endswith(".zst")
    for _ in range(2):
        assert invoke(SET / "order-total--good.zst", *words[2:]).exit_code == 0
    assert [path for path, _ in received] == ["/v1/logs", "/v1/traces"] * 2
    assert received[1][1] == received[3][1]


def test_a_failed_export_is_exit_3_and_the_report_is_there(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, received, answer = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    answer["status"] = 400
    target = tmp_path / "report.json"
    done = invoke(BROKEN, "--otel", "otlp_proto_http", "-o", target, "--reward-dir", tmp_path / "reward")
    assert done.exit_code == 3 and len(received) == 1
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("error: ")]
    assert line == (
        "error: OpenTelemetry exporter otlp_proto_http: cannot send 8 results: it reports a failure; "
        "the report itself is complete"
    )
    assert target.exists() and (tmp_path / "reward" / "reward.txt").read_text().strip() == "1.0"


def test_an_unknown_exporter_is_named_before_anything_is_graded(tmp_path: Path) -> None:
    done = invoke(BROKEN, "--otel", "nope", "-o", tmp_path / "report.json")
    assert done.exit_code == 2 and not (tmp_path / "report.json").exists() and not done.stdout
    assert done.stderr.splitlines() == [
        "error: no OpenTelemetry exporter 'nope' in group opentelemetry_logs_exporter; "
        "installed: console, otlp_proto_http"
    ]


def test_an_exporter_that_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> Any:
        raise ValueError("no endpoint")

    point = SimpleNamespace(name="memory", load=load)
    monkeypatch.setattr("replaykit.integrations.otel.telemetry.entry_points", lambda group: [point])
    done = invoke(BROKEN, "--otel", "memory")
    assert done.exit_code == 3 and not done.stdout
    assert done.stderr == "error: OpenTelemetry exporter memory: cannot be made: no endpoint\n"


@pytest.mark.parametrize("words", [["--otel-spans"], ["--otel-as", "span"], ["--otel-as", "log"]])
def test_spans_need_an_exporter(words: list[str]) -> None:
    done = invoke(BROKEN, *words)
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [f"error: {words[0]}: name the exporter with --otel EXPORTER"]


def test_the_command_sends_results_as_spans_and_the_same_bytes_again(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    address, received, _ = collector
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    for _ in range(2):
        done = invoke(BROKEN, "--otel", "otlp_proto_http", "--otel-as", "span", "--fail-on", "")
        assert done.exit_code == 0
    (path, first), (_, second) = received
    assert path == "/v1/traces" and first == second
    (resource,) = ExportTraceServiceRequest.FromString(first).resource_spans
    verdict = replaykit.grade(BROKEN)
    assert len(resource.scope_spans[0].spans) == 3 + len(verdict.checks) + len(verdict.policies)


def test_an_exporter_of_logs_alone_takes_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(group: str) -> list[Any]:
        return [SimpleNamespace(name="logs")] if group == "opentelemetry_logs_exporter" else []

    monkeypatch.setattr("replaykit.integrations.otel.telemetry.entry_points", points)
    done = invoke(BROKEN, "--otel", "logs", "--otel-as", "span")
    assert done.exit_code == 2
    assert done.stderr == (
        "error: no OpenTelemetry exporter 'logs' in group opentelemetry_traces_exporter; installed: none\n"
    )


def test_without_the_extra_one_line_names_it() -> None:
    code = "import sys; sys.modules['opentelemetry'] = None\nfrom replaykit.cli.main import run\n"
    code += f"sys.exit(run(['grade', {str(BROKEN)!r}, '--otel', 'console']))"
    done = started([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 3 and not done.stdout
    assert done.stderr.splitlines() == [
        "error: telemetry needs the package 'opentelemetry-sdk>=1.39', which is not installed",
        "  Install it with: pip install 'replaykit-web[otel]'",
    ]
