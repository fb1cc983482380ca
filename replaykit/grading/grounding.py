"""Where the numbers and quotations of an answer were visible: beside a judgement, never decisive."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.errors import BundleError, ReplayError
from replaykit.grading.values.normal_form import fold, includes
from replaykit.patterns import lazy_pattern
from replaykit.replay.agent_made_pages import is_forged
from replaykit.replay.player import Replay

_NUMBER = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_QUOTED = lazy_pattern(r"[\"“”']([^\"“”'\n]{2,80})[\"“”']")


def grounding(replay: Replay) -> Iterator[dict[str, object]]:
    """Yield the numbers and quotations of the answer with the steps where they were visible."""
    spans = spans_of(replay.answer or "")
    texts = list(_texts(replay)) if spans else []
    for span, kind in spans:
        steps = {step for step, text in texts if includes(fold(span), text)}
        yield {"span": span, "kind": kind, "steps": sorted(steps)}


def spans_of(answer: str) -> tuple[tuple[str, str], ...]:
    """Return the numbers and quotations of an answer, each once, with `number` or `quote`."""
    quotes = [(match[1], "quote") for match in _QUOTED.finditer(answer)]
    numbers = [(match.group(), "number") for match in _NUMBER.finditer(answer)]
    return tuple(dict.fromkeys(numbers + quotes))


def _texts(replay: Replay) -> Iterator[tuple[int, str]]:
    last = max(0, len(replay.steps) - 1)
    for page in replay.pages:
        if is_forged(page, replay):
            continue  # the agent had a hand in it: no evidence of the site
        try:
            text = page.dom.whole_text if page.dom is not None else None
        except (ReplayError, BundleError):
            continue  # no one can say what this page showed, and grounding decides nothing
        if text is not None:
            yield page.step if page.step is not None else last * (page.role == "final"), fold(text)
