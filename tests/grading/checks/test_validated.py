"""Files in which `tasks validate` finds no fault, and which grading accepts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.grading.checks.check_grading import grade_checks
from replaykit.grading.checks.grading_faults import task_faults
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.replay.player import Replay
from replaykit.tasks.faults.policy_faults import faults
from replaykit.tasks.task import Task, decode_task, fill_task
from replaykit.testing.builder import Builder, trajectory

from .conftest import replay_of
from .validated import BASE, TASKS

SITES = {"shop": ("http://h.test",)}


def recorded() -> Replay:
    """A run with something for every kind of check to look at."""
    run: Builder = trajectory("t", sites=SITES).goto(
        "http://h.test/a", "<h1 id=b>Paid 42</h1><a href=/x>x</a>"
    )
    body = run.keep("application/json", '{"a": [{"b": 1}], "b": "Paid"}')
    for method, path in (("POST", "a"), ("GET", "a"), ("GET", "api"), ("POST", "api")):
        run.request(method, f"http://h.test/{path}", post=body if method == "POST" else None, body=body)
    run.click("#b", text="Paid").press("#b", "Enter")
    return replay_of(
        run.final().answer('{"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [42]}')
    )


RUN = recorded()


def errors_of(task: Task) -> list[str]:
    """Return what grading refuses."""
    filled = fill_task(task, SITES)
    checks = grade_checks(filled, RUN, "strict", sites=SITES)
    found = [(one.type, one.reason) for one in checks if one.outcome == "ERROR"]
    found += [(one.id, one.reason) for one in grade_policies(filled, RUN) if one.outcome == "ERROR"]
    return [f"{name}: {reason}" for name, reason in found]


@pytest.mark.parametrize("kind", TASKS)
def test_what_validates_is_graded(kind: str) -> None:
    @given(TASKS[kind])
    def graded(record: dict[str, Any]) -> None:
        try:
            task = decode_task(record)
        except TaskError:
            return
        refused = list(faults(task.policies))  # by `load_suite`
        if not refused and not [fault for fault in task_faults([task], tuple(SITES)) if fault.is_error]:
            assert errors_of(task) == []

    graded()


@pytest.mark.parametrize(
    ("check", "place", "words"),
    [
        ({"type": "string_match"}, "", "nothing is demanded: use exact"),
        ({"type": "string_match", "must_include": "a |OR| "}, ".must_include[0]", "empty reference"),
        ({"type": "url_match", "url": []}, ".url", "no URL"),
        ({"type": "url_match", "url": "/a"}, ".url[0]", "begin with http:// or https://"),
        ({"type": "url_match", "url": "http://["}, ".url[0]", "no URL that a browser"),
        ({"type": "url_match", "url": "http://h.test/{a,b}"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "http://h.test/[0-9]+"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "http://h.test/\\d+"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "http://h.test/(a|b)"}, ".url[0]", "path: regex"),
        ({"type": "url_match", "url": "^http://h.test/a", "path": "regex"}, ".url[0]", "begin with a root"),
        ({"type": "url_match", "url": "http://h.test/*", "path": "regex"}, ".url[0]", "nothing to repeat"),
        ({"type": "url_match", "url": "http://h.test/a\\?b=1", "path": "regex"}, ".url[0]", "give the query"),
        ({"type": "page", "selector": "//h1", "expect": {"equals": "x"}}, ".selector", "`locator`"),
        ({"type": "page", "selector": "h1:has-text('x')", "expect": {"equals": "x"}}, ".selector", "has-text"),
        ({"type": "page", "locator": "document.querySelector('p:has-text(1)').innerText", "expect": {"equals": "x"}},
         ".locator", "has-text"),
        ({"type": "page", "expect": {"all_of": [""]}}, ".expect.all_of[0]", "empty reference"),
        ({"type": "network", "expected": {"url": "/a"}}, ".expected.url[0]", "no URL"),
        ({"type": "network", "expected": {"url": "^[$"}}, ".expected.url[0]", "regular expression"),
        ({"type": "network", "expected": {"url": "http://h.test/a", "post_data": {"$[": 1}}}, ".expected.post_data.$[", "cannot be read"),
        ({"type": "network", "expected": {"url": "http://h.test/a", "post_data": {"a": ["^(a*)*$"]}}}, ".expected.post_data.a[0]", "repeat"),
        ({"type": "network", "expected": {"url": "http://h.test/a"}, "ignored_query_params_patterns": ["["]},
         ".ignored_query_params_patterns[0]", "regular expression"),
        ({"type": "agent_response", "expected": {"task_type": "retrieve", "retrieved_data": ["^[$"]}},
         ".expected.retrieved_data[0]", "regular expression"),
        ({"type": "agent_response", "expected": {"task_type": "retrieve", "retrieved_data": ["^.*$"]}},
         ".expected.retrieved_data", "any answer would be"),
        ({"type": "agent_response", "expected": {"task_type": "retrieve"}, "results_schema": {"type": "array", "items": {"type": "nmber"}}},
         ".results_schema.items.type", "did you mean number?"),
        ({"type": "network", "expected": {"url": "http://h.test/a", "query_params": {"a": True}}}, ".expected.query_params.a", "quote it"),
        ({"type": "page", "expect": {"regex": "a|"}}, ".expect.regex", "found in every text"),
        # Requests that no browser sends are absent from every run.
        *(
            ({"type": "network", "should_not_exist": True, "expected": {"url": "http://h.test/a", **expected}}, place, words)
            for expected, place, words in [
                ({"http_method": "PSOT"}, ".expected.http_method", "did you mean POST?"),
                ({"http_method": "SUBMIT"}, ".expected.http_method", "no request has the method 'SUBMIT'"),
                ({"http_method": ""}, ".expected.http_method", "no request has the method"),
                ({"response_status": 9999}, ".expected.response_status", "from 100 to 999"),
                ({"response_status": 0}, ".expected.response_status", "from 100 to 999"),
                ({"response_status": -2}, ".expected.response_status", "from 100 to 999"),
                ({"headers": {"X Requested With": "x"}}, ".expected.headers.X Requested With", "no request has a header"),
                ({"headers": {"x-a": None}}, ".expected.headers.x-a", "null is the value of no header"),
                ({"http_method": "get", "post_data": {"a": 1}}, ".expected.post_data", "a GET request has no body"),
                ({"url": "http://h.test/a#b"}, ".expected.url[0]", "no request has a fragment"),
                ({"response_status": -1, "response_content": {"a": 1}}, ".expected.response_content", "no response"),
                ({"url": "^refund$"}, ".expected.url[0]", "no request goes to a URL that begins with 'refund'"),
                ({"url": "^/refund$"}, ".expected.url[0]", "an expression sees the whole URL"),
                ({"url": "^POST http://h.test/a$"}, ".expected.url[0]", "an expression sees the whole URL"),
                ({"url": "^htp://h.test/a$"}, ".expected.url[0]", "did you mean http://?"),
                ({"url": "^.*/a\\?b=1$"}, ".expected.url[0]", "query_params"),
                ({"url": "^.*/a#b$"}, ".expected.url[0]", "has no `#`"),
                ({"url": "^a^.*$"}, ".expected.url[0]", "found in no text"),
                ({"url": "htp://h.test/a"}, ".expected.url[0]", "did you mean http://?"),
                ({"url": "http://h.test/{id}/a"}, ".expected.url[0]", "`{id}` is a pattern"),
                ({"url": "http://h.test/logo.png"}, ".expected.url[0]", "static files"),
                ({"url": "http://h.test:99999/a"}, ".expected.url[0]", "no URL that a browser"),
                ({"query_params": {"a": "^b$^c$"}}, ".expected.query_params.a", "found in no text"),
            ]
        ),
        *(
            ({"type": "state.http", "exchange": {"method": "POST", "path": "/api", **exchange}, "where": [where]}, place, words)
            for exchange, where, place, words in [
                ({"method": "PSOT", "which": "count"}, {"value": 0}, ".exchange.method", "did you mean POST?"),
                ({"path": "api", "which": "count"}, {"value": 0}, ".exchange.path", "begin with `/`"),
                ({"path": "/api#x", "which": "count"}, {"value": 0}, ".exchange.path", "no `#`"),
                ({"which": "count"}, {"op": "ge", "value": 0}, ".where[0].value", "every number of exchanges is ge 0"),
                ({"which": "count"}, {"op": "not_equals", "value": "0"}, ".where[0].value", "without quotes"),
                ({"which": "count"}, {"op": "lt", "value": 0}, ".where[0].value", "no number of exchanges is lt 0"),
                ({"which": "count"}, {"op": "lt", "value": float("inf")}, ".where[0].value", "every number of exchanges is lt inf"),
                ({"which": "count"}, {"op": "exists"}, ".where[0].op", "is a number: use equals"),
                ({"which": "count"}, {"at": "$.a", "value": 1}, ".where[0].at", "leave `at` out"),
                ({"side": "status"}, {"op": "not_equals", "value": 500}, ".where[0].value", "give `ok: false`"),
                ({"side": "status", "ok": False}, {"op": "not_equals", "value": 9999}, ".where[0].value", "every status is"),
                ({"side": "status"}, {"at": "$.a", "op": "absent"}, ".where[0].at", "leave `at` out"),
                ({}, {"at": "$.a", "op": "absent", "value": "refunded"}, ".where[0].value", "`absent` takes no value"),
                ({}, {"at": "$.a", "op": "in", "value": "paid"}, ".where[0].value", "takes a list"),
                ({}, {"at": "$.a", "op": "length", "value": "2"}, ".where[0].value", "a whole number"),
                ({}, {"at": "$.a", "op": "not_equals", "type": "date", "value": "soon"}, ".where[0].value", "is no date"),
                ({}, {"at": "$.a", "op": "matches", "value": "a^"}, ".where[0].value", "found in no text"),
            ]
        ),
        ({"type": "string_match", "must_exclude": "^.*error.*$"}, ".must_exclude[0]", "an expression"),
        ({"type": "string_match", "must_exclude": ["a", "/err/i"]}, ".must_exclude[1]", "an expression"),
        ({"type": "string_match", "must_exclude": "a |OR| ^b$"}, ".must_exclude[0]", "an expression"),
        ({"type": "string_match", "must_exclude": "a |or| b"}, ".must_exclude[0]", "write ` |OR| `"),
        ({"type": "page", "expect": {"excludes": "Total: .*"}}, ".expect.excludes[0]", "an expression"),
        ({"type": "page", "expect": {"excludes": ["a", "\u200b"]}}, ".expect.excludes[1]", "an empty reference"),
        ({"type": "page", "expect": {"excludes": "a || b"}}, ".expect.excludes[0]", "write ` |OR| `"),
    ],
)  # fmt: skip
def test_a_fault_is_found_before_and_is_an_error_after(check: dict[str, Any], place: str, words: str) -> None:
    task = decode_task({**BASE, "checks": [check]})
    found = [fault for fault in task_faults([task], tuple(SITES)) if fault.is_error]
    assert [fault.path for fault in found] == [f"$.checks[0]{place}"]
    assert words in found[0].message
    assert errors_of(task) != []


@pytest.mark.parametrize(
    ("changed", "place", "words"),
    [
        ({"checks": [{"type": "page", "expect": {"contains": "a |or| b"}}]}, "$.checks[0].expect.contains[0]", "write ` |OR| `"),
        ({"checks": [{"type": "url_match", "url": "__SHOP__/a", "ignore": ["page", "?page"]}]}, "$.checks[0].ignore[1]", "name only"),
        ({"checks": [{"type": "network", "expected": {"url": "__SHOP__/a"}, "ignored_query_params": ["a=1"]}]}, "$.checks[0].ignored_query_params[0]", "name only"),
        ({"checks": [{"type": "string_match", "must_include": "a|OR|b"}]}, "$.checks[0].must_include[0]", "write ` |OR| `"),
        ({"checks": [{"type": "string_match", "must_exclude": "refunded|paid"}]}, "$.checks[0].must_exclude[0]", "write ` |OR| `"),
        ({"checks": [{"type": "string_match", "must_exclude": "order \\d+"}]}, "$.checks[0].must_exclude[0]", "is an expression"),
        ({"start_urls": ["h.test/a"]}, "$.start_urls[0]", "begin with http://"),
        ({"allow": [{"url": "__SHOP__/a", "method": "PSOT"}]}, "$.allow[0].method", "did you mean POST?"),
        ({"allow": [{"url": "/a"}]}, "$.allow[0].url", "begin with http://"),
    ],
)  # fmt: skip
def test_what_says_nothing_in_a_task_is_found_before(changed: dict[str, Any], place: str, words: str) -> None:
    made = decode_task({**BASE, "checks": [{"type": "string_match", "exact": "x"}], **changed})
    found = [fault for fault in task_faults([made], tuple(SITES)) if fault.is_error]
    assert [fault.path for fault in found] == [place]
    assert words in found[0].message


def test_a_task_without_anything_to_grade_is_noted() -> None:
    (found,) = task_faults([decode_task({**BASE, "checks": []})], tuple(SITES))
    assert (found.path, found.is_error) == ("$.checks", False)


@pytest.mark.parametrize(
    "changed",
    [
        {
            "checks": [
                {
                    "type": "string_match",
                    "must_exclude": ["5 $", "...", "C:\\docs", "a * b", "^ up", "a | b", "*.*"],
                }
            ]
        },
        {"checks": [{"type": "string_match", "must_include": ["tea |OR| coffee", "this or that", "a | b"]}]},
        {"start_urls": ["about:blank", "__SHOP__", "https://h.test:8443/a#/b"]},
        {"allow": [{"url": "__SHOP__/orders/*/refund", "method": "post"}, {"url": "**/api"}]},
    ],
)
def test_what_is_sound_in_a_task_has_no_faults(changed: dict[str, Any]) -> None:
    made = decode_task({**BASE, "checks": [{"type": "string_match", "exact": "x"}], **changed})
    assert task_faults([made], tuple(SITES)) == []


@pytest.mark.parametrize(
    "expected",
    [
        {"url": "^.*/refund$", "http_method": "post", "post_data": {"a": None}},
        {"url": "^https?://h\\.test/(a|b)/refund/?$", "response_status": 999},
        {"url": ["__SHOP__/refund", "ws://h.test/live"], "response_status": -1},
        {"url": "^__SHOP__/.*$", "http_method": "PROPFIND", "headers": {"x-requested-with": "^.*$"}},
        {"url": "^.*$", "http_method": "DELETE"},
        {"url": "http://h.test/a?b=1", "post_data": {"a": None}, "query_params": {"b": None}},
        {"url": "blob:http://h.test/1", "response_status": 101},
    ],
)
def test_a_request_that_there_may_be_can_be_forbidden(expected: dict[str, Any]) -> None:
    check = {"type": "network", "should_not_exist": True, "expected": expected}
    task = decode_task({**BASE, "checks": [check]})
    assert task_faults([task], tuple(SITES)) == []
    assert errors_of(task) == []


@pytest.mark.parametrize(
    ("exchange", "where"),
    [
        ({"which": "count"}, {"value": 0}),
        ({"which": "count"}, {"op": "le", "value": 1}),
        ({"which": "count"}, {"value": 5000}),
        ({"which": "count"}, {"op": "in", "value": [0, 7000]}),
        ({"which": "count"}, {"op": "in", "value": [1, 2]}),
        ({"which": "count"}, {"op": "equals", "value": 5000}),
        ({"side": "status"}, {"op": "exists"}),
        ({"side": "status"}, {"op": "not_equals", "value": 204}),
        ({"side": "status", "ok": False}, {"op": "lt", "value": 400}),
        ({"path": "http://h.test/api?a=1"}, {"at": "$.a", "op": "absent"}),
        ({"path": "__SHOP__/api"}, {"at": "$.a", "op": "not_equals", "value": None}),
        ({"method": "delete"}, {"at": "$.a", "op": "length", "value": 0}),
    ],
)
def test_a_state_that_there_may_be_can_be_demanded(exchange: dict[str, Any], where: dict[str, Any]) -> None:
    chosen = {"method": "POST", "path": "/api", **exchange}
    task = decode_task({**BASE, "checks": [{"type": "state.http", "exchange": chosen, "where": [where]}]})
    assert task_faults([task], tuple(SITES)) == []
    assert errors_of(task) == []


@given(
    st.sampled_from(["http", "https"]), st.from_regex(r"/([a-z]{1,5}/){0,2}(\?[a-z]=[0-9])?", fullmatch=True)
)
def test_a_plain_url_has_no_fault(scheme: str, rest: str) -> None:
    task = decode_task({**BASE, "checks": [{"type": "url_match", "url": f"{scheme}://h.test{rest}"}]})
    assert task_faults([task]) == []
