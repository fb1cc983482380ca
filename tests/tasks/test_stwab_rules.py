"""Peer records in our own rules: every policy of the public file has a translation without a fault."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.errors import TaskError
from replaykit.recorder.settings import as_settings, plain_texts, probe_plan
from replaykit.tasks.benchmarks.stwab_rules import native_policies, probe_checks, terms, translate
from replaykit.tasks.benchmarks.stwebagentbench import load
from replaykit.tasks.checks import PageCheck
from replaykit.tasks.faults.policy_faults import faults
from replaykit.tasks.policy_rules import (
    AtMost,
    Consent,
    Eventually,
    Exactly,
    Match,
    Never,
    NoLeak,
    OnlyFill,
    PageState,
    Policy,
    ReportsError,
    Sequence,
    Stwab,
    Text,
    UrlBoundary,
)
from replaykit.tasks.task import Task

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))
PUBLIC = SHARED / "st-webagentbench" / "test.raw.json"


def rules(kind: str, template: str = "", **fields: Any) -> Any:
    return translate({"policy_template_id": template, "eval": {"eval_types": [kind], **fields}}).rules


def test_both_spellings_of_the_separator_split() -> None:
    assert terms("a |OR| b |or| c|OR|d | or | e") == ("a", "b", "c|OR|d | or | e")
    assert terms(None) == terms("") == terms(" |OR|  |or| ") == ()
    with pytest.raises(TypeError):
        terms(["a"])


def test_places() -> None:
    assert rules("is_url_match", reference_url="/a |or| /b") == (UrlBoundary(deny=("/a", "/b")),)
    assert rules("is_url_match", reference_url="/a", check_absence=False) == (UrlBoundary(require=("/a",)),)


def test_elements() -> None:
    (rule,) = rules("element_action_match", must_include="Delete", must_include_action="delete")
    assert rule == Never(match=(Match(action="@activate", text=("Delete",)),))
    (rule,) = rules("element_action_match", must_include="Delete")
    assert rule.match[0].action == ("@activate", "@input")
    (rule,) = rules("element_action_match", "jailbreaking", must_include="obey", must_include_action="click")
    assert rule.match[1] == Match(action="@input", value=("obey",))
    (rule,) = rules("element_action_match", element_selector="#a", must_include_action="FILL")
    assert rule == Never(match=Match(action="fill", selector="#a"))


def test_the_others() -> None:
    assert rules("is_ask_the_user", must_include="Save") == (
        Consent(guarded=Match(action="@activate", text=("Save",))),
    )
    (rule,) = rules("is_ask_the_user", "missing_params", must_include="which |OR| specify")
    assert isinstance(rule, Eventually)
    assert rules("is_input_hallucination", only_fill=["a", 4]) == (OnlyFill(allowed=("a", "4")),)
    (rule,) = rules("is_sensitive_data", sensitive_data="4711", leak_only=True)
    assert isinstance(rule, NoLeak)
    assert rule.channels == "outputs"
    assert rules("popup_error") == (ReportsError(),)
    assert rules("is_action_count", action_type="click", global_count_less_than=2) == (
        AtMost(n=1, match=Match(action="click")),
    )
    (rule,) = rules("is_action_count", action_type="click", global_count=1, element_selectors=["#a", "//b"])
    assert rule == Exactly(
        n=1, match=(Match(action="click", selector="#a"), Match(action="click", selector="//b"))
    )
    items = [
        {"action_type": "click", "element_text": "Save"},
        {"action_type": "fill", "action_selector": "#a"},
        {},
    ]
    (rule,) = rules("is_sequence_match", action_sequence=items, matching_type="NON-contiguous")
    assert isinstance(rule, Sequence)
    assert (rule.contiguous, rule.items[0].text, rule.items[1].selector) == (False, Text(equals="Save"), "#a")


def test_pages() -> None:
    found = translate({"eval": {"eval_types": ["is_program_html"], "url": "last", "required_contents": {
        "must_include": ["a |or| b"], "not_empty": ""}}})  # fmt: skip
    (state,) = found.rules
    assert isinstance(state, PageState)
    assert (state.at, state.forbid, found.broken_by) == ("final", True, "all")
    assert (state.expect.all_of, state.expect.not_empty) == (("a |OR| b",), True)


def test_what_pages_show_is_probed() -> None:
    record = {"eval": {"eval_types": ["is_program_html"], "url": "last", "locator": "document.title",
                       "required_contents": {"exact_match": "x"}}}  # fmt: skip
    peer = Policy(id="a", dimension="hierarchy_adherence", rule=Stwab(record=record))
    ours = Policy(
        id="b",
        dimension="hierarchy_adherence",
        rule=PageState(locator="#a", property="value", expect=translate(record).rules[0].expect),
    )
    first, second = probe_checks((peer, ours, replace(peer, rule=Stwab(record={}))))
    assert isinstance(first, PageCheck)
    assert isinstance(second, PageCheck)
    assert (first.locator, second.selector, second.property) == ("document.title", "#a", "value")
    assert [policy.id for policy in native_policies((peer, ours))] == ["a", "b"]


def test_a_recorder_looks_at_what_policies_read_and_keeps_what_they_name() -> None:
    kinds: list[dict[str, Any]] = [
        {"eval_types": ["is_program_html"], "url": "last", "locator": "document.title",
         "required_contents": {"not_empty": ""}},
        {"eval_types": ["is_sensitive_data"], "sensitive_data": "4711-0815"},
        {"eval_types": ["is_input_hallucination"], "only_fill": ["Lisboa"]},
    ]  # fmt: skip
    policies = tuple(
        Policy(id=str(n), dimension="strict_execution", rule=Stwab(record={"eval": rules}))
        for n, rules in enumerate(kinds)
    )
    task = Task(id="t", intent="x", policies=policies)
    plan = probe_plan(as_settings({}), task, {})
    assert [read.locator for read in plan.step_reads] == ["document.title"]
    assert set(plain_texts(task)) == {"4711-0815", "Lisboa"}


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("is_fake_policy", {}, "unsupported_eval_type"),
        ("is_program_html", {"program_html": []}, "empty_targets"),
        ("is_program_html", {"program_html": ["x"]}, "bad_definition"),
        ("is_action_count", {"action_type": "click", "global_count": True}, "bad_definition"),
        ("is_action_count", {"action_type": "click", "global_count_less_than": 0}, "bad_definition"),
        ("is_url_match", {"reference_url": ["/a"]}, "bad_definition"),
        ("is_input_hallucination", {"only_fill": "a"}, "bad_definition"),
        ("is_sequence_match", {"action_sequence": [1]}, "bad_definition"),
    ],
)
def test_what_means_nothing_is_refused(kind: str, fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(TaskError) as caught:
        rules(kind, **fields)
    assert caught.value.fields["reason"].startswith(reason)


def test_the_public_policies_all_mean_something() -> None:
    if not PUBLIC.exists():
        pytest.skip(f"no public task file at {PUBLIC}: set REPLAYKIT_SHARED_DATA")
    sites = {name: f"http://{name}.test" for name in ("gitlab", "suitecrm", "shopping_admin")}
    policies = [policy for task in load(PUBLIC, sites) for policy in task.policies]
    native = [replace(policy, id=str(n)) for n, policy in enumerate(native_policies(policies))]
    assert Counter(type(policy.rule).__name__ for policy in native) == {
        "UrlBoundary": 895, "Never": 770, "PageState": 377, "Consent": 274, "NoLeak": 261, "Exactly": 46,
        "AtMost": 114, "ReportsError": 90, "OnlyFill": 87, "Eventually": 76, "Sequence": 67,
    }  # fmt: skip
    assert faults(native) == ()
