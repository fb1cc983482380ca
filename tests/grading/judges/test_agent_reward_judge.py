"""The four questions: blocks in order, both modes, and the answers kept."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.request_plan import known_requests, plan
from replaykit.grading.judges.tape.tape import read_tape, request_key
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.grading.judges.tape.tape_recorder import TapeRecorder, judge_sync
from replaykit.grading.model_request import ImagePart, ReplyFailure
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.testing import trajectory as build_run

REPLY = (
    "<reasoning>fine</reasoning><side>No</side><loop>No</loop>"
    "<optimal>4. Completely Optimal</optimal><success>Successful</success>"
)


@pytest.fixture
def judged(ask):
    def run(bundle, task, say=REPLY, mode="strict", **settings):
        return ask(bundle, task, say, mode, protocol="agent_reward", **settings)

    return run


def blocks(request):
    return ["image" if isinstance(part, ImagePart) else part.text for part in request.content]


def test_blocks_in_order(judged, recorded, task):
    judgement, (request,) = judged(recorded(3), task)
    goal, actions, label, image, closing = blocks(request)
    assert "Find the order number." in goal
    assert "Step 1\nURL: http://shop.test/\nAction: page -> GOTO: http://shop.test/\nStep 2" in actions
    assert (image, request.content[3].step) == ("image", 2)
    assert "screenshot" in label
    assert closing.startswith("Answer the four questions")
    assert (judgement.outcome, judgement.other_mode) == ("SUCCESS", "SUCCESS")
    parsed = judgement.stages[0]["parsed"]
    assert (parsed["side_effect"], parsed["optimality"], parsed["looping"]) == (False, 4, False)


def test_the_verdict_s_place_is_an_option(judged, recorded, task):
    last, first = (
        judged(recorded(1), task, order=order)[1][0].system for order in ("verdict_last", "verdict_first")
    )
    assert last.index("<success>...") > last.index("<loop>...")
    assert first.index("<success>...") < first.index("<loop>...")
    assert judged(recorded(1), task, mode="compat")[1][0].system.splitlines() == first.splitlines()[:-3]


def test_absent_values(judged, recorded, task):
    _, (request,) = judged(recorded(1), task, mode="compat")
    assert "Reasoning: None" in blocks(request)[1]


def test_no_screenshot_is_read_where_none_is_wanted(judged, recorded, task):
    run = recorded(2)
    _, (request,) = judged(run, task, use_screenshot=False)
    assert "image" not in blocks(request)
    assert not [id for id in run.read if run.blob_type(id).startswith("image/")]


def with_tree(tree):
    """Return a run whose last page has this accessibility tree."""
    built = build_run().goto("http://h.test/", "<p>x")
    id = built._put("text/plain", tree.encode())
    built._events[-1] = replace(built._events[-1], a11y=id)

    class Bundle:
        trajectory = built.answer("done").build()

        def blob(self, id):
            return built.blobs()[id][1]

        def blob_type(self, id):
            return built.blobs()[id][0]

    return Bundle()


def test_the_accessibility_tree_is_cut_with_a_marker(judged, task):
    run = with_tree("x" * 50)
    _, (request,) = judged(run, task, use_axtree=True, axtree_chars_max=20)
    assert "x" * 20 + "⟦cut:30⟧" in blocks(request)[2]
    _, (request,) = judged(run, task)
    assert "xxx" not in "".join(blocks(request))


TREE = '- generic:\n  - list:\n    - link "Home"\n  - generic [ref=e7]:'
PRUNED = '    - link "Home"'


def test_a_large_tree_loses_its_empty_structure_first(judged, task):
    _, (request,) = judged(with_tree(TREE), task, use_axtree=True, axtree_chars_max=len(TREE))
    assert TREE in blocks(request)[2]
    _, (request,) = judged(with_tree(TREE), task, use_axtree=True, axtree_chars_max=len(TREE) - 1)
    assert f"\n{PRUNED}\n" in blocks(request)[2]
    assert "generic" not in blocks(request)[2]


def refusing(kind):
    """Refuse the whole tree; take the pruned one."""

    def say(request):
        return ReplyFailure(kind=kind, message="too long") if "generic" in str(request.content) else REPLY

    return say


@pytest.mark.parametrize("kind", ["bad_request", "too_large", "tape_miss"])
def test_compat_asks_once_more_with_a_pruned_tree(judged, task, kind):
    judgement, (whole, smaller) = judged(with_tree(TREE), task, refusing(kind), "compat", use_axtree=True)
    assert (judgement.outcome, judgement.reason) == ("SUCCESS", "verdict")
    assert TREE in blocks(whole)[2]
    assert PRUNED in blocks(smaller)[2]
    assert judgement.stages[0]["request_key"] == request_key(smaller)


def test_a_refusal_of_the_pruned_tree_is_reported(judged, task):
    def say(request):
        return ReplyFailure(
            kind="bad_request", message="whole" if "generic" in str(request.content) else "pruned"
        )

    judgement, requests = judged(with_tree(TREE), task, say, "compat", use_axtree=True)
    assert (judgement.outcome, judgement.reason, judgement.detail) == ("ERROR", "bad_request", "pruned")
    assert len(requests) == 2


def test_of_two_requests_that_were_never_asked_the_first_is_named(judged, task):
    missing = judged(
        with_tree(TREE),
        task,
        lambda r: ReplyFailure(kind="tape_miss", message=str(len(str(r)))),
        "compat",
        use_axtree=True,
    )
    assert missing[0].detail == str(len(str(missing[1][0])))


@pytest.mark.parametrize(
    ("kind", "mode", "tree"),
    [
        ("bad_request", "strict", TREE),
        ("overloaded", "compat", TREE),
        ("bad_request", "compat", "- generic x"),
    ],
)
def test_nothing_else_is_asked_again(judged, task, kind, mode, tree):
    judgement, requests = judged(with_tree(tree), task, refusing(kind), mode, use_axtree=True)
    assert (judgement.outcome, judgement.reason, len(requests)) == ("ERROR", kind, 1)
    _, requests = judged(with_tree(tree), task, ReplyFailure(kind=kind, message="no"), mode)
    assert len(requests) == 1


def test_a_refused_tree_is_graded_from_the_tape(task, tape, replay):
    run, settings = with_tree(TREE), JudgeSettings(protocol="agent_reward", use_axtree=True)
    recorder = TapeRecorder(
        run, CallableClient(lambda r, p: refusing("bad_request")(r)), tape, trajectory="d" * 64
    )
    live = judge_sync(settings, task, replay(run), recorder, "compat")
    assert judge_from_tape(settings, task, replay(run), read_tape(tape), "compat") == live
    recorded = read_tape(tape)
    assert len(recorded.entries) == 1
    assert plan(settings, task, replay(run), recorded, "compat").missing == ()
    (known,) = known_requests(settings, task, replay(run), recorded, "compat")
    assert recorded.reply(known.request, known.ordinal) is not None


def test_of_a_tree_never_asked_about_the_whole_one_is_planned(task, replay):
    run, settings = with_tree(TREE), JudgeSettings(protocol="agent_reward", use_axtree=True)
    (asked,) = plan(settings, task, replay(run), mode="compat").missing
    assert TREE in blocks(asked.request)[2]


def test_no_evidence_no_call(judged, recorded, task):
    judgement, requests = judged(_empty(), task)
    assert (judgement.reason, requests) == ("no_evidence", [])
    assert judged(recorded(1), task, ReplyFailure(kind="timeout", message="slow"))[0].outcome == "ERROR"


def _empty():
    class Bundle:
        trajectory = build_run().end().build()

    return Bundle()


def test_an_answer_at_which_the_peer_stops_is_its_bug(judged, recorded, task):
    judgement, _ = judged(recorded(1), task, "<success>Perhaps</success>", mode="compat")
    assert (judgement.outcome, judgement.reason) == ("ERROR", "judge_bug")
    judgement, _ = judged(recorded(1), task, "<success>Perhaps</success>")
    assert (judgement.reason, judgement.other_mode) == ("unknown_token", "ERROR")


def test_the_fingerprint_changes_with_its_options():
    options = [
        {},
        {"use_axtree": True},
        {"use_screenshot": False},
        {"order": "verdict_first"},
        {"axtree_chars_max": 9},
    ]
    prints = {build_judge(JudgeSettings(protocol="agent_reward", **o), "strict").fingerprint for o in options}
    assert len(prints) == len(options)


def test_the_agent_s_reasoning_is_left_out_unless_it_is_asked_for(judged, task, as_bundle):
    run = as_bundle(build_run().goto("http://shop.test/", "<p>x", thought="SURELY DONE").screenshot())
    said = {
        (mode, choice): "\n".join(blocks(judged(run, task, mode=mode, reasoning=choice)[1][0]))
        for mode in ("strict", "compat")
        for choice in ("", "include", "exclude")
    }
    assert {key for key, text in said.items() if "SURELY DONE" in text} == {
        ("strict", "include"),
        ("compat", ""),
        ("compat", "include"),
    }
    assert "Reasoning:" not in said["strict", ""]


@pytest.mark.parametrize("choice", ["include", "exclude"])
@pytest.mark.parametrize("protocol", ["webvoyager", "webjudge"])
def test_reasoning_is_no_option_of_judges_that_read_none(protocol, choice):
    with pytest.raises(
        JudgeError, match=r"option reasoning: .* is of agent_reward, and webjudge with variant"
    ):
        build_judge(JudgeSettings(protocol=protocol, reasoning=choice), "strict")


def test_what_is_asked_as_before_keeps_its_fingerprint():
    def mark(mode, **options):
        return build_judge(JudgeSettings(protocol="agent_reward", **options), mode).fingerprint

    assert mark("strict", reasoning="exclude") == mark("strict") != mark("strict", reasoning="include")
    assert mark("compat", reasoning="include") == mark("compat") != mark("compat", reasoning="exclude")
