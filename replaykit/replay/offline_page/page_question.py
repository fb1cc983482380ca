"""A question to a page in the offline browser, and how it is put there."""

from __future__ import annotations

import json

from msgspec import Struct

from replaykit.replay.selectors.locator_evaluation import LAMBDA
from replaykit.tasks.grammar.xpath_grammar import is_xpath


class PageQuestion(Struct, frozen=True, kw_only=True):
    """A question to a page: a script, a path, or a selector with a property."""

    locator: str
    """Key of the read."""
    selector: str | None = None
    """A CSS selector, instead of a script."""
    read: str = "text"
    """With a selector: `text value checked selectedIndex` or an attribute's name."""

    @property
    def call(self) -> str:
        """Expression that the page is asked to evaluate."""
        if self.selector is not None:
            return f"__replaykit_ask.property({json.dumps(self.selector)}, {json.dumps(self.read)})"
        if is_xpath(self.locator):
            return f"__replaykit_ask.path({json.dumps(self.locator)})"
        # As the recorder asks live pages.
        script = self.locator.removeprefix(LAMBDA)
        script = script.rstrip("; ") if script != self.locator else script
        return f"__replaykit_ask.script({json.dumps(script)})"
