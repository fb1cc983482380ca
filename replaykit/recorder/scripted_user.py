"""A scripted user: rules that answer an agent's questions, so that consent can be granted or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import convert
from replaykit.errors import TaskError
from replaykit.file_types import WRITTEN_MAX, read_whole
from replaykit.tasks.yaml_text import parsed_yaml, words_of


class UserReply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reply of the user."""

    reply: str
    """In words."""
    approved: bool | None = None
    """The decision, where the user states one."""


class UserRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reply to certain questions."""

    match: str
    """Text that the question holds, in any letter case."""
    reply: str
    """In words."""
    approved: bool | None = None
    """The decision, where the user states one."""


class User(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A user who follows rules."""

    rules: tuple[UserRule, ...] = ()
    """The first one that matches answers."""
    default: UserReply | None = None
    """The answer to all other questions; absent = silence."""

    def answer(self, question: str) -> UserReply | None:
        """Return the reply to a question; None = the user says nothing."""
        folded = question.casefold()
        for rule in self.rules:
            if rule.match.casefold() in folded:
                return UserReply(reply=rule.reply, approved=rule.approved)
        return self.default


def load_user(source: str | Path) -> User:
    """Read a user file (YAML or JSON). Raises TaskError with the exact path of what is wrong."""
    try:
        plain = parsed_yaml(read_whole(source, WRITTEN_MAX).decode("utf-8-sig"))
    except OSError as error:
        reason = f"cannot read the user file: {error.strerror}"
        raise TaskError(source=str(source), path="$", reason=reason) from error
    except (ValueError, RecursionError) as error:
        reason = f"not a user file: {words_of(error)}"
        raise TaskError(source=str(source), path="$", reason=reason) from error
    return as_user(plain, str(source))


def as_user(plain: Any, source: str = "user") -> User:
    """Turn plain values into a user. Raises TaskError with the exact path of what is wrong."""
    if isinstance(plain, User):
        return plain
    try:
        return convert(plain, User)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at ")
        raise TaskError(source=source, path=path.strip("`") or "$", reason=reason) from error
