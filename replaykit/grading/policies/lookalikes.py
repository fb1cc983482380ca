"""Letters that look like others: a name may be read as a word that it does not hold."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PAIRS = (
    "аa вb еe ѕs іi јj ӏl кk мm нh оo рp сc тt уy хx һh ԁd ԛq ԝw ѵv "
    "αa εe ηn ιi κk νv οo ρp τt υu χx ωw ϲc ϳj օo սu ոn հh ɡg ɑa ıi ǀl"
)
_LETTERS = {pair[0]: pair[1] for pair in _PAIRS.split()}
"""Lower-case letters of other scripts to the Latin one that they look like."""

_CAPITALS = dict(zip("ВЕКМНΗΜΝΡΥΧΖΒΕΙΚΤ", "BEKMHHMNPYXZBEIKT", strict=True))
"""Capitals that look like another letter than their small ones do."""

_IN_WORDS = ((re.compile(r"(?<=[a-z])0|0(?=[a-z])"), "o"), (re.compile(r"(?<=[a-z])[1|]|[1|](?=[a-z])"), "l"))


@lru_cache(4096)
def looks_like(text: str) -> str | None:
    """Return the Latin letters that a text looks like, in lower case; None where none looks like another."""
    whole = unicodedata.normalize("NFKC", text)
    read = "".join(_read(one) for one in whole if unicodedata.category(one) != "Cf").lower()
    for digit, letter in _IN_WORDS:
        read = digit.sub(letter, read)
    return read if read != text.lower() else None


def _read(one: str) -> str:
    return _CAPITALS.get(one) or _LETTERS.get(one.lower(), one)
