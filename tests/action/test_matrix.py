"""`sh .ci/ecosystem matrix`: how the page is read, and what counts as passed, failed and not tried."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "installing.md").read_text("utf-8")


@pytest.fixture
def matrix() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replaykit_matrix", ROOT / ".ci" / "matrix.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def resolving(monkeypatch: pytest.MonkeyPatch, matrix: ModuleType, refuses: str, words: str) -> list[str]:
    """Let a resolver refuse requirements that hold a word; return the files that it is given."""
    seen: list[str] = []

    def run(command: list[str], **_: object) -> SimpleNamespace:
        listed = next(Path(word).read_text() for word in command if word.endswith("requirements.in"))
        seen.append(listed)
        is_refused = refuses in listed
        return SimpleNamespace(returncode=int(is_refused), stderr=words)

    monkeypatch.setattr(matrix.subprocess, "run", run)
    return seen


def test_every_row_of_the_page_has_a_tool_with_its_version_and_a_cell_for_each_column(
    matrix: ModuleType,
) -> None:
    found = list(matrix.rows(PAGE))
    assert len(found) >= 15
    for row in found:
        assert "==" in row.tool
        assert list(row.cells) == list(matrix.COLUMNS)
        assert set(row.cells.values()) <= {"yes", "no", "3.12", "not tried"}


def test_every_extra_has_its_row() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    rows = re.findall(r"^\| (`[^|]+) \| [^|]+ \| [^|]+ \|$", PAGE, flags=re.M)
    assert {name for row in rows for name in re.findall(r"`([a-z]+)`", row)} >= {*extras} - {"all"}


def test_a_cell_may_name_the_first_python(matrix: ModuleType) -> None:
    assert [matrix.expected("3.12", one) for one in matrix.PYTHONS] == ["no", "yes", "yes", "yes"]
    assert matrix.expected("yes", "3.11") == "yes"


def test_what_holds_together_is_resolved_once(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = resolving(monkeypatch, matrix, "nothing", "")
    assert set(matrix.outcomes("tool==1", "3.12").values()) == {"yes"}
    (listed,) = seen
    assert "tool==1" in listed and "playwright>=" in listed and "msgspec>=" in listed


def test_a_conflict_is_found_in_its_column(matrix: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(
        monkeypatch, matrix, "playwright", "Because tool==1 depends on playwright==1.44 ... unsatisfiable."
    )
    assert matrix.outcomes("tool==1", "3.12") == {
        "core": "yes", "browser": "no", "judge": "yes", "openai": "yes",
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        "Because tool was not found in the package registry and you require tool",
        "Because there is no version of tool==1 and you require tool==1",
        "ERROR: No matching distribution found for tool==1",
        "error: Failed to fetch: `https://...`",
    ],
)
def test_what_the_index_does_not_hold_is_not_tried(
    words: str, matrix: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, matrix, "tool", words)
    assert set(matrix.outcomes("tool==1", "3.12").values()) == {"not tried"}


def test_a_resolver_that_does_not_come_to_an_end_has_tried_nothing(
    matrix: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(matrix.subprocess, "run", run)
    assert set(matrix.outcomes("tool==1", "3.12").values()) == {"not tried"}


@pytest.mark.parametrize(("refuses", "code"), [("nothing", 1), ("playwright", 0)])
def test_the_exit_code_says_whether_the_page_is_contradicted(
    refuses: str, code: int, matrix: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text("| tool 1 | yes | no | yes | yes | playwright==1.44 |\n")
    monkeypatch.setattr(matrix, "PAGE", tmp_path / "page.md")
    resolving(monkeypatch, matrix, refuses, "unsatisfiable")
    assert matrix.main([]) == code
    assert matrix.main(["other"]) == 1
