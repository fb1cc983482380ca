"""What every worker needs, loaded by the process that workers are forked from."""

from __future__ import annotations

import gc
from importlib import import_module

# A search for garbage finds none here; later ones, in every worker, leave alone what is frozen.
gc.disable()
for _name in ("replaykit.grading.workers.executors", "replaykit.grading.workers.worker"):
    import_module(_name)
gc.freeze()
gc.enable()
