"""Programs that tests need in addition to the package's own dependencies."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(said: str) -> NoReturn:
    """Skip the test, and say why; in CI, where everything has to be there, fail it."""
    if os.environ.get("CI"):
        pytest.fail(said)
    # Outside of CI only: there a missing browser or tool has failed above. `said` names it, and how to get it.
    pytest.skip(reason=said)
