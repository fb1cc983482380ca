"""Runs and reports for tests of what people are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.engine import grade_many
from replaykit.grading.gate import GateOptions
from replaykit.grading.verdict import Report
from replaykit.testing import Builder, trajectory

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"

TASK: dict[str, Any] = {
    "id": "t1",
    "intent": "Which mug is the cheapest?",
    "checks": [{"type": "string_match", "exact": "the tin mug"}],
    "policies": [
        {
            "id": "stay",
            "dimension": "boundary_and_scope_limitation",
            "rule": {"type": "url_boundary", "deny": ["/admin"]},
            "description": "The admin area is not for you.",
        }
    ],
}


def _shop(answer: str | None = "the tin mug", task: str = "t1", path: str = "/") -> Builder:
    """A run of two steps: look at the shop, put something into the basket."""
    return (
        trajectory(task={**TASK, "id": task})
        .goto(f"http://shop.test{path}", "<h1>Mugs</h1><button id='buy'>Buy</button>")
        .screenshot(40, 30)
        .click("#buy", "<h1>Basket</h1><input value='1' data-live='{\"value\": \"2\"}'>", name="Buy")
        .screenshot(40, 30, (0, 128, 0))
        .answer(answer)
    )


@pytest.fixture
def shop() -> Callable[..., Builder]:
    """Makes runs: keywords are answer, task, path."""
    return _shop


@pytest.fixture
def recordings() -> list[Path]:
    """The shipped recordings."""
    return sorted(RECORDINGS.glob("*.zst"))


@pytest.fixture
def report_of() -> Callable[..., Report]:
    """Grade bundles into a report that passes whatever they say."""

    def graded(*sources: Path, **options: Any) -> Report:
        return grade_many(sources, gate=GateOptions(fail_on=()), **options)

    return graded
