"""The example of docs/gallery.md with A2A: a scenario in WABE's layout, its assessor and a scripted participant."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

import replaykit
from tests.gallery.conftest import SHOP, Example, section

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
    assert (
        "the assessment failed: the request needs a participant white_agent and at least one task"
        in failed.stderr
    )
