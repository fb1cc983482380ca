"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from replaykit.browser import find_browser
from replaykit.errors import NoBrowser
from tests.needed import missing

# Every run tries other examples. `--hypothesis-profile=thorough` tries twenty times as many.
settings.register_profile(
    "replaykit", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("replaykit"), max_examples=1000)
settings.load_profile("replaykit")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over modules without a test in a browser where only those are asked for: most are, and there are many."""
    is_asked = config.option.markexpr == "live" and collection_path.name.startswith("test_")
    return True if is_asked and "mark.live" not in collection_path.read_text("utf-8") else None


@pytest.fixture
def update_goldens() -> bool:
    """Whether generated documents are written anew instead of compared."""
    return bool(os.environ.get("REPLAYKIT_UPDATE"))


@pytest.fixture(scope="session")
def browser_path() -> Path:
    """The browser's program: REPLAYKIT_BROWSER, else the first that is installed."""
    try:
        return find_browser()
    except NoBrowser as error:
        missing(error.message)
