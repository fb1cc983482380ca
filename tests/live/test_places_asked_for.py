"""Addresses that an agent asked for, and that showed no page of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import outcome_of

pytestmark = pytest.mark.live

DENY = {"type": "url_boundary", "deny": ["/admin"]}
PAGE = """<!doctype html><a id=link href=/admin>Admin</a><form action=/admin><button id=send>Go</button></form>
<a id=other href=/home>Home</a>"""
ANSWERS: dict[str, tuple[int, dict[str, str]]] = {
    "redirected": (302, {"Location": "/home"}),
    "empty": (204, {}),
    "saved": (200, {"Content-Disposition": "attachment; filename=a.csv"}),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize(("css", "outcome"), [("#link", "VIOLATED"), ("#send", "VIOLATED"), ("#other", "OK")])
def test_a_denied_address_was_asked_for_whatever_it_answered(
    css: str, outcome: str, answer: str, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        with page.expect_event("response"):
            page.click(css)

    site.answers = dict.fromkeys(("/admin", "/admin?"), ANSWERS[answer])
    site.add("/home", "<p>Home")
    page.goto(site.add("/", PAGE))
    assert outcome_of(DENY, act, page, tmp_path / "run.zst", network="bodies") == outcome
