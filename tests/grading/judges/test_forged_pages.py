"""Pages that the agent had a hand in: no strict judge sees them, compat ones do, and the count is reported."""

from __future__ import annotations

import pytest

from replaykit.grading.grounding import grounding
from replaykit.grading.judges.judge_evidence import gather
from replaykit.grading.judges.protocols import build_judge
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.testing import trajectory

PAID = "Order 77 is paid"


def run(as_bundle, *, all_forged=False):
    """Return a run whose second page, with screenshot, text and tree, was written by the agent."""
    built = trajectory()
    red = built.keep("image/x-portable-pixmap", b"P6\n1 1\n255\n" + bytes((255, 0, 0)))
    blue = built.keep("image/x-portable-pixmap", b"P6\n1 1\n255\n" + bytes((0, 0, 255)))
    trees = [built.keep("text/yaml", f"- text: {words}") for words in ("shop", PAID)]
    first = {"source": "agent"} if all_forged else {}
    built.goto("http://shop.test/", "").see("<p>Welcome</p>", screenshot=red, a11y=trees[0], **first)
    built.click("#pay").see(f"<p>{PAID}</p>", screenshot=blue, a11y=trees[1], source="agent")
    return as_bundle(built.final(f"<p>{PAID}</p>", source="agent").answer(f'It is done, "{PAID}".'))


@pytest.mark.parametrize(("mode", "count", "n_forged"), [("strict", 1, 1), ("compat", 2, None)])
def test_their_screenshots(as_bundle, task, mode, count, n_forged):
    judge = build_judge(JudgeSettings(protocol="webvoyager"), mode)
    found = gather(task, Replay(run(as_bundle)), judge.needs)
    assert len(found.images) == count
    assert found.selection.report().get("n_forged") == n_forged


@pytest.mark.parametrize(("mode", "words"), [("strict", "Welcome"), ("compat", PAID)])
def test_their_text(as_bundle, task, mode, words):
    prompts = {"system": "Judge.", "user": "{{final_text}}"}
    judge = build_judge(JudgeSettings(protocol="custom", prompts=prompts), mode)
    assert gather(task, Replay(run(as_bundle)), judge.needs).text == words


@pytest.mark.parametrize(("mode", "words"), [("strict", "shop"), ("compat", PAID)])
def test_their_tree(as_bundle, task, mode, words):
    judge = build_judge(JudgeSettings(protocol="agent_reward", use_axtree=True), mode)
    assert gather(task, Replay(run(as_bundle)), judge.needs).tree == f"- text: {words}"


def test_a_run_of_such_pages_alone_leaves_nothing_to_look_at(ask, as_bundle, task):
    judged, asked = ask(run(as_bundle, all_forged=True), task, "SUCCESS", protocol="webvoyager")
    assert (judged.outcome, judged.reason, asked) == ("ABSTAIN", "no_evidence", [])
    assert judged.images["n_forged"] == 2


def test_they_ground_nothing(as_bundle):
    (number, quote) = grounding(Replay(run(as_bundle)))
    assert (number["steps"], quote["steps"]) == ([], [])
