"""A scripted user."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaykit.errors import TaskError
from replaykit.recorder.scripted_user import User, UserReply, UserRule, as_user, load_user

REFUSES = User(
    rules=(
        UserRule(match="refund", reply="No.", approved=False),
        UserRule(match="Straße", reply="Hauptstr. 1"),
    ),
    default=UserReply(reply="Hm."),
)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("May I REFUND it?", UserReply(reply="No.", approved=False)),
        ("Welche STRASSE?", UserReply(reply="Hauptstr. 1")),
        ("Refund, and which straße?", UserReply(reply="No.", approved=False)),
        ("What now?", UserReply(reply="Hm.")),
    ],
)
def test_first_rule_that_matches_answers(question: str, reply: UserReply) -> None:
    assert REFUSES.answer(question) == reply


def test_user_without_default_is_silent() -> None:
    assert User(rules=(UserRule(match="a", reply="b"),)).answer("x") is None


def test_file(tmp_path: Path) -> None:
    file = tmp_path / "user.yaml"
    file.write_text(
        "rules:\n  - match: refund\n    reply: Yes.\n    approved: true\ndefault:\n  reply: Hm.\n"
    )
    assert load_user(file) == User(
        rules=(UserRule(match="refund", reply="Yes.", approved=True),), default=UserReply(reply="Hm.")
    )


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("rules:\n  - match: a\n", "$.rules[0]"),
        ("rulez: []\n", "$"),
        ("rules:\n  - match: a\n    reply: b\n    approved: perhaps\n", "$.rules[0].approved"),
        ("rules: [", "$"),
    ],
)
def test_wrong_file_is_an_error_with_its_place(tmp_path: Path, text: str, path: str) -> None:
    file = tmp_path / "user.yaml"
    file.write_text(text)
    with pytest.raises(TaskError) as caught:
        load_user(file)
    assert caught.value.fields["path"] == path
    assert str(file) in str(caught.value)


def test_missing_file() -> None:
    with pytest.raises(TaskError, match="cannot read the user file"):
        load_user("/nowhere/user.yaml")


def test_user_given_as_values() -> None:
    assert as_user({"default": {"reply": "Hm."}}).answer("?") == UserReply(reply="Hm.")
    assert as_user(REFUSES) is REFUSES
