"""Real files that each layout was checked with: a table of docs/interop.md."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from replaykit.interop.registry import IMPORTERS
from tests.interop.test_supported import _functions

ROOT = Path(__file__).parents[2]
SOURCE, DOCUMENT = Path(__file__).with_name("producers.toml"), ROOT / "docs" / "interop.md"
TABLE = re.compile(
    r"(?<=\| --- \| --- \| --- \|\n)(?:\| `[a-z0-9-]+` \| [^|\n]* \| [^|\n]* \|\n)+|PRODUCERS\n"
)
WORDS = {"file": "in the repository", "run": "run by a test", "public": "public file", "tried": "read once"}


class Producer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    by: str
    how: Literal["file", "run", "public", "tried"]
    tests: tuple[str, ...]


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    by: tuple[Producer, ...] = ()
    only: str = ""


CHECKED = msgspec.convert(tomllib.loads(SOURCE.read_text()), dict[str, Checked])


def rows() -> str:
    lines = []
    for name, one in CHECKED.items():
        said = "; ".join(f"{each.by} ({WORDS[each.how]})" for each in one.by)
        lines.append(f"| `{name}` | {said or 'no real file'} | {one.only or '-'} |\n")
    return "".join(lines)


def test_the_table_is_what_is_written_down(update_goldens: bool) -> None:
    if update_goldens:
        DOCUMENT.write_text(TABLE.sub(rows().replace("\\", r"\\"), DOCUMENT.read_text(), count=1))
    found = TABLE.search(DOCUMENT.read_text())
    assert found is not None and found[0] == rows()


def test_every_layout_has_its_row() -> None:
    assert list(CHECKED) == list(IMPORTERS)


@pytest.mark.parametrize("name", CHECKED)
def test_a_layout_has_two_producers_or_a_reason(name: str) -> None:
    one = CHECKED[name]
    assert len(one.by) >= 2 or len(one.only.split()) >= 4
    for each in one.by:
        assert bool(each.tests) != (each.how == "tried"), each.by
        for test in each.tests:
            file, _, function = test.partition("::")
            assert (ROOT / "tests" / file).is_file(), test
            assert function == "*" or function in _functions_of(file), test


@lru_cache
def _functions_of(file: str) -> set[str]:
    return _functions(file)
