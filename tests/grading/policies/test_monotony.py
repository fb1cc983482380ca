"""Losing evidence may leave a policy undecided; it never turns broken into kept, nor kept into broken."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task

from .test_policy_grading import ALLOWED, LOSSES, MOVES
from .test_worked_examples import ask, element, html, order, record, task_of, url

PAY = {"action": "click", "text": "Pay"}
NEXT = {"action": "click", "text": "Next"}
REPORT = {"kind": ["message", "answer"], "message": "sorry"}
RULES: list[dict[str, Any]] = [
    {"type": "eventually", "match": PAY},
    {"type": "eventually", "match": {"kind": "visit", "url": "/b"}},
    {"type": "before", "guarded": PAY, "requires": {"kind": "message", "message": "may i"}},
    {"type": "before", "guarded": PAY, "requires": NEXT, "each": True, "within": 2},
    {"type": "after", "trigger": {"kind": "visit", "url": "/admin"}, "response": REPORT, "within": 1},
    {"type": "after", "trigger": PAY, "response": REPORT},
    {"type": "sequence", "items": [NEXT, PAY]},
    {"type": "sequence", "items": [NEXT, PAY], "contiguous": True, "active": "always"},
    {"type": "at_most", "n": 1, "match": PAY},
    {"type": "at_least", "n": 2, "match": [PAY, NEXT]},
    {"type": "exactly", "n": 1, "match": PAY},
    {"type": "reports_error", "within": 1},
    {"type": "page_state", "locator": "//p", "expect": {"contains": "admin"}, "forbid": True, "at": "every"},
    {"type": "page_state", "expect": {"contains": "start"}},
]
RECORDS = [
    url("/admin"), url("/b", check_absence=False), ask("Pay"), ask("sorry", "missing_params"),
    element("Pay", "click"), order(), html("//p", not_empty=""), record("popup_error", "x", "Sorry"),
    record("is_sensitive_data", sensitive_data="sesame42"), record("is_input_hallucination", only_fill=["lisboa"]),
    record("is_action_count", action_type="click", global_count=1),
    record("is_action_count", action_type="click", global_count_less_than=2),
]  # fmt: skip


def unseen(event: Any) -> Any:
    """Return an event without its screenshots of pages."""
    if type(event).__name__ == "Observation":
        return msgspec.structs.replace(event, snapshot=None)
    if type(event).__name__ == "Step" and event.before is not None:
        return msgspec.structs.replace(event, before=msgspec.structs.replace(event.before, snapshot=None))
    return event


def walked(run: Any, moves: list[str], ending: str) -> Any:
    built = run().on("http://h.test/", "<p>Start</p>")
    for move in moves:
        MOVES[move](built)
    built.events.append(msgspec.structs.replace(built.now, role="final", of=None))
    return built.ended("All done now.", kind=ending)


def less(built: Any, lost: str) -> Any:
    if lost == "snapshots":
        built.events = [unseen(event) for event in built.events]
    else:
        built.events = [event for event in built.events if LOSSES[lost](event)]
    built.channels[lost] = "absent"
    return built


CASES = (
    st.lists(st.sampled_from(sorted(MOVES)), max_size=6),
    st.sampled_from([*sorted(LOSSES), "snapshots"]),
)
SETTINGS = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)


def check(whole: Any, part: Any) -> None:
    for before, after in zip(whole, part, strict=True):
        if before.outcome in ("VIOLATED", "OK", "DORMANT"):
            assert after.outcome in ALLOWED[before.outcome], (before, after)
        if (before.outcome, after.outcome) == ("DORMANT", "OK"):
            assert after.active is None


@SETTINGS
@given(*CASES, st.sampled_from(["answered", "unknown"]))
def test_strict_rules(run: Any, moves: list[str], lost: str, ending: str) -> None:
    policies = [{"id": f"p{n}", "dimension": "user_consent", "rule": rule} for n, rule in enumerate(RULES)]
    task = msgspec.convert({"id": "t", "intent": "Do it.", "policies": policies}, Task)
    built = walked(run, moves, ending)
    whole = grade_policies(task, Replay(built))
    check(whole, grade_policies(task, Replay(less(built, lost))))


@SETTINGS
@given(*CASES)
def test_peer_records_in_both_modes(run: Any, moves: list[str], lost: str) -> None:
    tasks = [task_of(policy) for policy in RECORDS]
    for mode in ("strict", "compat"):
        built = walked(run, moves, "answered")
        whole = [result for task in tasks for result in grade_policies(task, Replay(built), mode)]
        replay = Replay(less(built, lost))
        check(whole, [result for task in tasks for result in grade_policies(task, replay, mode)])
