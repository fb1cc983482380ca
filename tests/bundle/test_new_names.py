"""Two writers of one new file at the same time: the second is refused, and what the first wrote stays."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

import replaykit
from replaykit.bundle import sealing
from replaykit.bundle.writer import salvage
from replaykit.errors import OutputExists
from replaykit.grading.judges.attacks import attacks_tape
from replaykit.grading.judges.tape.packed_tape import pack
from replaykit.grading.judges.tape.tape import tape_beside
from replaykit.interop.run_import import import_run, import_runs
from replaykit.testing import trajectory
from tests.redaction.test_tape_redaction import record, request

OTHERS = b"of another writer"


@pytest.fixture(params=["links", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hard links, or a file system without them."""

    def refused(*_: Any, **__: Any) -> NoReturn:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if request.param == "no links":
        monkeypatch.setattr(os, "link", refused)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "part").write_bytes(b"own")
    return tmp_path / "part"


@pytest.mark.usefixtures("links")
def test_a_free_name_is_taken(written: Path, tmp_path: Path) -> None:
    sealing.put(written, tmp_path / "new", "write", is_forced=False)
    assert [one.name for one in tmp_path.iterdir()] == ["new"]
    assert (tmp_path / "new").read_bytes() == b"own"


@pytest.mark.usefixtures("links")
def test_a_name_that_is_taken_is_refused_unless_forced(written: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.write_bytes(OTHERS)
    with pytest.raises(OutputExists):
        sealing.put(written, target, "write", is_forced=False)
    assert (target.read_bytes(), written.read_bytes()) == (OTHERS, b"own")
    sealing.put(written, target, "write", is_forced=True)
    assert (target.read_bytes(), written.exists()) == (b"own", False)


def run_at(folder: Path) -> Path:
    path = trajectory().goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(folder / "run.zst")
    record(path, request("Is it done?"), "SUCCESS")
    shutil.copy(tape_beside(path), attacks_tape(tape_beside(path)))
    return path


def exported(path: Path, target: Path) -> None:
    replaykit.export_run("har", path, target)


WRITERS: dict[str, Callable[[Path, Path], Any]] = {
    "redact": replaykit.redact, "pack": pack, "salvage": salvage, "export": exported,
}  # fmt: skip


@pytest.mark.parametrize("command", WRITERS)
def test_what_another_command_wrote_meanwhile_stays(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = run_at(tmp_path), tmp_path / "out" / "new.zst"
    target.parent.mkdir()
    before = sealing._put_new

    def slower(part: Path, place: Path) -> None:
        if place == target:
            target.write_bytes(OTHERS)
        before(part, place)

    monkeypatch.setattr(sealing, "_put_new", slower)
    with pytest.raises(OutputExists):
        WRITERS[command](source, target)
    assert target.read_bytes() == OTHERS
    assert [one.name for one in target.parent.iterdir()] == ["new.zst"]


def test_a_tape_of_another_command_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = run_at(tmp_path), tmp_path / "out" / "new.zst"
    target.parent.mkdir()
    before = sealing._put_new

    def slower(part: Path, place: Path) -> None:
        tape_beside(target).write_bytes(OTHERS)
        before(part, place)

    monkeypatch.setattr(sealing, "_put_new", slower)
    with pytest.raises(OutputExists):
        replaykit.redact(source, target)
    assert [one.name for one in target.parent.iterdir()] == [tape_beside(target).name]
    assert tape_beside(target).read_bytes() == OTHERS


def test_an_import_keeps_what_another_import_wrote_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    har = tmp_path / "net.har"
    har.write_text('{"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": []}}')
    target, before = tmp_path / "runs" / "net.zst", sealing._put_new

    def slower(part: Path, place: Path) -> None:
        target.write_bytes(OTHERS)
        before(part, place)

    monkeypatch.setattr(sealing, "_put_new", slower)
    (done,) = import_runs("har", [har], target.parent)
    assert (done.state, target.read_bytes()) == ("kept", OTHERS)
    monkeypatch.undo()
    assert import_run("har", har, target, force=True).state == "imported"
