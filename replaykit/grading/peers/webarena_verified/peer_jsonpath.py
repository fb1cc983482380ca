"""JSONPath as WebArena-Verified reads it, by `jsonpath-ng`: an older grammar; its filters read numbers."""

from __future__ import annotations

import re
from typing import Any

from replaykit.grading.values.jsonpath import find
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.patterns import lazy_pattern

_OWN = lazy_pattern(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<dot>\.(?=\[))
      | (?P<refused>&&|\|\||\[\s*-?\d+\s*,)
      | (?P<both>&)""",
    re.VERBOSE,
)
"""Spellings that `jsonpath-ng` writes in another way, or does not know: `.[0]`, `&`; `&&`, `||`, several
indices.
"""


def find_as_peer(path: str, document: Any) -> list[Any]:
    """Return what a path leads to for `jsonpath-ng`; raises `PathFault` also for what that cannot read."""
    return find(_OWN.sub(_standard, path), document, reads_numbers=True)


def _standard(match: re.Match[str]) -> str:
    if match["refused"]:
        raise PathFault(f"not a path of jsonpath-ng: {match[0]!r}")
    return match["quoted"] or ("&&" if match["both"] else "")
