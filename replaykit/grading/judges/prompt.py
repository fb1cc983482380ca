"""Prompts: shipped texts, filled in one pass, with untrusted text between delimiters of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from replaykit.errors import JudgeError

TEXT_MAX = 256 * 1024
"""Characters of a task or an answer that a prompt takes."""

NONCE_DIGITS = 12
"""Hex digits of the code that delimits untrusted text."""

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


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


def bounded(text: str) -> str:
    """Return the text, cut with a marker that says by how many characters if it is too long."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}⟦cut:{len(text) - TEXT_MAX}⟧"


def nonce(untrusted: Iterable[str]) -> str:
    """Return a code that occurs in none of the texts and depends on nothing else."""
    texts = tuple(untrusted)
    counter = 0
    while True:
        parts = "\0".join((*texts, *([str(counter)] if counter else [])))
        code = hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:NONCE_DIGITS]
        if not any(code in text for text in texts):
            return code
        counter += 1


def delimited(name: str, text: str, code: str) -> str:
    """Return untrusted text between delimiters that it cannot contain."""
    return f"<<{name} {code}>>\n{text}\n<<end {code}>>"
