"""SECURITY.md: every row of its table names tests that exist, and what it says of reach is true."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")


def rows() -> list[list[str]]:
    """The cells of each row of the table of who can do what."""
    table = PAGE.partition("| who | can do |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def functions() -> set[str]:
    """The names of all test functions."""
    texts = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r"^ *(?:async )?def (test_\w+)\(", text, re.M)}


def test_every_row_names_tests_that_exist() -> None:
    assert len(rows()) == 5
    named = [re.findall(r"`(test_\w+)`", row[-1]) for row in rows()]
    assert all(named)
    assert {name for names in named for name in names} - functions() == set()


def test_every_row_says_what_is_proven_detected_and_out_of_reach() -> None:
    assert {len(row) for row in rows()} == {6}
    assert all(all(row) for row in rows())


def test_rows_are_those_that_a_report_may_assume() -> None:
    first = " ".join(row[0] for row in rows())
    assert [
        word for word in ("assumes: page", "cooperative agent", "command agent") if word not in first
    ] == []
