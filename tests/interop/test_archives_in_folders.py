"""Archives in a folder of runs, and files that are packed one by one: read like what is in them, bounded."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import cli
from replaykit.errors import MalformedSource, SourceLimitExceeded, UnknownLayout
from replaykit.interop import layout_detection
from replaykit.interop.imported_run import Options
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.source_files import SourceLimits
from replaykit.trajectory.step import Trajectory
from tests.interop.samples import SAMPLES, har, mind2web, trace, webvoyager, write
from tests.interop.test_unpacked_archives import left_in, packed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of one run as it is, one in a zip and one in a tape."""
    webvoyager(tmp_path / "in")
    for name in ("run1.zip", "deep/run2.tar.gz"):
        webvoyager(tmp_path / name)
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        packed(tmp_path / name, tmp_path / "in" / name)
    return tmp_path / "in"


def runs_of(done: list[Any]) -> list[Trajectory]:
    found = []
    for one in done:
        assert one.error is None, one.error
        with open_bundle(one.path) as bundle:
            found.append(bundle.trajectory)
    return found


@pytest.mark.parametrize("format", ["auto", "webvoyager"])
def test_archives_of_a_folder_are_read_like_its_folders(format: str, folder: Path, tmp_path: Path) -> None:
    done = import_runs(format, [folder], tmp_path / "out")
    steps = [run.steps for run in runs_of(done)]
    assert len(steps) == 3 and steps[0] == steps[1] == steps[2]
    assert [Path(one.path).stem for one in done] == ["Shop--3", "deep-run2-Shop--3", "run1-Shop--3"]
    assert [one.archive.removeprefix(str(folder)) for one in done] == ["", "/deep/run2.tar.gz", "/run1.zip"]
    assert done[2].source == f"{folder}/run1.zip/taskShop--3" and left_in(tmp_path / "out") == []


def test_the_summary_counts_archives(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, "other/notes.txt", "none")
    packed(tmp_path / "other", folder / "other.zip")
    result = CliRunner().invoke(cli, ["import", "auto", str(folder), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0
    assert "3 imported, 0 failed (2 archives unpacked), 1 archive left out\n" in result.stderr
    assert f"{folder}/other.zip: an archive without a run: left out\n" in result.stderr


def test_a_folder_of_archives_alone(folder: Path, tmp_path: Path) -> None:
    for file in sorted((folder / "taskShop--3").iterdir()):
        file.unlink()
    (folder / "taskShop--3").rmdir()
    done = import_runs("auto", [folder], tmp_path / "out")
    assert [Path(one.path).stem for one in done] == ["deep-run2-Shop--3", "run1-Shop--3"]
    runs_of(done)
    with pytest.raises(UnknownLayout, match="2 runs, such as deep/run2/Shop--3"):
        import_run("auto", folder, tmp_path / "one.zst")
    (folder / "deep" / "run2.tar.gz").unlink()
    assert import_run("auto", folder, tmp_path / "one.zst").archive == f"{folder}/run1.zip"


def test_archives_of_several_layouts_where_the_folder_has_none(tmp_path: Path) -> None:
    webvoyager(tmp_path / "a")
    mind2web(tmp_path / "b")
    for name in "ab":
        (tmp_path / "in").mkdir(exist_ok=True)
        packed(tmp_path / name, tmp_path / "in" / f"{name}.zip")
    done = import_runs("auto", [tmp_path / "in"], tmp_path / "out")
    formats = []
    for one in done:
        with open_bundle(one.path) as bundle:
            assert bundle.header.source is not None
            formats.append(bundle.header.source.format)
    assert formats == ["webvoyager", "online-mind2web"]


def test_a_folder_without_a_run_in_any_archive_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a/x.txt", "none")
    (tmp_path / "in").mkdir()
    packed(tmp_path / "a", tmp_path / "in" / "a.zip")
    (done,) = import_runs("auto", [tmp_path / "in"], tmp_path / "out")
    assert isinstance(done.error, UnknownLayout)
    assert "it is a folder with 1 archive without a run" in str(done.error)


def test_an_archive_in_an_archive_is_not_unpacked(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outer").mkdir()
    with zipfile.ZipFile(tmp_path / "outer" / "all.zip", "w") as made:
        made.write(folder / "run1.zip", "run1.zip")
    (done,) = import_runs("auto", [tmp_path / "outer" / "all.zip"], tmp_path / "out")
    assert "an archive with 1 archive: unpack it first" in str(done.error)
    (left,) = import_runs("webvoyager", [tmp_path / "outer"], tmp_path / "out")
    assert isinstance(left.error, UnknownLayout)


def test_what_is_a_run_or_in_a_run_is_not_unpacked(tmp_path: Path) -> None:
    run = webvoyager(tmp_path / "in")
    packed(webvoyager(tmp_path / "other").parent, run / "download.zip")
    (done,) = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "out")
    assert "left out: *.zip (1)" in done.warnings
    trace(tmp_path / "traces")
    found = import_runs("playwright-trace", [tmp_path / "traces"], tmp_path / "out")
    assert len(found) == 1 and found[0].error is None and not found[0].archive


def test_an_archive_that_lies_unpacked_beside_itself_is_not_read_twice(tmp_path: Path) -> None:
    webvoyager(tmp_path / "in" / "run1")
    packed(tmp_path / "in" / "run1", tmp_path / "in" / "run1.zip")
    first, second = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "out")
    assert first.error is None and second.state == "left"
    assert second.warnings == ("unpacked already, beside itself: left out",)


def test_a_bad_archive_does_not_stop_the_others(folder: Path, tmp_path: Path) -> None:
    cut = (folder / "run1.zip").read_bytes()[:-40]
    write(folder, "cut.zip", cut)
    done = import_runs("webvoyager", [folder], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "failed", "imported", "imported"]
    assert isinstance(done[1].error, MalformedSource) and done[1].source == f"{folder}/cut.zip"


@pytest.mark.parametrize(("limit", "most"), [("source", 700), ("members", 5)])
def test_limits_hold_for_all_archives_of_a_folder_together(limit: str, most: int, tmp_path: Path) -> None:
    for at in range(4):
        write(tmp_path, f"a{at}/x.txt", b"x" * 300)
        write(tmp_path, f"a{at}/y.txt", b"")
        (tmp_path / "in").mkdir(exist_ok=True)
        packed(tmp_path / f"a{at}", tmp_path / "in" / f"a{at}.zip")
    limits = SourceLimits(**{limit: most})
    done = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "out", options=Options(limits=limits))
    states = [one.state for one in done]
    assert states == ["left", "left", "failed", "failed"]
    error = done[2].error
    assert isinstance(error, SourceLimitExceeded) and error.fields["limit"] == limit


def test_too_many_archives_are_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_detection, "ARCHIVES_MAX", 1)
    done = import_runs("webvoyager", [folder], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "failed"]
    assert "more than 1 archives; expected fewer" in str(done[1].error)


ROWS = [
    {"run": "a", "goal": "Buy tea.", "step": 0, "action": "click [12]", "url": "https://shop.test/"},
    {"run": "a", "goal": "Buy tea.", "step": 1, "action": "stop [Done]", "url": "https://shop.test/2"},
]


def zipped(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def texts(kind: str, rows: list[dict[str, Any]]) -> str:
    if kind == "csv":
        names = list(rows[0])
        return "\n".join([",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)])
    return json.dumps(rows) if kind == "json" else "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "json", "ndjson"])
@pytest.mark.parametrize("is_folder", [True, False])
def test_packed_tables_are_tables(kind: str, is_folder: bool, tmp_path: Path) -> None:
    write(tmp_path, f"plain/t.{kind}", texts(kind, ROWS))
    file = zipped(tmp_path / "in" / f"t.{kind}.gz", texts(kind, ROWS))
    (plain,) = import_runs("table", [tmp_path / "plain"], tmp_path / "plain-out")
    (done,) = import_runs("auto", [file.parent if is_folder else file], tmp_path / "out")
    assert (done.error, done.digest) == (None, plain.digest)
    assert left_in(tmp_path / "out") == []


def test_a_run_may_lie_in_several_packed_tables(tmp_path: Path) -> None:
    for at, row in enumerate(ROWS):
        zipped(tmp_path / "in" / f"train-{at:05}-of-00002.jsonl.gz", texts("jsonl", [row]))
    (run,) = runs_of(import_runs("table", [tmp_path / "in"], tmp_path / "out"))
    assert len(run.steps) == 2


def test_other_packed_files_are_read(tmp_path: Path) -> None:
    plain = har(tmp_path / "plain")
    packed_har = tmp_path / "in" / "net.har.gz"
    zipped(packed_har, plain.read_text())
    (done,) = import_runs("auto", [packed_har], tmp_path / "out")
    (same,) = import_runs("har", [plain], tmp_path / "same")
    assert (done.error, same.error) == (None, None)
    assert done.digest == same.digest


def test_a_packed_file_is_cut_at_the_limit_or_named_where_it_is_broken(tmp_path: Path) -> None:
    zipped(tmp_path / "in" / "a.jsonl.gz", texts("jsonl", ROWS))
    zipped(tmp_path / "in" / "b.jsonl.gz", " " * 1_000_000)
    write(tmp_path, "in/c.csv.gz", b"\x1f\x8bnone")
    limits = SourceLimits(member=100_000)
    done = import_runs("table", [tmp_path / "in"], tmp_path / "out", options=Options(limits=limits))
    assert [one.state for one in done] == ["failed", "failed", "imported"]
    assert isinstance(done[0].error, SourceLimitExceeded) and isinstance(done[1].error, MalformedSource)


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_every_layout_is_read_out_of_an_archive_in_a_folder(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "plain")
    import_run(format, path, tmp_path / "plain.zst")
    (tmp_path / "in").mkdir()
    packed(tmp_path / "plain", tmp_path / "in" / "runs.tar.gz")
    (done,) = import_runs(format, [tmp_path / "in"], tmp_path / "out")
    assert done.error is None, done.error
    with open_bundle(done.path) as bundle, open_bundle(tmp_path / "plain.zst") as plain:
        assert bundle.trajectory.steps == plain.trajectory.steps
