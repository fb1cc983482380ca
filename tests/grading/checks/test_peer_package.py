"""Our rules beside WebArena-Verified itself, where it is installed: compat says what it says, strict says why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from replaykit.grading.checks.check_grading import grade_checks
from replaykit.replay.player import Replay
from replaykit.tasks.benchmarks.webarena_verified import read_verified
from replaykit.tasks.suite import load_tasks
from replaykit.tasks.task import Task, fill_task
from replaykit.testing.builder import trajectory
from tests.grading.checks.conftest import replay_of
from tests.grading.checks.forms import written
from tests.grading.checks.rewritten import OTHER, REQUESTS, values_like
from tests.grading.checks.synthesis import ROOTS, SITES, Event, answer_of, event_of, har_entry, recorded
from tests.needed import missing

ROOT = Path(__file__).parents[3]
PEERS = ROOT / ".venv" / "peers"
SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", ROOT / "../shared/data"))
FILE = SHARED / "webarena-verified/webarena-verified.json"
OUTCOMES = {"success": "PASS", "failure": "FAIL", "error": "ERROR"}
NOTHING = har_entry(OTHER)

EVERY = 39
"""Of the rules for requests one in so many is rewritten in every way, and these besides, for what is rare."""
RARE = {"357", "511", "528", "562", "576", "615", "652", "699", "811"}

LISTS_OF_ONE = {"699", "700", "811"}
"""A list of one where a text belongs: the package gives up."""
PLACEHOLDERS = {"562", "563", "564", "565", "566"}
"""The package compares a placeholder inside of Markdown as it stands: no run can fulfil it."""

_LISTS = "what was answered is literal: a list is no set of alternatives"
_PATTERN = "what was answered is literal: no expression"
_TYPED = "0, false, null and blank are different values"
_MONEY = "an amount is a whole value, signed, and equal to half a cent"
ANSWERS = {
    ("string", "an expression"): _PATTERN,
    ("url", "an expression"): _PATTERN,
    ("string", "with another"): _LISTS,
    ("url", "with another"): _LISTS,
    ("location-name", "with another"): _LISTS,
    ("string", "nothing"): _TYPED,
    ("string", "false"): _TYPED,
    ("string", "zero"): _TYPED,
    ("number", "false"): _TYPED,
    ("number", "twice"): "`0 0` is no number",
    ("currency", "object"): _MONEY,
    ("currency", "more"): _MONEY,
    ("currency", "twice"): _MONEY,
    ("currency", "cents"): _MONEY,
    ("currency", "minus"): _MONEY,
    ("currency", "minus dollars"): _MONEY,
    ("currency", "zero"): _MONEY,
}
"""Kinds of values and ways to rewrite them where strict and the package differ, and why (the design's 5.7, 3.3)."""

_WHOLE = "an amount is a whole value: words around it are no part of one"
_SAID = "what says the same in words or signs of its own is the same"
_STOPS = "in a date with full stops the day comes first"
FORMS = {
    ("coordinates", "({a}, {o})"): _SAID,
    ("coordinates", "{a}°, {o}°"): _SAID,
    ("currency", "${v}/month"): _WHOLE,
    ("currency", "({v})"): "brackets make an amount negative",
    ("currency", "about ${v}"): _WHOLE,
    ("currency", "total: ${v}"): _WHOLE,
    ("currency", "{v} cents"): _WHOLE,
    ("currency", "{v}k"): _WHOLE,
    ("date", "{d}.{m}.{Y}"): _STOPS,
    ("date", "{m}.{d}.{Y}"): _STOPS,
    ("duration", "{h} hours and {m} minutes"): _SAID,
    ("duration", "{h}:{mm}"): "a clock without unit is read both ways",
    ("duration", "{m} minutes {h} hours"): "parts add up in any order",
}
"""Forms of values where strict and the package differ, and why."""

_PLACE = "URLs are compared by parts: http is https, dots are resolved, a fragment and the case of a path count as such"
_SEVERAL = "all values of a parameter count, not the first alone"
_BODIES = "nothing expected of a field is met where there are no fields; blank is a value"
REQUEST_CAUSES = {
    ("upper path", "PASS", "FAIL"): _PLACE,
    ("upper path", "FAIL", "PASS"): _PLACE,
    ("fragment", "FAIL", "PASS"): _PLACE,
    ("fragment", "PASS", "FAIL"): _PLACE,
    ("https", "FAIL", "PASS"): _PLACE,
    ("https", "PASS", "FAIL"): _PLACE,
    ("dots", "FAIL", "PASS"): _PLACE,
    ("values twice", "PASS", "FAIL"): _SEVERAL,
    ("other values first", "PASS", "FAIL"): _SEVERAL,
    ("no response", "FAIL", "UNDECIDED"): "it is unknown whether the server carried it out",
    ("after no URL", "ERROR", "PASS"): "what is no URL is passed over",
    ("after no URL", "ERROR", "FAIL"): "what is no URL is passed over",
    ("before a frame", "FAIL", "PASS"): "a frame is no page that the run came to",
    ("no bodies", "FAIL", "PASS"): _BODIES,
    ("plain text", "FAIL", "PASS"): _BODIES,
}
"""Ways to rewrite a request, what the package says of it and what we do, and why."""


class Case(NamedTuple):
    """One check of one run, in both packages' terms."""

    name: tuple[str, ...]
    """Its name."""
    task: Task
    """With its placeholders filled."""
    number: int
    """Place of the check."""
    replay: Replay
    """The run."""
    job: dict[str, Any]
    """The same for the package."""


def verdicts(cases: list[Case]) -> list[str]:
    """Return what the package says, in its own process: it pins versions that ours does not share."""
    given = json.dumps({"roots": ROOTS, "jobs": [case.job for case in cases]})
    found = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("verified_process.py"))],
        input=given,
        env={**os.environ, "PYTHONPATH": str(PEERS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return [OUTCOMES[statuses[-1][0]] for statuses in json.loads(found.stdout)]


def differences(
    cases: list[Case], theirs: list[str], mode: str
) -> dict[tuple[str, ...], set[tuple[str, str]]]:
    """Return by name what the package said and what we did, where that differs."""
    found: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for case, said in zip(cases, theirs, strict=True):
        ours = grade_checks(case.task, case.replay, mode)[case.number].outcome.value
        if ours != said:
            found.setdefault(case.name, set()).add((said, ours))
    return found


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    if not (PEERS / "webarena_verified").is_dir():
        missing("webarena-verified is not installed beside the environment; sh .ci/setup installs it")
    if not FILE.exists():
        pytest.skip(f"public data is not here: {FILE}")
    return load_tasks(FILE)


@pytest.fixture(scope="module")
def answers(tasks: list[Task]) -> tuple[list[Case], list[str]]:
    """Every value that the public file expects, alone, and what an answer may say in its place."""
    wanted = {json.dumps(value): value for task in tasks for value in expected_values(task)}
    cases = [
        answer_case(len(wanted), kind, value, name, said)
        for kind, value in wanted.values()
        for name, said in values_like(value)
    ]
    return cases, verdicts(cases)


def expected_values(task: Task) -> Iterator[tuple[str, Any]]:
    rules = task.source_record["eval"][0]
    data = json.loads(answer_of(task.source_record))["retrieved_data"]
    yield from leaves(data, rules.get("results_schema", {}))


def leaves(value: Any, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    kind = schema.get("format") or schema.get("type") or "string"
    if isinstance(value, list) and kind == "array":
        for one in value:
            yield from leaves(one, schema.get("items", {}))
    elif isinstance(value, dict) and kind == "object":
        for name, one in value.items():
            yield from leaves(one, schema.get("properties", {}).get(name, {}))
    elif value is not None:
        yield kind, value


def answer_case(number: int, kind: str, value: Any, name: str, said: Any) -> Case:
    items = (
        {"type": kind}
        if kind in ("string", "number", "boolean", "integer")
        else {"type": "string", "format": kind}
    )
    record = {
        "task_id": number,
        "intent_template_id": 1,
        "sites": ["shopping", "gitlab"],
        "start_urls": ["__SHOPPING__"],
        "intent": "Say it.",
        "intent_template": "Say it.",
        "instantiation_dict": {},
        "revision": 1,
        "eval": [
            {
                "evaluator": "AgentResponseEvaluator",
                "results_schema": {"type": "array", "items": items},
                "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [value]},
            }
        ],
    }
    answer = json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [said]})
    (task,) = read_verified([record], "made")
    return Case(
        name=(kind, name),
        task=fill_task(task, SITES),
        number=0,
        replay=replay_of(trajectory(sites=SITES).answer(answer)),
        job={"record": record, "answer": answer, "entries": [[NOTHING]]},
    )


@pytest.fixture(scope="module")
def forms(tasks: list[Task]) -> tuple[list[Case], list[str]]:
    """Values as people write them; `tasks` says whether the package is there."""
    cases = [
        answer_case(len(tasks), kind, expected, template, said)
        for kind, expected, template, said in written()
    ]
    return cases, verdicts(cases)


@pytest.fixture(scope="module")
def requests(tasks: list[Task]) -> tuple[list[Case], list[str]]:
    """Requests that the public file expects, rewritten in every way; each rule has a run of its own."""
    rules = [
        (task, number, rule)
        for task in tasks
        for number, rule in enumerate(task.source_record["eval"])
        if rule["evaluator"] == "NetworkEventEvaluator"
    ]
    assert len(rules) == 663
    cases = []
    for place, (task, number, rule) in enumerate(rules):
        event = event_of({**rule, "should_not_exist": False})
        assert event is not None
        is_full = place % EVERY == 0 or task.id in RARE
        ways = REQUESTS if is_full else {"as is": REQUESTS["as is"]}
        sent = {name: change(event) for name, change in ways.items()}
        cases += [request_case(task, number, rule, name, events) for name, events in sent.items() if events]
    return cases, verdicts(cases)


def request_case(task: Task, number: int, rule: dict[str, Any], name: str, events: list[Event]) -> Case:
    record = {**task.source_record, "eval": [task.source_record["eval"][0], rule]}
    entries = [[NOTHING], [har_entry(event) for event in events]]
    return Case(
        name=(name,),
        task=fill_task(task, SITES),
        number=number,
        replay=recorded(events, "x"),
        job={"record": record, "answer": "{}", "entries": entries},
    )


def test_answers_have_the_outcome_of_the_package(answers: tuple[list[Case], list[str]]) -> None:
    assert differences(*answers, "compat") == {}


def test_forms_have_the_outcome_of_the_package(forms: tuple[list[Case], list[str]]) -> None:
    assert differences(*forms, "compat") == {}


def test_strict_forms_differ_only_where_the_package_is_wrong(forms: tuple[list[Case], list[str]]) -> None:
    found = differences(*forms, "strict")
    assert found.keys() == FORMS.keys()
    assert all(len(pairs) == 1 for pairs in found.values())


@pytest.mark.thorough  # its answers and forms are compared everywhere, and paths in test_peer_paths.py
def test_requests_have_the_outcome_of_the_package(requests: tuple[list[Case], list[str]]) -> None:
    assert differences(*requests, "compat") == {}


def test_strict_answers_differ_only_where_the_package_is_wrong(answers: tuple[list[Case], list[str]]) -> None:
    found = differences(*answers, "strict")
    assert found.keys() == ANSWERS.keys()
    assert all(len(pairs) == 1 for pairs in found.values())


@pytest.mark.thorough
def test_strict_requests_differ_only_where_the_package_is_wrong(
    requests: tuple[list[Case], list[str]],
) -> None:
    cases, theirs = requests
    found = set()
    for case, said in zip(cases, theirs, strict=True):
        ours = grade_checks(case.task, case.replay, "strict")[case.number].outcome.value
        gave_up = case.task.id in LISTS_OF_ONE and said == "ERROR"
        compared_a_placeholder = case.task.id in PLACEHOLDERS and (said, ours) == ("FAIL", "PASS")
        if ours != said and not gave_up and not compared_a_placeholder:
            found.add((case.name[0], said, ours))
    assert found == REQUEST_CAUSES.keys()
