"""Links resolved as Chromium resolves them, which is not everywhere as the URL Standard has it."""

from __future__ import annotations

import re
from typing import Final

from replaykit.patterns import lazy_pattern
from replaykit.replay.dom_tree import SPACES

_DATA: Final = lazy_pattern(r"data:", re.IGNORECASE)
_BREAKS: Final = str.maketrans({"\t": "%09", "\n": "%0A", "\r": "%0D"})
_UP_TO_PATH: Final = lazy_pattern(r"^[^:/?#]+:/[^?#]*")


def resolve(base: str, link: str) -> str:
    """Return `link` against `base`, as the properties `href` and `src` do; unresolvable: `link` itself.

    Chromium escapes bars in a path and keeps line breaks in a `data:` link; the standard does neither.
    """
    found = link.strip(SPACES)
    if _DATA.match(found):
        found = found.translate(_BREAKS)
    import ada_url  # pages are read by many, their links by few

    try:
        return _UP_TO_PATH.sub(_escaped, str(ada_url.join_url(base, found)), count=1)
    except ValueError:
        return link


def _escaped(address: re.Match[str]) -> str:
    return address[0].replace("|", "%7C")
