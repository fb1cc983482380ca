"""The example of docs/gallery.md with browser-use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import replaykit
from tests.gallery.conftest import Example, section

pytestmark = pytest.mark.live


def test_the_agent_is_recorded_and_graded(example: Callable[[str], Example]) -> None:
    opened = example("browser-use")
    opened.shows("browser-use")
    with replaykit.open_bundle(opened.folder / "order.zst") as bundle:
        steps = bundle.trajectory.steps
        assert [step.thought for step in steps] == ["Open the orders.", "Open the order of Ines Duarte."]
        assert bundle.trajectory.answer == "€84.50"


def test_an_unknown_task_is_answered_with_those_of_the_file(example: Callable[[str], Example]) -> None:
    opened = example("browser-use")
    failed = opened.run(section("browser-use")[0].replace("#order-total", "#order-totl"))
    assert failed.returncode == 3, failed.stderr
    assert "no task 'order-totl'; it has order-total" in failed.stderr
    assert not (opened.folder / "order.zst").exists()
