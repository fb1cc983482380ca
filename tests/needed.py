"""What tests need besides the package's own dependencies."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(said: str) -> NoReturn:
    """Skip the test, and say why; in CI, where everything has to be there, fail it."""
    if os.environ.get("CI"):
        pytest.fail(said)
    pytest.skip(said)  # never in CI, which has failed above: `said` names what is missing and how to get it
