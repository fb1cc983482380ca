"""Places that take no file: the error names what was to be written, the exit code is 3, and nothing is lost.

Rights do not stop root, so they are stood in for; a disk without space is one too.
"""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from replaykit import file_types
from replaykit.bundle import sealing, writer
from replaykit.cli.main import run
from replaykit.errors import BundleWriteError, UsageError, write_refused
from replaykit.interop.archives import unpacked_archives
from replaykit.testing import trajectory
from tests.interop.samples import har

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    task = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}
    return trajectory(task).goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(tmp_path / "a.zst")


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which nothing can be made."""
    place, real = tmp_path / "place", os.access
    place.mkdir()

    def refuse(path: Any, mode: int, **options: Any) -> bool:
        inside = Path(path) == place or place in Path(path).parents
        return real(path, mode, **options) and not (inside and mode & os.W_OK)

    monkeypatch.setattr(os, "access", refuse)
    return place


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "a.zst", "-o", "place/r.json"],
        ["grade", "a.zst", "--timings", "place/t.jsonl"],
        ["view", "a.zst", "-o", "place/v.html"],
        ["diff", "a.zst", "a.zst", "-o", "place/d.html"],
        ["label", "a.zst", "--annotator", "ada", "-o", "place/labels.jsonl"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("bundle", "read_only")
def test_a_place_that_is_only_read_is_refused_before_the_work(words: list[str], capfd: Captured) -> None:
    assert run(words) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert words[-1] in err
    assert file_types.READ_ONLY in err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
def test_a_disk_that_takes_nothing_is_no_wrong_usage(number: int) -> None:
    found = write_refused("r.json", "write", OSError(number, os.strerror(number)))
    assert isinstance(found, BundleWriteError)
    assert found.exit_code == 3
    assert str(found) == f"r.json: cannot write: {os.strerror(number)}"


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG])
def test_a_place_that_no_file_can_have_is_wrong_usage(number: int) -> None:
    found = write_refused("r.json", "write", OSError(number, os.strerror(number)))
    assert isinstance(found, UsageError)
    assert found.exit_code == 2


@pytest.mark.parametrize(
    "words",
    [["redact", "a.zst", "-o", "new.zst"], ["import", "har", "in/net.har", "-o", "out"]],
    ids=" ".join,
)
def test_a_full_disk_names_the_bundle_and_not_what_is_written_aside(
    words: list[str], bundle: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    har(bundle.parent / "in")

    def full(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer.os, "write", full)
    assert run(words) == 3
    err = capfd.readouterr().err
    assert ": cannot write: No space left on device\n" in err
    assert "redacting-" not in err and "importing-" not in err and "replaykit seal" not in err
    assert not [one for one in bundle.parent.rglob("*") if one.name.startswith(".")]


def test_a_full_disk_is_no_fault_of_an_archive(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    with zipfile.ZipFile("runs.zip", "w") as archive:
        archive.write(har(bundle.parent / "in"), "folder/net.har")

    class Full(io.FileIO):
        def write(self, _: Any) -> NoReturn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(unpacked_archives.Unpacking, "_opened", lambda _, target: Full(target, "wb"))
    assert run(["import", "auto", "runs.zip", "-o", "out"]) == 3
    err = capfd.readouterr().err
    assert "out: cannot unpack an archive: No space left on device" in err
    assert "Copy the source again" not in err


def refused(*_: Any) -> NoReturn:
    raise BundleWriteError(source="aside", operation="write", reason="not of the system")


@pytest.mark.parametrize("raised", [refused])
def test_other_errors_keep_their_words(raised: Callable[..., NoReturn]) -> None:
    with (
        pytest.raises(BundleWriteError, match="aside: cannot write: not of the system"),
        sealing.named_as(Path("x")),
    ):
        raised()
