"""Locators of the public task files: every one parses, and the counts are those of the files."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.checks.pages.api_calls import API_CALLS, ORDER_URL
from replaykit.grading.checks.pages.calls import POST_URL, is_call, parse_call, reads_page
from replaykit.tasks.grammar.locator_grammar import parse
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.tasks.grammar.xpath_grammar import parse as parse_path

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))


def records(name: str) -> list[dict[str, Any]]:
    file = SHARED / name / "test.raw.json"
    if not file.exists():
        pytest.skip(f"public data is not here: {file}")
    found: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return found


def targets(name: str) -> list[dict[str, Any]]:
    return [target for record in records(name) for target in record["eval"].get("program_html") or ()]


def kind(locator: str) -> str:
    """Return what a locator is; raises where it does not parse."""
    if not locator.strip():
        return "source"
    if is_call(locator):
        call = parse_call(locator, "")
        assert call is not None
        assert reads_page(call) or call.name in API_CALLS, locator
        return "page call" if reads_page(call) else "api call"
    if is_xpath(locator):
        parse_path(locator)
        return "path"
    parse(locator)
    return "script"


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("webarena", {"source": 105, "script": 524, "page call": 12, "api call": 10}),
        ("st-webagentbench", {"source": 144, "script": 74, "page call": 7}),
    ],
)
def test_every_locator_of_a_target_parses(name: str, counts: dict[str, int]) -> None:
    assert Counter(kind(target["locator"]) for target in targets(name)) == counts


def test_every_locator_of_a_policy_parses() -> None:
    policies = [policy for record in records("st-webagentbench") for policy in record["policies"]]
    found = Counter(kind(locator) for policy in policies for locator in _locators(policy.get("eval")))
    assert found == {"source": 79, "script": 292, "path": 6}


def test_every_url_of_a_target_is_understood() -> None:
    called = [parse_call(t["url"], "http://s.test/") for t in targets("webarena") if is_call(t["url"])]
    assert Counter(call.name for call in called if call) == {POST_URL: 65, ORDER_URL: 10}


def _locators(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["locator"]] if isinstance(value.get("locator"), str) else []
        return own + [found for part in value.values() for found in _locators(part)]
    return [found for part in value for found in _locators(part)] if isinstance(value, list) else []
