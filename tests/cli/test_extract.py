"""`replaykit extract` and the content digest in `replaykit verify`, as a user meets them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import replaykit
from replaykit.testing import trajectory


def run(*arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "replaykit", *map(str, arguments)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=120, **how,
    )  # fmt: skip


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    made = trajectory().goto("http://shop.test/", "<h1>Mugs</h1>").screenshot(40, 40).answer("the tin mug")
    return made.write(tmp_path / "run.zst")


def test_a_bundle_becomes_plain_files(bundle: Path, tmp_path: Path) -> None:
    done = run("extract", bundle, tmp_path / "new" / "out")
    assert (done.returncode, done.stdout) == (0, f"sha256:{replaykit.verify(bundle).digest}\n")
    assert "trajectory.jsonl, manifest.json, 1 in dom/, 1 in screenshots/" in done.stderr
    listed = json.loads((tmp_path / "new" / "out" / "manifest.json").read_text())
    assert listed["digest"] == replaykit.verify(bundle).digest
    assert {row["file"].partition("/")[0] for row in listed["blobs"].values()} == {"dom", "screenshots"}


def test_the_folder_is_named_in_three_ways(bundle: Path, tmp_path: Path) -> None:
    assert run("extract", bundle, "-o", tmp_path / "named").returncode == 0
    assert (tmp_path / "named" / "manifest.json").is_file()
    assert run("extract", bundle, cwd=tmp_path).returncode == 0
    assert (tmp_path / "run" / "manifest.json").is_file()
    twice = run("extract", bundle, tmp_path / "a", "-o", tmp_path / "b")
    assert (twice.returncode, "extract writes one folder, got two" in twice.stderr) == (2, True)
    nowhere = run("extract", "-")
    assert (nowhere.returncode, "name the folder to write with -o DIR" in nowhere.stderr) == (2, True)


def test_standard_input(bundle: Path, tmp_path: Path) -> None:
    with bundle.open("rb") as stream:
        command = [sys.executable, "-m", "replaykit", "--quiet", "extract", "-", str(tmp_path / "out")]
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "manifest.json").exists()


def test_a_folder_that_is_not_empty_is_a_usage_error(bundle: Path, tmp_path: Path) -> None:
    done = run("extract", bundle, tmp_path)
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert "--force" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.zst"]
    assert run("extract", bundle, tmp_path, "--force").returncode == 0


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "torn.zst").write_bytes(b"nothing")
    for name in ("missing.zst", "torn.zst"):
        done = run("extract", tmp_path / name, tmp_path / "out")
        assert done.returncode == 3
        assert name in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_a_folder_that_may_not_be_written(bundle: Path) -> None:
    # Not even root may make a folder there.
    done = run("extract", bundle, "/proc/replaykit-out")
    assert done.returncode == 3
    assert "/proc/replaykit-out: cannot extract: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_write_that_fails_is_one_clear_error(bundle: Path, tmp_path: Path) -> None:
    # A limit on the size of files stands for a full disk: the system refuses the write itself.
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = run("extract", bundle, tmp_path / "out", preexec_fn=limited)
    assert done.returncode == 3
    assert "cannot extract: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_verify_names_the_content_digest(bundle: Path, tmp_path: Path) -> None:
    with replaykit.open_bundle(bundle) as opened:
        expected = opened.content_digest
    assert f"  content sha256:{expected}\n" in run("verify", bundle).stdout
    assert json.loads(run("verify", "--json", bundle).stdout)["content_digest"] == expected
    (tmp_path / "torn.zst").write_bytes(b"nothing")
    done = run("verify", "--json", tmp_path / "torn.zst")
    assert (done.returncode, json.loads(done.stdout)["content_digest"]) == (3, "")


def test_the_library_does_the_same(bundle: Path, tmp_path: Path) -> None:
    result = replaykit.extract(bundle, tmp_path / "out")
    assert result.folder == str(tmp_path / "out")
    assert result.files == {"dom": 1, "screenshots": 1}
