"""Texts in other encodings, and addresses where a file belongs: named with what to do; nothing is guessed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import run
from replaykit.file_types import is_url
from replaykit.interop.run_import import import_run
from tests.interop.samples import har, harbor

Captured = pytest.CaptureFixture[str]
GOOD = str(Path("recordings/conformance/order-total--good.zst").resolve())
CONVERT = "convert it: `iconv -f UTF-16 -t UTF-8 FILE > COPY`"
JUDGE = "protocol: custom\nmodel: anthropic:claude-sonnet-5-5\nuser_file: prompt.txt\nparser: {kind: token}\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "Is it done?".encode("utf-16"),
            f"prompt.txt: not a text in UTF-8: found a text file in UTF-16 ({CONVERT})",
        ),
        ("Is it done?".encode("utf-16-le"), "prompt.txt: not a text in UTF-8: found a file of another kind"),
        ("Déjà?".encode("latin-1"), "prompt.txt: not a text in UTF-8: it is not UTF-8: byte 0xe9 at 1"),
        (gzip.compress(b"Is it done?", mtime=0), "prompt.txt: not a text in UTF-8: found a gzip file"),
    ],
)
def test_a_prompt_that_is_not_utf_8_is_not_sent(
    content: bytes, words: str, tmp_path: Path, capfd: Captured
) -> None:
    (tmp_path / "judge.yaml").write_text(JUDGE)
    (tmp_path / "prompt.txt").write_bytes(content)
    assert run(["judge", "plan", GOOD, "--judge", str(tmp_path / "judge.yaml")]) == 3
    assert words in capfd.readouterr().err


@pytest.mark.parametrize("name", ["judge.yaml", "judge.toml", "judge.json"])
def test_settings_in_utf_16_are_named(name: str, tmp_path: Path, capfd: Captured) -> None:
    (tmp_path / name).write_bytes(JUDGE.encode("utf-16"))
    assert run(["judge", "plan", GOOD, "--judge", str(tmp_path / name)]) == 3
    assert f"{name}: not a text in UTF-8: found a text file in UTF-16 ({CONVERT})" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["tasks", "validate", "https://shop.test/suite.yaml"],
        ["grade", GOOD, "--task", "http://shop.test/suite.yaml#t1"],
        ["policies", "validate", "https://shop.test/policies.yaml"],
        ["import", "har", "https://shop.test/net.har", "-o", "out"],
    ],
    ids=" ".join,
)
def test_an_address_is_no_file(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) in (3, 4)
    assert "it is a URL, and is not fetched: download the file, and name the copy" in capfd.readouterr().err


@pytest.mark.parametrize("path", ["c:/x.yaml", "a.yaml", "httpx/x", "./http", "data:x", "-"])
def test_other_paths_are_no_addresses(path: str) -> None:
    assert not is_url(Path(path))


def test_a_packed_har_file_with_the_name_of_a_plain_one(tmp_path: Path, capfd: Captured) -> None:
    file = har(tmp_path)
    file.write_bytes(gzip.compress(file.read_bytes()))
    assert run(["import", "har", str(file), "-o", str(tmp_path / "out")]) == 3
    assert "net.har is a gzip file; expected JSON in UTF-8" in capfd.readouterr().err


@pytest.mark.parametrize("content", ["Bought.".encode("utf-16"), "Acheté.".encode("latin-1")])
def test_an_answer_that_is_not_utf_8_is_unknown(content: bytes, tmp_path: Path) -> None:
    trial = harbor(tmp_path / "in")
    (answer,) = trial.rglob("answer.txt")
    (trial / "agent" / "trajectory.json").unlink()
    answer.write_bytes(content)
    done = import_run("harbor", tmp_path / "in", tmp_path / "run.zst")
    assert any("left out: convert it first" in words for words in done.warnings)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.trajectory.answer is None
    answer.write_text("Acheté.", encoding="utf-8")
    import_run("harbor", tmp_path / "in", tmp_path / "run.zst", force=True)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.trajectory.answer == "Acheté."
