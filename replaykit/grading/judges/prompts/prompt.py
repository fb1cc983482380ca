"""Prompts: shipped texts, filled in one pass."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from replaykit.errors import JudgeError
from replaykit.patterns import lazy_pattern

_PLACEHOLDER = lazy_pattern(r"\{\{(\w+)\}\}")


@cache
def shipped(name: str) -> str:
    """Return a shipped prompt, without the newline that ends its file."""
    text = files("replaykit.grading.judges").joinpath("prompts", f"{name}.txt").read_text("utf-8")
    return text.removesuffix("\n")


def digest(text: str) -> str:
    """Return the sha256 of a prompt, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def fill(template: str, values: Mapping[str, str], aliases: Mapping[str, str] | None = None) -> str:
    """Replace `{{name}}` by its value, in one pass: values are never read as templates.

    `aliases`: other spellings of a placeholder, such as `<task>`, to its name. Raises JudgeError for a name
    that is not among the values.
    """
    aliases = aliases or {}

    def value(found: re.Match[str]) -> str:
        name = found[1] or aliases[found[0]]
        if name not in values:
            known = ", ".join(sorted(values))
            raise JudgeError(what=f"prompt names {{{{{name}}}}}; there are {known}")
        return values[name]

    spelled = "|".join([_PLACEHOLDER.pattern, *(re.escape(alias) for alias in aliases)])
    return re.sub(spelled, value, template)
