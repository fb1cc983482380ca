"""A trajectory that Harbor made of a log of Claude Code, which drove a browser through Playwright MCP.

`harbor-0.25.0-claude-code.json` was written by the converter of Harbor 0.25.0 from a scripted session of four turns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.interop.run_import import import_runs
from replaykit.interop.tool_calls import parts_of
from replaykit.trajectory.action import Fill, tag_of
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import png, write
from tests.interop.test_flaws import everything

FILE = Path(__file__).with_name("harbor-0.25.0-claude-code.json")


def test_its_calls_screenshots_and_errors_are_read(imported: Importing) -> None:
    bundle = imported("auto", FILE)
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "type", "click", "fill", "fill"]
    assert run.answer == "Your order number is 1003." and run.steps[0].thought == "Open the shop."
    (shown,) = (one for one in run.of_type(Observation) if one.screenshot)
    assert shown.of == 0 and bundle.blob(str(shown.screenshot)) == png(7)
    assert [step.error is not None for step in run.steps] == [False, False, False, False, True]
    assert "base64" not in json.dumps([step.returned for step in run.steps])


def test_its_passwords_are_masked(imported: Importing) -> None:
    bundle = imported("atif", FILE)
    held = everything(bundle)
    assert b"rosebud" not in held and b"tulip9!x" not in held
    values = [one.action.value for one in bundle.trajectory.steps if isinstance(one.action, Fill)]
    assert values == ["a@x.test", MASKED]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ([{"type": "checkbox", "value": "false"}, {"type": "combobox", "value": "L"}], ["uncheck", "select_option"]),
        ([{"type": "radio", "value": "true"}, {"type": "slider", "value": 3}], ["check", "fill"]),
        ([], ["fill_form"]),
        (["none"], ["fill_form"]),
        (None, ["fill_form"]),
    ],
)  # fmt: skip
def test_each_field_of_a_form_is_an_action(fields: Any, names: list[str]) -> None:
    parts = parts_of("mcp__playwright__browser_fill_form", {"fields": fields})
    assert [part.name.rpartition("browser_")[2] for part in parts] == names


def test_trials_of_one_task_have_one_id(tmp_path: Path) -> None:
    sessions = json.loads(FILE.read_text())
    for number in range(2):
        trial = tmp_path / "job" / f"order-number__{number}"
        write(trial, "agent/trajectory.json", {**sessions, "session_id": f"session-{number}"})
        write(trial, "result.json", {"task_name": "order-number", "trial_name": trial.name})
    tasks = []
    for one in import_runs("harbor", [tmp_path / "job"], tmp_path / "out"):
        assert one.error is None
        with open_bundle(one.path) as bundle:
            assert bundle.header.task is not None
            tasks.append((bundle.header.task["id"], bundle.header.task["intent"]))
    assert tasks == [("order-number", "Sign in to https://shop.test and tell me my order number.")] * 2
