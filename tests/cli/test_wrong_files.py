"""Every command with a file that is missing, a folder, empty or of another kind: the error names what was found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from replaykit import verify
from replaykit.cli.main import run
from replaykit.file_types import SAVED_MAX, kind_of_bytes
from replaykit.testing import trajectory

TASK = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}

FILES = {
    "missing.zst": None,
    "empty.zst": "",
    "text.txt": "hello\n",
    "suite.yaml": "schema: replaykit.suite/1\ntasks: [{id: t1, intent: Which}]\n",
    "policies.yaml": "schema: replaykit.policies/1\n"
    "policies: [{id: p, dimension: user_consent, rule: {type: never, match: {text: Pay}}}]\n",
    "tape.jsonl": '{"tape":"replaykit.replies","trajectory":"0","version":1}\n',
}

BUNDLE = ["a.zst"]
TASKS = ["suite.yaml"]
REPORT = ["report.json"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    trajectory(task=TASK).goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(tmp_path / "a.zst")
    assert run(["grade", "a.zst", "-o", "report.json"]) == 0
    for name, text in FILES.items():
        if text is not None:
            (tmp_path / name).write_text(text)
    label = {"trajectory": f"sha256:{verify('a.zst').digest}", "label": "success", "annotator": "ada"}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label) + "\n")
    (tmp_path / "folder").mkdir()
    capfd.readouterr()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "takes"),
    [
        (["show", "@"], BUNDLE),
        (["verify", "@"], BUNDLE),
        (["extract", "@", "-o", "out"], BUNDLE),
        (["seal", "@"], BUNDLE),
        (["redact", "@", "-o", "new.zst"], BUNDLE),
        (["pack", "@", "-o", "new.zst"], BUNDLE),
        (["serve", "@"], BUNDLE),
        (["rerun", "@"], BUNDLE),
        (["grade", "@"], BUNDLE),
        (["grade", "a.zst", "--task", "@"], TASKS),
        (["grade", "a.zst", "--replies", "@"], ["tape.jsonl", "empty.zst", "folder", *BUNDLE]),
        (["grade", "a.zst", "--judge", "@"], []),
        (["grade", "a.zst", "--require-calibration", "@"], []),
        (["grade", "a.zst", "--calibrated", "@"], []),
        (["view", "@", "-o", "v.html"], [*BUNDLE, *REPORT]),
        (["view", "a.zst", "-o", "v.html", "--sensitivity", "@"], []),
        (["view", "a.zst", "-o", "v.html", "--calibration", "@"], []),
        (["diff", "@", "report.json"], REPORT),
        (["diff", "a.zst", "@"], BUNDLE),
        (["tasks", "validate", "@"], TASKS),
        (["tasks", "list", "@"], TASKS),
        (["tasks", "sample", "@"], TASKS),
        (["policies", "try", "@", "a.zst"], [*TASKS, "policies.yaml"]),
        (["policies", "try", "policies.yaml", "@"], BUNDLE),
        (["separates", "@"], REPORT),
        (["judge", "plan", "@"], BUNDLE),
        (["judge", "prompt", "@"], BUNDLE),
        (["judge", "run", "@"], BUNDLE),
        (["judge", "rubric", "@", "-o", "rubrics"], [*BUNDLE, *TASKS]),
        (["agree", "@", "report.json"], ["labels.jsonl", *REPORT]),
        (["agree", "labels.jsonl", "@"], ["labels.jsonl", *REPORT]),
        (["export", "atif", "@", "-o", "out"], BUNDLE),
        (["import", "webvoyager", "@", "-o", "out"], []),
        (["record", "--agent", "json:loads", "--task", "@"], TASKS),
        (["record", "--agent", "json:loads", "-o", "out", "--suite", "@"], TASKS),
    ],
    ids=lambda value: " ".join(value) if "@" in value else "",
)
def test_a_wrong_file_is_named_with_what_it_is(
    words: list[str], takes: list[str], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in [*FILES, "folder", "a.zst", "report.json", "labels.jsonl"]:
        if name in takes:
            continue
        code = run([name if word == "@" else word for word in words])
        out, err = capfd.readouterr()
        assert code in (2, 3, 4), (name, code)
        assert name in out + err and "Traceback" not in err, (name, err)
        if name == "missing.zst":
            assert any(word in err for word in ("No such file", "no such file", "is missing", "no judge")), (
                err
            )


def test_a_missing_file_names_the_nearest(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["show", "reprot.json"], ["separates", "reprot.json"], ["tasks", "list", "siute.yaml"]):
        assert run(words) == 3
        assert "did you mean " in capfd.readouterr().err
    assert run(["view", "missing.json", "-o", "v.html"]) == 3
    assert "missing.json: cannot read the report or bundle: no such file or folder" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"", "an empty file"),
        (b"PAR1", "a Parquet file"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        ("é".encode()[:1], "a text file"),
        (b"\xff\x00", "a file of another kind"),
        (b"\xff\xfea\x00", "a text file in UTF-16 (convert it: `iconv -f UTF-16 -t UTF-8 FILE > COPY`)"),
        (b'{"tape":"replaykit.replies"', "a tape of `replaykit judge run`"),
        (b'[{"id": 1}]', "a JSON file"),
    ],
)
def test_kinds_of_files(head: bytes, words: str) -> None:
    assert kind_of_bytes(head) == words


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["redact", "a.zst", "--force", "-o"], "p.zst"),
        (["grade", "a.zst", "-o"], "p.json"),
        (["view", "a.zst", "-o"], "p.html"),
        (["diff", "report.json", "report.json", "-o"], "p.html"),
        (["export", "har", "a.zst", "--force", "-o"], "p.har"),
    ],
)
def test_no_file_takes_the_place_of_a_pipe_or_device(
    folder: Path, words: list[str], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / name)
    assert run([*words, name]) in (2, 3)
    assert "it is a device or a pipe" in capfd.readouterr().err
    assert (folder / name).is_fifo()


def test_a_link_that_leads_nowhere_hides_no_other_bundle(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "folder" / "lost.zst").symlink_to("nowhere.zst")
    (folder / "a.zst").rename(folder / "folder" / "a.zst")
    assert run(["verify", "folder"]) == 3
    found = capfd.readouterr()
    assert "NOT OK: folder/lost.zst: cannot read the bundle" in found.out
    assert "folder/a.zst: ok" in found.out
    assert run(["judge", "plan", "folder", "--judge", "webvoyager"]) == 3
    assert "did you mean" not in capfd.readouterr().err


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="Windows has no such device")
@pytest.mark.parametrize(
    "words", [["tasks", "validate"], ["policies", "validate"], ["grade", "a.zst", "--task"]], ids=" ".join
)
def test_a_device_without_end_is_read_up_to_the_largest_file(
    folder: Path, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "/dev/zero"]) == 3
    assert "/dev/zero: larger than" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["diff", "large", "report.json"],
        ["separates", "large"],
        ["view", "large", "-o", "x.html"],
        ["agree", "large", "report.json"],
        ["agree", "labels.jsonl", "large"],
        ["grade", "a.zst", "--require-calibration", "large"],
        ["grade", "a.zst", "--calibrated", "large"],
        ["grade", "a.zst", "--judge", "webvoyager", "--replies", "large"],
        ["pack", "a.zst", "--replies", "large", "-o", "b.zst"],
    ],
    ids=" ".join,
)
def test_a_file_that_no_memory_holds_is_not_read(
    folder: Path, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "labels.jsonl").write_text(json.dumps({"trajectory": "0" * 64, "label": "success"}) + "\n")
    kind = b"report/8" if words[0] == "agree" else b"replies"
    with (folder / "large").open("wb") as file:
        file.write(b'{"schema":"replaykit.%b"}\n' % kind)
        file.truncate(SAVED_MAX + 1)  # sparse: neither disk nor memory holds it
    assert run(words) == 3
    found = capfd.readouterr()
    assert "large: " in found.err and "larger than" in found.err


def test_a_lack_of_memory_is_no_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def starve(path: object) -> None:
        raise MemoryError

    monkeypatch.setattr("replaykit.cli.grade.separates.load_report", starve)
    assert run(["separates", "report.json"]) == 3
    assert capfd.readouterr().err == "error: there is not enough memory for this\n"


WRONG = {
    "l.csv": (b"a,b\n1,2\n", "found a text file"),
    "page.html": (b"<!doctype html><p>x", "found an HTML page"),
    "text.json": (b'"text"', "found a text file"),
    "none.yaml": (b"null\n", "found a text file"),
    "empty.yaml": (b"", "found an empty file"),
    "wide.yaml": ("schema: replaykit.policies/1\n".encode("utf-16"), "found a text file in UTF-16"),
    "report.json": (None, "it is a report of `replaykit grade`"),
    "a.zst": (None, "found a bundle"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("words", [["grade", "a.zst", "--policies"], ["policies", "validate"]], ids=" ".join)
def test_what_was_given_for_policies_is_named(
    folder: Path, words: list[str], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    data, found = WRONG[name]
    if data is not None:
        (folder / name).write_bytes(data)
    assert run([*words, name]) == 3
    said = capfd.readouterr().err
    assert said.startswith(f"error: {name}: ") and found in said and "polic" in said


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["tasks", "validate", "-"], "suite.yaml"),
        (["tasks", "list", "-"], "suite.yaml"),
        (["policies", "validate", "-"], "policies.yaml"),
        (["policies", "validate", "-"], "suite.yaml"),
        (["grade", "a.zst", "--policies", "-"], "policies.yaml"),
    ],
    ids=lambda found: " ".join(found) if isinstance(found, list) else found,
)
def test_standard_input_is_a_task_or_policy_file(
    folder: Path, words: list[str], file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (folder / file).open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run(words) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.parametrize(("command", "file"), [("tasks", "suite.yaml"), ("policies", "policies.yaml")])
def test_a_pipe_is_a_task_or_policy_file(folder: Path, command: str, file: str) -> None:
    reads, writes = os.pipe()
    with os.fdopen(reads), os.fdopen(writes, "wb") as pipe:
        pipe.write((folder / file).read_bytes())
        pipe.close()
        assert run([command, "validate", f"/dev/fd/{reads}"]) == 0
