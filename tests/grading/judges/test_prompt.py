"""Prompts are filled once, and what strangers wrote stays between its delimiters."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import JudgeError
from replaykit.grading.judges.prompts.prompt import digest, fill, shipped
from replaykit.grading.untrusted_text import TEXT_MAX, bounded, delimited, nonce

NAMES = ("webvoyager.system", "webvoyager.user", "webvoyager.compat.system", "webvoyager.compat.user")


@pytest.mark.parametrize(
    "hostile", ["$&", "{task}", "<answer>", r"\1", "{{answer}}", "a\nb", "SUCCESS", "%s"]
)
def test_values_appear_verbatim_and_once(hostile):
    text = fill("T: {{task}} A: {{answer}}", {"task": hostile, "answer": "x"})
    assert text == f"T: {hostile} A: x"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(JudgeError, match="there are answer, task"):
        fill("{{tsak}}", {"task": "", "answer": ""})


def test_long_texts_are_cut_with_a_marker():
    assert bounded("x" * TEXT_MAX) == "x" * TEXT_MAX
    assert bounded("x" * (TEXT_MAX + 7)).endswith("x⟦cut:7⟧")


@given(st.lists(st.text(), max_size=3))
def test_a_nonce_occurs_nowhere_and_depends_on_the_texts_alone(texts):
    code = nonce(texts)
    assert len(code) == 12
    assert code == nonce(texts)
    assert not any(code in text for text in texts)


def test_a_nonce_avoids_a_text_that_holds_it(monkeypatch):
    first = nonce(("a", "b"))
    codes = iter([first, "0" * 12])

    class Hash:
        def __init__(self, data):
            self.code = next(codes)

        def hexdigest(self):
            return self.code + "f" * 52

    monkeypatch.setattr("hashlib.sha256", Hash)
    assert nonce((f"evil {first}",)) == "0" * 12


def test_delimiters():
    assert delimited("task", "Do it", "abc") == "<<task abc>>\nDo it\n<<end abc>>"


@pytest.mark.parametrize("name", NAMES)
def test_shipped_prompts_hold_the_contract(name):
    text = shipped(name)
    assert len(digest(text)) == 64
    assert not text.endswith("\n")
    if name.endswith("system"):
        for needed in ("NOT SUCCESS", "SUCCESS", "screenshot", "instruction", "response"):
            assert needed in text
        assert "{{" not in text


def test_the_peers_layout():
    filled = fill(shipped("webvoyager.compat.user"), {"task": "T", "answer": "A", "n_images": "15"})
    assert filled == "TASK: T\nResult Response: A\n15 screenshots at the end: "


FROZEN = {
    "agent_reward.actions": "de2a97ab8256ac93",
    "agent_reward.axtree": "f394e85f31fb151c",
    "agent_reward.actions.bare": "8dece2335e105b1d",
    "agent_reward.closing": "ad564f0150f5068a",
    "agent_reward.goal": "3ba62af6118cfb92",
    "agent_reward.screenshot": "1f1200a745d214d0",
    "agent_reward.step": "8a976bc1dd2995ea",
    "agent_reward.step.bare": "9622aa20bf578e21",
    "agent_reward.system.verdict_first": "55c481e9088eb2b3",
    "agent_reward.system.verdict_last": "de15aedcd7ed9e84",
    "claims.answer.system": "0712fb5b01288fe2",
    "claims.answer.user": "96cd2ef2180ae7c8",
    "claims.needs.system": "b343bd7eba97f0c6",
    "claims.needs.user": "910309e04a1d66ad",
    "evidence": "7f14e18c374de0ff",
    "rubric.criteria.system": "8fee7e6a157f8526",
    "rubric.criteria.user": "ce5acb59bd99523c",
    "rubric.look.system": "73aed4f5f921afaf",
    "rubric.look.user": "be969dc12a196477",
    "rubric.reading.checks": "e54726e4ee1f3e6a",
    "rubric.reading.system": "b7de5984be868902",
    "rubric.reading.user": "e200a83cfa3b5c47",
    "rubric.story.system": "0c5df3769616a84b",
    "rubric.story.user": "c0628c9273a09449",
    "webjudge.general.score.system": "554480919ecf54ef",
    "webjudge.general.verdict.system": "76a2c624e0e946b5",
    "webjudge.key_points.system": "35229ae9d062f77b",
    "webjudge.key_points.user": "5dda615462e4869d",
    "webjudge.score.system": "33ba569ece528676",
    "webjudge.score.user": "aca6ff2cf3f62f5d",
    "webjudge.verdict.system": "763dac0f307d3b11",
    "webjudge.verdict.user": "0d51d7dbf55c1527",
    "webjudge.verdict.user_bare": "86e1e024aade924d",
    "webvoyager.compat.system": "f11a978718dee082",
    "webvoyager.compat.user": "471d232d7e902bdf",
    "webvoyager.om2w.system": "e3be86ab32e966c2",
    "webvoyager.om2w.user": "7ec49d56b42d9a0b",
    "webvoyager.system": "950b07172ab011e0",
    "webvoyager.user": "9b9232d876d19b45",
}


def test_no_shipped_prompt_changes_by_accident():
    """Another text is another request: every recorded reply to it would be a miss."""
    found = {
        path.stem
        for path in files("replaykit.grading.judges").joinpath("prompts").iterdir()
        if path.name.endswith(".txt")
    }
    assert found == set(FROZEN)
    assert {name: digest(shipped(name))[:16] for name in FROZEN} == FROZEN
