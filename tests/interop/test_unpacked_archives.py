"""Archives of runs: tar, also compressed, and zip; hostile ones write nothing outside of their own folder."""

from __future__ import annotations

import io
import random
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.sealing import LOCK, remove_abandoned_folders
from replaykit.errors import InteropError, MalformedSource, SourceLimitExceeded, UnknownLayout, UnsafeSource
from replaykit.interop.imported_run import Options
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.source_files import SourceLimits
from tests.interop.samples import SAMPLES, webvoyager, write

PREFIX = ".importing-"

PACKED = ("runs.tar", "runs.tar.gz", "runs.tgz", "runs.tar.bz2", "runs.tar.xz", "RUNS.ZIP")


def packed(folder: Path, archive: Path) -> Path:
    """All files of a folder in an archive."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    if archive.suffix.lower() == ".zip":
        with zipfile.ZipFile(archive, "w") as made:
            for file in files:
                made.write(file, file.relative_to(folder))
    else:
        kind = {"gz": "w:gz", "tgz": "w:gz", "bz2": "w:bz2", "xz": "w:xz"}.get(archive.suffix[1:], "w")
        with tarfile.open(archive, kind) as tape:
            for file in files:
                tape.add(file, f"./{file.relative_to(folder)}")
    return archive


def tape(archive: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(archive, "w") as made:
        for info, data in members:
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return archive


def left_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir() if not one.name.endswith(".zst"))


@pytest.mark.parametrize("name", PACKED)
def test_runs_in_an_archive_are_those_of_its_folder(name: str, tmp_path: Path) -> None:
    for run in ("a", "b"):
        webvoyager(tmp_path / "in" / run)
    archive = packed(tmp_path / "in", tmp_path / name)
    plain = import_runs("webvoyager", [tmp_path / "in"], tmp_path / "plain")
    done = import_runs("auto", [archive], tmp_path / "out", jobs=2)
    assert [one.digest for one in done] == [one.digest for one in plain]
    assert [one.source for one in done] == [f"{archive}/{run}/taskShop--3" for run in ("a", "b")]
    assert left_in(tmp_path / "out") == []
    for one in done:
        assert Path(one.path).read_bytes() == (tmp_path / "plain" / Path(one.path).name).read_bytes()


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_every_layout_is_read_out_of_a_tape(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    import_run(format, path, tmp_path / "plain.zst")
    archive = packed(tmp_path / "in", tmp_path / "runs.tar.gz")
    (done,) = import_runs(format, [archive], tmp_path / "out")
    assert done.error is None, done.error
    with open_bundle(done.path) as bundle, open_bundle(tmp_path / "plain.zst") as plain:
        assert bundle.trajectory.steps == plain.trajectory.steps
        assert PREFIX.encode() not in b"".join(bundle.lines)


def test_an_error_names_the_archive(tmp_path: Path) -> None:
    run = webvoyager(tmp_path / "in")
    write(run, "interact_messages.json", "{")
    archive = packed(tmp_path / "in", tmp_path / "runs.tar")
    (done,) = import_runs("webvoyager", [archive], tmp_path / "out")
    assert f"from {archive}/taskShop--3: interact_messages.json is not JSON" in str(done.error)
    (other,) = import_runs("rrweb", [archive], tmp_path / "out")
    assert isinstance(other.error, UnknownLayout) and PREFIX not in str(other.error)
    assert f"from {archive}: it is an archive with a folder of other files" in str(other.error)


def info(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, to
    return one


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "C:\\x", "\\\\host\\x", "..\\x"])
def test_a_member_out_of_the_archive_is_refused(name: str, tmp_path: Path) -> None:
    archive = tape(tmp_path / "runs.tar", (info(name), b"x"))
    (done,) = import_runs("auto", [archive], tmp_path / "out")
    assert isinstance(done.error, UnsafeSource) and left_in(tmp_path / "out") == []
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as made:
        made.writestr(zipfile.ZipInfo(name), b"x")
    (done,) = import_runs("auto", [tmp_path / "runs.zip"], tmp_path / "out")
    assert done.error is not None and left_in(tmp_path / "out") == []


def test_links_are_not_followed_and_second_names_are_files(tmp_path: Path) -> None:
    secret = write(tmp_path, "secret.json", "[]")
    run = webvoyager(tmp_path / "in")
    members = [(info(f"r/{file.name}"), file.read_bytes()) for file in sorted(run.iterdir())]
    first = members[1][0].name
    tape(
        tmp_path / "runs.tar", *members, (info("r/screenshot4.png", tarfile.LNKTYPE, first), b""),
        (info("r/secret.json", tarfile.SYMTYPE, str(secret)), b""),
        (info("r/hard.json", tarfile.LNKTYPE, "r/none.json"), b""),
        (info("r/pipe", tarfile.FIFOTYPE), b""),
    )  # fmt: skip
    (done,) = import_runs("webvoyager", [tmp_path / "runs.tar"], tmp_path / "out")
    with open_bundle(done.path) as bundle:
        assert bundle.header.source is not None
        assert "secret.json" not in bundle.header.source.files
        assert "screenshot4.png" in bundle.header.source.files


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (SourceLimits(members=2), "members"),
        (SourceLimits(member=20), "member"),
        (SourceLimits(source=20), "source"),
    ],
)
@pytest.mark.parametrize("kind", ["runs.tar.gz", "runs.zip"])
def test_limits_hold_while_it_is_unpacked(limits: SourceLimits, name: str, kind: str, tmp_path: Path) -> None:
    webvoyager(tmp_path / "in")
    archive = packed(tmp_path / "in", tmp_path / kind)
    (done,) = import_runs("webvoyager", [archive], tmp_path / "out", options=Options(limits=limits))
    assert isinstance(done.error, SourceLimitExceeded) and done.error.fields["limit"] == name
    assert left_in(tmp_path / "out") == []


def test_a_bomb_is_cut_at_the_limit(tmp_path: Path) -> None:
    write(tmp_path, "in/zeros.json", b"\0" * 5_000_000)
    archive = packed(tmp_path / "in", tmp_path / "runs.tar.gz")
    assert archive.stat().st_size < 20_000
    limits = SourceLimits(member=1_000_000)
    (done,) = import_runs("webvoyager", [archive], tmp_path / "out", options=Options(limits=limits))
    assert isinstance(done.error, SourceLimitExceeded) and left_in(tmp_path / "out") == []


def test_second_names_of_a_file_count_as_its_copies(tmp_path: Path) -> None:
    names = ((info(f"r/{at}.json", tarfile.LNKTYPE, "r/0.json"), b"") for at in range(1, 20))
    archive = tape(tmp_path / "runs.tar", (info("r/0.json"), b"x" * 1000), *names)
    limits = SourceLimits(source=5000)
    (done,) = import_runs("webvoyager", [archive], tmp_path / "out", options=Options(limits=limits))
    assert isinstance(done.error, SourceLimitExceeded) and done.error.fields["limit"] == "source"


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": lambda data, chance: data[: chance.randrange(len(data))],
    "flip": lambda data, chance: bytes(
        byte ^ (chance.randrange(200) == 0) << chance.randrange(8) for byte in data
    ),
}


@settings(max_examples=30)
@given(name=st.sampled_from(PACKED), damage=st.sampled_from(sorted(DAMAGES)), seed=st.integers(0, 2**32))
def test_damaged_archives_give_only_errors_of_ours(name: str, damage: str, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        webvoyager(place / "in")
        archive = packed(place / "in", place / name)
        archive.write_bytes(DAMAGES[damage](archive.read_bytes(), random.Random(seed)))
        for one in import_runs("webvoyager", [archive], place / "out"):
            assert one.error is None or isinstance(one.error, InteropError)
        assert not (place / "out").exists() or left_in(place / "out") == []


@pytest.mark.parametrize("size", range(12))
def test_archive_that_ends_within_its_header(size: int, tmp_path: Path) -> None:
    webvoyager(tmp_path / "in")
    archive = packed(tmp_path / "in", tmp_path / "runs.tar.gz")
    archive.write_bytes(archive.read_bytes()[:size])
    (done,) = import_runs("webvoyager", [archive], tmp_path / "out")
    assert isinstance(done.error, InteropError)


def test_what_a_killed_import_unpacked_is_removed_and_nothing_else(tmp_path: Path) -> None:
    import fcntl

    for name in ("dead", "alive"):
        write(tmp_path, f"{PREFIX}{name}/{LOCK}", b"")
        write(tmp_path, f"{PREFIX}{name}/1/a.json", b"x")
    # Killed before it locked its folder.
    (tmp_path / f"{PREFIX}new").mkdir()
    with (tmp_path / f"{PREFIX}alive" / LOCK).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        remove_abandoned_folders(tmp_path, "importing")
    assert left_in(tmp_path) == [f"{PREFIX}alive"]
    remove_abandoned_folders(tmp_path / "missing", "importing")


def test_a_pointer_in_the_place_of_an_archive_is_named(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 5\n"
    (done,) = import_runs("auto", [write(tmp_path, "runs.tar.gz", pointer)], tmp_path / "out")
    assert isinstance(done.error, MalformedSource) and "git lfs pull" in str(done.error)
