"""Cases of which a few are tried by every run of the tests, and all of them by `sh .ci/thorough`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def one_in(number: int, cases: Sequence[Any]) -> list[Any]:
    """Return the cases of one test; all but every number-th, the first among these, are `thorough`."""
    return [_further(case) if at % number else case for at, case in enumerate(cases)]


def _further(case: Any) -> Any:
    # A tuple with named fields is one value.
    return pytest.param(*(case if type(case) is tuple else (case,)), marks=pytest.mark.thorough)
