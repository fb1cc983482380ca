"""Texts of strangers in prompts: cut to a limit, and between delimiters that they cannot forge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

TEXT_MAX = 256 * 1024
"""Characters of a task or an answer that a prompt takes."""

NONCE_DIGITS = 12
"""Hex digits of the code that delimits untrusted text."""


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


def mark_untrusted(text: str, name: str = "recorded") -> str:
    """Return recorded text between delimiters that it cannot contain, for a prompt of your own.

    `name`: label of the text. The same text always gets the same delimiters. The prompt should explain that
    the text between them is data.
    """
    return delimited(name, text, nonce((text,)))
