"""Fixtures of the importers' and exporters' tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.interop.imported_run import Options
from replaykit.interop.run_import import ImportResult, import_run

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))

Importing = Callable[..., Bundle]


@pytest.fixture
def imported(tmp_path: Path, request: pytest.FixtureRequest) -> Importing:
    """Import one run and open the bundle; keywords are options."""

    def run(format: str, path: Path, **options: Any) -> Bundle:
        target = tmp_path / "out" / f"{len(list(tmp_path.glob('out/*')))}.zst"
        done: ImportResult = import_run(format, path, target, options=Options(**options))
        bundle = open_bundle(target)
        request.addfinalizer(bundle.close)
        assert bundle.digest == done.digest
        return bundle

    return run


@pytest.fixture
def public() -> Callable[[str], Path]:
    """Return a file of the public data, or skip with a reason."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"no public data at {path}: set REPLAYKIT_SHARED_DATA")
        return path

    return find
