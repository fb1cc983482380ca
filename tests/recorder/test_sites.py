"""A placeholder that nobody resolved: an error before recording, unknown at grading."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import UsageError
from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.suite import load_suite
from replaykit.testing import trajectory

SUITE = """
schema: replaykit.suite/1
sites: {shop: "http://shop.test"}
tasks:
  - {id: buy, intent: Buy., start_urls: ["__SHOP__/"], sites: [shop]}
  - {id: look, intent: Look., start_urls: ["__SHOP__/"], sites: [shop]}
"""
BUY: dict[str, Any] = {"url": "__SHOP__/buy", "http_method": "POST"}
CHECKS: tuple[dict[str, Any], ...] = (
    {"type": "network", "expected": BUY},
    {"type": "network", "expected": BUY, "should_not_exist": True},
    {"type": "url_match", "url": "__SHOP__/"},
    {"type": "page", "url": "__SHOP__/orders", "selector": "#s", "expect": {"equals": "Paid"}},
)
RULES: tuple[dict[str, Any], ...] = (
    {"type": "url_boundary", "deny": ["__SHOP__/admin"]},
    {"type": "url_boundary", "allow": ["__SHOP__/"]},
    {"type": "never", "match": {"kind": "visit", "url": "__SHOP__/"}},
    {"type": "eventually", "match": {"kind": "visit", "url": "__SHOP__/"}},
)


MOVED = """
schema: replaykit.suite/1
sites: {shop: "http://shop.test"}
policies:
  - {id: inside, dimension: user_consent, rule: {type: url_boundary, deny: ["https://SHOP.test/admin", shop.test]}}
tasks:
  - id: buy
    intent: Buy.
    start_urls: ["http://shop.test"]
    sites: [shop]
    checks:
      - {type: network, should_not_exist: true, expected: {url: "http://shop.test/buy"}}
      - {type: url_match, url: "http://shop.test/admin"}
      - {type: url_match, url: "http://shop.test.evil/admin"}
"""
ELSEWHERE = "http://127.0.0.1:8000"


def test_a_url_below_the_root_of_the_file_is_the_site_wherever_it_is(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(MOVED, encoding="utf-8")
    run = trajectory({"id": "buy", "intent": "Buy."}, sites={"shop": (ELSEWHERE,)})
    run.goto(f"{ELSEWHERE}/admin", "<p>x</p>").request("POST", f"{ELSEWHERE}/buy").answer("done")
    verdict = grade(run.write(tmp_path / "run.zst"), suite=load_suite(file))
    assert [str(check.outcome) for check in verdict.checks] == ["FAIL", "PASS", "FAIL"]
    (inside,) = verdict.policies
    assert inside.outcome == "VIOLATED"
    at_home = grade(tmp_path / "run.zst", suite=load_suite(file), sites={"shop": ("http://shop.test",)})
    assert [str(check.outcome) for check in at_home.checks] == ["PASS", "FAIL", "FAIL"]


def test_a_recording_elsewhere_looks_at_the_pages_of_the_site(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    page = '{type: page, url: "http://shop.test/orders", selector: "#s", expect: {equals: Paid}}'
    file.write_text(SUITE.replace("sites: [shop]}", f"sites: [shop], checks: [{page}]}}"), encoding="utf-8")
    recorder = Recorder(tmp_path / "run.zst", task=f"{file}#buy", sites={"shop": ELSEWHERE})
    assert recorder.looks_at == (f"{ELSEWHERE}/orders",)


def task(**fields: Any) -> dict[str, Any]:
    return {"id": "t", "intent": "x", "start_urls": ["http://shop.test/"], "sites": ["shop"], **fields}


@pytest.mark.parametrize("check", CHECKS)
def test_a_site_without_an_address_is_reported_before_anything_is_written(
    check: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"__SHOP__ is no address.*sites=\{'shop': URL\}"):
        Recorder(tmp_path / "run.zst", task=task(checks=[check]))
    assert not list(tmp_path.iterdir())
    Recorder(tmp_path / "run.zst", task=task(checks=[check]), sites={"shop": "http://shop.test"})


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_of_it_is_neither_met_nor_not(check: dict[str, Any], tmp_path: Path) -> None:
    run = trajectory(task(checks=[check])).goto("http://shop.test/", "<p id=s>Paid</p>")
    run.request("POST", "http://shop.test/buy").answer("done")
    (result,) = grade(run.write(tmp_path / "run.zst")).checks
    assert (result.outcome, result.missing) == ("UNDECIDED", ("site:shop",))
    (placed,) = grade(tmp_path / "run.zst", sites={"shop": ("http://shop.test",)}).checks
    assert "site:shop" not in placed.missing


@pytest.mark.parametrize("rule", RULES)
def test_nor_is_a_policy_of_it_kept(rule: dict[str, Any], tmp_path: Path) -> None:
    policies = [{"id": "p", "dimension": "user_consent", "rule": rule}]
    run = trajectory(task(policies=policies)).goto("http://shop.test/admin", "<p>x</p>").answer("done")
    (result,) = grade(run.write(tmp_path / "run.zst")).policies
    assert (result.outcome, result.missing) == ("UNDECIDED", ("site:shop",))


def test_a_text_that_only_looks_like_a_site_is_a_text(tmp_path: Path) -> None:
    check = {"type": "string_match", "exact": "__MAIN__"}
    run = trajectory(task(checks=[check])).goto("http://shop.test/", "<p>x</p>").answer("__MAIN__")
    assert grade(run.write(tmp_path / "run.zst")).checks[0].outcome == "PASS"


def test_a_suite_says_where_its_sites_are(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE)
    for named in (f"{file}#buy", load_suite(f"{file}#buy")):
        recorder = Recorder(tmp_path / "run.zst", task=named)
        assert recorder._sites == {"shop": ("http://shop.test",)}
    with pytest.raises(UsageError, match="2 tasks"):
        Recorder(tmp_path / "run.zst", task=str(file))


def test_pages_that_will_not_be_looked_at_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pages = [{**CHECKS[3], "url": url} for url in ("http://shop.test/orders", "http://elsewhere.test/x")]
    with caplog.at_level(logging.WARNING, "replaykit.recorder"):
        recorder = Recorder(tmp_path / "run.zst", task=task(checks=pages))
    assert {page.url for page in recorder._plan.pages} == {"http://shop.test/orders"}
    assert "http://elsewhere.test/x" in caplog.text and "shop.test/orders" not in caplog.text


def test_pages_that_will_be_looked_at_and_others_are_logged_at_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    urls = ["http://shop.test/orders", "http://shop.test/orders", "http://elsewhere.test/x", "last"]
    checks = [{"type": "page", "url": url, "expect": {"contains": "Paid"}} for url in urls]
    state = {"method": "GET", "path": "/api/state", "phase": "post"}
    checks += [{"type": "state.http", "exchange": state, "where": [{"op": "exists"}]}]
    with caplog.at_level(logging.INFO, "replaykit.recorder"):
        recorder = Recorder(
            tmp_path / "run.zst", task=task(checks=checks), sites={"shop": "http://shop.test"}
        )
    assert recorder.looks_at == ("http://shop.test/orders", "http://shop.test/api/state")
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("INFO", "task t: looked at afterwards: http://shop.test/orders, http://shop.test/api/state"),
        ("WARNING", "task t: outside of its sites, so not looked at afterwards: http://elsewhere.test/x"),
    ]


def test_a_task_without_pages_of_its_checks_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "replaykit.recorder"):
        Recorder(tmp_path / "run.zst", task=task(checks=[]))
    assert "looked at afterwards: only the agent's last page" in caplog.text
