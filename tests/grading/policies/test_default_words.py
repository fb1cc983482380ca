"""`docs/policies.md` lists the words that rules look for; they are those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaykit.grading.error_phrases import ALERT_WORDS, PHRASES, REPORT_WORDS
from replaykit.grading.policies.consent import REQUESTS
from replaykit.grading.policies.user_decisions import APPROVALS, DENIALS

PAGE = Path(__file__).parents[3] / "docs" / "policies.md"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("`reports_error` `indicators`", PHRASES),
        ("`reports_error` `indicators` in an alert", ALERT_WORDS),
        ("`reports_error` `report`", REPORT_WORDS),
        ("`consent`", REQUESTS),
        ("`consent` `approve`", APPROVALS),
        ("`consent` `deny`", DENIALS),
    ],
)
def test_the_page_lists_the_words_of_the_code(rule: str, words: tuple[str, ...]) -> None:
    _, _, table = PAGE.read_text("utf-8").partition("### Default words\n")
    assert f"| {rule} | {', '.join(words)} |" in table
