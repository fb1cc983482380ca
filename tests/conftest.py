"""Fixtures of all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("replaykit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("replaykit")


@pytest.fixture
def update_goldens() -> bool:
    """Whether generated documents are written anew instead of compared."""
    return bool(os.environ.get("REPLAYKIT_UPDATE"))
