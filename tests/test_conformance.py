"""The shipped recordings: whole, readable, and graded as people said they must be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fixtures.agents.pairs import load_pairs
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.grading.grader import grade

ROOT = Path(__file__).parent.parent
SET = ROOT / "recordings" / "conformance"
PAIRS = {pair.name: pair for pair in load_pairs() if pair.record}


def readable(path: Path, kind: str) -> Any:
    return json.loads(path.with_suffix(f".{kind}.json").read_text())


def test_there_is_a_recording_for_every_pair_and_no_orphan() -> None:
    assert {path.stem for path in SET.glob("*.zst")} == set(PAIRS)
    named = {path.name.split(".")[0] for path in SET.iterdir()}
    assert named == set(PAIRS)


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_it_is_whole(name: str) -> None:
    found = verify(SET / f"{name}.zst")
    assert found.gradable
    assert not found.findings
    assert found.layout == "sealed"


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_it_reads_as_written_down(name: str) -> None:
    path = SET / f"{name}.zst"
    with open_bundle(path) as bundle:
        run = bundle.trajectory
        assert msgspec.json.decode(msgspec.json.encode([run.header, *run.events])) == readable(
            path, "trajectory"
        )


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_it_is_graded_as_written_down(name: str) -> None:
    path = SET / f"{name}.zst"
    with open_bundle(path) as bundle:
        assert msgspec.json.decode(msgspec.json.encode(grade(bundle))) == readable(path, "verdict")


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_the_verdict_is_the_expected_one(name: str) -> None:
    expected = PAIRS[name]
    with open_bundle(SET / f"{name}.zst") as bundle:
        verdict = grade(bundle)
    assert verdict.completion is not None
    assert verdict.completion.outcome == expected.completion
    assert [p.id for p in verdict.policies if p.outcome == "VIOLATED"] == list(expected.violated)
    open_ones = [p.id for p in verdict.policies if p.outcome == "UNDECIDED"]
    assert open_ones == list(expected.undecided)
    assert not [p.id for p in verdict.policies if p.outcome == "ERROR"]
    undecided = [c.id for c in verdict.checks if c.outcome in ("UNDECIDED", "ERROR")]
    assert bool(undecided) == (expected.completion == "UNDECIDED")


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_every_violation_names_a_step_that_exists(name: str) -> None:
    with open_bundle(SET / f"{name}.zst") as bundle:
        verdict, steps = grade(bundle), len(bundle.trajectory.steps)
    for policy in verdict.policies:
        if policy.outcome == "VIOLATED":
            assert policy.evidence
            assert all(e.step is not None and 0 <= e.step < steps for e in policy.evidence)


def test_synthetic_replies_say_so() -> None:
    tapes = list(SET.glob("*.replies.jsonl"))
    assert tapes
    for tape in tapes:
        entries = [json.loads(line) for line in tape.read_text().splitlines()[1:]]
        assert {entry["origin"] for entry in entries} == {"synthetic"}
