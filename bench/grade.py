"""Bundles graded per second, opened and read per second, against reading one JSON file of the same content.

Run: .venv/bin/python -m bench.grade [--seconds 3]
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import grade_file, grade_many
from replaykit.grading.grader import GradeOptions

ROOT = Path(__file__).parent.parent
RECORDINGS = sorted(str(path) for path in (ROOT / "recordings" / "conformance").glob("*.zst"))


def as_one_json(source: str) -> bytes:
    """Return what a harness without a format would write: events and base64 payloads in one JSON text."""
    with open_bundle(source) as bundle:
        events = [msgspec.to_builtins(event) for event in bundle.trajectory.events]
        blobs = {id: base64.b64encode(bundle.blob(id)).decode() for id in bundle.blob_ids}
    return json.dumps({"events": events, "blobs": blobs}).encode()


def rate(work: Callable[[str], object], seconds: float) -> float:
    """Return how many recordings a second: the median over passes over all of them."""
    passes = []
    stop = time.perf_counter() + seconds
    while len(passes) < 3 or time.perf_counter() < stop:
        start = time.process_time()
        for source in RECORDINGS:
            work(source)
        passes.append(len(RECORDINGS) / (time.process_time() - start))
    return statistics.median(passes)


def read(source: str) -> object:
    """Open a bundle and read its story."""
    with open_bundle(source) as bundle:
        return bundle.trajectory.steps


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3)
    seconds = parser.parse_args().seconds
    texts = {source: as_one_json(source) for source in RECORDINGS}
    options = GradeOptions()
    rates = {
        "load one JSON file with base64": rate(lambda source: json.loads(texts[source]), seconds),
        "open and read the story": rate(read, seconds),
        "grade": rate(lambda source: grade_file(source, options), seconds),
    }
    peer = rates["load one JSON file with base64"]
    print(f"{len(RECORDINGS)} recordings, one core, median of passes")
    for name, value in rates.items():
        print(f"{name:34}{value:9.0f}/s{value / peer:8.2f} of the JSON file")
    many = RECORDINGS * 20
    for jobs in (1, 2):
        start = time.perf_counter()
        grade_many(many, jobs=jobs)
        spent = time.perf_counter() - start
        print(f"grade_many, jobs={jobs}: {len(many) / spent:.0f}/s")


if __name__ == "__main__":
    main()
