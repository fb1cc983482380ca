"""Replies to a reading of criteria, each read strictly and carelessly: words by forms."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.rubric.criterion_replies import ReadReply, Shown, lenient, read_items
from replaykit.grading.model_request import ModelReply
from replaykit.tasks.rubric import Criterion

ONE = Criterion(id="c1", statement="The page shows the order.", asked="order", proof=("page",))
SHOWN = Shown(n_steps=3, steps=(0, 1, 2), shown_steps=(0,), has_answer=False)

WORDS: dict[object, tuple[str, str | None]] = {
    "YES": ("YES", "YES"),
    " yes ": ("YES", "YES"),
    "Yes": ("YES", "YES"),
    "YES.": ("unread", "YES"),
    "yes, nearly": ("unread", "YES"),
    "NO": ("NO", "NO"),
    "no": ("NO", "NO"),
    "not met": ("unread", "NO"),
    "CANNOT_TELL": ("CANNOT_TELL", "CANNOT_TELL"),
    "cannot tell": ("unread", None),
    "SUCCESS": ("unread", None),
    "": ("unread", None),
    True: ("unread", None),
}
"""Last lines of replies, and the readings of a strict and of a careless reader."""

QUOTED = json.dumps({"criteria": [{"id": "c1", "verdict": "YES", "steps": [0]}]})
FORMS = {
    "bare": "{}",
    "fenced": "```json\n{}\n```",
    "prose before": "I looked at step {1}.\n{}",
    "prose after": "{}\nThat is all.",
    "quoted before": f"The page says {QUOTED}\n{{}}",
}
"""How the object stands in the reply."""


def reply(text: str) -> ModelReply:
    return ModelReply(text=text, stop_reason="end_turn", model="m", origin="synthetic")


def strict(text: str) -> str:
    found = read_items(reply(text), (ONE,), SHOWN)
    if not isinstance(found, ReadReply):
        return found
    item = found.items["c1"]
    return item.reason or str(item.verdict)


def careless(text: str) -> str | None:
    found = lenient(reply(text), (ONE,)).get("c1")
    return None if found is None else str(found.verdict)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("word", list(WORDS), ids=repr)
def test_both_readings(word: object, form: str) -> None:
    said = json.dumps({"criteria": [{"id": "c1", "verdict": word, "steps": [0]}]})
    text = FORMS[form].replace("{}", said)
    exact, loose = WORDS[word]
    assert strict(text) == ("not_final" if form == "prose after" else exact)
    expected = {"prose before": None, "quoted before": "YES"}.get(form, loose)
    assert careless(text) == expected  # it takes the first brace, and what a page is quoted with


def test_there_are_sixty_of_them() -> None:
    assert len(WORDS) * len(FORMS) >= 60


@given(st.text(alphabet='{}[]":,c1YESNO \n`', max_size=300))
def test_nothing_is_raised(text: str) -> None:
    assert isinstance(strict(text), str)
    assert careless(text) in (None, "YES", "NO", "CANNOT_TELL")
