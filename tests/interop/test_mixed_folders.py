"""A folder with runs of several formats: `auto` reads one of them, and names the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from replaykit.cli.main import cli
from replaykit.interop import layout_detection
from replaykit.interop.run_import import import_runs
from tests.interop.samples import SAMPLES, browser_use, har, trace, webvoyager, write


def imported(format: str, folder: Path, out: Path) -> Result:
    return CliRunner().invoke(cli, ["import", format, str(folder), "-o", str(out)])


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    browser_use(folder / "agent")
    har(folder / "network")
    trace(folder / "trace")
    write(folder, "notes/todo.txt", "none")
    write(folder, "postman.json", {"info": {"name": "shop"}, "item": []})
    return folder


def test_runs_of_other_formats_are_named_and_counted(mixed: Path, tmp_path: Path) -> None:
    done = imported("auto", mixed, tmp_path / "out")
    assert done.exit_code == 0
    assert f"{mixed}/network: of the format har, and a folder is read in one" in done.stderr
    assert "of the format playwright-trace, and a folder is read in one" in done.stderr
    assert "notes" not in done.stderr and "postman" not in done.stderr
    assert "1 imported, 0 failed" in done.stderr and "left out" in done.stderr.splitlines()[-1]
    assert len(list((tmp_path / "out").glob("*.zst"))) == 1


def test_a_file_beside_the_runs_is_named(tmp_path: Path) -> None:
    browser_use(tmp_path / "in")
    har(tmp_path / "in")
    done = imported("auto", tmp_path / "in", tmp_path / "out")
    assert "of the format har" in done.stderr
    assert done.stderr.splitlines()[-1] == "1 imported, 0 failed, 1 other left out"


def test_who_names_a_format_asks_for_no_other(mixed: Path, tmp_path: Path) -> None:
    done = imported("har", mixed, tmp_path / "out")
    assert (done.exit_code, "of the format" in done.stderr) == (0, False)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_runs_of_one_format_have_no_others(name: str, tmp_path: Path) -> None:
    for place in ("one", "two"):
        SAMPLES[name](tmp_path / "in" / place)
    done = import_runs("auto", [tmp_path / "in"], tmp_path / "out")
    assert [one.warnings for one in done if one.state == "left"] == []


def test_many_other_files_are_looked_at_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    webvoyager(tmp_path / "in" / "a")
    har(tmp_path / "in" / "z")
    monkeypatch.setattr(layout_detection, "LOOK_MAX", 0)
    assert "of the format" not in imported("auto", tmp_path / "in", tmp_path / "out").stderr


@pytest.mark.parametrize("format", ["auto", "har"])
def test_a_link_to_a_folder_elsewhere_is_named(format: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    har(folder / "one")
    har(tmp_path / "two")
    (folder / "shard").symlink_to(tmp_path / "two")
    (folder / "latest").symlink_to("one")
    (folder / "round").symlink_to("round")
    done = imported(format, folder, tmp_path / "out")
    assert f"{folder}/shard: a link to a folder is not followed" in done.stderr
    assert done.stderr.splitlines()[-1] == "1 imported, 0 failed, 1 other left out"
    assert imported(format, folder / "shard", tmp_path / "out").exit_code == 0
