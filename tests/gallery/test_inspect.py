"""The example with Inspect, beside an installed wheel."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.gallery.conftest import Example

pytestmark = pytest.mark.live


def test_the_solver_records_and_the_run_is_graded(example: Callable[[str], Example]) -> None:
    example("inspect").shows("Inspect")


def test_a_wrong_path_is_named(example: Callable[[str], Example]) -> None:
    failed = example("inspect").run("replaykit grade runs/order-total.1.zst")
    assert failed.returncode == 3
    assert "runs/order-total.1.zst" in failed.stderr
