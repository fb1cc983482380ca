"""Pumps: the tape answers, or says why it cannot."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_evidence import EvidenceNeeds
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.judge_options import judge_settings, unasked
from replaykit.grading.judges.request_plan import RequestPlan, plan
from replaykit.grading.judges.screenshot_choice import image_policy
from replaykit.grading.judges.tape.tape import append_reply, read_tape
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.grading.model_request import ModelRequest, TextPart
from replaykit.grading.verdict import JudgeOutcome
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings

SETTINGS = JudgeSettings(protocol="webvoyager")


def test_a_miss_is_an_error_and_the_plan_says_what_to_ask(recorded, task, tape, reply):
    run = recorded(2)
    missed = judge_from_tape(SETTINGS, task, Replay(run), None)
    assert (missed.outcome, missed.reason) == ("ERROR", "tape_miss")
    assert "there is no tape" in missed.detail
    (missing,) = plan(SETTINGS, task, Replay(run)).missing
    append_reply(tape, missing.request, reply("Fine.\nSUCCESS"), trajectory="d" * 64, ordinal=missing.ordinal)
    found = read_tape(tape)
    assert plan(SETTINGS, task, Replay(run), found) == RequestPlan()
    judged = judge_from_tape(SETTINGS, task, Replay(run), found)
    assert (judged.outcome, judged.origins) == ("SUCCESS", {"synthetic": 1})
    again = judge_from_tape(SETTINGS, task, Replay(run), found)
    assert msgspec.json.encode(again) == msgspec.json.encode(judged)


def test_a_longer_run_misses_and_names_the_screenshot(recorded, task, tape, reply):
    (missing,) = plan(SETTINGS, task, Replay(recorded(2))).missing
    append_reply(tape, missing.request, reply("SUCCESS"), trajectory="d" * 64)
    missed = judge_from_tape(SETTINGS, task, Replay(recorded(3)), read_tape(tape))
    assert (missed.outcome, missed.reason) == ("ERROR", "tape_miss")
    assert "images: the request adds step" in missed.detail


def test_an_unreadable_screenshot_is_an_error(recorded, task):
    run = recorded(1)
    for id in [id for id in run.blobs if run.blobs[id][0].startswith("image/")]:
        run.blobs[id] = (run.blobs[id][0], b"P6\n9 9\n255\nshort")
    judged = judge_from_tape(SETTINGS, task, Replay(run), None)
    assert (judged.outcome, judged.reason) == ("ERROR", "evidence_unreadable")


class Twice:
    """Asks the same thing twice in one round and once more in another."""

    name, fingerprint, needs = "twice", "f", EvidenceNeeds(images=image_policy("none"))

    def deliberate(self, evidence):
        request = ModelRequest(
            judge="twice",
            stage="s",
            index=0,
            system="",
            content=(TextPart(text="x"),),
            model="m",
            max_tokens=300,
        )
        first = yield (request, request)
        second = yield (request,)
        return unasked(self, JudgeOutcome.SUCCESS, "|".join(r.text for r in first + second))


def test_equal_requests_are_distinguished_by_their_ordinal(reply):
    asked = []

    def answer(request, ordinal):
        asked.append(ordinal)
        return reply(str(ordinal))

    assert drive(Twice(), None, answer, sample=4).reason == "(4, 0)|(4, 1)|(4, 2)"
    assert asked == [(4, 0), (4, 1), (4, 2)]


def test_a_judge_that_raises_is_an_error(reply):
    class Broken(Twice):
        def deliberate(self, evidence):
            yield ()
            raise ValueError("oops")

    judged = drive(Broken(), None, lambda request, ordinal: reply("x"))
    assert (judged.outcome, judged.reason, judged.detail) == ("ERROR", "judge_bug", "ValueError: oops")


def test_names_and_settings():
    assert judge_settings("webvoyager") == SETTINGS
    assert judge_settings(SETTINGS) is SETTINGS
    with pytest.raises(JudgeError, match="no judge 'nobody'; there are webvoyager, webjudge, agent_reward"):
        judge_settings("nobody")


def test_judging_from_a_tape_loads_no_client_and_no_browser():
    code = (
        "import sys, replaykit.grading.judges.tape.tape_player, replaykit.grading.policies.policy_grading;"
        "print([m for m in ('anthropic', 'openai', 'playwright', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
