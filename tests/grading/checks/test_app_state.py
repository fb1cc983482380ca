"""State that an app sent or answered, and rewards that a page's script gave."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.grading.checks.requests.json_predicates import holds, same
from replaykit.grading.verdict import CheckResult
from replaykit.tasks.checks import plan
from replaykit.tasks.state_checks import ExchangeChoice, StateHttp
from replaykit.tasks.task import decode_task
from replaykit.testing.builder import Builder
from replaykit.trajectory.exchange import Script
from replaykit.trajectory.observation import Read
from replaykit.trajectory.scalars import Omitted

S = "http://s.test"
TODO = {"todos": [{"id": 7, "done": True}, {"id": 8, "done": False}], "theme": "dark", "n": 3}

Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


def check(*where: dict[str, Any], **exchange: Any) -> dict[str, Any]:
    chosen = {"method": "PUT", "path": "/api/state", **exchange}
    return {"type": "state.http", "exchange": chosen, "where": list(where)}


def put(run: Builder, state: Any, status: int = 200, **more: Any) -> Builder:
    body = run.keep("application/json", state if isinstance(state, str) else json.dumps(state))
    return run.request("PUT", f"{S}/api/state", status, post=body, **more)


@pytest.mark.parametrize(
    ("predicate", "outcome"),
    [
        ({"at": "$.todos[?(@.id == 7)].done", "value": True}, "PASS"),
        ({"at": "/todos/1/done", "value": True}, "FAIL"),
        ({"at": "$.todos[*].done", "value": True}, "FAIL"),
        ({"at": "$.todos[*].done", "value": True, "any": True}, "PASS"),
        ({"at": "$.none", "value": True}, "FAIL"),
        ({"at": "/theme", "op": "in", "value": ["dark", "dim"]}, "PASS"),
        ({"at": "/theme", "op": "not_equals", "value": "dark"}, "FAIL"),
        ({"at": "/theme", "op": "contains", "value": "ar"}, "PASS"),
        ({"at": "/theme", "op": "matches", "value": "^d.+k$"}, "PASS"),
        ({"at": "/todos", "op": "length", "value": 2}, "PASS"),
        ({"at": "/todos", "op": "contains", "value": {"id": 8, "done": False}}, "PASS"),
        ({"op": "subset", "value": {"todos": [{"id": 8}], "n": 3}}, "PASS"),
        ({"op": "subset", "value": {"todos": [{"id": 9}]}}, "FAIL"),
        ({"at": "/n", "op": "ge", "value": 3}, "PASS"),
        ({"at": "/n", "op": "lt", "value": 3}, "FAIL"),
        ({"at": "/n", "op": "gt", "value": "2"}, "FAIL"),
        ({"at": "/n", "value": "three", "type": "number"}, "PASS"),
        ({"at": "/theme", "op": "exists"}, "PASS"),
        ({"at": "/none", "op": "absent"}, "PASS"),
        ({"at": "/theme", "op": "changed"}, "PASS"),
        ({"at": "/n", "op": "changed"}, "FAIL"),
        ({"at": "$[", "value": 1}, "ERROR"),
        ({"at": "/theme", "op": "matches", "value": "^(a+)+$"}, "ERROR"),
    ],
)
def test_predicates(grade: Grade, run: Run, predicate: dict[str, Any], outcome: str) -> None:
    ended = put(put(run(), {"n": 3, "theme": "light"}), TODO).answer("ok")
    result = grade(ended, check(predicate))
    assert (result.outcome, [item.id for item in result.items]) == (outcome, ["where.0"])


def test_the_last_success_counts(grade: Grade, run: Run) -> None:
    ended = put(put(run(), {"done": False}), {"done": True}, 409).answer("ok")
    done = {"at": "/done", "value": True}
    assert grade(ended, check(done)).outcome == "FAIL"
    assert grade(ended, check(done, ok=False)).outcome == "PASS"
    assert grade(ended, check(done, which="any")).outcome == "FAIL"
    assert grade(ended, check({"at": "/done", "value": False}, which="first")).outcome == "PASS"
    assert grade(ended, check({"value": 1}, which="count")).outcome == "PASS"
    assert grade(ended, check({"value": 409}, side="status", ok=False)).outcome == "PASS"


def test_answers_and_headers(grade: Grade, run: Run) -> None:
    build = run()
    body = build.keep("application/json", '{"saved": 1}')
    headers = (("X-Saved", "yes"),)
    ended = put(build, TODO, body=body, mime="application/json", response_headers=headers).answer("ok")
    assert grade(ended, check({"at": "/saved", "value": 1}, side="response")).outcome == "PASS"
    assert grade(ended, check({"at": "/x-saved", "value": "yes"}, side="headers")).outcome == "PASS"


def test_without_such_an_exchange(grade: Grade, run: Run) -> None:
    missing = run().request("PUT", f"{S}/api/other").answer("ok")
    assert grade(missing, check()).reason == "no_exchange"
    partial = run(channels={"network": "partial"}).answer("ok")
    assert grade(partial, check()).missing == ("network",)
    gone = run().request("PUT", f"{S}/api/state", post="0" * 64).answer("ok")
    assert grade(gone, check({"at": "/x"})).missing == ("body:0",)
    broken = put(run(), "no json").answer("ok")
    assert grade(broken, check({"at": "/x"})).reason == "not_json"
    assert grade(put(run(), TODO).answer("ok"), check()).outcome == "PASS"
    alone = put(run(), TODO).answer("ok")
    assert grade(alone, check({"at": "/n", "op": "changed"})).missing == ("state.before",)


def test_a_state_that_was_asked_for(grade: Grade, run: Run) -> None:
    wanted = check({"at": "/n", "value": 3}, method="GET", path="/finish", phase="post")
    ended = run().answer("ok").api("state:/finish", '{"n": 3}', url=f"{S}/finish")
    assert grade(ended, wanted).outcome == "PASS"
    assert grade(run().answer("ok"), wanted).missing == ("api:state:/finish",)


def test_the_recorder_receives_the_requests_of_checks() -> None:
    choice = ExchangeChoice(method="GET", path="/finish", phase="post")
    asked = plan([StateHttp(exchange=choice)], {"shop": (S,)}).http
    assert [(one.phase, one.method, one.url) for one in asked] == [("post", "GET", f"{S}/finish")]
    evil = ExchangeChoice(method="GET", path="http://evil.test/x", phase="post")
    assert plan([StateHttp(exchange=evil)], {"shop": (S,)}).http == ()


def test_both_modes_are_ours(grade: Grade, run: Run) -> None:
    ended = put(run(), TODO).answer("ok")
    result = grade(ended, check({"at": "/n", "value": 3}), "compat")
    assert (result.dialect, result.mode, result.notes) == ("native", "strict", ("no_peer",))


def rewarded(run: Builder, raw: Any, done: Any = True) -> Builder:
    for name, value in (("WOB_RAW_REWARD_GLOBAL", raw), ("WOB_DONE_GLOBAL", done)):
        kind = "bool" if isinstance(value, bool) else "number"
        run.add(Script(name=name, read=Read(locator=name, kind=kind, value=value)))
    return run


REWARD = {"type": "state.script", "value": "WOB_RAW_REWARD_GLOBAL", "expected": 1}


@pytest.mark.parametrize(
    ("raw", "done", "compat", "strict"),
    [
        (1, True, "PASS", "PASS"),
        (0.5, True, "PASS", "FAIL"),
        (-1, True, "FAIL", "FAIL"),
        (1, False, "PASS", "FAIL"),
    ],
)
def test_miniwob(grade: Grade, run: Run, raw: float, done: bool, compat: str, strict: str) -> None:
    ended = rewarded(rewarded(run().goto(f"{S}/p", ""), -1), raw, done).answer("ok")
    assert grade(ended, REWARD, "compat", dialect="miniwob").outcome == compat
    found = grade(ended, REWARD, dialect="miniwob")
    assert (found.outcome, found.dialect) == (strict, "miniwob")
    assert (found.reason == "not_submitted") is (not done)


@pytest.mark.parametrize(
    ("url", "compat"),
    [
        (f"{S}/p", "PASS"),
        ("http://S.test:80/p", "PASS"),
        (f"{S}/p#", "FAIL"),
        (f"{S}/p#x", "FAIL"),
        (f"{S}/q", "FAIL"),
    ],
)
def test_miniwob_wants_the_page_of_the_task(grade: Grade, run: Run, url: str, compat: str) -> None:
    ended = rewarded(run().goto(url, ""), 1).answer("ok")
    assert grade(ended, REWARD, "compat", dialect="miniwob", start_urls=[f"{S}/p"]).outcome == compat
    assert grade(ended, REWARD, dialect="miniwob", start_urls=[f"{S}/p"]).outcome == "PASS"


def test_globals(grade: Grade, run: Run) -> None:
    ended = rewarded(run(), 0.5).answer("ok")
    assert grade(ended, {**REWARD, "op": "gt", "expected": 0}).outcome == "PASS"
    assert grade(ended, REWARD).outcome == "FAIL"
    assert grade(ended, {**REWARD, "value": "SCORE"}).missing == ("script:SCORE",)
    assert grade(run().answer("x"), REWARD, dialect="miniwob").missing == ("script:WOB_RAW_REWARD_GLOBAL",)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
)
OPERATORS = ["equals", "not_equals", "in", "contains", "subset", "length", "lt", "le", "gt", "ge"]


@given(JSON, JSON, st.sampled_from(OPERATORS))
def test_any_values_are_compared(node: Any, value: Any, op: str) -> None:
    assert isinstance(holds(op, node, value), bool)
    assert same(node, node)
    assert holds("subset", node, node)


@pytest.mark.parametrize(
    ("choice", "part"),
    [
        ({"method": "GET"}, "response"),
        ({"method": "delete"}, "response"),
        ({"method": "PUT"}, "request"),
        ({"method": "POST", "side": "response"}, "response"),
        ({"method": "GET", "phase": "post"}, "response"),
        ({"method": "GET", "phase": "pre", "side": "status"}, "status"),
    ],
)
def test_the_side_that_is_meant(choice: dict[str, Any], part: str) -> None:
    assert msgspec.convert({"path": "/api", **choice}, ExchangeChoice).part == part


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"exchange": {"method": "PUT", "path": "/api/*"}}, "wildcards"),
        ({"exchange": {"method": "GET", "path": "/a", "phase": "post", "side": "request"}}, "use response"),
        ({"exchange": {"method": "PUT", "path": "/a", "phase": "pre"}}, "only looks"),
        ({"exchange": {"method": "PUT", "path": "/a", "which": "count"}}, "needs `where`"),
    ],
)
def test_what_cannot_be_meant_is_refused(check: dict[str, Any], words: str) -> None:
    with pytest.raises(TaskError, match=words):
        decode_task({"id": "t", "intent": "Try it.", "checks": [{"type": "state.http", **check}]})


def test_the_reply_to_a_get_is_its_state(grade: Grade, run: Run) -> None:
    builder = run()
    body = builder.keep("application/json", '{"total": 12}')
    ended = builder.request("GET", f"{S}/api/cart", body=body, mime="application/json").answer("ok")
    where = [{"at": "$.total", "op": "equals", "value": 12}]
    check = {"type": "state.http", "exchange": {"method": "GET", "path": "/api/cart"}, "where": where}
    assert grade(ended, check).outcome == "PASS"


def test_a_body_that_was_not_kept_matters_only_where_it_is_asked_for(grade: Grade, run: Run) -> None:
    builder = run().request("PUT", f"{S}/api/state", post=Omitted(why="cap"))
    sent = builder.request("PUT", f"{S}/api/state", post=builder.keep("application/json", '{"a": 1}'))
    ended = sent.answer("ok")
    where = [{"at": "$.a", "op": "equals", "value": 1}]
    for which, outcome in (("last", "PASS"), ("first", "UNDECIDED"), ("any", "UNDECIDED")):
        chosen = {"method": "PUT", "path": "/api/state", "which": which}
        assert grade(ended, {"type": "state.http", "exchange": chosen, "where": where}).outcome == outcome
    counted = {"method": "PUT", "path": "/api/state", "which": "count"}
    two = [{"op": "equals", "value": 2}]
    assert grade(ended, {"type": "state.http", "exchange": counted, "where": two}).outcome == "PASS"


@pytest.mark.parametrize(
    ("status", "more", "outcome"),
    [(303, {}, "UNDECIDED"), (303, {"ok": False}, "FAIL"), (500, {}, "PASS"), (200, {}, "FAIL")],
)
@pytest.mark.parametrize("path", ["/api/state", "/api/state/"])
def test_a_form_that_led_elsewhere_may_have_been_sent(
    grade: Grade, run: Run, status: int, more: dict[str, Any], outcome: str, path: str
) -> None:
    none = {"op": "equals", "value": 0}
    found = grade(put(run(), {}, status).answer("ok"), check(none, which="count", path=path, **more))
    assert found.outcome == outcome


def sent(builder: Builder, *sends: tuple[int, dict[str, Any]]) -> Builder:
    """Send states one after the other: what is in them, and what is known of the exchange."""
    for value, facts in sends:
        builder = put(builder, {"a": value}, **{"status": 200, **facts})
    return builder.answer("ok")


ABORTED = {"status": None, "error": "net::ERR_ABORTED"}
UNANSWERED: dict[str, Any] = {"status": None}
LATE = 10**9


@pytest.mark.parametrize(
    ("sends", "choice", "outcome", "missing"),
    [
        ([(2, {}), (2, {})], {}, "PASS", ()),
        ([(2, {}), (2, ABORTED)], {}, "PASS", ()),
        ([(2, {}), (2, UNANSWERED)], {}, "PASS", ()),
        ([(2, {"ended": LATE}), (2, {})], {}, "PASS", ()),
        ([(3, {}), (3, ABORTED)], {}, "FAIL", ()),
        ([(2, {}), (3, ABORTED)], {}, "UNDECIDED", ("unanswered:1",)),
        ([(2, {}), (3, UNANSWERED)], {}, "UNDECIDED", ("unanswered:1",)),
        ([(3, {}), (2, UNANSWERED)], {}, "UNDECIDED", ("unanswered:1",)),
        ([(2, ABORTED)], {}, "UNDECIDED", ("unanswered:0",)),
        ([(3, ABORTED)], {}, "FAIL", ()),
        ([(3, UNANSWERED), (2, {})], {}, "UNDECIDED", ("unanswered:0",)),
        ([(3, {**ABORTED, "ended": 0}), (2, {})], {}, "PASS", ()),
        ([(3, {**ABORTED, "ended": LATE}), (2, {})], {}, "UNDECIDED", ("unanswered:0",)),
        ([(3, {"ended": LATE}), (2, {})], {}, "UNDECIDED", ("unordered:0",)),
        ([(3, {"received": 0, "ended": LATE}), (2, {})], {}, "PASS", ()),
        ([(2, {}), (3, {"status": None, "error": "net::ERR_CONNECTION_REFUSED"})], {}, "PASS", ()),
        ([(2, {}), (3, {"status": 500})], {}, "PASS", ()),
        ([(3, {}), (2, UNANSWERED)], {"ok": False}, "PASS", ()),
        ([(3, UNANSWERED), (2, {})], {"which": "first"}, "UNDECIDED", ("unanswered:0",)),
        ([(2, {}), (3, UNANSWERED)], {"which": "first"}, "PASS", ()),
        ([(2, {}), (3, UNANSWERED)], {"which": "any"}, "PASS", ()),
        ([(3, {}), (2, UNANSWERED)], {"which": "any"}, "UNDECIDED", ("unanswered:1",)),
        ([(3, {}), (4, UNANSWERED)], {"which": "any"}, "FAIL", ()),
        ([(2, {}), (3, {"status": 302})], {}, "UNDECIDED", ("redirected:1",)),
        ([(3, {}), (2, {"status": 303})], {"which": "any"}, "UNDECIDED", ("redirected:1",)),
        ([(2, {}), (2, {"status": 303})], {}, "PASS", ()),
        ([(2, {}), (3, {"status": 304})], {}, "PASS", ()),
        ([(3, {}), (2, {"status": 302})], {"ok": False}, "PASS", ()),
    ],
)
def test_what_ended_unseen_counts_only_where_it_makes_no_difference(
    grade: Grade,
    run: Run,
    sends: list[tuple[int, dict[str, Any]]],
    choice: dict[str, Any],
    outcome: str,
    missing: tuple[str, ...],
) -> None:
    found = grade(sent(run(), *sends), check({"at": "/a", "value": 2}, **choice))
    assert (found.outcome, found.missing) == (outcome, missing)


@pytest.mark.parametrize(("value", "outcome"), [(1, "UNDECIDED"), (2, "UNDECIDED"), (3, "FAIL")])
def test_what_ended_unseen_is_counted_or_not(grade: Grade, run: Run, value: int, outcome: str) -> None:
    ended = sent(run(), (2, {}), (2, UNANSWERED))
    assert grade(ended, check({"value": value}, which="count")).outcome == outcome
    assert grade(ended, check({"op": "ge", "value": 1}, which="count")).outcome == "PASS"


def test_an_unrecorded_reply_is_unknown(grade: Grade, run: Run) -> None:
    found = grade(sent(run(), (2, UNANSWERED)), check({"at": "/id", "value": 1}, side="response"))
    assert found.missing == ("unanswered:0",)
