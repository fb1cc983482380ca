"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from replaykit.browser import find_browser
from replaykit.errors import NoBrowser
from tests.needed import missing

# Every run tries other examples. `.ci/thorough` tries `many`, and `--hypothesis-profile=thorough` the most.
settings.register_profile(
    "replaykit", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("many", settings.get_profile("replaykit"), max_examples=200)
settings.register_profile("thorough", settings.get_profile("replaykit"), max_examples=1000)
settings.load_profile("replaykit")


LIVE = re.compile(r"^pytestmark = .*mark\.live\b", re.M)
"""In a module all of whose tests need a browser."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over modules without a test of those that are asked for: loading all of them takes long."""
    if not collection_path.name.startswith("test_"):
        return None
    asked, source = config.option.markexpr.split(" and ")[0], collection_path.read_text("utf-8")
    is_without = {
        "live": "mark.live" not in source,
        "not live": LIVE.search(source) is not None,
        "thorough": "thorough" not in source,
    }
    return is_without.get(asked) or None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: compressed ones hold the time, and all workers must collect one list."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_finish() -> None:
    """Leave thousands of collected tests out of every later search for garbage, which took half a second."""
    gc.collect()
    gc.freeze()


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
