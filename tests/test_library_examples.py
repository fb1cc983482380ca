"""The examples of the library's reference run; those that need a browser or a model are checked by their types."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import mypy.api
import pytest

import replaykit
from bench.library_page import GROUPS, INTERNAL, docstrings, example_of, public

ROOT = Path(__file__).parent.parent
SET = ROOT / "recordings" / "conformance"

NOT_RUN = frozenset({"Recorder", "AsyncRecorder", "OfflinePage", "rerun", "run_judges"})
"""A browser or a model answers: tests/live and tests/grading/judges run such programs."""

MAIN = frozenset(
    {
        "Recorder", "AsyncRecorder", "open_bundle", "grade", "grade_many", "iter_grades", "write_report", "diff",
        "explain", "load_tasks", "load_policies", "try_policies", "run_judges", "rerun", "redact", "verify", "serve",
        "Replay", "OfflinePage", "CheckFunction", "PolicyFunction", "import_run", "export_run", "agree",
    }
)  # fmt: skip
"""Entries where a reader begins: each has an example."""

EXAMPLES = {name: code for name, text in docstrings().items() if (code := example_of(text))}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the examples name."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SET / "order-total--good.zst", "run.zst")
    Path("runs").mkdir()
    shutil.copy("run.zst", "runs")
    for name in ("before", "after"):
        replaykit.write_report(replaykit.grade_many(["runs"]), f"{name}.json")
    shutil.copy(ROOT / "fixtures/tasks/shop.yaml", "tasks.yaml")
    Path("policies.yaml").write_text(
        "schema: replaykit.policies/1\npolicies:\n"
        "- {id: no-admin, dimension: boundary_and_scope_limitation, rule: {type: url_boundary, deny: [/admin]}}\n"
    )
    replaykit.write_report(replaykit.grade_many(["runs"]), "report.json")
    digest = str(replaykit.grade("run.zst").trajectory).removeprefix("sha256:")
    line = {"trajectory": digest, "label": "failure", "annotator": "ada"}
    Path("labels.jsonl").write_text(json.dumps(line) + "\n")
    replaykit.export_run("webvoyager", "run.zst", "results")
    return tmp_path


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - NOT_RUN))
def test_the_example_runs(name: str, folder: Path) -> None:
    verdict = replaykit.grade(SET / "refund-order--no_consent.zst")
    exec(compile(EXAMPLES[name], name, "exec"), {"replaykit": replaykit, "verdict": verdict})


def test_every_main_entry_has_an_example() -> None:
    assert EXAMPLES.keys() >= MAIN


@pytest.fixture
def recursion() -> Iterator[None]:
    """How deep calls may go, which mypy raises for the whole process."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.usefixtures("recursion")
def test_the_examples_that_are_not_run_have_the_right_types(tmp_path: Path) -> None:
    parts = ["from typing import Any", "import replaykit"]
    for name in sorted(NOT_RUN):
        head = f"async def of_{name}(browser: Any, task: replaykit.Task) -> None:"
        parts += [head, textwrap.indent(EXAMPLES[name], "    ")]
    script = tmp_path / "script.py"
    script.write_text("\n".join(parts))
    # Types of the package itself are in the cache of the project's own check.
    config = [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"]
    found, faults, code = mypy.api.run(["--strict", *config, str(script)])
    assert code == 0, found + faults


def test_every_public_name_stands_once_under_a_purpose() -> None:
    assert sorted(name for names in GROUPS.values() for name in names.split()) == sorted(public())


def test_what_the_reference_leaves_out_exists() -> None:
    both = set(dir(replaykit.Recorder)) & set(dir(replaykit.AsyncRecorder))
    assert INTERNAL - both == set()
