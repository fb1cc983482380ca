"""Prompts are filled once, and what strangers wrote stays between its delimiters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import JudgeError
from replaykit.grading.judges.prompt import TEXT_MAX, bounded, delimited, digest, fill, nonce, shipped

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
