"""Selectors whose engine the agent registered: looking something up runs its script in the page.

Own module: it reads Playwright's selectors, and knows nothing of commands.
"""

from __future__ import annotations

from replaykit.patterns import lazy_pattern

_BUILT_IN = frozenset(
    {"css", "css:light", "xpath", "xpath:light", "text", "text:light", "id", "id:light", "nth", "visible"}
    | {"data-testid", "data-testid:light", "data-test-id", "data-test-id:light", "data-test"}
    | {"data-test:light", "role", "_react", "_vue", "aria-ref", "aria-template"}
)
"""Engines of Playwright, with those that begin with `internal:`."""

_NESTING = frozenset(f"internal:{name}" for name in ("has", "has-not", "and", "or", "chain"))

_ENGINE = lazy_pattern(r"\s*\*?([a-zA-Z0-9_+:*-]+)\s*=")


def runs_own_engine(selector: object) -> bool:
    """Whether a selector names an engine that is not one of Playwright's."""
    return isinstance(selector, str) and any(map(_is_foreign, selector.split(">>")))


def _is_foreign(part: str) -> bool:
    """Whether a part does; of a selector within a selector, its first part."""
    found, at = _ENGINE.match(part), 0
    while found is not None and found[1] in _NESTING:
        at = found.end()
        # It is written as a JSON string, in each further one with more backslashes.
        while part[at : at + 1] in ('"', "\\"):
            at += 1
        found = _ENGINE.match(part, at)
    return found is not None and found[1] not in _BUILT_IN and not found[1].startswith("internal:")
