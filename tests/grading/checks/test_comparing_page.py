"""Every example of the page on comparisons: what passes, what fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from replaykit.grading.verdict import CheckResult
from replaykit.testing.builder import Builder

PAGE = Path(__file__).parents[3] / "docs/comparing.md"
_CODE = re.compile(r"`(.+?)`")


def rows() -> list[tuple[str, str, str]]:
    cells = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in PAGE.read_text().splitlines() if line[:3] == "| `"
    ]
    return [
        (_CODE.findall(check)[0].replace("\\|", "|"), answer.replace("\\|", "|"), outcome)
        for check, passes, fails in cells
        for cell, outcome in ((passes, "PASS"), (fails, "FAIL"))
        for answer in _CODE.findall(cell)
    ]


def test_the_page_has_examples() -> None:
    assert len(rows()) > 80


@pytest.mark.parametrize(("check", "answer", "outcome"), rows())
def test_row(
    grade: Callable[..., CheckResult], run: Callable[..., Builder], check: str, answer: str, outcome: str
) -> None:
    written: dict[str, Any] = yaml.load(check, yaml.BaseLoader)
    if "tolerance" in written:
        written["tolerance"] = float(written["tolerance"])
    assert grade(run().answer(answer), {"type": "string_match", **written}).outcome == outcome
