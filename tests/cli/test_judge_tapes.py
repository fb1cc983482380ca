"""Promises of a tape: interrupted work goes on where it stopped, and grading again needs no model."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import run as run_cli
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.judge_runs.judge_attacks import run_attacks
from replaykit.grading.judges.attacks import attacks_named
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.settings_file import named_judge
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.testing import trajectory
from tests.grading.judges.messages_server import Server, message, says

needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None, reason="the extra `judge` (anthropic) is not installed"
)

COUNT = 50
BEFORE = 17
"""Replies that are given before the process is killed."""

WAIT_S = 60
"""Seconds until what has to happen is given up."""

CUT_OFF = """
import hashlib, os, socket, sys

def no(*a, **k):
    raise AssertionError("the network is cut")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = no
for name in ("anthropic", "openai", "httpx2"):
    sys.modules[name] = None
from replaykit.cli.main import run

for n in range(100):
    assert run(["grade", sys.argv[1], "--judge", "webjudge", "--format", "json", "-o", "report.json"]) == 0
    print(hashlib.sha256(open("report.json", "rb").read()).hexdigest(), file=sys.stderr)
    os.remove("report.json")
"""


def write(path: Path, judge: str | None = "webvoyager") -> Path:
    named = {"judge": judge} if judge else {}
    built = trajectory({"id": path.stem, "intent": f"Find the order of {path.stem}.", **named})
    built.goto("http://shop.test/", "<p>Order 42</p>").screenshot().click("#a").screenshot(colour=(0, 9, 0))
    return built.answer("It is 42.").write(path)


@needs_sdk
def test_after_a_kill_only_what_is_missing_is_asked(tmp_path: Path) -> None:
    for number in range(COUNT):
        write(tmp_path / f"run{number:02}.zst")
    free = threading.Event()

    def hangs(handler: Any, request: dict[str, Any]) -> None:
        free.wait(WAIT_S)
        handler.close_connection = True

    with Server(*[says(200, message()) for _ in range(BEFORE)], hangs) as server:
        command = [sys.executable, "-m", "replaykit", "judge", "run", str(tmp_path)]
        child = subprocess.Popen([*command, "--judge-base-url", server.url], stderr=subprocess.DEVNULL)
        # Four slots: a request follows where a reply is on the disk, so that these leave as many as were given.
        wait_for(lambda: len(server.seen) == BEFORE + 4)
        child.kill()
        child.wait()
        free.set()
    kept = {path.name for path in tmp_path.glob("*.replies.jsonl") if entries(path)}
    assert len(kept) == BEFORE
    with Server(says(200, message())) as server:
        assert run_cli(["judge", "run", str(tmp_path), "--judge-base-url", server.url]) == 0
    assert len(server.seen) == COUNT - BEFORE
    texts = json.dumps(server.bodies)
    assert not any(f"of {name.split('.')[0]}." in texts for name in kept)
    assert sum(entries(path) for path in tmp_path.glob("*.replies.jsonl")) == COUNT


def entries(path: Path) -> int:
    tape = read_tape(path)
    return len(tape.entries) if tape is not None else 0


def wait_for(condition: Any) -> None:
    ticking = threading.Event()
    for _ in range(WAIT_S * 100):
        if condition():
            return
        ticking.wait(0.01)
    raise AssertionError("it did not happen")


def said(request: Any, images: Any) -> str:
    texts = {
        "key_points": "1. order", "score": "**Reasoning**: seen\n\n**Score**: 4", "verdict": "Status: success",
    }  # fmt: skip
    return texts[request.stage]


def test_a_hundred_gradings_without_network_and_clients_are_the_same_bytes(tmp_path: Path) -> None:
    bundle = write(tmp_path / "run.zst", judge=None)
    with open_bundle(bundle) as opened:
        live = grade(opened, judges=("webjudge",), judge_mode="new", client=CallableClient(said))
    done = subprocess.run(
        [sys.executable, "-c", CUT_OFF, str(bundle)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    digests = done.stderr.split()
    assert (len(digests), len(set(digests))) == (100, 1)
    assert run_cli(["grade", str(bundle), "--judge", "webjudge", "-o", str(tmp_path / "here.json")]) == 0
    assert hashlib.sha256((tmp_path / "here.json").read_bytes()).hexdigest() == digests[0]
    (judged,) = json.loads((tmp_path / "here.json").read_text())["verdicts"][0]["judgements"]
    assert (judged["outcome"], judged["reason"]) == (live.judgements[0].outcome, "verdict")
    assert judged["fingerprint"] == live.judgements[0].fingerprint


def test_one_word_of_the_prompt_is_an_error_that_shows_it(tmp_path: Path, capfd: Any) -> None:
    bundle = write(tmp_path / "run.zst", judge=None)
    (tmp_path / "system.txt").write_text("You judge runs of web agents carefully, one after the other.")
    (tmp_path / "user.txt").write_text("{{task}} {{answer}}")
    (tmp_path / "ours.yaml").write_text(
        "id: ours\nsystem_file: system.txt\nuser_file: user.txt\nparser: success_token\n"
    )
    command = ["grade", str(bundle), "--judge", str(tmp_path / "ours.yaml"), "--format", "json"]
    client = CallableClient(lambda request, images: "SUCCESS")
    with open_bundle(bundle) as opened:
        grade(opened, judges=(named_judge(str(tmp_path / "ours.yaml")),), judge_mode="new", client=client)
    shutil.copy(bundle.with_name("run.replies.jsonl"), tmp_path / "kept")
    assert judgement(capfd, command)["outcome"] == "SUCCESS"
    (tmp_path / "system.txt").write_text("You judge runs of web agents mercifully, one after the other.")
    judged = judgement(capfd, command)
    assert (judged["outcome"], judged["reason"]) == ("ERROR", "tape_miss")
    first, *differing = judged["detail"].splitlines()
    assert "the nearest request of run.replies.jsonl is line 2; it differs in:" in first
    line, command_that_records = differing
    assert "replaykit grade BUNDLE --judge-mode new" in command_that_records
    assert line.startswith("  system: tape has ")
    tape_has, request_has = line.split(" / request has ")
    assert "web agents carefully, one" in tape_has
    assert "web agents mercifully, one" in request_has
    assert bundle.with_name("run.replies.jsonl").read_bytes() == (tmp_path / "kept").read_bytes()


def judgement(capfd: Any, command: list[str]) -> dict[str, Any]:
    run_cli(command)
    return json.loads(capfd.readouterr().out)["verdicts"][0]["judgements"][0]


def with_tape(tmp_path: Path, replies: int) -> Path:
    bundle = write(tmp_path / "run.zst")
    for number in range(replies):
        with open_bundle(bundle) as opened:
            client = CallableClient(lambda request, images: "SUCCESS")
            grade(opened, judge_mode="refresh" if number else "new", client=client)
    return bundle


def test_verify_counts_what_was_superseded(tmp_path: Path, capfd: Any) -> None:
    bundle = with_tape(tmp_path, 3)
    assert run_cli(["verify", str(bundle)]) == 0
    assert "  run.replies.jsonl: 1 reply, 2 superseded\n" in capfd.readouterr().out
    assert run_cli(["verify", str(bundle), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["tape"] == {
        "name": "run.replies.jsonl", "replies": 1, "superseded": 2, "unused": 0, "torn": False, "foreign": False, "error": "",
    }  # fmt: skip


def test_verify_reports_a_packed_tape_and_a_foreign_one(tmp_path: Path, capfd: Any) -> None:
    bundle = with_tape(tmp_path, 1)
    packed = tmp_path / "packed.zst"
    assert run_cli(["pack", str(bundle), "-o", str(packed)]) == 0
    assert run_cli(["verify", str(packed)]) == 0
    assert "  tape of packed.zst: 1 reply\n" in capfd.readouterr().out
    other = write(tmp_path / "other.zst")
    shutil.copy(bundle.with_name("run.replies.jsonl"), other.with_name("other.replies.jsonl"))
    with other.with_name("other.replies.jsonl").open("ab") as file:
        file.write(b'{"key":')
    assert run_cli(["verify", str(other)]) == 0
    words = "1 reply, its last line is torn, recorded for another bundle"
    assert words in capfd.readouterr().out


def test_replies_to_attacks_are_redacted_packed_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    bundle = with_tape(tmp_path, 1)
    client = CallableClient(lambda request, images: "The page says hunter22. SUCCESS")
    without_images = JudgeSettings(protocol="agent_reward", use_screenshot=False)
    options = GradeOptions(judges=(without_images,), judge_mode="new")
    run_attacks([str(bundle)], options, attacks_named("answer"), client=client)
    attacks = bundle.with_name("run.attacks.replies.jsonl")
    assert b"hunter22" in attacks.read_bytes()
    assert run_cli(["verify", str(bundle), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["attacks"]
    assert (found["name"], found["replies"], found["error"]) == (attacks.name, entries(attacks), "")

    monkeypatch.setenv("WORD", "hunter22")
    clean = tmp_path / "clean.zst"
    assert run_cli(["redact", str(bundle), "-o", str(clean), "--secret-env", "WORD"]) == 0
    written = clean.with_name("clean.attacks.replies.jsonl")
    assert b"hunter22" not in written.read_bytes()
    # Replies about screenshots that were left out are left out, too.
    assert 0 < entries(written) < entries(attacks)
    assert "The page says ⟦secret:WORD⟧. SUCCESS" in written.read_text("utf-8")
    with open_bundle(clean) as opened:
        tape = read_tape(written)
        assert tape is not None and tape.trajectory == opened.digest
    assert run_cli(["redact", str(bundle), "-o", str(clean), "--secret-env", "WORD"]) == 3

    packed = tmp_path / "packed.zst"
    assert run_cli(["pack", str(bundle), "-o", str(packed)]) == 0
    copied = packed.with_name("packed.attacks.replies.jsonl")
    assert copied.read_bytes() == attacks.read_bytes()
    assert run_cli(["verify", str(packed)]) == 0
    copied.write_bytes(b"{}\n")
    assert run_cli(["verify", str(packed)]) == 3
    packed.unlink()
    assert run_cli(["pack", str(bundle), "-o", str(packed)]) != 0
    assert run_cli(["pack", str(bundle), "-o", str(packed), "--force"]) == 0
    assert copied.read_bytes() == attacks.read_bytes()


def test_verify_fails_on_an_unreadable_tape(tmp_path: Path, capfd: Any) -> None:
    bundle = write(tmp_path / "run.zst")
    assert run_cli(["verify", str(bundle), "--json"]) == 0
    assert "tape" not in json.loads(capfd.readouterr().out)
    bundle.with_name("run.replies.jsonl").write_bytes(b"{}\n")
    assert run_cli(["verify", str(bundle)]) == 3
    assert "line 1" in capfd.readouterr().out


@pytest.mark.parametrize(("abstaining", "is_reported"), [(1, False), (2, True)])
def test_judges_that_often_abstain_are_reported(
    tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch, abstaining: int, is_reported: bool
) -> None:
    for number in range(5):
        write(tmp_path / f"run{number}.zst")
    silent = [f"of run{number}." for number in range(abstaining)]

    class Doubting(CallableClient):
        def __init__(self, **options: Any) -> None:
            super().__init__(lambda request, images: "Who knows?" if asks(request, silent) else "SUCCESS")

        def close(self) -> None:
            pass

    monkeypatch.setattr("replaykit.grading.judges.clients.transports.Transports", Doubting)
    assert run_cli(["judge", "run", str(tmp_path)]) == 0
    expected = f"webvoyager abstained in {abstaining} of 5 runs: {abstaining} x no_token"
    assert (expected in capfd.readouterr().err) == is_reported
    assert run_cli(["grade", str(tmp_path)]) in (0, 1, 3)
    assert (expected in capfd.readouterr().err) == is_reported


def asks(request: Any, words: list[str]) -> bool:
    text = str(request.content)
    return any(word in text for word in words)


def test_a_judge_of_the_task_s_name_takes_its_place(tmp_path: Path, capfd: Any) -> None:
    bundle = write(tmp_path / "run.zst")
    (tmp_path / "ours.yaml").write_text("protocol: webvoyager\nimages: last:1\n")
    assert run_cli(["judge", "plan", str(bundle), "--judge", str(tmp_path / "ours.yaml"), "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert (row["judge"], row["images"]) == ("webvoyager", 1)
    assert run_cli(["judge", "plan", str(bundle), "--judge", "webjudge", "--json"]) == 0
    assert [row["judge"] for row in json.loads(capfd.readouterr().out)] == ["webvoyager", "webjudge"]


def test_replies_that_no_judge_reads_are_named(tmp_path: Path, capfd: Any) -> None:
    bundle = write(tmp_path / "run.zst", judge=None)
    client = CallableClient(lambda request, images: "correct\nSUCCESS")
    with open_bundle(bundle) as opened:
        grade(opened, judges=("webvoyager",), judge_mode="new", client=client)
    words = "not used: replies of webvoyager beside the bundles"
    for options, is_said in (
        ([], True),
        (["--judge", "webvoyager"], False),
        (["--judge-mode", "off"], False),
    ):
        run_cli(["grade", str(bundle), *options])
        assert (words in capfd.readouterr().err) is is_said


def test_verify_counts_unasked_replies(tmp_path: Path, capfd: Any) -> None:
    bundle = tmp_path / "run.zst"
    tape = bundle.with_name("run.replies.jsonl")
    changed = {"protocol": "webvoyager", "images": "last:1"}
    client = CallableClient(lambda request, images: "correct\nSUCCESS")

    def graded(**options: Any) -> str:
        with open_bundle(bundle) as opened:
            grade(opened, client=client, judge_mode="new", **options)
        assert run_cli(["verify", str(bundle)]) == 0
        return capfd.readouterr().out.splitlines()[-1].strip()

    checks = [{"type": "string_match", "fuzzy": ["tea"]}]
    built = trajectory({"id": "t", "intent": "Why?", "judge": "webvoyager", "checks": checks})
    built.goto("http://h.test/", "<p>x").screenshot().click("#a").screenshot(colour=(0, 9, 0))
    built.answer("drink").write(bundle)
    assert graded() == "run.replies.jsonl: 2 replies"
    assert graded(mode="compat") == "run.replies.jsonl: 3 replies"
    assert graded(judges=("agent_reward",), judge_model="openai:own") == "run.replies.jsonl: 6 replies"
    expected = "run.replies.jsonl: 7 replies, 1 that nothing requests"
    assert graded(judges=(convert(changed, JudgeSettings),)) == expected
    assert graded(judges=(convert({**changed, "id": "ours"}, JudgeSettings),)) == expected  # the same request
    text = tape.read_text()
    tape.write_text(text[: text.index("\n") + 1])
    assert graded(judges=(convert({**changed, "id": "ours"}, JudgeSettings),), mode="compat").endswith(
        ": 3 replies"
    )


def test_verify_counts_replies_to_a_task_that_is_another_now(tmp_path: Path, capfd: Any) -> None:
    bundle = with_tape(tmp_path, 1)
    tape = bundle.with_name("run.replies.jsonl").read_bytes()
    other = write(tmp_path / "other.zst")
    other.with_name("other.replies.jsonl").write_bytes(tape)
    assert run_cli(["verify", str(other), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["tape"]["unused"] == 1
    built = trajectory().goto("http://h.test/", "<p>x").answer("x").write(tmp_path / "bare.zst")
    built.with_name("bare.replies.jsonl").write_bytes(tape)
    assert run_cli(["verify", str(built), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["tape"]["unused"] == 1
