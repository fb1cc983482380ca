"""Faults that only a whole task file shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import decode_task, fill_task, lower_placeholders, unresolved

TASK = {
    "id": "refund",
    "intent": "Refund it.",
    "sites": ["shop"],
    "checks": [{"type": "string_match", "exact": "x"}],
}
SUITE = {"schema": "replaykit.suite/1", "sites": {"shop": "http://127.0.0.1:8000"}, "tasks": [TASK]}
NEVER = {"id": "p", "dimension": "user_consent", "rule": {"type": "never", "match": {"text": "Pay"}}}
REPORTS = {"id": "r", "dimension": "user_consent", "rule": {"type": "informational"}}


def file_of(tmp_path: Path, plain: Any) -> Path:
    file = tmp_path / "suite.json"
    file.write_bytes(msgspec.json.encode(plain))
    return file


def suite(**changed: Any) -> dict[str, Any]:
    return {**SUITE, **changed}


def task(**changed: Any) -> dict[str, Any]:
    return suite(tasks=[{**TASK, **changed}])


def scoped(rule: dict[str, Any] = NEVER, **when: Any) -> list[dict[str, Any]]:
    return [{**rule, "when": when}]


@pytest.mark.parametrize(
    ("plain", "path", "words"),
    [
        (suite(policies=scoped(tasks=["refnd"])), "$.policies[0].when.tasks[0]", "did you mean refund?"),
        (suite(policies=scoped(tasks=["refund", "order-7"])), "$.policies[0].when.tasks[1]", "there are refund"),
        (suite(policies=scoped(sites=["shpo"])), "$.policies[0].when.sites[0]", "did you mean shop?"),
        (
            suite(tasks=[{**TASK, "sites": []}], policies=scoped(sites=["shop"])),
            "$.policies[0].when.sites[0]",
            "no task names one",
        ),
        (task(policies=scoped(tasks=["other"])), "$.tasks[0].policies[0].when.tasks[0]", "there are refund"),
        (task(policies=scoped(sites=["wiki"])), "$.tasks[0].policies[0].when.sites[0]", "there are shop"),
        ({**TASK, "policies": scoped(tasks=["other"])}, "$.policies[0].when.tasks[0]", "there are refund"),
        (suite(sites={"shop": "127.0.0.1:8000"}), "$.sites.shop", "begin with http://"),
        (suite(sites={"shop": "localhost:8000"}), "$.sites.shop", "begin with http://"),
        (suite(sites={"shop": "htp://127.0.0.1"}), "$.sites.shop", "did you mean http://?"),
        (suite(sites={"shop": ["http://h.test", "http://h.test:99999"]}), "$.sites.shop[1]", "no URL that a browser"),
        (suite(sites={"shop": "http://h.test/*"}), "$.sites.shop", "it has a `*`"),
        (suite(sites={"shop": "http://h.test/?a=1"}), "$.sites.shop", "it has a `?`"),
        (suite(sites={"shop": []}), "$.sites.shop", "no root URL"),
        (suite(sites={"shop": "__SHOP__"}), "$.sites.shop", "begin with http://"),
        (suite(sites={"shop": "http://h.test", "Wiki": "http://w.test"}), "$.sites.Wiki", "write 'wiki'"),
        (
            task(checks=[{"type": "string_match", "id": "a", "exact": x} for x in "xy"]),
            "$.tasks[0].checks[1].id",
            "duplicate id 'a': check 0",
        ),
        (
            task(checks=[{"type": "string_match", "exact": "x"}, {**TASK["checks"][0], "id": "string_match[0]"}]),
            "$.tasks[0].checks[1].id",
            "duplicate id",
        ),
        (suite(tasks=[TASK, TASK]), "$.tasks[1].id", "duplicate task id 'refund'"),
        (task(policies=[{**NEVER, "rule": {"type": "stwab", "record": {}}}]), "$.tasks[0].policies[0].rule.record",
         "type: informational"),
        (
            task(policies=[{**NEVER, "rule": {"type": "stwab", "record": {"eval": {"eval_types": ["is_url_match"]}}}}]),
            "$.tasks[0].policies[0].rule.record.eval",
            "demands nothing",
        ),
    ],
)  # fmt: skip
def test_each_fault_has_its_path(tmp_path: Path, plain: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(TaskError) as caught:
        load_suite(file_of(tmp_path, plain))
    assert caught.value.fields["path"] == path
    assert words in str(caught.value)
    assert caught.value.fields["others"] == ()


@pytest.mark.parametrize(
    "plain",
    [
        suite(policies=[*scoped(tasks=["refund"]), *scoped(REPORTS, tasks=["gone"])]),
        suite(policies=scoped(sites=["shop"])),
        suite(policies=scoped({**NEVER, "enabled": False}, tasks=["gone"])),
        suite(sites={"shop": ["http://h.test/shop/", "https://[::1]:8443"], "my-wiki": "http://w.test"}),
        task(checks=[{"type": "string_match", "id": x, "exact": "x"} for x in "ab"]),
        task(policies=scoped(tasks=["refund"], sites=["shop", "shop"])),
        suite(tasks=[TASK, {**TASK, "id": "Refund"}]),
    ],
)
def test_a_sound_file_has_no_faults(tmp_path: Path, plain: dict[str, Any]) -> None:
    assert load_suite(file_of(tmp_path, plain)).tasks


def test_policies_of_a_file_of_their_own_may_name_other_tasks(tmp_path: Path) -> None:
    policies = {"schema": "replaykit.policies/1", "policies": scoped(tasks=["elsewhere", "refund"])}
    (tmp_path / "p.json").write_bytes(msgspec.json.encode(policies))
    assert load_suite(file_of(tmp_path, suite(policies={"file": "p.json"}))).tasks[0].policies


@given(st.from_regex(r"[a-z]{1,5}(_[a-z]{1,5})?", fullmatch=True))
def test_a_placeholder_in_small_letters_is_open(site: str) -> None:
    made = decode_task({**TASK, "sites": [site], "start_urls": [f"__{site}__/x"]})
    assert lower_placeholders(made, ()) == lower_placeholders(made, (site,)) == (site,)
    assert unresolved(made, made.sites) == (site,)
    filled = decode_task({**TASK, "sites": [site], "start_urls": [f"__{site.upper()}__/x"]})
    assert lower_placeholders(filled, (site,)) == ()
    assert unresolved(fill_task(filled, {site: ("http://h.test",)}), filled.sites) == ()


@pytest.mark.parametrize(
    "text",
    [
        "func:get(__page__, 'x')",
        "window.__data__/2",
        "see __init__ there",
        "__SHOP__/a__b__c",
        "a__shop2__/x",
    ],
)
def test_names_of_scripts_are_no_placeholders(text: str) -> None:
    made = decode_task({**TASK, "start_urls": [text]})
    assert lower_placeholders(made, ("shop",)) == ()
