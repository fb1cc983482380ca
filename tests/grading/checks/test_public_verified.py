"""Every task of the public WebArena-Verified file, fed what it expects: by our rules and by the peer's."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from replaykit.grading.checks.check_grading import grade_checks
from replaykit.grading.verdict import Outcome, combine
from replaykit.tasks.suite import load_tasks
from replaykit.tasks.task import Task, fill_task
from tests.grading.checks.synthesis import SITES, answer_of, event_of, recorded

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[3] / "../shared/data"))
FILE = SHARED / "webarena-verified/webarena-verified.json"


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    if not FILE.exists():
        pytest.skip(f"public data is not here: {FILE}")
    return load_tasks(FILE)


def outcome(task: Task, mode: str) -> Outcome:
    """Grade a task with a run of its own for every check: each has to see its request last."""
    rules = task.source_record["eval"]
    filled = fill_task(task, SITES)
    answer = answer_of(task.source_record)
    results = []
    for number, rule in enumerate(rules):
        is_network = rule["evaluator"] == "NetworkEventEvaluator"
        event = event_of(rule, is_filled=mode == "strict") if is_network else None
        results.append(grade_checks(filled, recorded([event] if event else [], answer), mode)[number])
    return combine([result.outcome for result in results], mode)


def test_strict_accepts_every_expected_answer(tasks: list[Task]) -> None:
    assert {task.id: found for task in tasks if (found := outcome(task, "strict")) != "PASS"} == {}


def test_compat_accepts_what_the_peer_accepts(tasks: list[Task]) -> None:
    """Task 319 does not write the data it expects; the others expect a list of one where a text belongs."""
    others = {task.id: found for task in tasks if (found := outcome(task, "compat")) != "PASS"}
    assert others == {"319": "FAIL", "699": "ERROR", "700": "ERROR", "811": "ERROR"}


def test_the_counts_are_those_of_the_file(tasks: list[Task]) -> None:
    kinds = Counter(task.source_record["eval"][0]["expected"]["task_type"] for task in tasks)
    assert kinds == {"mutate": 374, "retrieve": 325, "navigate": 113}
    assert Counter(len(task.checks) - 1 for task in tasks)[0] == 324
    assert sum(len(task.checks) - 1 for task in tasks) == 663
    statuses = Counter(task.source_record["eval"][0]["expected"]["status"] for task in tasks)
    assert statuses["SUCCESS"] == 772
    assert json.loads(answer_of(tasks[0].source_record))["status"] == "SUCCESS"
