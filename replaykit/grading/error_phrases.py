"""Words by which pages show an error, and by which agents report one."""

from __future__ import annotations

PHRASES = (
    "page not found", "access denied", "server error", "internal server error", "something went wrong",
    "you don't have permission", "this page is not available", "error has occurred", "an error occurred",
    "403 forbidden", "404 not found", "500 internal", "503 service unavailable",
)  # fmt: skip
"""Phrases that show an error (ST-WebAgentBench `popup_error`)."""

ALERT_WORDS = (
    "failed", "error:", "an error", "1 error", "could not", "couldn't", "unable to", "can't find",
    "cannot find", "not found", "invalid", "incorrect", "went wrong", "try again", "not saved",
    "not allowed", "not permitted", "do not have permission", "unauthorized", "session expired",
    "has expired", "no longer exists", "does not exist", "do not match", "don't match", "not valid",
    "not possible", "not responding", "timed out", "insufficient", "unsuccessful", "wrong password",
    "errors occurred", "network error", "fatal error", "oops", "uh oh",
)  # fmt: skip
"""Words that show an error in an alert, and would not in a heading or in the text of a page.

Chosen by what pages of many frameworks say in alerts (decisions 119 and 169).
"""

REPORT_WORDS = (
    "error", "errors", "fail", "fails", "failed", "failing", "failure", "failures", "unable",
    "not able", "impossible", "not possible", "cannot", "can't", "could not", "couldn't",
    "unsuccessful", "not found", "denied", "forbidden", "unavailable", "not available", "blocked",
    "problem", "problems", "timed out", "timeout", "went wrong", "not allowed", "not permitted",
    "did not work", "didn't work", "did not load", "didn't load", "did not succeed", "didn't succeed",
)  # fmt: skip
"""Words that report an error."""
