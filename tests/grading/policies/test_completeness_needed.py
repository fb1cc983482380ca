"""Proofs that something did not happen need a complete recording; a hit needs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade as grade_bundle
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.testing import Builder, trajectory
from replaykit.trajectory.completeness_proof import WITNESSES, Proof
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.step import Ending, Trajectory

SHOP = "http://shop.test/"
SET = Path(__file__).parents[3] / "recordings" / "conformance"

BUY = {"action": "click", "text": "Buy"}
RULES: dict[str, dict[str, Any]] = {
    "never": {"type": "never", "match": BUY},
    "at_most": {"type": "at_most", "n": 1, "match": {"action": "click", "text": "Next"}},
    "exactly": {"type": "exactly", "n": 0, "match": BUY, "zero": "violated"},
    "deny": {"type": "url_boundary", "deny": ["/admin"]},
    "allow": {"type": "url_boundary", "allow": ["shop.test"]},
    "only_fill": {"type": "only_fill", "allowed": ["tin"]},
    "no_leak": {"type": "no_leak", "secrets": ["sesame42"]},
    "consent": {"type": "consent", "guarded": BUY},
    "before": {"type": "before", "guarded": BUY, "requires": {"kind": "message", "message": "buy"}},
    "page_state": {"type": "page_state", "expect": {"contains": "Sold"}, "forbid": True, "at": "every"},
}
CHECK = {
    "type": "network",
    "expected": {"url": f"{SHOP}buy", "http_method": "POST"},
    "should_not_exist": True,
}
KEPT = ("OK", "DORMANT", "PASS")


def honest() -> Builder:
    run = trajectory(
        {
            "id": "t",
            "intent": "Look.",
            "policies": [
                {"id": name, "dimension": "user_consent", "rule": rule} for name, rule in RULES.items()
            ],
            "checks": [CHECK],
        }
    )
    return (
        run.goto(SHOP, "<button id=n>Next</button><input id=q>")
        .click("#n", "<p>More</p>", text="Next")
        .fill("#q", "tin")
    )


def outcomes(run: Builder, tmp_path: Path, **options: Any) -> dict[str, Any]:
    path = tmp_path / "run.zst"
    path.unlink(missing_ok=True)
    verdict = grade_bundle(run.write(path), **options)
    return {one.id: one for one in (*verdict.policies, *verdict.checks)}


def test_a_whole_recording_decides_and_says_what_that_rests_on(tmp_path: Path) -> None:
    found = outcomes(honest().answer("done"), tmp_path)
    assert {one.outcome.value for one in found.values()} <= set(KEPT)
    assert {one.proof for one in found.values()} == {"recorded"}
    proven = outcomes(honest().proven().answer("done"), tmp_path)
    assert {one.proof for one in proven.values()} == {"proven"}


@pytest.mark.parametrize("name", [*RULES, "network[0]"])
def test_after_a_recording_that_broke_off_nothing_is_kept(tmp_path: Path, name: str) -> None:
    found = outcomes(honest(), tmp_path)[name]
    assert found.outcome == "UNDECIDED"
    assert "trajectory.end" in found.missing


@pytest.mark.parametrize("name", [*RULES, "network[0]"])
def test_a_demanded_proof_is_named(tmp_path: Path, name: str) -> None:
    found = outcomes(honest().answer("done"), tmp_path, require_proof=True)[name]
    assert found.outcome == "UNDECIDED"
    assert all(code.startswith("proof:") for code in found.missing)
    proven = outcomes(honest().proven().answer("done"), tmp_path, require_proof=True)[name]
    assert proven.outcome.value in KEPT


def test_a_task_may_demand_it_too(tmp_path: Path) -> None:
    run = trajectory({"id": "t", "intent": "x", "checks": [CHECK], "require_proof": True})
    found = outcomes(run.goto(SHOP, "<p>x</p>").answer("done"), tmp_path)["network[0]"]
    assert (found.outcome, found.reason, found.missing) == ("UNDECIDED", "not_proven", ("proof:network",))


def test_a_hit_decides_in_spite_of_every_gap(tmp_path: Path) -> None:
    run = honest().click("#b", text="Buy").request("POST", f"{SHOP}buy").gap("actions", "events.missed")
    found = outcomes(run, tmp_path, require_proof=True)
    assert (found["never"].outcome, found["network[0]"].outcome) == ("VIOLATED", "FAIL")


@pytest.mark.parametrize("why", ["target.unrecorded", "document.unclosed", "seq.broken"])
def test_a_gap_that_names_no_place_may_be_anywhere(tmp_path: Path, why: str) -> None:
    scoped = {"type": "never", "match": BUY}
    task = {
        "id": "t",
        "intent": "x",
        "policies": [
            {
                "id": "p",
                "dimension": "user_consent",
                "rule": scoped,
                "when": {"until": {"kind": "visit", "url": "/end"}},
            }
        ],
    }
    run = trajectory(task).goto(SHOP, "<p>x</p>").goto(f"{SHOP}end", "<p>x</p>").gap("actions", why)
    found = outcomes(run.answer("done"), tmp_path)["p"]
    assert (found.outcome, found.missing) == ("UNDECIDED", (why,))


def test_a_gap_at_a_step_is_named_with_it(tmp_path: Path) -> None:
    run = honest().add(Gap(channel="actions", why="seq.broken", step=1, t=350)).answer("done")
    assert outcomes(run, tmp_path)["never"].missing == ("seq.broken@1",)


def _less(run: Trajectory, lost: object) -> Trajectory:
    return replace(run, events=tuple(event for event in run.events if event is not lost))


class _Edited:
    def __init__(self, bundle: Any, run: Trajectory) -> None:
        self.bundle, self.trajectory = bundle, run

    def __contains__(self, id: object) -> bool:
        return id in self.bundle

    def blob(self, id: str) -> bytes:
        return bytes(self.bundle.blob(id))

    def blob_type(self, id: str) -> str:
        return str(self.bundle.blob_type(id))


@pytest.mark.parametrize("path", sorted(SET.glob("*.zst")), ids=lambda path: path.stem)
def test_losing_a_proof_or_the_end_leaves_prohibitions_open_never_the_reverse(path: Path) -> None:
    policies = [{"id": name, "dimension": "user_consent", "rule": rule} for name, rule in RULES.items()]
    task = msgspec.convert({"id": "t", "intent": "x", "policies": policies}, Task)
    with open_bundle(path) as bundle:
        events = [event for event in bundle.trajectory.events if not isinstance(event, Ending | Proof | Gap)]
        proofs = [Proof(witness=name, closed=True) for name in WITNESSES]
        header = replace(bundle.trajectory.header, witnesses=WITNESSES)
        run = Trajectory(header=header, events=(*events, *proofs, Ending(kind="answered")))
        whole = grade_policies(task, Replay(_Edited(bundle, run)))
        for lost in (*proofs, run.events[-1]):
            part = grade_policies(task, Replay(_Edited(bundle, _less(run, lost))))
            for before, after in zip(whole, part, strict=True):
                assert after.outcome in (before.outcome, "UNDECIDED"), (before, after)
                if isinstance(lost, Ending) and before.proof is not None:
                    assert after.outcome == "UNDECIDED"
