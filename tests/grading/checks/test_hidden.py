"""A value that was hidden is unknown to every check: it is neither the one expected nor another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.grader import grade
from replaykit.testing import trajectory
from replaykit.trajectory.redaction_marks import holds_mark

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
    value = {} if op == "exists" else {"value": "4711"}
    return {"type": "state.http", "exchange": exchange, "where": [{"at": at, "op": op, **value}]}


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


def asked(url: str, expected: dict[str, Any], tmp_path: Path, **check: Any) -> Any:
    """Grade a request check on a run that asked for this URL."""
    plain = {"type": "network", "expected": {"http_method": "GET", **expected}, "is_navigation": False}
    run = trajectory({"id": "t", "intent": "x", "checks": [plain | check]}).goto(SHOP, "<p>x</p>")
    (found,) = grade(run.request("GET", url).answer("done").write(tmp_path / "run.zst")).checks
    return found


MASKED = ("⟦masked⟧", "%E2%9F%A6masked%E2%9F%A7")


@pytest.mark.parametrize("mark", MASKED)
@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("find?token={}&q=tin", "find?token=4711&q=tin"),
        ("user/{}/orders", "user/4711/orders"),
        ("user/{}", "^.*/user/47.*$"),
    ],
)
def test_a_hidden_part_of_an_address_is_unknown(
    url: str, expected: str, absent: bool, mark: str, tmp_path: Path
) -> None:
    wanted = expected if expected.startswith("^") else SHOP + expected
    found = asked(SHOP + url.format(mark), {"url": wanted}, tmp_path, should_not_exist=absent)
    assert (found.outcome, found.missing) == ("UNDECIDED", ("value.redacted",))


@pytest.mark.parametrize("mark", MASKED)
@pytest.mark.parametrize(
    ("url", "expected", "outcome"),
    [
        ("find?token={}&q=tin", "find?token=4711&q=lead", "FAIL"),  # what is not hidden differs
        ("find?token={}&q=tin", "look?token=4711&q=tin", "FAIL"),
        ("find?token={}&q=tin", "find?q=tin", "FAIL"),  # one more parameter, whatever it holds
        ("user/{}/orders", "user/4711/bills", "FAIL"),
        ("user/{}/orders", "user/4711", "FAIL"),
    ],
)
def test_an_address_that_differs_elsewhere_is_decided(
    url: str, expected: str, outcome: str, mark: str, tmp_path: Path
) -> None:
    assert asked(SHOP + url.format(mark), {"url": SHOP + expected}, tmp_path).outcome == outcome


def test_a_hidden_parameter_that_does_not_count_is_not_asked_for(tmp_path: Path) -> None:
    found = asked(
        f"{SHOP}find?token=⟦masked⟧&q=tin",
        {"url": f"{SHOP}find?q=tin"},
        tmp_path,
        ignored_query_params=["token"],
    )
    assert found.outcome == "PASS"


@pytest.mark.parametrize(
    "expected",
    [
        {"response_status": 200},
        {"post_data": {"q": "tin"}},
        {"response_content": {"q": "tin"}},
        {"headers": {"accept": "x"}},
    ],
)
@pytest.mark.parametrize("absent", [False, True])
def test_what_only_the_net_log_knows_has_no_answer(
    expected: dict[str, Any], absent: bool, tmp_path: Path
) -> None:
    check = {
        "type": "network",
        "expected": {"url": f"{SHOP}save", "http_method": "POST", **expected},
        "should_not_exist": absent,
    }
    run = trajectory({"id": "t", "intent": "x", "checks": [check]}).goto(SHOP, "<p>x</p>")
    run.request("POST", f"{SHOP}save", status=None, source="netlog").answer("done")
    (found,) = grade(run.write(tmp_path / "run.zst")).checks
    assert found.outcome == "UNDECIDED"
    assert found.missing[0].partition(":")[0] in ("response", "body", "headers")


@pytest.mark.parametrize(
    ("side", "which", "outcome"),
    [("request", "last", "UNDECIDED"), ("status", "last", "UNDECIDED"), ("request", "any", "PASS")],
)
def test_states_that_only_the_net_log_knows(side: str, which: str, outcome: str, tmp_path: Path) -> None:
    exchange = {"method": "POST", "path": "/save", "side": side, "which": which}
    wanted = {"value": 201} if side == "status" else {"at": "$.pin", "value": "1"}
    check = {"type": "state.http", "exchange": exchange, "where": [{"op": "equals", **wanted}]}
    run = trajectory({"id": "t", "intent": "x", "checks": [check]}).goto(SHOP, "<p>x</p>")
    run.request("POST", f"{SHOP}save", post=run.keep("application/json", '{"pin": "1"}'))
    run.request("POST", f"{SHOP}save", status=None, source="netlog").answer("done")
    (found,) = grade(run.write(tmp_path / "run.zst")).checks
    assert found.outcome == outcome


def ended_on(url: str, expected: str, tmp_path: Path, html: str = "<p>x</p>", **check: Any) -> Any:
    """Grade the address on which a run ended."""
    run = trajectory({"id": "t", "intent": "x", "checks": [{"type": "url_match", "url": expected, **check}]})
    (found,) = grade(run.goto(url, html).final(html).answer("done").write(tmp_path / "run.zst")).checks
    return found


@pytest.mark.parametrize("mark", MASKED)
@pytest.mark.parametrize(
    ("url", "expected", "outcome"),
    [
        ("find?token={}&q=tin", "find?token=4711&q=tin", "UNDECIDED"),
        ("find?a={}&a=1", "find?a=1&a=2", "UNDECIDED"),
        ("find?a={}&a=1", "find?a=2&a=3", "FAIL"),
        ("user/{}/orders", "user/4711/orders", "UNDECIDED"),
        ("page#{}", "page#token", "UNDECIDED"),
        ("find?token={}&q=tin", "find?q=tin", "PASS"),
        ("find?token={}&q=tin", "find?token=4711&q=tea", "FAIL"),
        ("find?token={}&q=tin", "lost?token=4711&q=tin", "FAIL"),
        ("user/{}/orders", "user/4711/orders/1", "FAIL"),
    ],
)
def test_the_last_url_may_be_the_one_that_is_wanted_where_a_part_is_hidden(
    url: str, expected: str, outcome: str, mark: str, tmp_path: Path
) -> None:
    found = ended_on(SHOP + url.format(mark), SHOP + expected, tmp_path)
    assert found.outcome == outcome
    assert found.missing == (("value.redacted",) if outcome == "UNDECIDED" else ())


@pytest.mark.parametrize("mark", MASKED)
def test_a_hidden_part_of_the_last_url_may_match_an_expression(mark: str, tmp_path: Path) -> None:
    found = ended_on(f"{SHOP}user/{mark}/orders", f"{SHOP}user/\\d+/orders", tmp_path, path="regex")
    assert (found.outcome, found.missing) == ("UNDECIDED", ("value.redacted",))


@pytest.mark.parametrize(
    ("charset", "value", "outcome"),
    [
        ("windows-1252", "M\xfcller", "PASS"),
        ("windows-1252", "M\xf6ller", "FAIL"),
        ("UTF-8", "M\xfcller", "UNDECIDED"),
    ],
)
@pytest.mark.parametrize("way", ["query", "form", "multipart", "url"])
def test_a_form_is_read_in_the_charset_of_its_page(
    way: str, charset: str, value: str, outcome: str, tmp_path: Path
) -> None:
    check = {
        "query": {"type": "network", "expected": {"url": f"{SHOP}find", "query_params": {"who": [value]}}},
        "url": {"type": "url_match", "url": f"{SHOP}find?who={value}"},
    }.get(
        way,
        {
            "type": "network",
            "expected": {"url": f"{SHOP}find", "http_method": "POST", "post_data": {"who": value}},
        },
    )
    run = trajectory(
        {"id": "t", "intent": "x", "checks": [check | ({"is_navigation": False} if way == "query" else {})]}
    )
    page = f"<meta charset={charset}><p>x</p>"
    run.goto(SHOP, page)
    parts = b'--b\r\ncontent-disposition: form-data; name="who"\r\n\r\nM\xfcller\r\n--b--'
    body, kind = {
        "form": (b"who=M%FCller", "application/x-www-form-urlencoded"),
        "multipart": (parts, "multipart/form-data; boundary=b"),
    }.get(way, (b"", ""))
    post = run.keep(kind.partition(";")[0], body) if body else None
    method, url = ("POST", f"{SHOP}find") if body else ("GET", f"{SHOP}find?who=M%FCller")
    run.request(method, url, post=post, request_headers=(("content-type", kind),) if kind else ())
    if way == "url":
        run.goto(url, page).final(page)
    (found,) = grade(run.answer("done").write(tmp_path / "run.zst")).checks
    assert found.outcome == outcome
    assert found.missing == (("value.charset",) if outcome == "UNDECIDED" else ())
