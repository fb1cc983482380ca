"""Replies that checks find on a tape: one for equal requests, misses, no tape at all."""

from __future__ import annotations

from pathlib import Path

from replaykit.bundle.reader import open_bundle
from replaykit.grading.checks.judged import request
from replaykit.grading.grader import grade
from replaykit.grading.judges.check_replies import CheckReplies
from replaykit.grading.judges.tape import append_reply
from replaykit.grading.request import ModelReply, ReplyFailure
from replaykit.testing.builder import trajectory


def test_without_a_tape_nobody_was_asked(tmp_path: Path) -> None:
    replies = CheckReplies(tmp_path / "none.replies.jsonl")
    assert replies(request("webarena.fuzzy", "q", "a", "b")) is None
    assert replies.digest is None


def test_a_tape_without_the_request_is_a_miss(tmp_path: Path) -> None:
    file = tmp_path / "run.replies.jsonl"
    file.write_text('{"tape":"replaykit.replies","version":1,"trajectory":"' + "0" * 64 + '"}\n')
    replies = CheckReplies(file)
    assert replies.digest is None  # not read before it is asked
    found = replies(request("webarena.fuzzy", "q", "a", "b"))
    assert isinstance(found, ReplyFailure)
    assert found.kind == "tape_miss"
    assert str(replies.digest).startswith("sha256:")


def test_a_run_is_graded_with_the_tape_beside_it(tmp_path: Path) -> None:
    task = {"id": "t", "intent": "Why?", "checks": [{"type": "string_match", "fuzzy": ["tea"]}]}
    file = trajectory(task).answer("a hot drink").write(tmp_path / "run.zst")
    with open_bundle(file) as bundle:
        assert grade(bundle).checks[0].reason == "needs_model"
        asked = request("webarena.fuzzy", "Why?", "tea", "a hot drink")
        reply = ModelReply(text="correct", stop_reason="end_turn", model="m", origin="synthetic")
        append_reply(tmp_path / "run.replies.jsonl", asked, reply, trajectory=bundle.digest)
        verdict = grade(bundle)
        assert verdict.checks[0].outcome == "PASS"
        assert [item.compat for item in verdict.checks[0].items] == ["PASS"]
        assert str(verdict.tape).startswith("sha256:")
        assert grade(bundle, judge_mode="off").checks[0].reason == "needs_model"
