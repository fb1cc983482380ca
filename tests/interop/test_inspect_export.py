"""Exported logs of Inspect: read by its own package, read back here, with scores of what is decided alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import CannotExport
from replaykit.grading.grader import grade
from replaykit.grading.verdict import Outcome
from replaykit.interop.bundle_export import Choices, export_run, image_bytes
from replaykit.interop.run_import import import_run
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory
from replaykit.trajectory.action import Answer
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.step import Step
from tests.interop.conftest import Importing
from tests.interop.samples import SAMPLES, atif
from tests.needed import missing
from tests.thorough import one_in

RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))


def exported(bundle: str | Path, folder: Path, **choices: Any) -> Path:
    return export_run("inspect", bundle, folder / "x.eval", choices=Choices(**choices))


def actions(bundle: Bundle) -> list[tuple[Any, ...]]:
    steps = bundle.trajectory.steps
    last = len(steps) - 1
    return [_bare(step) for at, step in enumerate(steps) if at < last or not isinstance(step.action, Answer)]


def _bare(step: Step) -> tuple[Any, ...]:
    import msgspec

    plain = msgspec.to_builtins(step.action)
    for place in ("element",):
        if isinstance(plain.get(place), dict):
            plain[place].pop("node", None)
    return plain, None if step.error is None else (step.error.message or step.error.name)


def shots(bundle: Bundle) -> list[bytes]:
    run = bundle.trajectory
    seen = [one.screenshot for step in run.steps if (one := run.after(step)) is not None]
    return [data for one in seen if (data := image_bytes(bundle, one)) is not None]


INSPECT = Path(__file__).parents[2] / ".venv" / "inspect"
"""Where `.ci/setup` puts Inspect: beside the environment, since it has versions of its own."""

READ = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
found = {}
for file in sys.argv[1:]:
    log = read_eval_log(file)
    (sample,) = log.samples
    calls = [call for one in sample.messages if one.role == "assistant" for call in one.tool_calls or ()]
    found[file] = {
        "calls": len(calls), "input": sample.input, "answer": sample.output.completion, "status": log.status,
        "ids": [sample.id, *(one.id for one in read_eval_log_sample_summaries(file))],
        "head": read_eval_log(file, header_only=True).eval.dataset.sample_ids,
    }
print(json.dumps(found))
"""
"""Script that reads logs by Inspect's own package."""


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Export every recording, and have Inspect read them all in one process: name to log and what it says."""
    if not (INSPECT / "replaykit-lock").exists():
        missing(
            "Inspect's own package, which reads the exported logs, is not in .venv/inspect: sh .ci/test installs it"
        )
    folder = tmp_path_factory.mktemp("logs")
    files = {path.stem: exported(path, folder / path.stem) for path in RECORDINGS}
    environment = {**os.environ, "PYTHONPATH": str(INSPECT)}
    call = [sys.executable, "-S", "-c", READ, *map(str, files.values())]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    return {name: (file, said[str(file)]) for name, file in files.items()}


@pytest.mark.parametrize("path", one_in(4, RECORDINGS), ids=lambda path: path.stem)
def test_a_recording_is_read_by_inspect_and_comes_back(
    path: Path, logs: dict[str, tuple[Path, dict[str, Any]]], imported: Importing
) -> None:
    file, said = logs[path.stem]
    again = imported("inspect", file)
    with open_bundle(path) as first:
        run = first.trajectory
        task = run.header.task or {}
        assert said == {
            "calls": len(actions(first)), "input": task["intent"], "answer": run.answer or "",
            "status": "success", "ids": [task["id"]] * 2, "head": [task["id"]],
        }  # fmt: skip
        assert actions(again) == actions(first)
        assert again.trajectory.answer == run.answer
        assert shots(again) == shots(first) != []


@pytest.mark.parametrize("format", sorted(set(SAMPLES) - {"har"}))
def test_an_imported_run_comes_back(format: str, tmp_path: Path, imported: Importing) -> None:
    first = imported(format, SAMPLES[format](tmp_path / "in"))
    if not first.trajectory.steps and first.trajectory.answer is None:
        return
    again = imported("inspect", exported(first.name, tmp_path))
    assert actions(again) == actions(first) and again.trajectory.answer == (first.trajectory.answer or None)
    thoughts = [step.thought for step in first.trajectory.steps if step.thought]
    assert not thoughts or thoughts[0] in "".join(step.thought or "" for step in again.trajectory.steps)


def test_a_run_without_steps_and_answer_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(CannotExport, match="neither steps nor an answer"):
        exported(trajectory().end().write(tmp_path / "run.zst"), tmp_path)


def test_screenshots_are_left_out_on_demand(tmp_path: Path, imported: Importing) -> None:
    again = imported("inspect", exported(RECORDINGS[0], tmp_path, has_images=False))
    assert again.trajectory.steps and shots(again) == []


CHECK = {"type": "string_match", "exact": "42"}
UNKNOWN = {
    "type": "page",
    "url": "http://x.test/",
    "selector": "#a",
    "property": "text",
    "expect": {"equals": "x"},
}


@pytest.mark.parametrize(
    ("checks", "answer", "scores"),
    [
        ([CHECK], "42", {"success": "C", "cup": 1}),
        ([CHECK], "43", {"success": "I", "cup": 0}),
        ([CHECK, UNKNOWN], "42", {}),
    ],
)
def test_scores_are_those_that_are_decided(
    checks: list[Any], answer: str, scores: dict[str, Any], tmp_path: Path, imported: Importing
) -> None:
    path = atif(tmp_path / "in", steps=[{"step_id": 1, "source": "agent", "message": answer}])
    bundle = imported("atif", path)
    task = decode_task({"id": "t", "intent": "Say it.", "checks": checks})
    file = exported(bundle.name, tmp_path, verdicts=(grade(bundle, task),))
    labels = {one.name: one.value["value"] for one in imported("inspect", file).trajectory.of_type(Imported)}
    assert labels == scores


def test_a_task_without_checks_has_no_cup(tmp_path: Path, imported: Importing) -> None:
    path = atif(tmp_path / "in", steps=[{"step_id": 1, "source": "agent", "message": "42"}])
    bundle = imported("atif", path)
    verdict = replace(grade(bundle, {"id": "t", "intent": "Say it."}), success=Outcome.PASS, completion=None)
    file = exported(bundle.name, tmp_path, verdicts=(verdict,))
    labels = {one.name: one.value["value"] for one in imported("inspect", file).trajectory.of_type(Imported)}
    assert labels == {"success": "C"}


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CALLS = st.sampled_from(
    [("goto", {"url": "http://x.test/"}), ("click", {"point": [3, 4]}), ("web_dance", {"at": 3}), ("raw", {})]
)


@given(st.lists(st.tuples(CALLS, WORDS, WORDS), max_size=4), WORDS)
@settings(max_examples=settings().max_examples)
def test_any_run_comes_back(turns: list[tuple[Any, str, str]], answer: str) -> None:
    steps = [
        {"step_id": at, "source": "agent", "message": "", "reasoning_content": thought,
         "tool_calls": [{"tool_call_id": "a", "function_name": name, "arguments": given}],
         "observation": {"results": [{"source_call_id": "a", "content": said}]}}
        for at, ((name, given), thought, said) in enumerate(turns, 1)
    ]  # fmt: skip
    steps.append({"step_id": len(steps) + 1, "source": "agent", "message": answer})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        import_run("atif", atif(folder / "in", steps=steps), folder / "first.zst")
        with open_bundle(folder / "first.zst") as first:
            if not first.trajectory.steps and first.trajectory.answer is None:
                return
            import_run("inspect", exported(folder / "first.zst", folder), folder / "second.zst")
            with open_bundle(folder / "second.zst") as second:
                assert actions(second) == actions(first)
                assert second.trajectory.answer == (first.trajectory.answer or None)
                given = [(s.thought or None) for s in first.trajectory.steps]
                assert [(s.thought or None) for s in second.trajectory.steps] == given
