"""Policies that nobody can keep together, as grading reports them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report
from replaykit.grading.grader import grade
from replaykit.grading.saved_reports import read_report
from replaykit.grading.verdict import Verdict
from replaykit.report.json_report import as_json
from replaykit.report.text.text_report import as_text
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory

SAVE = {"action": "click", "text": "Save"}
FORBIDDEN, DEMANDED = {"type": "never", "match": SAVE}, {"type": "eventually", "match": SAVE}


def graded(folder: Path, *policies: dict[str, Any]) -> Verdict:
    run = trajectory("t").goto("http://h.test/", "<button id=s>Save</button>").click("#s", text="Save")
    path = run.answer("Done.").write(folder / "run.zst")
    rows = [{"id": f"p{n}", "dimension": "user_consent", **policy} for n, policy in enumerate(policies)]
    with open_bundle(str(path)) as bundle:
        return grade(bundle, decode_task({"id": "t", "intent": "Save.", "policies": rows}))


@pytest.mark.parametrize("high", ["organization", "user"])
def test_the_lower_one_names_the_higher(tmp_path: Path, high: str) -> None:
    found = graded(tmp_path, {"rule": DEMANDED, "source": "task"}, {"rule": FORBIDDEN, "source": high})
    assert [policy.contradicts for policy in found.policies] == [("p1",), msgspec.UNSET]
    text = as_text(build_report([found]))
    assert "  note: 'p0' cannot be kept together with 'p1': let one yield" in text.splitlines()
    assert read_report(as_json(build_report([found])), "report").verdicts[0].policies == found.policies


def test_a_policy_that_yields_contradicts_no_other_in_the_report(tmp_path: Path) -> None:
    low = {"rule": DEMANDED, "source": "task", "yields_to": ["p1"]}
    found = graded(tmp_path, low, {"rule": FORBIDDEN})
    assert {policy.contradicts for policy in found.policies} == {msgspec.UNSET}
    assert b"contradicts" not in as_json(build_report([found]))


def test_one_may_contradict_several(tmp_path: Path) -> None:
    rules = [{"rule": FORBIDDEN}, {"rule": FORBIDDEN, "source": "user"}, {"rule": DEMANDED, "source": "task"}]
    assert graded(tmp_path, *rules).policies[2].contradicts == ("p0", "p1")
