"""Compiled selectors, kept by their text: few are asked of many pages."""

from __future__ import annotations

from functools import lru_cache

from replaykit.replay.selectors.selector_matching import Selector


@lru_cache(maxsize=1024)
def compile_selector(source: str) -> Selector:
    """Compile a selector list.

    Raises SelectorInvalid where a browser throws SyntaxError, Unsupported for pseudo-classes that no snapshot
    answers, LocatorLimit for sources too long or too deep.
    """
    from replaykit.replay.selectors.css import (
        compiled,  # its parsers take longer to load than a page to search
    )

    return compiled(source)
