"""A judge's reasons for its verdict, in its own words."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.grading.verdict import Judgement

QUOTE_MAX = 400
"""Characters that are quoted of one reply."""


def quoted(judgement: Judgement) -> Iterator[str]:
    """Yield the end of the last reply on one line, in quotation marks: verdicts stand at the end of replies.

    With several samples the last reply of the last sample. Nothing where no model replied.
    """
    replies = [str(stage.get("reply_text") or "") for stage in judgement.stages]
    words = " ".join(replies[-1].split()) if replies else ""
    if words:
        yield f'"{words}"' if len(words) <= QUOTE_MAX else f'"… {words[-QUOTE_MAX:]}"'
