"""Results of a verdict in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

import replaykit
from replaykit.grading.verdict import Judgement, JudgeOutcome, Verdict
from replaykit.testing import trajectory

SET = Path(__file__).resolve().parents[2] / "recordings" / "conformance"


def test_a_policy_has_its_reason_in_words_and_its_evidence() -> None:
    verdict = replaykit.grade(SET / "refund-order--no_consent.zst")
    (explained,) = replaykit.explain(verdict, "ask-before-refund")
    assert (explained.kind, explained.outcome, explained.reason) == ("policy", "VIOLATED", "no_request")
    assert explained.words == "no approval was requested before this action"
    assert explained.evidence and explained.missing == {}


def test_a_check_names_what_would_have_recorded_what_is_missing(tmp_path: Path) -> None:
    check = {"type": "page", "url": "http://shop.test/orders", "expect": {"contains": ["x"]}}
    run = trajectory({"id": "t", "intent": "Go.", "checks": [check]}).answer("x").write(tmp_path / "run.zst")
    (explained,) = replaykit.explain(replaykit.grade(run), "page[0]")
    assert (explained.kind, explained.outcome) == ("check", "UNDECIDED")
    assert list(explained.missing) == ["page:http://shop.test/orders"]
    assert "--evidence" in explained.missing["page:http://shop.test/orders"]


def test_results_that_share_an_id_are_each_explained() -> None:
    judged = Judgement(judge="j", outcome=JudgeOutcome.ERROR, reason="tape_miss", fingerprint="f", detail="d")
    verdict = Verdict(task_id="t", trajectory=None, suite=None, judgements=(judged, judged))
    explained = replaykit.explain(verdict, "j")
    assert len(explained) == 2
    assert (explained[0].kind, explained[0].detail) == ("judge", "d")
    assert explained[0].words.startswith("the tape holds no reply")


def test_an_unknown_id_is_reported_with_those_there_are() -> None:
    verdict = replaykit.grade(SET / "refund-order--no_consent.zst")
    with pytest.raises(replaykit.UsageError, match=r"'nothing'; the verdict has .*ask-before-refund"):
        replaykit.explain(verdict, "nothing")
    bare = Verdict(task_id="t", trajectory=None, suite=None)
    with pytest.raises(replaykit.UsageError, match="the verdict has none"):
        replaykit.explain(bare, "nothing")
