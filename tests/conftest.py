"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from replaykit.browser import find_browser
from replaykit.errors import NoBrowser
from tests.needed import missing

settings.register_profile("replaykit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("replaykit")


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
