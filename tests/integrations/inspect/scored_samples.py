"""A program for the interpreter with Inspect: score samples by all scorers, and print what the log says.

Arguments: the folder of the bundles, and samples as JSON: id to `store` and `metadata`.
"""

from __future__ import annotations

import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.solver import solver

from replaykit.integrations.inspect import RecordedRun, cup, recorded_run, violations

FOLDER, SAMPLES = sys.argv[1], json.loads(sys.argv[2])


@solver
def noted():
    async def solve(state, generate):
        for name, value in SAMPLES[state.sample_id].get("store", {}).items():
            setattr(state.store_as(RecordedRun), name, value)
        return state

    return solve


dataset = [Sample(id=id, input="Do it.", metadata=one.get("metadata")) for id, one in SAMPLES.items()]
scorers = [recorded_run(FOLDER, **json.loads(sys.argv[3])), cup(FOLDER), violations(FOLDER)]
task = Task(dataset=dataset, solver=noted(), scorer=scorers)
(log,) = eval(task, model="mockllm/model", log_dir="logs", display="none")
log = read_eval_log(log.location)  # as it is on disk
assert log.status == "success", log.error
samples = {one.id: {name: score.model_dump() for name, score in one.scores.items()} for one in log.samples}
stores = {one.id: one.store for one in log.samples}
results = {one.name: {m.name: m.value for m in one.metrics.values()} for one in log.results.scores}
counts = {one.name: [one.scored_samples, one.unscored_samples] for one in log.results.scores}
print(json.dumps({"samples": samples, "stores": stores, "results": results, "counts": counts}))
