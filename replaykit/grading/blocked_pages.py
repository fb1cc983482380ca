"""Pages that blocked the agent: bot walls, login walls, sites that are down."""

from __future__ import annotations

from replaykit.errors import BundleError, ReplayError
from replaykit.grading.values.normal_form import fold
from replaykit.replay.run_state import Page

CHALLENGES = (
    "challenges.cloudflare.com", "hcaptcha.com", "recaptcha", "captcha-delivery.com", "arkoselabs.com",
    "perimeterx.net", "px-captcha",
)  # fmt: skip
"""Parts of addresses of frames that ask whether one is human."""

WORDS = (
    "verify you are human", "are you a robot", "not a robot", "unusual traffic", "checking your browser",
    "press and hold", "complete the captcha", "access to this page has been denied", "just a moment",
)  # fmt: skip
"""Phrases of such walls, where the status of the document is 403, 429 or 503."""

_WALLS = (403, 429, 503)
_DOWN = 500


def block_of(page: Page) -> str | None:
    """Return how a page blocks the agent: B1, B2 or B3; None for others and for those that cannot be read."""
    if _is_wall(page):
        return "B1"
    if page.status is not None and page.status >= _DOWN:
        return "B3"
    return "B2" if _asks_for_password(page) else None


def _is_wall(page: Page) -> bool:
    frames = (frame.url or "" for frame in getattr(page.seen, "frames", ()))
    if any(part in url for url in frames for part in CHALLENGES):
        return True
    if page.status not in _WALLS:
        return False
    text = _text(page)
    return any(words in text for words in WORDS)


def _text(page: Page) -> str:
    try:
        return fold((page.dom.whole_text if page.dom is not None else None) or "")
    except (ReplayError, BundleError):
        return ""


def _asks_for_password(page: Page) -> bool:
    """Return whether a page has a password field."""
    try:
        if page.snapshot_id is None or page.lacks(_PASSWORD_WORDS) or page.dom is None:
            return False
        return page.dom.select(_PASSWORD) is not None
    except (ReplayError, BundleError):
        return False


_PASSWORD = "input[type=password]"  # a selector
_PASSWORD_WORDS = (b"password", b"input")
