"""The trace that a run belongs to: said by its harness, kept in the header, refused where it is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import UsageError
from replaykit.recorder.recorder import Recorder
from replaykit.recorder.settings import TRACEPARENT, as_settings

SAID = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
OTHER = "00-" + "12" * 16 + "-" + "34" * 8 + "-00"


def test_the_variable_names_it_and_an_option_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACEPARENT, SAID)
    assert as_settings({}).traceparent == SAID
    assert as_settings({"traceparent": OTHER}).traceparent == OTHER
    monkeypatch.setenv(TRACEPARENT, "")
    assert as_settings({}).traceparent is None


@pytest.mark.parametrize(
    "said", ["00-1-2-01", SAID.upper(), "ff" + SAID[2:], SAID + "-x", "00-" + "0" * 32 + SAID[35:]]
)
def test_what_is_no_trace_context_is_refused(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACEPARENT, said)
    with pytest.raises(UsageError) as refused:
        as_settings({})
    assert str(refused.value) == (
        f"traceparent (REPLAYKIT_TRACEPARENT): expected 00-<32 hex digits>-<16 hex digits>-01, found {said!r}"
    )


def test_it_is_in_the_header(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(TRACEPARENT, SAID)
    with Recorder(tmp_path / "run.zst") as run:
        run.answer("42")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.header.traceparent == SAID


def test_a_harness_names_it_before_the_recording_begins(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst", traceparent=OTHER) as run:
        assert run.trace_context(SAID) == SAID
        run.answer("42")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.header.traceparent == SAID


def test_by_default_it_is_the_active_span(tmp_path: Path) -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    place = trace.SpanContext(int("ab" * 16, 16), int("cd" * 8, 16), False, trace.TraceFlags(1))
    with (
        Recorder(tmp_path / "run.zst") as run,
        trace.use_span(trace.NonRecordingSpan(place)),
    ):
        assert run.trace_context() == SAID
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.header.traceparent == SAID


def test_without_a_span_and_after_the_beginning_it_is_refused(tmp_path: Path) -> None:
    run = Recorder(tmp_path / "run.zst")
    with run:
        with pytest.raises(UsageError, match="no span of OpenTelemetry is active; give a traceparent"):
            run.trace_context()
        with pytest.raises(UsageError, match=r"^trace_context: expected 00-<32 hex digits>"):
            run.trace_context("00-1-2-01")
        run.answer("42")
    with pytest.raises(UsageError, match="the recording has begun; call it before attach"):
        run.trace_context(SAID)
