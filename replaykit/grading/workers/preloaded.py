"""Modules that every worker needs, loaded by the process that workers are forked from."""

from __future__ import annotations

import gc
from importlib import import_module

GRADERS = (
    "replaykit.grading.checks.answer_text",
    "replaykit.grading.checks.final_url",
    "replaykit.grading.checks.pages.program_html",
    "replaykit.grading.policies.policy_grading",
    "replaykit.replay.selectors.css",
)
"""Modules that most tasks need, and that a command loads only for tasks that do. Loaded here, all workers
share them.
"""

# The garbage collector finds nothing here; later collections, in every worker, skip frozen objects.
gc.disable()
for _name in ("replaykit.grading.workers.executors", "replaykit.grading.workers.worker", *GRADERS):
    import_module(_name)
gc.freeze()
gc.enable()
