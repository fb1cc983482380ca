"""WebArena's own evaluators, as they are published, on the pages of bundles: in a process of their own.

Run with `.venv/peers` on its path. The files of `libwebarena` are loaded unchanged; what stands in is what no
evaluator of pages, addresses and texts uses (models, the agent's environment), NLTK's download, and the waiting.
Jobs as JSON on stdin, `[bundle, configuration file, browser]`; `[score or null, fault, what was missing]` on stdout.
"""

from __future__ import annotations

import json
import os
import sys
import time
import types
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SITES = ("REDDIT", "SHOPPING", "SHOPPING_ADMIN", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE")


def evaluators() -> Any:
    """Return the module with the evaluators."""
    for name in SITES:
        os.environ[name] = f"http://{name.lower()}.test"
    found = find_spec("webarena")
    assert found is not None and found.submodule_search_locations
    root = Path(next(iter(found.submodule_search_locations)))
    environment = stand_in("webarena.browser_env", __path__=[str(root / "browser_env")])
    environment.actions = stand_in("webarena.browser_env.actions", Action=dict)
    environment.utils = stand_in("webarena.browser_env.utils", StateInfo=dict)
    stand_in("webarena.llms", __path__=[])
    stand_in("webarena.llms.providers", __path__=[])
    stand_in("webarena.llms.providers.openai_utils", generate_from_openai_chat_completion=no_model)
    from webarena.evaluation_harness import evaluators as published

    # A text of one sentence has the same words; finding sentences takes data that NLTK downloads.
    published.word_tokenize = partial(published.word_tokenize, preserve_line=True)
    published.time = types.SimpleNamespace(sleep=lambda _: None, time=time.time)
    return published


def stand_in(name: str, **names: Any) -> Any:
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(names)
    return module


def no_model(**_: Any) -> str:
    raise AssertionError("no evaluator of these tasks asks a model")


def evaluate(published: Any, source: str, config: str, chromium: Any) -> list[Any]:
    """Return the score of a run, or the fault that the evaluators raise."""
    from replaykit.bundle.reader import open_bundle
    from replaykit.replay.offline_page.offline_page import OfflinePage

    with open_bundle(source) as bundle, OfflinePage(bundle, chromium=chromium) as page:
        shown = published.PseudoPage(page, page.url)
        steps = [{"observation": {}, "info": {}}, {"answer": bundle.trajectory.answer or ""}]
        judge = published.evaluator_router(config)
        try:
            score = judge(steps, config, shown, None)
        except Exception as fault:  # noqa: BLE001  # what they raise is what is compared
            return [None, type(fault).__name__, page.missing]
        return [score, None, page.missing]


if __name__ == "__main__":
    from replaykit.replay.offline_page.chromium import Chromium

    given = json.load(sys.stdin)
    running = Chromium(given["browser"])
    module = evaluators()
    found = [evaluate(module, source, config, running) for source, config in given["jobs"]]
    running.close()
    json.dump(found, sys.stdout)
