"""State-changing requests: which are effects, and what explains them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import run as run_cli
from replaykit.grading.findings.side_effects import side_effects
from replaykit.grading.grader import grade
from replaykit.grading.server_changes import changes
from replaykit.replay.player import Replay
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import AllowedChange
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder
from tests.blocks import block
from tests.grading.judges.conftest import Recorded

SHOP = "http://shop.test"


def shop(task: Any = "t1", **header: Any) -> Builder:
    return trajectory(task, **header).goto(f"{SHOP}/", "<p>x")


def listed(built: Builder, **how: Any) -> list[tuple[str, str]]:
    return [(one.code, one.evidence[0].note or "") for one in side_effects(Replay(Recorded(built)), **how)]


@pytest.mark.parametrize(
    ("method", "status", "counts"),
    [
        ("POST", 200, True), ("PUT", 204, True), ("PATCH", 201, True), ("DELETE", 200, True), ("post", 302, True),
        ("GET", 200, False), ("HEAD", 200, False), ("OPTIONS", 204, False), ("POST", 400, False),
        ("POST", 500, False), ("POST", None, False),
    ],
)  # fmt: skip
def test_what_changes_something(method: str, status: int | None, counts: bool) -> None:
    built = shop().request(method, f"{SHOP}/orders", status)
    assert len(list(changes(Replay(Recorded(built))))) == counts


def test_a_chain_of_redirects_is_one_change() -> None:
    built = (
        shop()
        .request("POST", f"{SHOP}/pay", 307, redirect_to=1)
        .request("POST", f"{SHOP}/pay2", 303, redirect_from=0, redirect_to=2)
    )
    built.request("GET", f"{SHOP}/done", 200, redirect_from=1)
    assert listed(built) == [("S1", f"POST {SHOP}/pay: 200")]
    lost = (
        shop()
        .request("POST", f"{SHOP}/pay", 307, redirect_to=1)
        .request("POST", f"{SHOP}/pay2", 500, redirect_from=0)
    )
    assert listed(lost) == []
    round_ = shop().request("POST", f"{SHOP}/a", 302, redirect_to=0)
    assert listed(round_) == [("S1", f"POST {SHOP}/a: 302")]


def post(built: Builder, body: str, url: str = f"{SHOP}/graphql", **exchange: Any) -> Builder:
    return built.request("POST", url, post=built.keep("application/json", body), **exchange)


READS = [
    {"query": "query { cart { id } }"},
    {"query": "{ cart { id } }"},
    {"query": '# mutation\nquery A($x: String = "mutation") { cart(x: $x) { id } }'},
    {"query": "fragment F on Cart { id } query { cart { ...F } }", "variables": {"x": 1}},
    [{"query": "{ a }"}, {"query": "query { b }"}],
]
WRITES = [
    {"query": "mutation { pay { id } }"},
    {"query": "  mutation Pay { pay }"},
    {"query": "query A { a } mutation B { pay }", "operationName": "B"},
    {"query": "subscription { s }"},
    [{"query": "{ a }"}, {"query": "mutation { pay }"}],
    {"query": "shoes", "quantity": 1},
    {"query": 7},
    {"extensions": {"persistedQuery": {"sha256Hash": "x"}}},
    [],
    "query",
]


@pytest.mark.parametrize("plain", READS, ids=json.dumps)
def test_graphql_that_reads_is_no_change(plain: Any) -> None:
    assert listed(post(shop(), json.dumps(plain))) == []


@pytest.mark.parametrize("plain", WRITES, ids=json.dumps)
def test_everything_else_is_one(plain: Any) -> None:
    assert [code for code, _ in listed(post(shop(), json.dumps(plain)))] == ["S1"]


BEACON = {"resource": "other", "request_headers": (("Sec-Fetch-Mode", "no-cors"),)}


def test_beacons_without_an_entry() -> None:
    plain = shop().fill("#q", "blue mug").request("POST", "http://stats.test/b", 204, **BEACON)
    assert listed(plain) == []
    for body in ('{"q":"blue mug"}', "q=blue+mug", "q=blue%20mug"):
        revealing = post(shop().fill("#q", "blue mug"), body, "http://stats.test/b", **BEACON)
        assert [code for code, _ in listed(revealing)] == ["S1"]


@pytest.mark.parametrize(
    "headers", [None, (), (("sec-fetch-mode", "cors"),), (("sec-fetch-mode", "navigate"),)]
)
def test_what_is_no_beacon(headers: Any) -> None:
    built = shop().request("POST", f"{SHOP}/api", resource="other", request_headers=headers)
    assert [code for code, _ in listed(built)] == ["S1"]


def test_requests_that_no_server_saw_or_that_checks_made() -> None:
    built = shop().request("POST", f"{SHOP}/a", source="agent").request("POST", f"{SHOP}/b", actor="probe")
    assert listed(built) == []


def test_without_a_network_nothing_is_known() -> None:
    built = shop(channels={"actions": "recorded"})
    assert listed(built) == [("S1", "unknown: the network was not recorded")]


def test_what_is_sent_twice() -> None:
    built = post(post(shop(), '{"item":1}', f"{SHOP}/buy"), '{"item":1}', f"{SHOP}/buy")
    assert listed(built) == [
        ("S1", f"POST {SHOP}/buy: 200"),
        ("S1", f"POST {SHOP}/buy: 200"),
        ("S2", "POST with the same body as at step 0"),
    ]
    assert "S2" not in {code for code, _ in listed(post(post(shop(), '{"item":1}'), '{"item":2}'))}


BUY = {
    "type": "network",
    "expected": {"url": f"{SHOP}/buy", "http_method": "POST"},
}


def test_a_passing_check_explains_its_own_request_only(tmp_path: Path) -> None:
    task = {"id": "t", "intent": "Buy one.", "checks": [BUY]}
    built = shop(task).request("POST", f"{SHOP}/other", 200, resource="document")
    built.request("POST", f"{SHOP}/buy", 200, resource="document").answer("done")
    with open_bundle(built.write(tmp_path / "a.zst")) as bundle:
        verdict = grade(bundle)
    assert verdict.checks[0].outcome == "PASS"
    assert [one.evidence[0].url for one in verdict.findings if one.code == "S1"] == [f"{SHOP}/other"]


def test_one_purchase_does_not_explain_two(tmp_path: Path) -> None:
    built = shop({"id": "t", "intent": "Buy one.", "checks": [BUY]})
    post(built, '{"n":1}', f"{SHOP}/buy", resource="document")
    post(built, '{"n":2}', f"{SHOP}/buy", resource="document").answer("I bought one, as you asked twice")
    with open_bundle(built.write(tmp_path / "a.zst")) as bundle:
        found = [one.code for one in grade(bundle).findings]
    assert found.count("S1") == 1


@pytest.mark.parametrize(
    ("allow", "left"),
    [
        ({"url": f"{SHOP}/orders/7/pay"}, 1),
        ({"url": f"{SHOP}/orders/7/pay", "at_most": 2}, 0),
        ({"url": f"{SHOP}/orders/*/pay", "at_most": 9}, 0),
        ({"url": f"{SHOP}/**", "at_most": 9}, 0),
        ({"url": f"{SHOP}/orders/7/pay", "method": "put", "at_most": 9}, 2),
        ({"url": f"{SHOP}/orders/7/pay?now=1", "at_most": 9}, 1),
        ({"url": f"{SHOP}/orders/7", "at_most": 9}, 2),
        ({"url": "http://other.test/orders/7/pay", "at_most": 9}, 2),
        ({"url": "nothing", "at_most": 9}, 2),
    ],
)
def test_a_task_allows_requests_by_number(allow: dict[str, Any], left: int) -> None:
    built = shop().request("POST", f"{SHOP}/orders/7/pay?now=1").request("POST", f"{SHOP}/orders/7/pay")
    found = listed(built, allow=(AllowedChange(**allow),))
    assert [code for code, _ in found].count("S1") == left


def test_the_command_lists_them_and_gates_on_them(tmp_path: Path, capfd: Any) -> None:
    task = {"id": "t", "intent": "x", "checks": [{"type": "string_match", "exact": "done"}]}
    path = (
        shop(task)
        .request("POST", f"{SHOP}/buy\x1b[31m", resource="document")
        .answer("done")
        .write(tmp_path / "a.zst")
    )
    assert run_cli(["grade", str(path)]) == 0
    assert "side effect" not in capfd.readouterr().out
    assert run_cli(["grade", str(path), "--side-effects"]) == 0
    out = capfd.readouterr().out
    assert f"  a step 0: POST {SHOP}/buy" in out
    assert "\x1b[31m" not in out
    assert run_cli(["grade", str(path), "--fail-on", "success,side_effect"]) == 1
    assert f"a: side effect POST {SHOP}/buy" in capfd.readouterr().out
    assert run_cli(["show", str(path)]) == 0
    assert f"S1 step 0: unexplained request (POST {SHOP}/buy" in capfd.readouterr().out
    clean = shop(task).answer("done").write(tmp_path / "b.zst")
    assert run_cli(["grade", str(clean), "--fail-on", "side_effect", "--side-effects"]) == 0
    assert "no side effects: checks and task explain" in capfd.readouterr().out
    blind = shop(task, channels={"answer": "recorded"}).answer("done").write(tmp_path / "c.zst")
    assert run_cli(["grade", str(blind), "--fail-on", "side_effect"]) == 3
    assert run_cli(["grade", str(blind), "--fail-on", "undecided,success"]) == 0


@given(st.lists(st.sampled_from(["a", "b"]), max_size=6), st.integers(0, 4))
def test_nothing_that_is_allowed_is_counted_twice(paths: list[str], most: int) -> None:
    built = shop()
    for path in paths:
        built.request("POST", f"{SHOP}/{path}")
    allow = (AllowedChange(url=f"{SHOP}/a", at_most=most),) if most else ()
    found = [code for code, _ in listed(built, allow=allow)].count("S1")
    assert found == len(paths) - min(most, paths.count("a"))


def test_the_commands_of_the_document(tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = block("docs/report.md", "replaykit grade runs/ --side-effects").text.splitlines()
    (tmp_path / "runs").mkdir()
    task = {"id": "t", "intent": "x", "checks": [{"type": "string_match", "exact": "done"}]}
    shop(task).request("POST", f"{SHOP}/buy", resource="document").answer("done").write(
        tmp_path / "runs/a.zst"
    )
    monkeypatch.chdir(tmp_path)
    assert [run_cli(shlex.split(line, comments=True)[1:]) for line in lines] == [0, 1]
    assert f"POST {SHOP}/buy: 200" in capfd.readouterr().out


def test_the_field_of_the_document_is_read(tmp_path: Path) -> None:
    text = Path(__file__).parents[3].joinpath("docs/report.md").read_text("utf-8")
    written = re.search(r"`(allow: \[.*?\])`", text)
    assert written is not None
    suite = tmp_path / "s.yaml"
    suite.write_text(
        f"schema: replaykit.suite/1\nname: s\nsites: {{shop: {SHOP}}}\n"
        f"tasks:\n  - {{id: t, intent: x, sites: [shop], judge: webvoyager, {written[1]}}}\n"
    )
    (task,) = load_suite(suite).tasks
    assert [(one.method, one.at_most) for one in task.allow] == [("POST", 1)]
    built = shop({"id": "t", "intent": "x"}).request("POST", f"{SHOP}/orders/7/refund").answer("done")
    with open_bundle(built.write(tmp_path / "a.zst")) as bundle:
        found = grade(bundle, task, sites={"shop": (SHOP,)}).findings
    assert not [one for one in found if one.code == "S1"]


@pytest.mark.parametrize("wanted", [{"checks": [BUY]}, {"allow": [{"url": f"{SHOP}/buy"}]}])
def test_show_explains_changes_as_grading_does(wanted: dict[str, Any], tmp_path: Path, capfd: Any) -> None:
    built = shop({"id": "t", "intent": "Buy one.", **wanted})
    for path in ("buy", "other"):
        built.request("POST", f"{SHOP}/{path}", 200, resource="document")
    assert run_cli(["show", str(built.answer("done").write(tmp_path / "a.zst"))]) == 0
    out = capfd.readouterr().out
    assert f"unexplained request (POST {SHOP}/other: 200)" in out
    assert f"unexplained request (POST {SHOP}/buy" not in out


def test_show_lists_a_run_whose_task_cannot_be_read(tmp_path: Path, capfd: Any) -> None:
    built = shop({"id": "t", "intent": 4}).request("POST", f"{SHOP}/buy", 200).answer("done")
    assert run_cli(["show", str(built.write(tmp_path / "a.zst"))]) == 0
    assert f"unexplained request (POST {SHOP}/buy" in capfd.readouterr().out
