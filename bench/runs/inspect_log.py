"""Reading an Inspect log, in an environment that has inspect_ai: writes one of the texts given, and times it.

Run by bench.peers: a list of texts for each sample as JSON on stdin; CPU ms per sample (of the whole log, of
one sample only) and bytes per sample on stdout.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def log_of(samples: list[list[str]]) -> Any:
    """Return a log with a message for every text."""
    # The package lies in an environment of its own.
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec
    from inspect_ai.model import ChatMessageTool

    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="t",
        dataset=EvalDataset(),
        model="none/none",
        config=EvalConfig(),
    )
    made = [
        EvalSample(
            id=n, epoch=1, input="i", target="t", messages=[ChatMessageTool(content=one) for one in texts]
        )
        for n, texts in enumerate(samples)
    ]
    return EvalLog(eval=spec, samples=made, status="success")


def least(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the least CPU ms of several runs."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        found.append(1000 * (time.process_time() - start))
    return min(found)


def measure(samples: list[list[str]], folder: Path) -> dict[str, float]:
    """Return CPU ms per sample, and the bytes of a sample."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample, write_eval_log

    path = str(folder / "log.eval")
    write_eval_log(log_of(samples), path)
    return {
        "whole": least(lambda: read_eval_log(path)) / len(samples),
        "one": least(lambda: read_eval_log_sample(path, id=0, epoch=1)),
        "bytes": Path(path).stat().st_size / len(samples),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        json.dump(measure(json.load(sys.stdin), Path(made)), sys.stdout)
