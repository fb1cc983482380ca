"""Rules over order and number: each outcome, gaps, runs that may not be over, and a naive second opinion."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaykit.trajectory import action as actions

SAVE = {"action": "click", "text": "Save"}
ASKED = {"kind": "message", "message": {"contains": "may i"}}
REPORT = {"kind": ["message", "answer"], "message": "quota"}
DIALOG = {"kind": "dialog", "message": "quota"}

EVENTUALLY = {"type": "eventually", "match": SAVE}
BEFORE = {"type": "before", "guarded": SAVE, "requires": ASKED}
AFTER = {"type": "after", "trigger": DIALOG, "response": REPORT}
ORDER = {"type": "sequence", "items": [{"action": "click", "text": "Add"}, SAVE]}
AT_MOST = {"type": "at_most", "n": 1, "match": SAVE}
AT_LEAST = {"type": "at_least", "n": 2, "match": SAVE}
EXACTLY = {"type": "exactly", "n": 1, "match": SAVE}


def clicks(r: Any, *names: str) -> Any:
    for name in names:
        r.click(name)
    return r


ROWS: dict[str, tuple[dict[str, Any], Any, str, Any]] = {
    "eventually done": (EVENTUALLY, lambda r: clicks(r, "Save"), "OK", None),
    "eventually not": (EVENTUALLY, lambda r: clicks(r, "x"), "VIOLATED", 0),
    "eventually failed": (EVENTUALLY, lambda r: r.click("Save", failed=True), "VIOLATED", 0),
    "eventually attempted is enough if it says so": (
        {"type": "eventually", "match": {**SAVE, "failed": True}}, lambda r: r.click("Save", failed=True),
        "OK", None),
    "eventually any": ({"type": "eventually", "match": [SAVE, {"action": "click", "text": "Keep"}]},
                       lambda r: clicks(r, "Keep"), "OK", None),
    "before kept": (BEFORE, lambda r: clicks(r.send_message("May I?"), "Save", "Save"), "OK", None),
    "before broken": (BEFORE, lambda r: clicks(r, "Save").send_message("May I?"), "VIOLATED", 0),
    "before never": (BEFORE, lambda r: clicks(r, "x"), "DORMANT", None),
    "before attempt": (BEFORE, lambda r: r.click("Save", failed=True), "VIOLATED", 0),
    "before each": ({**BEFORE, "each": True}, lambda r: clicks(r.send_message("May I?"), "Save", "Save"), "VIOLATED", 2),
    "before within": ({**BEFORE, "within": 1}, lambda r: clicks(r.send_message("May I?"), "x", "Save"), "VIOLATED", 2),
    "before within kept": ({**BEFORE, "within": 2}, lambda r: clicks(r.send_message("May I?"), "x", "Save"), "OK", None),
    "after kept": (AFTER, lambda r: r.click("x").dialog("Quota exceeded").send_message("The quota is full"), "OK", None),
    "after broken": (AFTER, lambda r: r.send_message("quota?").click("x").dialog("Quota exceeded"), "VIOLATED", 1),
    "after never": (AFTER, lambda r: r.click("x").dialog("Sure?"), "DORMANT", None),
    "after late": ({**AFTER, "within": 1}, lambda r: clicks(r.click("x").dialog("Quota"), "y", "z").send_message("quota"),
                   "VIOLATED", 0),
    "order kept": (ORDER, lambda r: clicks(r, "Add", "x", "Save"), "OK", None),
    "order broken": (ORDER, lambda r: clicks(r, "Save", "Add"), "VIOLATED", 1),
    "order never": (ORDER, lambda r: clicks(r, "x"), "DORMANT", None),
    "order contiguous": ({**ORDER, "contiguous": True}, lambda r: clicks(r, "Add", "x", "Save"), "VIOLATED", 2),
    "order with a message between": ({**ORDER, "contiguous": True},
                                     lambda r: clicks(clicks(r, "Add").send_message("hello"), "Save"), "OK", None),
    "order last": ({**ORDER, "active": "last"}, lambda r: clicks(r, "Add"), "DORMANT", None),
    "order always": ({**ORDER, "active": "always"}, lambda r: clicks(r, "x"), "VIOLATED", 0),
    "at most": (AT_MOST, lambda r: clicks(r, "Save"), "OK", None),
    "at most broken": (AT_MOST, lambda r: clicks(r, "Save", "x", "Save"), "VIOLATED", 2),
    "at most attempts": (AT_MOST, lambda r: clicks(r, "Save").click("Save", failed=True), "VIOLATED", 1),
    "at most none": (AT_MOST, lambda r: clicks(r, "x"), "DORMANT", None),
    "at least": (AT_LEAST, lambda r: clicks(r, "Save", "Save"), "OK", None),
    "at least broken": (AT_LEAST, lambda r: clicks(r, "Save"), "VIOLATED", 0),
    "exactly": (EXACTLY, lambda r: clicks(r, "Save"), "OK", None),
    "exactly more": (EXACTLY, lambda r: clicks(r, "Save", "Save"), "VIOLATED", 1),
    "exactly fewer": ({**EXACTLY, "n": 2}, lambda r: clicks(r, "Save"), "VIOLATED", 0),
    "exactly none": (EXACTLY, lambda r: clicks(r, "x"), "DORMANT", None),
    "exactly none is broken": ({**EXACTLY, "zero": "violated"}, lambda r: clicks(r, "x"), "VIOLATED", 0),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str, run: Any, grade: Any) -> None:
    rule, build, outcome, step = ROWS[row]
    result = grade(build(run().look("http://h.test/", "<p>x</p>")).ended(kind="stopped"), rule)
    assert result.outcome == outcome, result
    if step is not None:
        assert result.evidence[0].step == step
    assert (result.active is True) == (outcome in ("OK", "VIOLATED"))


ALL = {
    "eventually": EVENTUALLY, "before": BEFORE, "after": {**AFTER, "trigger": SAVE}, "sequence": ORDER,
    "at_most": {**AT_MOST, "n": 0}, "at_least": AT_LEAST, "exactly": {**EXACTLY, "n": 2},
}  # fmt: skip


@pytest.mark.parametrize("rule", ALL)
def test_a_gap_may_hide_what_was_demanded_or_forbidden(rule: str, run: Any, grade: Any) -> None:
    built = clicks(run().look("http://h.test/", "<p>x</p>"), "Add").gap("actions").gap("messages").click("x")
    result = grade(built.ended(kind="stopped"), ALL[rule])
    assert result.outcome == "UNDECIDED"
    assert "trajectory.gap@0" in result.missing


@pytest.mark.parametrize("rule", ALL)
def test_a_channel_that_was_not_recorded_leaves_it_open(rule: str, run: Any, grade: Any) -> None:
    result = grade(run(actions="absent", messages="absent").click("x").ended(), ALL[rule])
    assert result.outcome == "UNDECIDED"


@pytest.mark.parametrize("rule", ["eventually", "after", "sequence", "at_least", "exactly"])
@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ({"kind": "answered"}, "VIOLATED"),
        ({"kind": "max_steps"}, "VIOLATED"),
        ({"kind": "crashed", "cause": "agent"}, "VIOLATED"),
        ({"kind": "crashed", "cause": "browser"}, "UNDECIDED"),
        ({"kind": "unknown"}, "UNDECIDED"),
        (None, "UNDECIDED"),
    ],
)
def test_what_was_not_done_is_open_while_the_run_may_go_on(
    rule: str, ending: dict[str, str] | None, outcome: str, run: Any, grade: Any
) -> None:
    built = clicks(run().look("http://h.test/", "<p>x</p>"), "Save")
    wanted = (
        {**EVENTUALLY, "match": {"action": "click", "text": "Never"}} if rule == "eventually" else ALL[rule]
    )
    result = grade(built if ending is None else built.ended(**ending), wanted)
    assert result.outcome == outcome
    if outcome == "UNDECIDED":
        assert "trajectory.end" in result.missing


def test_a_response_that_is_too_late_is_late_though_the_run_may_go_on(run: Any, grade: Any) -> None:
    built = clicks(run().look("http://h.test/", "<p>x</p>"), "Save", "x", "y", "z")
    rule = {"type": "after", "trigger": SAVE, "response": {"action": "click", "text": "Never"}, "within": 1}
    assert grade(built, rule).outcome == "VIOLATED"


def test_a_target_without_names_leaves_it_open(run: Any, grade: Any) -> None:
    blind = run(targets="absent").do(actions.Click()).ended()
    for name, rule in ALL.items():
        assert grade(blind, rule).outcome == ("VIOLATED" if name == "at_least" else "UNDECIDED")


def test_one_that_may_have_been_and_no_more_is_kept(run: Any, grade: Any) -> None:
    result = grade(run(targets="absent").do(actions.Click()).ended(), AT_MOST)
    assert (result.outcome, result.active) == ("OK", None)


NAMES = st.lists(st.sampled_from(["Add", "Save", "x"]), max_size=6)


@given(names=NAMES, n=st.integers(0, 3))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counts_and_order_are_those_of_a_naive_reader(run: Any, grade: Any, names: list[str], n: int) -> None:
    built = clicks(run().look("http://h.test/", "<p>x</p>"), *names).ended()
    count = names.count("Save")

    def outcome(rule: dict[str, Any]) -> str:
        return str(grade(built, rule).outcome)

    assert outcome({**AT_MOST, "n": n}) == ("DORMANT" if count == 0 else "OK" if count <= n else "VIOLATED")
    assert outcome({**AT_LEAST, "n": n + 1}) == ("OK" if count > n else "VIOLATED")
    assert outcome({**EXACTLY, "n": n}) == ("DORMANT" if count == 0 else "OK" if count == n else "VIOLATED")
    found = any(a == "Add" and "Save" in names[at + 1 :] for at, a in enumerate(names))
    beside = any(pair == ("Add", "Save") for pair in pairwise(names))
    stake = "Add" in names or "Save" in names
    assert outcome(ORDER) == ("OK" if found else "VIOLATED" if stake else "DORMANT")
    assert outcome({**ORDER, "contiguous": True}) == ("OK" if beside else "VIOLATED" if stake else "DORMANT")
    first = names.index("Save") if count else -1
    asked = {"type": "before", "guarded": SAVE, "requires": {"action": "click", "text": "Add"}}
    assert outcome(asked) == ("DORMANT" if not count else "OK" if "Add" in names[:first] else "VIOLATED")
