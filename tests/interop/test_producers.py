"""Real files that each layout was checked with: a table of docs/interop.md, and tests on public files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from replaykit.interop.importing import import_runs
from replaykit.interop.registry import IMPORTERS
from replaykit.trajectory.action import Unknown, tag_of
from replaykit.trajectory.exchange import Exchange, Imported
from tests.interop.conftest import Importing
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


def test_a_run_of_openwebvoyager(public: Callable[[str], Path], imported: Importing) -> None:
    path = public("webvoyager/openwebvoyager/taskWebVoyager-Amazon-human-extend--004")
    bundle = imported("webvoyager", path)
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == ["fill", "click", "click", "answer"]
    assert run.answer and all(step.before is not None and step.before.screenshot for step in run.steps)
    assert run.channel("a11y") == "partial"


def test_results_of_online_mind2web(
    public: Callable[[str], Path], tmp_path: Path, imported: Importing
) -> None:
    root = public("online-mind2web")
    for one in import_runs("online-mind2web", [root / "abp"], tmp_path / "abp"):
        assert one.error is None
    run = imported("online-mind2web", root / "abp" / "0059adc6b12a3822305deb68929b2de8").trajectory
    assert len(run.steps) == 24 and not any(isinstance(step.action, Unknown) for step in run.steps)
    assert tag_of(run.steps[-1].action) == "go_back"
    # Screenshots are pointers of Git LFS there.
    assert run.channel("screenshots") == "absent" and run.answer is not None
    answered = imported(
        "online-mind2web", root / "browser-use" / "0059adc6b12a3822305deb68929b2de8"
    ).trajectory
    assert answered.answer is not None and not answered.steps and answered.channel("actions") == "absent"
    (judged,) = answered.of_type(Imported)
    assert judged.kind == "judgement" and judged.value["score"] == 100


def test_a_history_of_browser_use(public: Callable[[str], Path], imported: Importing) -> None:
    run = imported("browser-use", public("browser-use/AgentHistory.json")).trajectory
    assert not any(isinstance(step.action, Unknown) for step in run.steps)
    tags = [tag_of(step.action) for step in run.steps]
    assert {"new_tab", "wait", "tool_call", "answer"} <= set(tags) and run.answer is not None
    assert run.channel("screenshots") == "recorded"


@pytest.mark.parametrize("name", ["input-task-2024", "log_read_sample"])
def test_older_logs_of_inspect(name: str, public: Callable[[str], Path], imported: Importing) -> None:
    run = imported("inspect", public(f"inspect/{name}.eval")).trajectory
    assert run.answer is not None and run.of_type(Imported)


HIDDEN = "⟦header⟧"

HARS = {"www.google.co.kr": ("WebInspector", 10), "firefox_www.nghttp2.org": ("Firefox", 10),
        "humanssuck.net": ("Firebug", 4)}  # fmt: skip


@pytest.mark.parametrize("name", HARS)
def test_har_files_of_other_recorders(name: str, public: Callable[[str], Path], imported: Importing) -> None:
    tool, count = HARS[name]
    bundle = imported("har", public(f"har/other-recorders/{name}.har"))
    exchanges = bundle.trajectory.of_type(Exchange)
    assert len(exchanges) == count and sum(bool(one.status) for one in exchanges) >= count - 1
    assert bundle.header.source is not None and tool in str(bundle.header.source.tool)
    headers = [pair for one in exchanges for pair in one.request_headers or ()]
    assert headers and all(value == HIDDEN for name, value in headers if name.lower() == "cookie")
