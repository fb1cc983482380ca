"""Structured answers and requests: one row per known defect of the peer, in both modes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from replaykit.grading.peers.webarena_verified import structures
from replaykit.grading.verdict import CheckResult
from replaykit.tasks.benchmarks.webarena_verified import read_verified
from replaykit.tasks.network_checks import NetworkMatch
from replaykit.testing.builder import Builder
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Source

S = "http://s.test"
PAGE = (("Accept", "text/html,*/*"),)

Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


def both(grade: Grade, run: Builder, check: dict[str, Any]) -> tuple[str, str]:
    return grade(run, check, "compat").outcome.value, grade(run, check, "strict").outcome.value


def response(data: Any, schema: Any = None, **expected: Any) -> dict[str, Any]:
    wanted = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": data, **expected}
    items = schema or {"type": "string"}
    return {"type": "agent_response", "expected": wanted, "results_schema": {"type": "array", "items": items}}


def answer(data: Any, **said: Any) -> str:
    return json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": data, **said})


@pytest.mark.parametrize(
    ("check", "said", "compat", "strict"),
    [
        (response(["red"]), answer(["Red"]), "PASS", "PASS"),
        (response(["red"]), answer("red"), "PASS", "PASS"),
        (response(["red"]), answer(["blue"]), "FAIL", "FAIL"),
        (response(["red"]), f"Done.\n```json\n{answer(['red'])}\n```", "PASS", "PASS"),
        (response(["red"]), "red", "FAIL", "FAIL"),
        (response(["red"]), "", "FAIL", "FAIL"),
        (response(["red"]), answer(["red"], status="NOT_FOUND_ERROR"), "FAIL", "FAIL"),
        (response(["red"]), answer(["red"]).replace("task_type", "performed_operation"), "PASS", "PASS"),
        (response(["red"]), answer([["red", "blue"]]), "PASS", "FAIL"),
        (response(["red"]), answer(["^.*$"]), "PASS", "FAIL"),
        (response(["red"]), answer(["red"], status="^.*$"), "PASS", "FAIL"),
        (response([["red"]]), answer(["red"]), "ERROR", "PASS"),
        (response(None), answer(None), "PASS", "PASS"),
        (response(None), answer(["x"]), "FAIL", "FAIL"),
        (response(["red"]), answer(None), "FAIL", "FAIL"),
        (response(["red"]), answer(["red"], status=5), "ERROR", "FAIL"),
        (response(["red"]), answer(["red"], status="Success.\u200b"), "PASS", "PASS"),
        (response(["red"]), answer(["red"], task_type=None), "ERROR", "FAIL"),
        (response(["red"]), "[" * 100_000, "ERROR", "FAIL"),
        (response(["red"]), "{" + "[" * 100_000, "FAIL", "FAIL"),
        (response(["red"]), answer(["DEEP"]).replace('"DEEP"', "[" * 890 + "]" * 890), "FAIL", "FAIL"),
        (response(["red"]), answer(["DEEP"]).replace('"DEEP"', "[" * 910 + "]" * 910), "ERROR", "FAIL"),
        (response(["red"]), answer(["[" * 910]), "FAIL", "FAIL"),
        (response(["red"]), answer(["LONG"]).replace('"LONG"', "1" * 4301), "ERROR", "FAIL"),
        (response([{"a": 1}], {"type": "object"}), answer(["1" * 4301]), "ERROR", "FAIL"),
        (response(["0"]), answer([0]), "FAIL", "PASS"),
        (response([""]), answer([0]), "PASS", "FAIL"),
        (response(["a", "a"]), answer(["a"]), "FAIL", "FAIL"),
        (response([["a", "b"], "a"]), answer(["a", "b"]), "FAIL", "PASS"),
        (response([{"n": "a"}], {"type": "object"}), answer([{"n": "A", "more": 1}]), "FAIL", "PASS"),
        (response([{"n": "a"}], {"type": "object"}), answer([{"m": "a"}]), "FAIL", "FAIL"),
        (response([1234], {"format": "currency"}), answer(["$1,234"]), "FAIL", "PASS"),
        (response(["15min"], {"format": "duration"}), answer(["18 min"]), "PASS", "PASS"),
        (response(["15min"], {"format": "duration"}), answer(["19 min"]), "FAIL", "FAIL"),
        (response(["1min"], {"format": "duration"}), answer(["0:02"]), "PASS", "FAIL"),
        (response(["March 5, 2023"], {"format": "date"}), answer(["03/05/2023"]), "PASS", "PASS"),
        (response(["March 5, 2023"], {"format": "date"}), answer(["March 5"]), "FAIL", "FAIL"),
        (response(["March 5, 2026"], {"format": "date"}), answer(["March 5"]), "PASS", "FAIL"),
        (response([[40.5, -80.1]], {"format": "coordinates"}), answer(["40.5 N, 80.1 W"]), "FAIL", "PASS"),
        (response([-5], {"type": "number"}), answer(["minus five"]), "FAIL", "PASS"),
        (response([5], {"type": "number"}), answer(["minus five"]), "PASS", "FAIL"),
        (response([f"{S}/a"], {"format": "url"}), answer(["http://alias.test/a"]), "FAIL", "FAIL"),
        (response(["x"], {"type": "nothing"}), answer(["x"]), "ERROR", "PASS"),
    ],
)
def test_answers(grade: Grade, run: Run, check: dict[str, Any], said: str, compat: str, strict: str) -> None:
    assert both(grade, run().answer(said), check) == (compat, strict)


def test_two_empty_lists_are_a_circle_to_the_peer(grade: Grade, run: Run) -> None:
    lists = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"a": lists, "b": lists}}
    check = response([{"a": [], "b": []}], schema)
    assert both(grade, run().answer(answer([{"a": [], "b": []}])), check) == ("ERROR", "PASS")


def test_data_without_a_list_in_the_schema(grade: Grade, run: Run) -> None:
    check = {**response(None), "results_schema": {"type": "null"}}
    assert both(grade, run().answer(answer(["x"])), check) == ("ERROR", "FAIL")


def test_what_the_task_does_not_write_always_fails_the_peer(grade: Grade, run: Run) -> None:
    check = response(None)
    del check["expected"]["retrieved_data"]
    assert both(grade, run().answer(answer(None)), check) == ("FAIL", "PASS")


def test_no_answer_and_no_ending(grade: Grade, run: Run) -> None:
    assert grade(run().answer(None, kind="stopped"), response(["x"])).reason == "no_answer"
    assert both(grade, run().goto(f"{S}/", ""), response(["x"])) == ("UNDECIDED", "UNDECIDED")


def request(url: str = f"{S}/save", method: str = "POST", **more: Any) -> dict[str, Any]:
    options = {name: more.pop(name) for name in tuple(more) if name not in FIELDS}
    return {"type": "network", "expected": {"url": url, "http_method": method, **more}, **options}


FIELDS = ("response_status", "headers", "query_params", "post_data", "response_content", "response_cookies")


def sent(
    run: Builder, data: Any = None, url: str = f"{S}/save", method: str = "POST", **more: Any
) -> Builder:
    media = "application/x-www-form-urlencoded" if isinstance(data, str) else "application/json"
    text = data if isinstance(data, str) else json.dumps(data)
    headers = (*more.pop("headers", ()), ("Content-Type", media))
    post = None if data is None else run.keep(media, text)
    return run.request(method, url, request_headers=headers, post=post, **more)


@pytest.mark.parametrize(
    ("post", "body", "compat", "strict"),
    [
        ({"x": "a"}, "x=a&y=b", "PASS", "PASS"),
        ({"x": "a"}, "x=b", "FAIL", "FAIL"),
        ({"x": "a"}, None, "FAIL", "FAIL"),
        ({"x": ["a"]}, {"x": ["a"]}, "ERROR", "PASS"),
        ({"x": ["a", "b"]}, {"x": "b"}, "PASS", "PASS"),
        ({"$.a.b": "q"}, 'a={"b":"Q"}', "PASS", "PASS"),
        ({"$.a[*].b": "q"}, {"a": [{"b": "q"}, {"b": "z"}]}, "PASS", "FAIL"),
        ({"$.a[*].b": "q"}, {"a": [{"b": "q"}, {"b": "q"}]}, "PASS", "PASS"),
        ({"$.^re_\\d+$": "q"}, "re_12=Q", "PASS", "PASS"),
        ({"x": None}, "y=1", "PASS", "PASS"),
        ({"x": ""}, "y=1", "FAIL", "FAIL"),
        ({"x": "^a.c$"}, "x=ABC", "PASS", "PASS"),
        ({"x": "abc"}, {"x": "^.*$"}, "PASS", "FAIL"),
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}, "FAIL", "PASS"),
    ],
)
def test_bodies(grade: Grade, run: Run, post: Any, body: Any, compat: str, strict: str) -> None:
    ended = sent(run(), body).answer("ok")
    assert both(grade, ended, request(post_data=post)) == (compat, strict)


@pytest.mark.parametrize(
    ("wanted", "found", "compat", "strict"),
    [
        ({}, {}, "PASS", "PASS"),
        ({}, {"status": 201}, "FAIL", "PASS"),
        ({}, {"status": 302}, "FAIL", "FAIL"),
        ({}, {"status": None}, "FAIL", "UNDECIDED"),
        ({"response_status": 200}, {"status": 201}, "FAIL", "FAIL"),
        ({"response_status": 302}, {}, "FAIL", "FAIL"),
        ({"response_status": -1}, {"status": None}, "PASS", "PASS"),
        ({"url": f"{S}/SAVE"}, {}, "PASS", "FAIL"),
        ({"url": f"{S}/save#x"}, {}, "FAIL", "FAIL"),
        ({"url": r"^http://s\.test/s\w+$"}, {}, "PASS", "PASS"),
        ({"url": r"^http://s\.test/s\w+$"}, {"url": "http://S.test:80//s%61ve"}, "PASS", "PASS"),
        ({"query_params": {"q": "^a$"}}, {"url": f"{S}/save?q=+a+"}, "PASS", "PASS"),
        ({"url": f"{S}/save?q=A"}, {"url": f"{S}/save?q=a"}, "PASS", "PASS"),
        ({"url": f"{S}/save?q=a"}, {"url": f"{S}/save?q=a&p=1"}, "FAIL", "FAIL"),
        ({"url": f"{S}/save?q=a"}, {"url": f"{S}/save?q=a&q=b"}, "PASS", "FAIL"),
        ({"query_params": {"q": "^\\d+$"}}, {"url": f"{S}/save?q=7"}, "PASS", "PASS"),
        ({"query_params": {"q": "^\\D+$"}}, {"url": f"{S}/save?q=xy"}, "FAIL", "PASS"),
        ({"query_params": {"q": "^(a|)$"}}, {}, "PASS", "PASS"),
        ({"url": f"{S}/save?q=a"}, {"url": f"{S}/save?q=a."}, "FAIL", "FAIL"),
        ({"url": f"{S}/save?q=a"}, {"url": f"{S}/save?q=a/"}, "PASS", "PASS"),
        ({"url": f"{S}/save?q=a b"}, {"url": f"{S}/save?%71=a%2520b&"}, "PASS", "PASS"),
        ({"url": f"{S}/save"}, {"url": "http://s.test./save"}, "PASS", "PASS"),
        ({"url": f"{S}/save"}, {"url": "http://u:p@s.test/save"}, "FAIL", "FAIL"),
        ({"url": r"^http://s\.test/s\w+$"}, {"url": "http://u:p@s.test/save"}, "FAIL", "FAIL"),
        ({"url": r"^.*/s\w+$"}, {"url": "http://u:p@s.test/save"}, "PASS", "PASS"),
        ({"url": r"^http://s\.test/s\w+\?q=a$"}, {"url": f"{S}/save?q=a"}, "FAIL", "ERROR"),
        ({"ignored_query_params": ["p"]}, {"url": f"{S}/save?p=1"}, "PASS", "PASS"),
        ({"ignored_query_params_patterns": ["^pa"]}, {"url": f"{S}/save?page=1"}, "PASS", "PASS"),
        ({"headers": {"X-A": "b"}}, {"headers": (("x-a", "B"),)}, "PASS", "PASS"),
        ({"headers": {"X-A": "b"}}, {}, "FAIL", "FAIL"),
        ({"headers": {"referer": f"{S}/p"}}, {"headers": (("Referer", f"{S}/p/"),)}, "PASS", "PASS"),
        ({"headers": {"referer": f"{S}/p"}}, {"headers": (("Referer", f"{S}/q"),)}, "FAIL", "FAIL"),
        ({"should_not_exist": True}, {}, "FAIL", "FAIL"),
        ({"should_not_exist": True, "url": f"{S}/other"}, {}, "PASS", "PASS"),
    ],
)
def test_requests(
    grade: Grade, run: Run, wanted: dict[str, Any], found: dict[str, Any], compat: str, strict: str
) -> None:
    ended = sent(run(), **found).answer("ok")
    assert both(grade, ended, request(**wanted)) == (compat, strict)


def test_an_expression_of_a_site_without_root_stops_the_peer_only(grade: Grade, run: Run) -> None:
    ended = sent(run()).answer("ok")
    assert both(grade, ended, request("^__GITLAB__/save$")) == ("ERROR", "UNDECIDED")


def test_only_the_last_request_counts_by_default(grade: Grade, run: Run) -> None:
    ended = sent(sent(run(), "x=a"), "x=b").answer("ok")
    assert both(grade, ended, request(post_data={"x": "a"})) == ("FAIL", "FAIL")
    assert both(grade, ended, request(post_data={"x": "a"}, last_event_only=False)) == ("PASS", "PASS")


def test_a_url_that_cannot_be_read_stops_the_peer_only(grade: Grade, run: Run) -> None:
    ended = sent(sent(run(), url="http://[::1/a"), "x=a").answer("ok")
    assert both(grade, ended, request(post_data={"x": "a"})) == ("ERROR", "PASS")


@pytest.mark.parametrize(("url", "visited"), [("", "ERROR"), (f"http:\\\\s.test\\{'x' * 60}", "FAIL")])
def test_a_request_without_a_readable_host_stops_the_peer_only(
    grade: Grade, run: Run, url: str, visited: str
) -> None:
    ended = sent(run(), url=url, method="GET", headers=PAGE).answer("ok")
    check = request(method="GET")
    assert both(grade, ended, check) == ("ERROR", "FAIL")
    assert both(grade, ended, {**check, "is_navigation": True}) == (visited, "FAIL")
    assert both(grade, ended, {**check, "should_not_exist": True}) == ("ERROR", "PASS")


def test_names_of_files_end_before_parameters(grade: Grade, run: Run) -> None:
    ended = sent(run(), url=f"{S}/route/1;2.js").answer("ok")
    assert both(grade, ended, request(f"{S}/route/1;2.js")) == ("PASS", "PASS")


def test_a_typed_value_in_a_query_stops_the_peer_only(grade: Grade, run: Run) -> None:
    item = {"type": "string", "format": "date"}
    check = request(
        f"{S}/save", query_params_schema={"type": "object", "properties": {"p": {"type": "string"}}}
    )
    ended = sent(run(), url=f"{S}/save?q=2023-02-01&q=2023-02-02").answer("ok")
    assert both(grade, ended, check) == ("ERROR", "FAIL")
    listed = {"type": "object", "properties": {"q": {"type": "array", "items": item}}}
    once = sent(run(), url=f"{S}/save?q=2023-02-01").answer("ok")
    check = request(f"{S}/save?q=02/01/2023", query_params_schema=listed)
    assert both(grade, once, check) == ("PASS", "PASS")


def test_queries_in_the_path(grade: Grade, run: Run) -> None:
    hidden = base64.urlsafe_b64encode(b"status=open").decode()
    ended = sent(run(), url=f"{S}/grid/filter/{hidden}").answer("ok")
    check = request(f"{S}/grid/filter", decode_base64_query=True, query_params={"status": "open"})
    assert both(grade, ended, check) == ("PASS", "PASS")


def test_typed_fields(grade: Grade, run: Run) -> None:
    schema = {"type": "object", "properties": {"from": {"type": "string", "format": "date"}}}
    ended = sent(run(), "from=02/01/2023").answer("ok")
    check = request(post_data={"from": "2023-02-01"}, post_data_schema=schema)
    assert both(grade, ended, check) == ("PASS", "PASS")


def test_responses_and_cookies(grade: Grade, run: Run) -> None:
    build = run()
    body = build.keep("application/json", '{"items": [{"name": "Tea"}]}')
    cookies = (("Set-Cookie", "msg=added%20tea; path=/"),)
    ended = sent(build, "x=a", mime="application/json", body=body, response_headers=cookies).answer("ok")
    check = request(response_content={"$.items[0].name": "Tea"}, response_cookies={"msg": "^.*tea$"})
    assert both(grade, ended, check) == ("PASS", "PASS")
    assert both(grade, ended, request(response_content={"$.items[0].name": "Cup"})) == ("FAIL", "FAIL")


def test_a_text_of_digits_is_no_number_in_a_response(grade: Grade, run: Run) -> None:
    build = run()
    body = build.keep("application/json", '{"stars": "5"}')
    ended = sent(build, "x=a", mime="application/json", body=body).answer("ok")
    assert both(grade, ended, request(response_content={"stars": "5"})) == ("PASS", "PASS")
    assert both(grade, ended, request(response_content={"stars": 5})) == ("FAIL", "FAIL")


@pytest.mark.parametrize("mark", ["", '"'])
def test_boundaries_are_read_as_they_stand(grade: Grade, run: Run, mark: str) -> None:
    part = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\na\r\n--b--'
    kind = f"multipart/form-data; boundary={mark}b{mark}"
    build = run()
    post = build.keep(kind, part)
    ended = build.request("POST", f"{S}/save", request_headers=(("Content-Type", kind),), post=post)
    compat = "FAIL" if mark else "PASS"  # the peer takes quotes for a part of it
    assert both(grade, ended.answer("ok"), request(post_data={"x": "a"})) == (compat, "PASS")


def navigate(url: str = f"{S}/a", **more: Any) -> dict[str, Any]:
    return request(url, "GET", is_navigation=True, **more)


def test_navigations_are_those_of_the_main_frame(grade: Grade, run: Run) -> None:
    def start() -> Builder:
        first = run().goto(f"{S}/", "").request("GET", f"{S}/a", request_headers=PAGE)
        return first.visit(f"{S}/a", status=200, exchange=0)

    assert both(grade, start().answer("ok"), navigate()) == ("PASS", "PASS")
    framed = start().request("GET", f"{S}/ad", request_headers=PAGE).visit(f"{S}/ad", frame=(0,), status=200)
    assert both(grade, framed.answer("ok"), navigate()) == ("FAIL", "PASS")
    pushed = run().goto(f"{S}/", "").visit(f"{S}/a", kind="push", same_document=True)
    assert both(grade, pushed.answer("ok"), navigate()) == ("FAIL", "PASS")
    away = start().visit(f"{S}/b", status=200)
    assert grade(away.answer("ok"), navigate()).outcome == "FAIL"
    assert grade(start().answer("ok"), navigate(response_status=302)).outcome == "FAIL"


def test_a_redirect_answers_for_its_hop(grade: Grade, run: Run) -> None:
    hops = (
        Exchange(id=0, method="GET", url=f"{S}/old", status=302, redirect_to=1, request_headers=PAGE),
        Exchange(id=1, method="GET", url=f"{S}/a", status=200, redirect_from=0, request_headers=PAGE),
    )
    ended = run().goto(f"{S}/", "").add(hops[0]).add(hops[1]).visit(f"{S}/a", status=200, exchange=1)
    assert grade(ended.answer("ok"), navigate()).outcome == "PASS"
    assert grade(ended, navigate(f"{S}/old", response_status=302)).outcome == "PASS"


def test_what_may_not_be_visited_is_looked_for_everywhere(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/", "").request("GET", f"{S}/x", request_headers=PAGE).answer("ok")
    assert both(grade, ended, navigate(should_not_exist=True)) == ("FAIL", "PASS")


@pytest.mark.parametrize(("method", "outcome"), [("POST", "FAIL"), ("get", "FAIL"), ("OPTIONS", "PASS")])
def test_no_request_is_none_of_any_method(grade: Grade, run: Run, method: str, outcome: str) -> None:
    ended = run().goto(f"{S}/", "").request(method, f"{S}/save", 303).answer("ok")
    check = {"type": "network", "should_not_exist": True, "expected": {"url": f"{S}/save"}}
    assert grade(ended, check).outcome == outcome
    assert grade(ended, request(method="PUT", should_not_exist=True)).outcome == "PASS"


def test_a_method_that_the_benchmark_leaves_out_is_get() -> None:
    rules = [
        {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "mutate"}, "results_schema": {}},
        {"evaluator": "NetworkEventEvaluator", "should_not_exist": True, "expected": {"url": f"{S}/save"}},
    ]
    record = {
        "task_id": 1, "intent_template_id": 1, "sites": ["shopping"], "start_urls": [S], "intent": "Buy.",
        "intent_template": "Buy.", "instantiation_dict": {}, "revision": 1, "eval": rules,
    }  # fmt: skip
    (_, check) = read_verified([record], "tasks.json")[0].checks
    assert isinstance(check, NetworkMatch) and check.expected.http_method == "GET"


def test_a_fragment_that_may_not_be_visited_is_that_of_a_page(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/", "").visit(f"{S}/a#/admin", status=200).answer("ok")
    assert grade(ended, navigate(f"{S}/a#/admin", should_not_exist=True)).outcome == "FAIL"
    assert grade(ended, navigate(f"{S}/a#/orders", should_not_exist=True)).outcome == "PASS"
    assert grade(ended, request(f"{S}/a#/admin", "GET", should_not_exist=True)).outcome == "ERROR"


def test_a_page_that_may_not_be_visited_needs_no_request(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/", "").visit(f"{S}/a", kind="push", same_document=True).answer("ok")
    assert grade(ended, navigate(should_not_exist=True)).outcome == "FAIL"
    elsewhere = run().goto(f"{S}/", "").visit(f"{S}/b", kind="push", same_document=True).answer("ok")
    assert grade(elsewhere, navigate(should_not_exist=True)).outcome == "PASS"


def test_missing_evidence_is_named(grade: Grade, run: Run) -> None:
    partial = run(channels={"network": "partial", "urls": "recorded"}).goto(f"{S}/", "").answer("ok")
    for mode in ("strict", "compat"):
        assert grade(partial, request(), mode).missing == ("network",)
        assert grade(partial, request(should_not_exist=True), mode).missing == ("network",)
    gone = run().request("POST", f"{S}/save", request_headers=(), post="0" * 64).answer("ok")
    for mode in ("strict", "compat"):
        assert grade(gone, request(post_data={"x": "a"}), mode).missing == ("body:0",)
    hidden = sent(run(), headers=(("Cookie", "⟦header⟧"),)).answer("ok")
    assert grade(hidden, request(headers={"Cookie": "^.*x.*$"})).missing == ("headers:0",)


def test_the_dialect_is_named(grade: Grade, run: Run) -> None:
    ended = sent(run(), "x=a").answer("ok")
    assert grade(ended, request()).dialect == "native"
    assert grade(ended, request(), "compat").dialect == "webarena-verified@6473f72"
    assert grade(ended, request(), dialect="webarena-verified").dialect == "webarena-verified@6473f72"


@pytest.mark.parametrize(
    ("media", "text", "field", "outcome"),
    [
        ("text/plain;charset=UTF-8", '{"qty": 3}', 3, "PASS"),
        ("text/plain;charset=UTF-8", '{"qty": 3}', 4, "FAIL"),
        ("application/merge-patch+json", '{"qty": 3}', 3, "PASS"),
        ("", ' {"qty": 3}\n', 3, "PASS"),
        ("application/x-www-form-urlencoded", '{"qty": 3}', 3, "PASS"),
        ("application/x-www-form-urlencoded", "qty=3", "3", "PASS"),
        ("text/plain", "qty=3", "3", "FAIL"),
        ("text/plain", '{"qty": 3', 3, "FAIL"),
    ],
)
def test_a_body_is_read_by_what_it_holds(
    grade: Grade, run: Run, media: str, text: str, field: Any, outcome: str
) -> None:
    builder = run()
    post = builder.keep(media or "application/octet-stream", text)
    headers = (("Content-Type", media),) if media else ()
    ended = builder.request("POST", f"{S}/save", request_headers=headers, post=post).answer("ok")
    assert grade(ended, request(post_data={"qty": field})).outcome == outcome


@pytest.mark.parametrize("media", ["application/json", "application/vnd.api+json", "text/plain"])
def test_an_answer_is_read_by_what_it_holds(grade: Grade, run: Run, media: str) -> None:
    builder = run()
    body = builder.keep(media, '{"id": 7}')
    ended = builder.request("POST", f"{S}/save", body=body, mime=media).answer("ok")
    assert grade(ended, request(response_content={"id": 7})).outcome == "PASS"
    assert grade(ended, request(response_content={"id": 8})).outcome == "FAIL"


def test_a_type_kept_with_the_body_stands_for_headers_that_are_not_in_the_file(
    grade: Grade, run: Run
) -> None:
    builder = run()
    post = builder.keep("application/json", '{"qty": 3}')
    ended = builder.request("POST", f"{S}/save", request_headers=None, post=post).answer("ok")
    assert grade(ended, request(post_data={"qty": 3})).outcome == "PASS"
    boundary = '--x\r\nContent-Disposition: form-data; name="qty"\r\n\r\n3\r\n--x--\r\n'
    builder = run()
    post = builder.keep("multipart/form-data", boundary)
    ended = builder.request("POST", f"{S}/save", request_headers=None, post=post).answer("ok")
    assert grade(ended, request(post_data={"qty": "3"})).outcome == "PASS"


@pytest.mark.parametrize(
    ("wanted", "outcome"),
    [
        ({}, "FAIL"),
        ({"post_data": {"qty": 3}}, "FAIL"),
        ({"post_data": {"qty": 4}}, "PASS"),
        ({"response_status": 201}, "FAIL"),
        ({"response_status": 200}, "PASS"),
        ({"url": f"{S}/save?id=1"}, "FAIL"),
        ({"url": f"{S}/save?id=2"}, "PASS"),
        ({"query_params": {"id": "2"}}, "PASS"),
        ({"headers": {"X-Mode": "draft"}}, "PASS"),
    ],
)
def test_another_request_is_not_the_one_that_must_not_exist(
    grade: Grade, run: Run, wanted: dict[str, Any], outcome: str
) -> None:
    ended = sent(run(), {"qty": 3}, f"{S}/save?id=1&t=9", status=201).answer("ok")
    assert grade(ended, request(**wanted, should_not_exist=True)).outcome == outcome


def test_an_unknown_body_may_be_the_forbidden_one(grade: Grade, run: Run) -> None:
    check = request(post_data={"qty": 4}, should_not_exist=True)
    hidden = run().request("POST", f"{S}/save", post=Omitted(why="off"))
    assert grade(hidden.answer("ok"), check).outcome == "UNDECIDED"
    both_sent = sent(run().request("POST", f"{S}/save", post=Omitted(why="off")), {"qty": 4})
    assert grade(both_sent.answer("ok"), check).outcome == "FAIL"
    builder = run()
    opaque = builder.request("POST", f"{S}/save", post=builder.keep("application/x-protobuf", "\x08\x03"))
    assert grade(opaque.answer("ok"), check).outcome == "UNDECIDED"
    elsewhere = run().request("POST", f"{S}/other", post=Omitted(why="off"))
    assert grade(elsewhere.answer("ok"), check).outcome == "PASS"


def test_one_request_that_is_known_decides_beside_one_that_is_not(grade: Grade, run: Run) -> None:
    check = request(post_data={"qty": 4}, last_event_only=False)
    both_sent = sent(run().request("POST", f"{S}/save", post=Omitted(why="off")), {"qty": 4})
    assert grade(both_sent.answer("ok"), check).outcome == "PASS"
    other = sent(run().request("POST", f"{S}/save", post=Omitted(why="off")), {"qty": 5})
    assert grade(other.answer("ok"), check).outcome == "UNDECIDED"


def test_an_export_without_any_cookie_says_nothing_about_cookies(grade: Grade, run: Run) -> None:
    check = request(response_cookies={"sid": "7"})
    har = {"source": Source(format="har")}
    assert grade(sent(run(**har)).answer("ok"), check).outcome == "UNDECIDED"
    assert grade(sent(run(), response_headers=()).answer("ok"), check).outcome == "FAIL"
    others = run(**har).request("GET", f"{S}/", response_headers=(("Set-Cookie", "a=b"),))
    assert grade(sent(others, response_headers=()).answer("ok"), check).outcome == "FAIL"
    wants_sent = request(headers={"Cookie": "sid=7"})
    assert grade(sent(run(**har)).answer("ok"), wants_sent).outcome == "UNDECIDED"


def test_a_hidden_header_matters_only_where_all_else_is_as_expected(grade: Grade, run: Run) -> None:
    hidden = (("Cookie", "⟦header⟧"),)
    check = request(f"{S}/save?q=1", headers={"Cookie": "a=b"})
    other = sent(run(), url=f"{S}/save?q=2", headers=hidden).answer("ok")
    assert both(grade, other, check) == ("FAIL", "FAIL")
    same = sent(run(), url=f"{S}/save?q=1", headers=hidden).answer("ok")
    assert both(grade, same, check) == ("UNDECIDED", "UNDECIDED")


def test_a_url_with_a_wildcard_is_refused(grade: Grade, run: Run) -> None:
    assert grade(sent(run()).answer("ok"), request(f"{S}/*")).outcome == "ERROR"


def test_what_differs_is_named(grade: Grade, run: Run) -> None:
    ended = sent(run(), "{}", status=302).answer("ok")
    assert "302 (differs in status)" in str(grade(ended, request()))


def test_a_list_that_is_longer_than_any_that_is_expected_is_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unexpected(*_: Any) -> None:
        pytest.fail("a value was compared")

    monkeypatch.setattr(structures, "_equal_values", unexpected)
    assert not structures.equal(("x",) * 3, ("y",) * (structures.VALUES_MAX + 1))
