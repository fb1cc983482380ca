"""Which screenshots a judge gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.grounding import grounding
from replaykit.grading.judges.judge_evidence import EvidenceNeeds, gather
from replaykit.grading.judges.screenshot_choice import RunScreenshot, all_shots, image_policy, shots
from replaykit.replay.player import Replay
from replaykit.testing import trajectory


def made(*ids):
    return [RunScreenshot(id=id, step=step, role="after") for step, id in enumerate(ids)]


def picked(policy, ids, dedupe="none"):
    return "".join(shot.id for shot in image_policy(policy).select(made(*ids), dedupe).sent)


@pytest.mark.parametrize(
    ("policy", "sent"),
    [
        ("last:1", "e"), ("last:3", "cde"), ("last:9", "abcde"), ("first+last:2", "ade"),
        ("first+last:5", "abcde"), ("first+last:9", "abcde"), ("all", "abcde"), ("none", ""),
    ],
)  # fmt: skip
def test_policies(policy, sent):
    assert picked(policy, "abcde") == sent


@pytest.mark.parametrize(
    "policy",
    ["last:0", "last:-1", "last:2.5", "last:abc", "last:", "", "True", "last:NaN", "first:3", "last:1 ", "ALL",
     "first+last:0", "last:٣", "last:01", "scored>=0", "scored>=6", "scored>=2.5", "scored>3"],
)  # fmt: skip
def test_invalid_policies_name_option_value_and_range(policy):
    with pytest.raises(JudgeError) as caught:
        image_policy(policy)
    assert "option images" in str(caught.value)
    assert repr(policy) in str(caught.value)
    assert "integer k from 1" in str(caught.value)


def test_equal_screenshots_in_a_row_are_sent_once():
    selection = image_policy("last:4").select(made(*"abbba"), "consecutive")
    assert "".join(shot.id for shot in selection.sent) == "ba"
    report = selection.report()
    assert (report["n_available"], report["n_selected"], report["n_sent"], report["n_deduped"]) == (
        5,
        4,
        2,
        2,
    )
    assert picked("last:4", "abbba", "none") == "bbba"


@given(st.lists(st.sampled_from("ab"), max_size=8), st.integers(1, 9))
def test_last_k_is_a_tail_in_order(ids, k):
    assert picked(f"last:{k}", ids) == "".join(ids[-k:])


def test_one_screenshot_a_step_in_numeric_order(recorded):
    found = list(shots(Replay(recorded(12))))
    assert [shot.step for shot in found] == list(range(12))
    assert {shot.role for shot in found} == {"after"}


def test_start_and_end_stand_in_only_where_they_must():
    start = trajectory().screenshot().answer("x")
    assert [(s.step, s.role) for s in shots(Replay(_bundle(start)))] == [(0, "start")]
    last = trajectory().goto("http://h.test/", "<p>").screenshot().click("#a").final()
    last.add(_final(last))
    assert [(s.step, s.role) for s in shots(Replay(_bundle(last)))] == [(0, "after"), (1, "final")]


def _final(built):
    from replaykit.trajectory.observation import Observation

    return Observation(
        role="final", screenshot=next(id for id, (kind, _) in built.blobs().items() if "pix" in kind)
    )


def _bundle(built):
    class Bundle:
        trajectory = built.build()

        def __contains__(self, id):
            return id in built.blobs()

        def blob(self, id):
            return built.blobs()[id][1]

        def blob_type(self, id):
            return built.blobs()[id][0]

    return Bundle()


def test_none_reads_no_screenshot(recorded, task):
    run = recorded(3)
    evidence = gather(task, Replay(run), EvidenceNeeds(images=image_policy("none")))
    assert evidence.images == ()
    assert evidence.selection.n_available == 3
    assert not [id for id in run.read if run.blob_type(id).startswith("image/")]


def test_own_captures_are_sent_as_png_under_their_blob_id(recorded, task):
    run = recorded(1)
    (image,) = gather(task, Replay(run), EvidenceNeeds(images=image_policy("all"), dedupe="none")).images
    assert (image.media_type, image.width, image.height) == ("image/png", 2, 2)
    assert run.blob_type(image.sha256) == "image/x-portable-pixmap"


def test_numbers_and_quotations_are_grounded_in_visible_text(recorded):
    run = recorded(2, answer='The order is 42, not 7; it says "Order 42".')
    found = {item["span"]: (item["kind"], item["steps"]) for item in grounding(Replay(run))}
    assert found["42"][0] == "number"
    assert found["42"][1] == [0, 1]
    assert found["7"] == ("number", [])
    assert found["Order 42"][0] == "quote"


def test_of_the_first_so_many():
    policy = replace(image_policy("last:2"), among=3)
    selection = policy.select(made(*"abcde"), "none")
    assert "".join(shot.id for shot in selection.sent) == "bc"
    assert selection.n_available == 5


def test_every_look_counts_where_all_are_wanted():
    built = trajectory().goto("http://h.test/", "<p>a").screenshot(colour=(1, 0, 0))
    built.see("<p>b").screenshot(colour=(2, 0, 0)).click("#x").screenshot(colour=(3, 0, 0))
    replay = Replay(_bundle(built.final()))
    assert len(list(all_shots(replay))) > len(list(shots(replay)))


def test_a_judge_receives_one_line_for_each_action(task):
    built = trajectory().goto("http://h.test/", "<p>a").say("I am done").click("#x")
    evidence = gather(
        task, Replay(_bundle(built.answer("x"))), EvidenceNeeds(images=image_policy("none"), text=True)
    )
    assert [entry.action for entry in evidence.actions] == [
        "page -> GOTO: http://h.test/",
        "<element> -> CLICK",
    ]
    assert evidence.text == "a"
    assert evidence.recorded_at == "2026-01-01T00:00:00.000Z"
