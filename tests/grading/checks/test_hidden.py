"""A value that was hidden is unknown to every check: it is neither the one expected nor another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.grader import grade
from replaykit.testing import trajectory
from replaykit.trajectory.redacted import holds_mark

SHOP = "http://shop.test/"
MARKS = ("⟦masked⟧", "⟦secret:pin⟧", "⟦pattern:card⟧")


def result(check: dict[str, Any], body: str, tmp_path: Path) -> Any:
    run = trajectory({"id": "t", "intent": "x", "checks": [check]}).goto(SHOP, "<p>x</p>")
    headers = (("content-type", "application/json"),)
    post = run.keep("application/json", body)
    run.request("POST", f"{SHOP}save", post=post, request_headers=headers).answer("done")
    (found,) = grade(run.write(tmp_path / "run.zst")).checks
    return found


def state(op: str, at: str) -> dict[str, Any]:
    exchange = {"method": "POST", "path": "/save", "side": "request"}
    return {"type": "state.http", "exchange": exchange, "where": [{"at": at, "op": op, "value": "4711"}]}


def sent(field: str) -> dict[str, Any]:
    expected = {"url": f"{SHOP}save", "http_method": "POST", "post_data": {field: "4711"}}
    return {"type": "network", "expected": expected}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("check", [state("equals", "$.pin"), sent("pin")])
def test_it_is_unknown(check: dict[str, Any], mark: str, tmp_path: Path) -> None:
    found = result(check, f'{{"pin": "{mark}", "user": "4711"}}', tmp_path)
    assert (found.outcome, found.missing) == ("UNDECIDED", ("value.redacted",))


@pytest.mark.parametrize("check", [state("equals", "$.user"), sent("user"), state("exists", "$.pin")])
def test_what_stands_beside_it_is_known(check: dict[str, Any], tmp_path: Path) -> None:
    assert result(check, '{"pin": "⟦masked⟧", "user": "4711"}', tmp_path).outcome == "PASS"


@given(st.text(), st.sampled_from(MARKS), st.text())
def test_marks_are_found_at_any_depth(before: str, mark: str, after: str) -> None:
    assert holds_mark({"a": [{"b": before + mark + after}]})
    assert not holds_mark({"⟦a": [1, None, True]})
