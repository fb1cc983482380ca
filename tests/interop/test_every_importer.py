"""Properties of every importer: the same bytes out, only errors of ours, undecided where nothing is known."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.errors import BundleError, InteropError, UsageError
from replaykit.grading.grader import grade
from replaykit.interop.imported_run import Options
from replaykit.interop.registry import FACTS, IMPORTERS, importer, matrix
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.source_files import SourceLimits
from replaykit.tasks.task import decode_task
from replaykit.trajectory.step import CHANNELS
from tests.interop.samples import SAMPLES
from tests.thorough import one_in

EVERY = pytest.mark.parametrize("format", SAMPLES)


def test_every_importer_has_a_sample() -> None:
    assert set(SAMPLES) == set(IMPORTERS)


@EVERY
def test_the_declaration_names_what_there_is(format: str) -> None:
    one = importer(format)
    assert one.name == format
    assert set(one.channels) <= {*FACTS, *CHANNELS}
    assert set(one.channels.values()) <= set("RPo-")


@EVERY
def test_no_channel_holds_more_than_was_declared(format: str, tmp_path: Path) -> None:
    target = tmp_path / "run.zst"
    import_run(format, SAMPLES[format](tmp_path / "in"), target)
    with open_bundle(target) as bundle:
        for name in CHANNELS:
            state = bundle.trajectory.channel(name)
            assert state == "absent" or importer(format).letter(name) != "-", name


@EVERY
def test_the_bundle_is_whole_and_names_its_source(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    import_run(format, path, tmp_path / "run.zst")
    assert not verify(tmp_path / "run.zst").findings
    with open_bundle(tmp_path / "run.zst") as bundle:
        source = bundle.header.source
        assert source is not None and source.format == format and source.files
        text = b"".join(bundle.lines).decode()
        assert str(tmp_path) not in text


ELSEWHERE = """
import json, sys
from replaykit.interop.run_import import import_run
for format, path, target in json.load(sys.stdin):
    import_run(format, path, target)
"""


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    again = []
    for format, sample in SAMPLES.items():
        path = sample(tmp_path / format / "in")
        import_run(format, path, tmp_path / format / "a.zst")
        folder = path if path.is_dir() else path.parent
        copied = tmp_path / format / "elsewhere" / "deeper" / folder.name
        shutil.copytree(folder, copied)
        source = copied if path.is_dir() else copied / path.name
        again.append((format, str(source), str(tmp_path / format / "b.zst")))
    environment = {**os.environ, "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=json.dumps(again), text=True, check=True, env=environment
    )
    pairs = {
        format: [(tmp_path / format / name).read_bytes() for name in ("a.zst", "b.zst")] for format in SAMPLES
    }
    assert [format for format, (one, other) in pairs.items() if one != other] == []


TASK = decode_task(
    {
        "id": "x",
        "intent": "Find it.",
        "checks": [
            {"type": "url_match", "url": "http://nowhere.test/never"},
            {
                "type": "page",
                "url": "http://nowhere.test/",
                "selector": "#x",
                "property": "text",
                "expect": {"equals": "1"},
            },
        ],
        "policies": [
            {
                "id": "stay",
                "description": "Stay.",
                "source": "organization",
                "dimension": "boundary_and_scope_limitation",
                "rule": {"type": "url_boundary", "allow": [{"host": "shop.test"}, {"host": "x.test"}]},
            },
        ],
    }
)


@EVERY
def test_what_is_absent_is_undecided(format: str, tmp_path: Path) -> None:
    import_run(format, SAMPLES[format](tmp_path / "in"), tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        verdict = grade(bundle, TASK)
        absent = {name for name in CHANNELS if bundle.trajectory.channel(name) == "absent"}
    outcomes = {check.type: check for check in verdict.checks}
    if "snapshots" in absent and "probes" in absent:
        assert outcomes["page"].outcome == "UNDECIDED" and outcomes["page"].missing
    if "urls" in absent:
        assert outcomes["url_match"].outcome == "UNDECIDED" and outcomes["url_match"].missing
        assert verdict.policies[0].outcome == "UNDECIDED" and verdict.policies[0].missing


def outcome(format: str, path: Path, target: Path) -> str:
    try:
        import_run(format, path, target, options=Options(limits=SourceLimits(steps=1000)))
    except (InteropError, BundleError) as error:
        assert error.message and error.exit_code == 3
        return "refused"
    assert not verify(target).findings
    target.unlink()
    return "read"


def damaged(files: list[Path], change: Callable[[bytes], bytes]) -> None:
    for file in files:
        file.write_bytes(change(file.read_bytes()))


@EVERY
@pytest.mark.parametrize("seed", one_in(6, range(12)))
def test_flipped_bytes_give_only_errors_of_ours(format: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{format} {seed}")

    def flip(data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(1 + seed % 3):
            if changed:
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)

    for number in range(4):
        path = SAMPLES[format](tmp_path / f"in{number}")
        damaged(sorted(p for p in (path.rglob("*") if path.is_dir() else [path]) if p.is_file()), flip)
        outcome(format, path, tmp_path / "run.zst")


@EVERY
@pytest.mark.parametrize("share", one_in(2, [0.5, 0.1, 0.99, 0.0, 0.9]))
def test_cut_files_give_only_errors_of_ours(format: str, share: float, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    for file in sorted(p for p in (path.rglob("*") if path.is_dir() else [path]) if p.is_file()):
        whole = file.read_bytes()
        file.write_bytes(whole[: int(len(whole) * share)])
        outcome(format, path, tmp_path / "run.zst")
        file.write_bytes(whole)


@EVERY
def test_limits_are_held_and_named(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    for limits in (SourceLimits(member=3), SourceLimits(source=3)):
        with pytest.raises(InteropError, match="expected at most 3") as found:
            import_run(format, path, tmp_path / "run.zst", options=Options(limits=limits))
        assert "--limit" in found.value.message


@EVERY
def test_links_out_of_the_source_are_refused(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    if path.suffix in (".zip", ".eval"):
        pytest.skip("members of an archive are no links")
    if not path.is_dir():
        path = path.parent
    for number, file in enumerate([p for p in path.rglob("*") if p.is_file()]):
        secret = tmp_path / f"secret{number}"
        secret.write_bytes(file.read_bytes())
        file.unlink()
        file.symlink_to(secret)
    with pytest.raises(InteropError, match="a path out of the source"):
        import_run(format, path, tmp_path / "run.zst")


@EVERY
def test_detection_finds_the_format(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    import_run("auto", path, tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.header.source is not None and bundle.header.source.format == format


def test_an_option_of_another_format_is_refused(tmp_path: Path) -> None:
    path = SAMPLES["wabe"](tmp_path / "in")
    with pytest.raises(UsageError, match="import wabe takes no option --max-iter; it takes --actions"):
        import_run("wabe", path, tmp_path / "run.zst", options=Options(max_iter=3))


def test_a_secret_never_reaches_the_bundle(tmp_path: Path) -> None:
    path = SAMPLES["webvoyager"](tmp_path / "in")
    file = path / "interact_messages.json"
    file.write_text(file.read_text().replace("tin", "tulip4711"))
    import_run("webvoyager", path, tmp_path / "run.zst", options=Options(secrets={"PASS": "tulip4711"}))
    with open_bundle(tmp_path / "run.zst") as bundle:
        text = b"".join(bundle.lines).decode()
        assert "tulip4711" not in text and "⟦secret:PASS⟧" in text
        assert bundle.header.secrets == ("PASS",)


def test_a_bad_run_among_many_is_reported_and_skipped(tmp_path: Path) -> None:
    SAMPLES["webvoyager"](tmp_path / "in" / "a")
    bad = SAMPLES["webvoyager"](tmp_path / "in" / "b")
    (bad / "interact_messages.json").write_text("{")
    done = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "failed"]
    again = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "out")
    assert [one.state for one in again] == ["kept", "failed"]
    assert len({one.path for one in done}) == 2


def test_the_table_has_a_row_per_format() -> None:
    rows = matrix()
    assert [row["format"] for row in rows] == list(IMPORTERS)
    assert all(set(row) == {"format", *FACTS, *CHANNELS, "options", "looks_for"} for row in rows)


def broken(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("format", "name", "data", "says"),
    [
        (
            "har",
            "cut.har",
            b'{"log": {"version": "1.2", "entries": [',
            r"from \S*cut\.har: cut\.har is not JSON",
        ),
        ("har", "none.har", b"", r"from \S*none\.har: none\.har is empty"),
        ("playwright-trace", "cut.zip", b"PK\x03\x04cut", "it is no whole zip archive; expected trace.zip"),
        ("atif", "none.json", b"", r"it is an empty file; expected \*\.json with schema_version"),
        ("auto", "list.json", b"[]", r"it is JSON of another layout; expected one of these\nwebvoyager: "),
        ("atif", "cut.json", b'{"a": ', r"it is a file that is not JSON \(Expecting value: line 1 column 7"),
        ("browser-use", "wide.json", '{"a": 1}'.encode("utf-16"), "it is a file that is in UTF-16"),
        ("webvoyager", "notes.txt", b"x", "it is a text file, and no layout is plain text: .*; expected"),
        ("browser-use", "wider.json", '{"a": 1}'.encode("utf-32-le"), "is in UTF-32; .*iconv -f UTF-32"),
    ],
)
def test_what_is_broken_is_named_by_its_file(
    format: str, name: str, data: bytes, says: str, tmp_path: Path
) -> None:
    path = broken(tmp_path / "in", name, data)
    (done,) = import_runs(format, [path], tmp_path / "out")
    assert done.error is not None and re.search(says, str(done.error)), done.error


@EVERY
def test_a_path_that_no_file_system_takes_is_unreadable(format: str, tmp_path: Path) -> None:
    (done,) = import_runs(format, [tmp_path / ("y" * 300)], tmp_path / "out")
    assert "the path is unreadable (File name too long)" in str(done.error)


def test_what_is_empty_or_missing_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    empty, missing = import_runs("har", [tmp_path / "empty", tmp_path / "none"], tmp_path / "out")
    assert "it is an empty folder; expected *.har" in str(empty.error)
    assert str(missing.error).endswith("it is missing; expected a file or folder")
