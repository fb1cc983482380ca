"""Our rules for compat mode beside the package itself, where it is installed: outcomes are the same."""

from __future__ import annotations

import json
import logging
import os
import random
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.checks.agent_response import peer_response
from replaykit.grading.checks.verified import peer_answer
from replaykit.tasks.suite import load_tasks
from replaykit.testing.builder import trajectory
from tests.grading.checks.conftest import replay_of
from tests.grading.checks.synthesis import ROOTS, SITES, Event, answer_of, har_entry

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[3] / "../shared/data"))
FILE = SHARED / "webarena-verified/webarena-verified.json"
OUTCOMES = {"success": "PASS", "failure": "FAIL", "error": "ERROR"}
ODD = ["red", "^.*$", "5", "$5", "5 min", "March 5, 2023", 0, "", None, True, [], ["a", "b"], ["a"], {"a": 1}]


@pytest.fixture(scope="module")
def package() -> Any:
    api = pytest.importorskip(
        "webarena_verified.api.webarena_verified", reason="the package is not installed"
    )
    config = pytest.importorskip("webarena_verified.types.config")
    if not FILE.exists():
        pytest.skip(f"public data is not here: {FILE}")
    logging.getLogger("webarena_verified").setLevel(logging.CRITICAL)
    environments = {f"__{name.upper()}__": {"urls": [root]} for name, root in ROOTS.items()}
    return api.WebArenaVerified(config=config.WebArenaVerifiedConfig(environments=environments))


def test_answers_have_the_outcome_of_the_package(package: Any) -> None:
    chance = random.Random(7)
    nothing = Event(
        method="GET", url="http://none.test/", status=200, headers=(), post=None, body=None, cookies=()
    )
    replay = replay_of(trajectory(sites=SITES).answer("x"))
    differ = {}
    for task in load_tasks(FILE):
        said = json.loads(answer_of(task.source_record))
        for data in (said["retrieved_data"], *chance.sample(ODD, 3)):
            text = json.dumps({**said, "retrieved_data": data})
            theirs = package.evaluate_task(
                task_id=int(task.id), agent_response=text, network_trace=[har_entry(nothing)]
            )
            ours = peer_response(peer_answer(task.checks[0], 0, task, replay, SITES), text)  # type: ignore[arg-type]
            if OUTCOMES[str(theirs.evaluators_results[0].status)] != ours.outcome:
                differ[task.id, text] = ours.outcome
    assert differ == {}
