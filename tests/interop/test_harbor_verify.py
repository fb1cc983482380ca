"""Harbor's verifier: the reward contract on every path, and task folders that hold no secret."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.cli.main import run
from replaykit.errors import TaskError, UnknownTask, UsageError
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, ReplyFailure, TextPart
from replaykit.interop.harbor.harbor_tasks import TEST, HarborOptions, Reference, WebTask, files_of, generate
from replaykit.interop.harbor.harbor_verify import Order, verify_trial
from replaykit.interop.harbor.single_file_verifier import verifier
from tests.interop.samples import png, write

SUCCESS, FAILURE = "I looked.\n\nSUCCESS", "I looked.\n\nNOT SUCCESS"


class Model:
    """A model that says one thing; keeps what it was asked."""

    def __init__(self, says: Any = SUCCESS) -> None:
        self.says = says
        self.asked: list[ModelRequest] = []

    def __call__(self) -> CallableClient:
        def answer(request: ModelRequest, image_count: Any) -> Any:
            self.asked.append(request)
            if isinstance(self.says, Exception):
                raise self.says
            return self.says

        return CallableClient(answer)


@pytest.fixture
def order(tmp_path: Path) -> Order:
    truth = {"id": "Apple--1", "task": "Find $& the {task} <answer>.", "reference_answer": "MARKER"}
    write(tmp_path, "tests/ground_truth.json", truth)
    write(tmp_path, "agent/answer.txt", "  The tin mug. \n")
    for number in (1, 2, 10):
        write(tmp_path, f"agent/shots/shot-{number}.png", png(number))
    return Order(tests=tmp_path / "tests", agent=tmp_path / "agent", out=tmp_path / "out")


def rewards(order: Order) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Read the reward files as Harbor does."""
    numbers = json.loads((order.out / "reward.json").read_text())
    assert all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in numbers.values())
    text = float((order.out / "reward.txt").read_text())
    assert text == numbers["reward"]
    return text, numbers, json.loads((order.out / "grading_details.json").read_text())


@pytest.mark.parametrize(("says", "reward"), [(SUCCESS, 1.0), (FAILURE, 0.0), ("Hm.", 0.0)])
def test_a_verdict_is_a_reward(says: str, reward: float, order: Order) -> None:
    model = Model(says)
    assert verify_trial(order, model).reward == reward
    found, numbers, details = rewards(order)
    assert found == reward and numbers["judge_success"] == reward
    assert details["verdict_raw"] == says and details["answer"] == "The tin mug."
    assert (details["n_images"], details["n_available"]) == (3, 3) and details["fingerprint"]
    (request,) = model.asked
    images = [part for part in request.content if isinstance(part, ImagePart)]
    assert [one.sha256 for one in images] == [_sha(png(n)) for n in (1, 2, 10)]
    words = request.system + "".join(p.text for p in request.content if isinstance(p, TextPart))
    assert "MARKER" not in words and words.count("Find $& the {task} <answer>.") == 1


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_the_last_k_screenshots(order: Order) -> None:
    model = Model()
    verify_trial(msgspec.structs.replace(order, max_images="2"), model)
    images = [part for part in model.asked[0].content if isinstance(part, ImagePart)]
    assert [one.sha256 for one in images] == [_sha(png(2)), _sha(png(10))]


def test_the_replies_are_kept_and_answer_again(order: Order) -> None:
    verify_trial(order, Model())
    tape = order.agent.parent / "tape.jsonl"
    tape.write_bytes((order.out / "run.replies.jsonl").read_bytes())
    model = Model(FAILURE)
    assert verify_trial(msgspec.structs.replace(order, replies=tape), model).reward == 1.0
    assert model.asked == []


def test_nothing_to_judge_is_0_without_a_call(order: Order) -> None:
    (order.agent / "answer.txt").unlink()
    for shot in (order.agent / "shots").iterdir():
        shot.unlink()
    model = Model()
    found = verify_trial(order, model)
    assert found.reward == 0 and found.error is None and model.asked == []
    assert rewards(order)[2]["reason"] == "no_evidence"


def breaks(order: Order) -> list[tuple[str, Callable[[], Any]]]:
    truth = order.tests / "ground_truth.json"
    return [
        ("is missing", truth.unlink),
        ("not JSON", lambda: truth.write_text("{")),
        ("the task in words", lambda: truth.write_text('{"task": " "}')),
        ("the task in words", lambda: truth.write_text("[]")),
        ("not UTF-8", lambda: (order.agent / "answer.txt").write_bytes(b"\xff")),
        ("out of the source", lambda: _link(order.agent / "shots/shot-3.png")),
        ("no such folder", lambda: order.agent.rename(order.agent.with_name("gone"))),
    ]


def _link(path: Path) -> None:
    outside = path.parents[2] / "secret.png"
    outside.write_bytes(png())
    path.symlink_to(outside)


@pytest.mark.parametrize("number", range(7))
def test_every_fault_of_artifacts_is_0_with_its_error(number: int, order: Order) -> None:
    says, harm = breaks(order)[number]
    harm()
    found = verify_trial(order, Model())
    assert found.error is not None and says in found.error
    reward, _, details = rewards(order)
    assert reward == 0 and details["state"] == "error" and details["error"] == found.error


@pytest.mark.parametrize("bad", ["0", "-3", "NaN", "", "1.5", "many", "99999999999"])
def test_a_wrong_number_of_screenshots_is_an_error(bad: str, order: Order) -> None:
    found = verify_trial(msgspec.structs.replace(order, max_images=bad), Model())
    assert found.error is not None and "expected a whole number from 1" in found.error
    assert rewards(order)[0] == 0


@pytest.mark.parametrize(
    "says", [RuntimeError("boom"), ReplyFailure(kind="rate_limit", message="later"), KeyError("x")]
)
def test_a_failing_model_is_0_with_its_error(says: Any, order: Order) -> None:
    found = verify_trial(order, Model(says))
    assert found.reward == 0 and found.error is not None
    assert rewards(order)[1]["judge_error"] == 1.0


def test_a_cut_reply_is_no_verdict(order: Order) -> None:
    found = verify_trial(
        order, Model(ModelReply(text=SUCCESS, model="m", origin="live", stop_reason="max_tokens"))
    )
    assert found.reward == 0.0


def test_a_client_that_cannot_be_made_is_an_error(order: Order) -> None:
    def broken() -> Any:
        raise OSError("no key")

    assert verify_trial(order, broken).error == "OSError: no key"
    assert rewards(order)[0] == 0


def test_stale_rewards_are_gone_before_anything_is_read(order: Order) -> None:
    write(order.out, "reward.json", '{"reward": 1.0, "old": 3}')
    write(order.out, "reward.txt", "1")
    write(order.out, "run.replies.jsonl", "old")
    model = Model()

    def watch() -> Any:
        assert rewards(order)[0] == 0 and rewards(order)[2]["state"] == "unfinished"
        return model()

    assert verify_trial(order, watch).reward == 1.0
    assert "old" not in rewards(order)[1]


def test_details_that_cannot_be_written_change_no_reward(order: Order) -> None:
    model = Model()

    def block() -> Any:
        (order.out / "grading_details.json").unlink()
        (order.out / "grading_details.json").mkdir()
        return model()

    assert verify_trial(order, block).reward == 1.0
    assert (order.out / "reward.txt").read_text() == "1.0\n"


def test_a_place_that_cannot_be_written_is_a_usage_error(order: Order) -> None:
    order.out.write_text("a file")
    with pytest.raises(UsageError, match="cannot write the reward"):
        verify_trial(order, Model())


def test_a_killed_verifier_leaves_0(order: Order) -> None:
    code = (
        "import os, sys; from pathlib import Path; from replaykit.interop.harbor.harbor_verify import *;"
        "verify_trial(Order(tests=Path(sys.argv[1]), agent=Path(sys.argv[2]), out=Path(sys.argv[3])),"
        "lambda: os.kill(os.getpid(), 9))"
    )
    done = subprocess.run([sys.executable, "-c", code, order.tests, order.agent, order.out], check=False)
    assert done.returncode == -9
    assert rewards(order)[0] == 0 and rewards(order)[2]["state"] == "unfinished"


def test_the_command_needs_no_key_for_a_tape(order: Order, capsys: pytest.CaptureFixture[str]) -> None:
    verify_trial(order, Model())
    tape = order.agent.parent / "tape.jsonl"
    tape.write_bytes((order.out / "run.replies.jsonl").read_bytes())
    places = ["--tests", str(order.tests), "--agent", str(order.agent), "--out", str(order.out)]
    assert run(["harbor", "verify", *places, "--replies", str(tape)]) == 0
    assert capsys.readouterr().out == "1.0\n"
    assert run(["harbor", "verify", *places, "--max-images", "none"]) == 3
    assert run(["harbor", "verify", *places, "--mode", "odd"]) == 3
    assert rewards(order)[0] == 0


def test_the_documented_folders_are_the_default() -> None:
    order = Order()
    assert [str(p) for p in (order.tests, order.agent, order.out)] == [
        "/tests",
        "/logs/agent",
        "/logs/verifier",
    ]
    assert order.max_images == "15"


TASK = {"web_name": "BBC News", "id": "BBC News--9", "ques": "Who? ", "web": "https://www.bbc.com/news/"}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    others = [{**TASK, "id": f"Apple--{n}", "web_name": "Apple"} for n in (1, 2)]
    references = {"BBC News": {"answers": [{"id": 9, "type": "golden", "ans": 'A \x01 "b" \x7f\\ C'}]}}
    write(tmp_path, "reference_answer.json", references)
    return write(tmp_path, "tasks.jsonl", "\n".join(json.dumps(one) for one in [TASK, *others]) + "\n")


ANY = HarborOptions(is_unpinned=True)


def test_task_folders(tasks: Path, tmp_path: Path) -> None:
    written, kept = generate(tasks, tmp_path / "out", ANY)
    assert [folder.name for folder in written] == [
        "webvoyager-bbc-news--9",
        "webvoyager-apple--1",
        "webvoyager-apple--2",
    ]
    folder = written[0]
    settings = tomllib.loads((folder / "task.toml").read_text())
    assert settings["metadata"]["reference_answer"] == 'A \x01 "b" \x7f\\ C'
    assert (
        settings["task"]["name"] == "webvoyager/webvoyager__bbc-news--9"
        and settings["schema_version"] == "1.0"
    )
    assert settings["verifier"]["env"]["ANTHROPIC_API_KEY"] == "${ANTHROPIC_API_KEY}"
    assert settings["task"]["keywords"][-1] == "bbc news"
    assert (settings["environment"]["memory_mb"], settings["environment"]["storage_mb"]) == (2048, 10240)
    assert json.loads((folder / "tests/ground_truth.json").read_text()) == {
        "id": "BBC News--9",
        "task": "Who?",
    }
    assert "https://www.bbc.com/news/" in (folder / "instruction.md").read_text()
    assert os.access(folder / "tests/test.sh", os.X_OK)
    for name in ("instruction.md", "tests/ground_truth.json", "tests/test.sh"):
        assert "\x01" not in (folder / name).read_text()  # the reference is for people
    again, stay = generate(tasks, tmp_path / "out", ANY)
    assert again == [] and stay == written and kept == []


@pytest.mark.parametrize("answer", ["A $(touch x) 'b' `c` \\", "two\nlines", "%s -n", ""])
def test_the_solution_writes_the_reference_whatever_is_in_it(answer: str, tmp_path: Path) -> None:
    reference = Reference(kind="golden", answer=answer)
    task = WebTask(
        id="T--1", question="Q", site="S", start_url="http://s.test/", source="f", reference=reference
    )
    text = files_of(task)["solution/solve.sh"].decode()
    subprocess.run(["sh", "-c", text.replace("/logs/agent", str(tmp_path))], check=True, cwd=tmp_path)
    assert (tmp_path / "answer.txt").read_text() == f"{answer}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["answer.txt"]


def test_a_task_without_a_reference_has_no_solution() -> None:
    task = WebTask(id="T--1", question="Q", site="S", start_url="http://s.test/", source="f")
    assert "solution/solve.sh" not in files_of(task)


def test_folders_that_exist_stay_unless_overwrite_is_set(tasks: Path, tmp_path: Path) -> None:
    (folder, *_), _ = generate(tasks, tmp_path / "out", ANY)
    (folder / "own.txt").write_text("mine")
    generate(tasks, tmp_path / "out", ANY)
    assert (folder / "own.txt").exists()
    generate(tasks, tmp_path / "out", HarborOptions(is_unpinned=True, overwrite=True))
    assert not (folder / "own.txt").exists() and (folder / "task.toml").exists()


@pytest.mark.parametrize("named", ["Apple--1", "apple--1", "webvoyager-apple--1"])
def test_tasks_by_any_of_their_names(named: str, tasks: Path, tmp_path: Path) -> None:
    written, _ = generate(tasks, tmp_path / "out", HarborOptions(is_unpinned=True, ids=(named,)))
    assert [folder.name for folder in written] == ["webvoyager-apple--1"]


def test_limits(tasks: Path, tmp_path: Path) -> None:
    assert generate(tasks, tmp_path / "out", HarborOptions(is_unpinned=True, limit=0)) == ([], [])
    with pytest.raises(UsageError, match="expected 0 or more"):
        generate(tasks, tmp_path / "out", HarborOptions(is_unpinned=True, limit=-1))
    with pytest.raises(UnknownTask):
        generate(tasks, tmp_path / "out", HarborOptions(is_unpinned=True, ids=("Apple--9",)))


def test_another_file_than_the_pinned_one_is_refused(tasks: Path, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="not one of the pinned files"):
        generate(tasks, tmp_path / "out", HarborOptions())
    assert run(["harbor", "generate", str(tasks), "-o", str(tmp_path / "out")]) == 3
    assert (
        run(["harbor", "generate", str(tasks), "-o", str(tmp_path / "out"), "--unpinned", "--limit", "1"])
        == 0
    )
    assert (
        run(["harbor", "generate", str(tasks), "-o", str(tmp_path / "out"), "--unpinned", "--limit", "0"])
        == 4
    )


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"web_name": "A", "id": 1}', '{"id": "x", "ques": "", "web": "y", "web_name": "z"}']
)
def test_a_line_that_is_no_task_is_named(line: str, tmp_path: Path) -> None:
    file = write(tmp_path, "tasks.jsonl", json.dumps(TASK) + "\n" + line)
    with pytest.raises(TaskError, match="line 2"):
        generate(file, tmp_path / "out", ANY)


@given(st.text(), st.text())
def test_any_text_makes_valid_toml(answer: str, question: str) -> None:
    clean = answer.encode("utf-8", "replace").decode()
    task = WebTask(
        id="x", question=question.encode("utf-8", "replace").decode(), site="s", start_url="http://x.test/",
        source="f", reference=Reference(kind="golden", answer=clean),
    )  # fmt: skip
    settings = tomllib.loads(files_of(task)["task.toml"].decode())
    assert settings["metadata"]["reference_answer"] == clean
    assert json.loads(files_of(task)["tests/ground_truth.json"])["task"] == task.question


def test_the_test_script_leaves_a_reward_without_a_verifier(tmp_path: Path) -> None:
    script = TEST.replace("/logs/verifier", str(tmp_path / "verifier")).replace(
        "command -v replaykit", "false"
    )
    subprocess.run(["/bin/sh", "-c", script], check=True, capture_output=True)
    assert float((tmp_path / "verifier/reward.txt").read_text()) == 0


def test_the_public_files(public: Callable[[str], Path], tmp_path: Path) -> None:
    written, _ = generate(public("webvoyager/WebVoyager_data.jsonl"), tmp_path / "out", HarborOptions())
    assert len(written) == 643
    settings = [tomllib.loads((folder / "task.toml").read_text())["metadata"] for folder in written]
    assert sum(one["reference_type"] == "golden" for one in settings) == 143
    assert sum(one["reference_type"] == "possible" for one in settings) == 500
    gaia, _ = generate(public("webvoyager/GAIA_web.jsonl"), tmp_path / "gaia", HarborOptions(has_kernel=True))
    assert len(gaia) == 90 and (gaia[0] / "environment/kernel.json").exists()


@pytest.mark.skipif(
    not Path(sys._base_executable).exists(), reason="no interpreter outside of the environment"
)
def test_the_verifier_in_one_file_runs_on_a_bare_interpreter(order: Order, tmp_path: Path) -> None:
    verify_trial(order, Model())
    tape = write(tmp_path, "tape.jsonl", (order.out / "run.replies.jsonl").read_bytes())
    file = tmp_path / "verifier.pyz"
    file.write_bytes(verifier())
    places = ["--tests", order.tests, "--agent", order.agent, "--out", tmp_path / "bare", "--replies", tape]
    command = [sys._base_executable, "-I", "-S", file, "harbor", "verify", *places]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(command, env={"TMPDIR": str(scratch)}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("1.0\n", 0), done.stderr
    assert (tmp_path / "bare/reward.txt").read_text() == "1.0\n"
    assert list(scratch.iterdir()) == []


def test_a_missing_tape_is_reported(order: Order, tmp_path: Path) -> None:
    found = verify_trial(msgspec.structs.replace(order, replies=tmp_path / "none.jsonl"), Model())
    assert found.reward == 0.0 and "there is no tape" in str(found.error)


def tasks_file(folder: Path, *ids: str) -> Path:
    lines = [{"web_name": "Shop", "id": id, "ques": "Find it.", "web": "http://shop.test/"} for id in ids]
    path = folder / "tasks.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (("a b", "A-b"), "'a b' and 'A-b': one folder, webvoyager-a-b"),
        (("x", "x"), "'x' twice: one folder, webvoyager-x"),
        (("?", "!"), "'?' and '!': one folder, webvoyager-task"),
    ],
)
def test_tasks_of_one_folder_are_refused_by_name(tmp_path: Path, ids: tuple[str, ...], words: str) -> None:
    file, out = tasks_file(tmp_path, "fine", *ids), tmp_path / "out"
    with pytest.raises(TaskError, match=re.escape(words)):
        generate(file, out, HarborOptions(is_unpinned=True))
    assert not out.exists()
    written, _ = generate(file, out, HarborOptions(is_unpinned=True, limit=2))
    assert len(written) == 2


def test_a_raw_id_chooses_one_of_two_tasks_with_one_folder(tmp_path: Path) -> None:
    file = tasks_file(tmp_path, "a b", "A-b")
    written, _ = generate(file, tmp_path / "one", HarborOptions(is_unpinned=True, ids=("A-b",)))
    assert len(written) == 1
    truth = json.loads((written[0] / "tests/ground_truth.json").read_text())
    assert truth["id"] == "A-b"
    with pytest.raises(TaskError, match="one folder, webvoyager-a-b"):
        generate(file, tmp_path / "two", HarborOptions(is_unpinned=True, ids=("webvoyager-a-b",)))
