"""Requests that hold nothing of a run: asked once for all runs, and every tape stays whole by itself."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.clients.shared_replies import COPIED, SharedReplies
from replaykit.grading.judges.tape.tape import read_tape, tape_beside
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure, TextPart, Usage
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.testing import trajectory

SETTINGS = JudgeSettings(protocol="claims", votes=3)
REQUEST = ModelRequest(
    judge="claims", stage="needs", index=0, system="s", content=(TextPart(text="t"),), model="m",
    max_tokens=256, is_shared=True,
)  # fmt: skip


def reply(text="{}", origin="live"):
    return ModelReply(
        text=text, stop_reason="end_turn", model="m", origin=origin, usage=Usage(input_tokens=9)
    )


def test_ten_runs_of_one_task_ask_about_it_once_and_replay_alone(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def answer(request, images):
        asked[request.stage] += 1
        return reply(json.dumps({"asks": True, "items": []}))

    task = {"id": "t", "intent": "Find the order."}
    paths = [
        trajectory(task).see("<p>Welcome</p>").answer(f"It is order {n}.").write(tmp_path / f"r{n}.zst")
        for n in range(10)
    ]
    options = GradeOptions(judges=(SETTINGS,), judge_mode="new")
    live = run_judges(paths, options, client=CallableClient(answer), concurrency=4)
    assert asked == {"needs": 1, "claims": 30}
    alone = [run_judges([path], GradeOptions(judges=(SETTINGS,)))[0] for path in paths]
    assert alone == live
    tapes = [read_tape(tape_beside(path)) for path in paths]
    needs = [entry for tape in tapes for entry in tape.entries if entry.stage == "needs"]
    assert Counter(entry.origin for entry in needs) == {"live": 1, "imported": 9}
    assert sum(entry.reply.usage.input_tokens for entry in needs) == 9


def test_threads_wait_for_the_first() -> None:
    asked, barrier = [], Barrier(4)

    def answer(request, images):
        asked.append(request)
        return reply()

    client = SharedReplies(CallableClient(answer))

    def ask(_):
        barrier.wait()
        return client.ask(REQUEST, {})

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(ask, range(4)))
    assert len(asked) == 1
    assert sorted(one.reply.origin for one in found) == ["imported", "imported", "imported", "live"]
    assert sum(one.provenance.get("copied_from") == COPIED for one in found) == 3


def test_what_is_synthetic_stays_so() -> None:
    client = SharedReplies(CallableClient(lambda request, images: reply(origin="synthetic")))
    assert [client.ask(REQUEST, {}).reply.origin for _ in range(2)] == ["synthetic", "synthetic"]


def test_a_failure_is_asked_for_again() -> None:
    said = [ReplyFailure(kind="overloaded", message="busy"), RuntimeError("broken"), reply()]

    def answer(request, images):
        found = said.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    client = SharedReplies(CallableClient(answer))
    assert client.ask(REQUEST, {}).reply.kind == "overloaded"
    with pytest.raises(RuntimeError):
        client.ask(REQUEST, {})
    assert client.ask(REQUEST, {}).reply.origin == "live"
