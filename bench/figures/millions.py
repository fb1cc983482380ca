"""Cost of ten million bundles on a cluster, computed from the cost of a bundle (`bench.scale`)."""

from __future__ import annotations

from math import ceil

from bench.figures.plot import number
from bench.figures.results import Result

MILLIONS = 10
LATENCY_MS = 30.0
"""Time of one request to object storage: assumed, not measured."""
WORKERS = (100, 1000)


def arithmetic(scale: Result) -> str:
    """Return the table that the figures of `bench.scale` give."""
    found = {figure.name: figure.value for figure in scale.figures}
    first = found["processor time, first process"]
    work = found["processor time, all processes"] - first
    requests, read = found["requests for a bundle"], found["read of a bundle"]
    row, memory = found["row of a verdict"], found.get("of which for each bundle")
    rows = [
        ("quantity", "of one bundle", "of 10 million"),
        ("---", "---:", "---:"),
        ("processor time of workers", f"{number(work)} ms", f"{number(_hours(work))} core-hours"),
        ("processor time of the first process", f"{number(first)} ms", f"{number(_hours(first))} hours"),
        ("requests", number(requests), f"{number(requests * MILLIONS)} million"),
        ("read from storage", f"{number(read)} KB", f"{number(read * MILLIONS)} GB"),
        *([_memory(memory)] if memory else []),
        ("rows", f"{number(row)} B", f"{number(row * MILLIONS / 1000)} GB"),
        *(_with(workers, work + requests * LATENCY_MS, first) for workers in WORKERS),
    ]
    return "".join(f"| {' | '.join(one)} |\n" for one in rows)


def _memory(one: float) -> tuple[str, str, str]:
    return "memory of the first process", f"{number(one)} KB", f"{number(one * MILLIONS)} GB; of one call"


def _with(workers: int, worker_ms: float, first_ms: float) -> tuple[str, str, str]:
    hours = _hours(worker_ms) / workers
    parts = ceil(_hours(first_ms) / hours)
    calls = "one call" if parts == 1 else f"{parts} calls, each with a part"
    name = f"{workers:,} workers, {LATENCY_MS:g} ms a request"
    return name, f"{number(worker_ms)} ms", f"{number(hours)} hours; {calls}"


def _hours(milliseconds: float) -> float:
    return milliseconds * MILLIONS * 1e6 / 3.6e6
