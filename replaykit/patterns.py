"""Regular expressions that are compiled when they are first used.

A command loads hundreds of them and uses few: compiling all of them took a fifth of its start.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, compiled on first use; what is wrong with it is raised then."""
    return cast("re.Pattern[AnyStr]", LazyPattern(source, flags))


class LazyPattern:
    """Stands for a compiled expression, and has its attributes: `match`, `sub`, `pattern` and all others."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling look for is not the expression's
            raise AttributeError(name)
        value = getattr(re.compile(self._source, self._flags), name)
        # Kept: this method is called for what is missing only, and the second use costs nothing more.
        setattr(self, name, value)
        return value
