"""Pieces of secrets: whether a text that will be hidden holds one, in any case, order or usual encoding."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Iterator
from urllib.parse import unquote, unquote_plus

from replaykit.secrets.secret_spellings import base64_parts

PIECE_LENGTH = 4
"""Letters and digits that no text without a secret shares with one: fewer are in common by chance."""


class SecretPieces:
    """Secrets as their pieces; signs between letters and digits, and their case, make no difference."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._letters = [_letters(secret) for secret in secrets]
        self._pieces = {
            piece for secret in secrets for form in _forms(secret) for piece in _cut(_letters(form))
        }

    def are_absent(self, text: str) -> bool:
        """Whether a text holds no piece of a secret, nor a secret the text; False without secrets."""
        return bool(self._letters) and all(self._is_free(_letters(form)) for form in _readings(text))

    def _is_free(self, letters: str) -> bool:
        is_piece = any(letters in secret for secret in self._letters)
        return not is_piece and not any(piece in letters for piece in self._pieces)


def holds_letters(text: str, part: str) -> bool:
    """Whether a text holds another, whatever their case and the signs between letters and digits."""
    letters = _letters(part)
    return part in text or (letters != "" and letters in _letters(text))


def _forms(secret: str) -> Iterator[str]:
    """Yield what a secret may be written as; those that a reading of the text undoes are missing."""
    data = secret.encode("utf-8", "surrogatepass")
    yield from (secret, secret[::-1], data.hex(), *base64_parts(secret))


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it stands, and decoded."""
    yield from {text, unquote(text), unquote_plus(text), unquote(unquote(text)), html.unescape(text)}


def _letters(text: str) -> str:
    # By capitals, since the dotless i has the capital of the i.
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).upper().casefold()))


def _cut(letters: str) -> Iterator[str]:
    """Yield every piece; a short secret is one."""
    yield from (letters[at : at + PIECE_LENGTH] for at in range(max(1, len(letters) - PIECE_LENGTH + 1)))
