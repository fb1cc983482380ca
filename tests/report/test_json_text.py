"""No control character reaches a terminal or a report, whatever the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.engine import grade_many
from replaykit.report.json_text import json_text
from replaykit.report.report_formats import FORMATS
from replaykit.report.report_output import render
from replaykit.testing import trajectory

EVIL = "a\x9b31mRED\x9b0m\x85\x80"


@given(st.text())
def test_json_reads_as_the_same(text: str) -> None:
    written = json_text({"a": [text]}, 1)
    assert json.loads(written) == {"a": [text]}
    assert not any(0x7F <= ord(char) < 0xA0 for char in written.decode())


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_no_report_holds_one(format: str, tmp_path: Path) -> None:
    never = {"type": "never", "match": {"action": "@activate"}}
    task = {
        "id": "t",
        "intent": EVIL,
        "checks": [{"type": "string_match", "exact": EVIL + "no"}],
        "policies": [{"id": "p", "description": EVIL, "dimension": "user_consent", "rule": never}],
    }
    run = trajectory(task).goto("http://h.test/", f"<b>{EVIL}</b>").click("#b", text=EVIL).answer(EVIL)
    path = run.write(tmp_path / "run.zst")
    shown = render(grade_many([str(path)]), format, [str(path)]).decode()
    assert len(shown) > 20
    assert not any(0x80 <= ord(char) < 0xA0 for char in shown)
