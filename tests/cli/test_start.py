"""Modules that the command loads before it knows its task: Python's own library, click, nothing optional."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAMED = {"opentelemetry-sdk": "opentelemetry", "inspect-ai": "inspect_ai", "pytest-xdist": "xdist"}
"""Packages whose modules have another name."""


def loaded(*words: str) -> set[str]:
    """Top names of all modules that a command loads."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "replaykit", *words],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(re.findall(r"^import time:.*\|\s*([A-Za-z_]\w*)", done.stderr, flags=re.M))


def packages() -> set[str]:
    """Packages of an extra, by the name of the module."""
    wanted = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    names = {re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in wanted}
    return {NAMED.get(name, name.replace("-", "_")) for name in names} - {"pytest"}


def test_every_extra_is_known() -> None:
    assert {
        "playwright",
        "anthropic",
        "openai",
        "mcp",
        "pyarrow",
        "inspect_ai",
        "opentelemetry",
    } <= packages()


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("grade", "--help"),
        ("record", "--help"),
        ("mcp", "--help"),
        ("export", "--help"),
        ("grade", "recordings/conformance/order-total--good.zst"),
    ],
)
def test_no_extra_is_loaded_before_it_is_needed(words: tuple[str, ...]) -> None:
    found = loaded(*words)
    assert {"click", "replaykit"} <= found
    assert not found & {*packages(), "anyio", "httpx", "pydantic", "numpy", "pandas", "a2a"}
