"""The example of docs/gallery.md with A2A: a scenario in WABE's layout, its assessor and a scripted participant.

WABE's own packages hold a2a-sdk at 0.3. The environment `a2a-alone` has that release and no replaykit.
"""

from __future__ import annotations

import json
import socket
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

import replaykit
from tests.blocks import ROOT
from tests.gallery.conftest import SHOP, Example, installed, section

pytestmark = pytest.mark.live

SCENARIO = "fixtures/gallery/wabe_scenario.toml"


def moved(opened: Example) -> Example:
    """Give the scenario free ports, and the address of the shop."""
    file = opened.folder / SCENARIO
    text = file.read_text("utf-8").replace(SHOP, opened.shop)
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        text = text.replace("9009", str(one.getsockname()[1])).replace("9019", str(other.getsockname()[1]))
    file.write_text(text, "utf-8")
    return opened


def test_a_scenario_of_wabe_is_recorded_and_graded(example: Callable[[str], Example]) -> None:
    opened = moved(example("a2a"))
    opened.shows("A2A")
    (path,) = opened.folder.glob("runs/*/order-history.zst")
    with replaykit.open_bundle(path) as bundle:
        thoughts = [step.thought for step in bundle.trajectory.steps]
        assert thoughts == ["Open the orders.", "Open order 1003.", "Show its history."]


def test_a_scenario_without_tasks_is_refused(example: Callable[[str], Example]) -> None:
    opened = moved(example("a2a"))
    file = opened.folder / SCENARIO
    file.write_text(file.read_text("utf-8").partition("[[tasks]]")[0], "utf-8")
    failed = opened.run(section("A2A")[0])
    assert failed.returncode == 1
    assert "the assessment failed: cannot read the tasks of the request" in failed.stderr
    assert "missing required field `task_id`" in failed.stderr


def test_only_the_level_that_is_asked_for_is_assessed(example: Callable[[str], Example]) -> None:
    failed = moved(example("a2a")).run(section("A2A")[0], TASK_LEVEL="hard")
    assert failed.returncode == 1
    assert "the assessment failed: none of the 1 tasks is of level hard" in failed.stderr


def by_the_older_release(opened: Example) -> list[dict[str, Any]]:
    """Have a runner with a2a-sdk 0.3 start the scenario; return what it received."""
    runner = ROOT / "tests" / "gallery" / "runner_of_a2a_0_3.py"
    done = opened.run(f"{installed('a2a-alone')} {runner} {SCENARIO}")
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_runner_of_the_older_release_starts_the_assessor_by_the_scenario(
    example: Callable[[str], Example],
) -> None:
    opened = moved(example("a2a"))
    *steps, artifact, ended = by_the_older_release(opened)
    assert [one["text"] for one in steps if one["text"]] == [
        f"order-history: step {number} of 10" for number in range(1, 5)
    ]
    assert (artifact["artifact"], ended["state"]) == ("EvaluationResult", "completed")
    (task,) = json.loads(artifact["text"])["detail"]["tasks"]
    assert (task["success"], task["steps_taken"], task["max_steps"]) == (True, 3, 10)
    assert len(list(opened.folder.glob("runs/*/order-history.zst"))) == 1


def test_a_participant_of_the_older_release_is_recorded(example: Callable[[str], Example]) -> None:
    opened = moved(example("a2a"))
    file = opened.folder / SCENARIO
    text = file.read_text("utf-8")
    (participant,) = tomllib.loads(text)["participants"]
    script = ROOT / "tests" / "gallery" / "participant_of_a2a_0_3.py"
    port = participant["endpoint"].rpartition(":")[2]
    file.write_text(text.replace(participant["cmd"], f"{installed('a2a-alone')} {script} {port}"), "utf-8")
    done = opened.run(section("A2A")[0])
    assert done.stdout == "order-history: success, 3 steps\n", done.stderr
    (path,) = opened.folder.glob("runs/*/order-history.zst")
    with replaykit.open_bundle(path) as bundle:
        assert [step.thought for step in bundle.trajectory.steps] == ["Call 0.", "Call 1.", "Call 2."]


def test_what_the_older_release_asks_in_vain_is_answered_with_the_reason(
    example: Callable[[str], Example],
) -> None:
    opened = moved(example("a2a"))
    file = opened.folder / SCENARIO
    file.write_text(file.read_text("utf-8").replace('role = "white_agent"', 'role = "agent"'), "utf-8")
    received = by_the_older_release(opened)[-1]
    assert received == {"state": "failed", "text": "the request needs a participant white_agent"}
