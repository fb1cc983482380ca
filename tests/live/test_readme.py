"""The README's Python, block by block: record, then grade."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.sites.shop.server import serve

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.S)


def test_the_blocks_record_and_grade(tmp_path: Path, browser_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "REPLAYKIT_BROWSER": str(browser_path)}
    said = []
    with serve() as shop:
        for text in BLOCKS:
            script = text.replace("http://127.0.0.1:8000", shop.url)
            done = subprocess.run(
                [sys.executable, "-c", script],
                cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            said.append(done.stdout)
    assert said == ["", "PASS 1 []\n"]
    assert (tmp_path / "report.json").stat().st_size
