"""WebArena-Verified's own evaluators in a process of their own: jobs as JSON on stdin, statuses on stdout.

Run with `.venv/peers` on its path: the package pins versions that the rest of the tests do not share.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from webarena_verified.core.evaluation.evaluators import EVALUATOR_REGISTRY
from webarena_verified.types.config import WebArenaVerifiedConfig
from webarena_verified.types.eval import TaskEvalContext
from webarena_verified.types.task import WebArenaVerifiedTask
from webarena_verified.types.tracing import NetworkTrace


def statuses(job: dict[str, Any], config: WebArenaVerifiedConfig) -> list[list[str | None]]:
    """Return status and fault of every evaluator of a task, each with the requests of its own."""
    task = WebArenaVerifiedTask.model_validate(job["record"])
    found = []
    for rule, entries in zip(task.eval, job["entries"], strict=True):
        context = TaskEvalContext(
            task=task,
            agent_response_raw=job["answer"],
            network_trace=NetworkTrace.from_content(entries),
            config=config,
        )
        result = EVALUATOR_REGISTRY[rule.evaluator]().evaluate(context=context, config=rule)
        found.append([str(result.status), result.error_msg])
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    given = json.load(sys.stdin)
    environments = {f"__{name.upper()}__": {"urls": [root]} for name, root in given["roots"].items()}
    config = WebArenaVerifiedConfig(environments=environments)
    json.dump([statuses(job, config) for job in given["jobs"]], sys.stdout)
