"""Public example runs of WebVoyager, judged as their own script would ask: text, number and order of screenshots."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from replaykit.bundle.blobs import blob_id
from replaykit.grading.judges.judge_evidence import gather
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.model_request import ImagePart, ModelReply
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task
from replaykit.testing import trajectory
from replaykit.trajectory.action import Click
from replaykit.trajectory.observation import Observation

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
RUNS = sorted((SHARED / "webvoyager" / "runs").glob("task*"))

pytestmark = pytest.mark.skipif(not RUNS, reason="no public WebVoyager runs (REPLAYKIT_SHARED_DATA)")


class Run:
    """A run folder as a bundle in memory: a step for each screenshot."""

    def __init__(self, folder):
        messages = json.loads((folder / "interact_messages.json").read_text())
        first = messages[1]["content"]
        text = first if isinstance(first, str) else first[0]["text"]
        self.task = re.search(r"Now given a task:(.+?)Please interact with", text)[1].strip()
        self.answer = re.search(r"ANSWER[; ]+\[?(.[^\]]*)\]?", messages[-1]["content"])[1].strip()
        named = [
            (int(m[1]), p) for p in folder.iterdir() if (m := re.fullmatch(r"screenshot(\d+)\.png", p.name))
        ]
        self.images = [path.read_bytes() for _, path in sorted(named)]
        built = trajectory()
        for data in self.images:
            built.step(Click()).add(
                Observation(role="after", of=len(built._events) // 2, screenshot=blob_id(data))
            )
        self.trajectory = built.answer(self.answer).build()
        self.blobs = {blob_id(data): data for data in self.images}

    def __contains__(self, id):
        return id in self.blobs

    def blob(self, id):
        return self.blobs[id]

    def blob_type(self, id):
        return "image/png"


@pytest.mark.parametrize("folder", RUNS, ids=lambda path: path.name.replace(" ", "_"))
@pytest.mark.parametrize("k", [1, 3, 15])
def test_the_peer_s_request(folder, k):
    run = Run(folder)
    judge = build_judge(JudgeSettings(protocol="webvoyager", images=f"last:{k}"), "compat")
    evidence = gather(Task(id="t", intent=run.task), Replay(run), judge.needs)
    asked = []

    def answer(request, ordinal):
        asked.append(request)
        return ModelReply(text="NOT SUCCESS", stop_reason="end_turn", model="m", origin="synthetic")

    assert drive(judge, evidence, answer).outcome == "FAILURE"
    first, *images, last = asked[0].content
    assert first.text == f"TASK: {run.task}\nResult Response: {run.answer}\n{k} screenshots at the end: "
    assert last.text == "Your verdict:\n"
    sent = [hashlib.sha256(data).hexdigest() for data in run.images[-k:]]
    assert [part.sha256 for part in images if isinstance(part, ImagePart)] == sent
    assert all(part.width > 500 for part in images)


def test_equal_screenshots_in_a_row_are_sent_once_in_strict_mode():
    (folder,) = (path for path in RUNS if path.name == "taskBooking--1")
    run = Run(folder)
    counts = {}
    for mode in ("strict", "compat"):
        judge = build_judge(JudgeSettings(protocol="webvoyager", images="all"), mode)
        counts[mode] = len(gather(Task(id="t", intent="x"), Replay(run), judge.needs).images)
    assert counts["compat"] == len(run.images)
    pairs = sum(a == b for a, b in zip(run.images, run.images[1:], strict=False))
    assert counts["strict"] == len(run.images) - pairs
