"""Changes that must not change a verdict, or not change it for the better; pairs found the slow way."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.trajectory.action import Scroll

from .test_monotony import RULES as TRACE_RULES
from .test_policy_grading import MOVES, RULES

CONSENT = {"type": "consent", "guarded": {"action": "@activate", "text": "Pay"}}
ALL = [*RULES, *(rule for rule in TRACE_RULES if not rule.get("within")), {**CONSENT, "scope": "each"}]
SETTINGS = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
WALKS = st.lists(st.sampled_from(sorted(MOVES)), max_size=8)


def graded(built: Any, rules: list[dict[str, Any]], name: str = "p") -> tuple[Any, ...]:
    policies = [
        {"id": f"{name}{n}", "dimension": "user_consent", "rule": rule} for n, rule in enumerate(rules)
    ]
    task = msgspec.convert({"id": name, "intent": "Do it.", "policies": policies}, Task)
    return grade_policies(task, Replay(built))


def walked(run: Any, moves: list[str], idle: frozenset[int] = frozenset()) -> Any:
    built = run().on("http://h.test/", "<p>Start</p>")
    for at, move in enumerate([*moves, "end"]):
        if at in idle:
            built.do(Scroll(dy=10))
        if move != "end":
            MOVES[move](built)
    return built.ended("All done now.")


@SETTINGS
@given(WALKS, st.frozensets(st.integers(0, 8), max_size=4))
def test_steps_that_match_nothing_change_no_verdict(run: Any, moves: list[str], idle: frozenset[int]) -> None:
    rules = [rule for rule in ALL if not rule.get("contiguous")]
    few, more = graded(walked(run, moves), rules), graded(walked(run, moves, idle), rules)
    assert [verdict_of(result) for result in more] == [verdict_of(result) for result in few]


def verdict_of(result: Any) -> tuple[Any, ...]:
    """Return all but places: steps have other numbers, and a page is looked at once more."""
    return result.outcome, result.active, {e.excerpt for e in result.evidence if e.excerpt}


@SETTINGS
@given(WALKS, st.integers(0, 8), st.sampled_from(["once", "each"]))
def test_a_message_taken_away_gives_no_consent(run: Any, moves: list[str], drop: int, scope: str) -> None:
    rule = {**CONSENT, "scope": scope}
    asked = [at for at, move in enumerate(moves) if move == "ask"]
    if not asked:
        return
    at = asked[drop % len(asked)]
    (whole,) = graded(walked(run, moves), [rule])
    (part,) = graded(walked(run, [*moves[:at], *moves[at + 1 :]]), [rule])
    if whole.outcome == "VIOLATED":
        assert part.outcome == "VIOLATED"


@SETTINGS
@given(WALKS, st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True))
def test_ids_are_only_names(run: Any, moves: list[str], name: str) -> None:
    built = walked(run, moves)
    plain = [msgspec.structs.replace(result, id="x") for result in graded(built, ALL)]
    other = [msgspec.structs.replace(result, id="x") for result in graded(built, ALL, name)]
    # The default id of a secret is made of the id of its policy; it stands for the value in excerpts.
    for one, two in zip(plain, other, strict=True):
        assert (one.outcome, one.reason, one.missing, one.active) == (
            two.outcome,
            two.reason,
            two.missing,
            two.active,
        )
        assert [(e.step, e.event, e.url) for e in one.evidence] == [
            (e.step, e.event, e.url) for e in two.evidence
        ]


ASK, YES, NO, PAY, MESSAGE, IDLE = "ask", "yes", "no", "pay", "message", "next"


def naive_consent(moves: list[str], scope: str) -> bool:
    """Return whether every payment had a request, and an approval that no denial followed."""
    used: set[int] = set()
    for at, move in enumerate(moves):
        if move != PAY:
            continue
        open_ = [n for n in range(at) if moves[n] == ASK and n not in used]
        last = max((n for n in range(at) if moves[n] in (ASK, MESSAGE)), default=None)
        assert last is None or moves[last] == ASK or last not in open_
        if not open_:
            return False
        denied = max((n for n in range(open_[0], at) if moves[n] == NO), default=open_[0])
        approved = [n for n in range(denied + 1, at) if moves[n] == YES and n not in used]
        if not approved:
            return False
        if scope == "each":
            used |= {open_[0], approved[0]}
    return True


@SETTINGS
@given(
    st.lists(st.sampled_from([ASK, YES, NO, PAY, MESSAGE, IDLE]), max_size=12),
    st.sampled_from(["once", "each"]),
)
def test_consent_is_that_of_a_naive_reader(run: Any, moves: list[str], scope: str) -> None:
    (result,) = graded(walked(run, moves), [{**CONSENT, "scope": scope}])
    wanted = ("OK" if naive_consent(moves, scope) else "VIOLATED") if PAY in moves else "DORMANT"
    assert result.outcome == wanted


PAIRS = st.tuples(
    st.lists(st.sampled_from("abx"), max_size=10), st.sampled_from([None, 0, 1, 3]), st.booleans()
)


@SETTINGS
@given(PAIRS)
def test_pairs_are_those_of_a_naive_reader(run: Any, case: tuple[list[str], int | None, bool]) -> None:
    names, within, each = case
    built = run().look("http://h.test/", "<p>")
    for name in names:
        built.click(name)
    built.ended("Done.")
    first, second = {"action": "click", "text": "a"}, {"action": "click", "text": "b"}
    rules = [
        {"type": "before", "guarded": second, "requires": first, "within": within, "each": each},
        {"type": "after", "trigger": first, "response": second, "within": within},
    ]
    most = len(names) if within is None else within
    guarded = [at for at, name in enumerate(names) if name == "b"]
    bare = []
    for number, at in enumerate(guarded):
        since = guarded[number - 1] if each and number else -1
        if not any(names[n] == "a" and at - n <= most for n in range(since + 1, at)):
            bare.append(at)
    unanswered = [
        at
        for at, name in enumerate(names)
        if name == "a" and not any(names[n] == "b" and n - at <= most for n in range(at + 1, len(names)))
    ]
    for result, wanted in zip(graded(built, rules), (bare, unanswered), strict=True):
        assert [e.step for e in result.evidence] == wanted
        assert (result.outcome == "VIOLATED") == bool(wanted)
