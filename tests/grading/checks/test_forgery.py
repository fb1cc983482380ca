"""Pages and replies that the agent made are no evidence of the site: UNDECIDED, for or against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.grader import grade
from replaykit.testing import Builder, trajectory

SHOP = "http://shop.test/"
PAGE = {"type": "page", "url": "last", "expect": {"contains": "Paid"}}
URL = {"type": "url_match", "url": f"{SHOP}done"}
LAST = {"type": "network", "expected": {"url": f"{SHOP}done", "http_method": "GET"}, "is_navigation": True}
SENT = {"type": "network", "expected": {"url": f"{SHOP}pay", "http_method": "POST"}}
STATE = {
    "type": "state.http",
    "exchange": {"method": "POST", "path": "/pay", "side": "status"},
    "where": [{"op": "equals", "value": 200}],
}


def graded(check: dict[str, Any], run: Builder, tmp_path: Path) -> tuple[str, tuple[str, ...]]:
    path = run.answer("done").write(tmp_path / "run.zst")
    (found,) = grade(path).checks
    return found.outcome, found.missing


def started(check: dict[str, Any]) -> Builder:
    return trajectory({"id": "t", "intent": "x", "checks": [check]})


FORGED = ("UNDECIDED", ("page.forged",))


@pytest.mark.parametrize("check", [PAGE, URL, LAST])
@pytest.mark.parametrize("text", ["Paid", "Open"])
def test_a_document_that_the_agent_answered(check: dict[str, Any], text: str, tmp_path: Path) -> None:
    run = started(check).request("GET", f"{SHOP}done", source="agent", resource="document", page=0)
    assert graded(check, run.goto(f"{SHOP}done", f"<p>{text}</p>"), tmp_path) == FORGED


@pytest.mark.parametrize("check", [PAGE, URL])
def test_a_document_that_the_agent_wrote(check: dict[str, Any], tmp_path: Path) -> None:
    run = started(check).goto(f"{SHOP}done", "<p>Open</p>")
    run.see("<p>Paid</p>", role="final", source="agent")
    assert graded(check, run, tmp_path) == FORGED


def test_a_look_of_the_recorder_at_the_page_that_the_agent_answered(tmp_path: Path) -> None:
    run = started(PAGE).request("GET", f"{SHOP}done", source="agent", resource="document", page=0)
    run.goto(f"{SHOP}done", "<p>Paid</p>").probe(f"{SHOP}done", "<p>Paid</p>", in_place=True)
    assert graded(PAGE, run, tmp_path) == FORGED


def test_a_page_of_the_recorder_in_which_a_planted_script_ran(tmp_path: Path) -> None:
    check = {"type": "page", "url": f"{SHOP}order", "expect": {"contains": "Paid"}}
    run = started(check).goto(SHOP, "<p>x</p>").probe(f"{SHOP}order", "<p>Paid</p>", source="agent")
    assert graded(check, run, tmp_path) == FORGED


def test_data_that_the_agent_answered_to_the_page(tmp_path: Path) -> None:
    run = started(PAGE).goto(f"{SHOP}done", "<p>Open</p>")
    run.request("GET", f"{SHOP}data", source="agent", resource="fetch", page=0)
    assert graded(PAGE, run.see("<p>Paid</p>"), tmp_path) == FORGED


@pytest.mark.parametrize("check", [SENT, STATE])
def test_a_request_that_the_agent_answered_never_reached_the_site(
    check: dict[str, Any], tmp_path: Path
) -> None:
    run = started(check).goto(SHOP, "<p>x</p>")
    assert graded(check, run.request("POST", f"{SHOP}pay", source="agent", page=0), tmp_path) == FORGED


@pytest.mark.parametrize(
    "forged",
    [
        {"url": f"{SHOP}logo", "resource": "image"},  # an image says nothing that is asked for
        {"url": f"{SHOP}other", "resource": "document"},  # another page
        {"url": f"{SHOP}data", "resource": "fetch"},  # of the page before
    ],
)
@pytest.mark.parametrize("check", [PAGE, URL])
def test_what_the_agent_did_not_touch_is_decided(
    check: dict[str, Any], forged: dict[str, Any], tmp_path: Path
) -> None:
    run = started(check).goto(SHOP, "<p>Open</p>").request("GET", source="agent", page=0, **forged)
    run.goto(f"{SHOP}done", "<p>Paid</p>")
    assert graded(check, run, tmp_path) == ("PASS", ())
