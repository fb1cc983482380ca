"""Cost of a judge on the labelled runs: per run, per stage, and per verdict that people call right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from replaykit.grading.agreement.agreement_rates import rounded
from replaykit.grading.agreement.graders import FAILURE, SUCCESS, Grader
from replaykit.grading.agreement.labels import Label
from replaykit.grading.judges.costs import Prices, Spent, spent_on, together

Stage = Mapping[str, Any]
"""One reply of a judgement, as the report keeps it."""


def judging_costs(truth: Mapping[str, Label], grader: Grader, at: Prices | None = None) -> dict[str, Any]:
    """Return what the labelled runs of a judge took, by the replies that its report names.

    A reply that votes, runs or members of a panel share counts once, as it is billed. Runs that the judge
    could not be asked about are left out. `money` is null without prices, or where tokens are unknown.
    """
    labelled = {run: one.label for run, one in truth.items() if one.label in (SUCCESS, FAILURE)}
    runs = [run for run in labelled if run in grader.stages]
    right = sum(grader.answer[run] == labelled[run] for run in runs)
    given = [grader.stages[run] for run in runs]
    by_stage: dict[str, list[Spent]] = {_name(stage): [] for stages in given for stage in stages}
    for stage in _billed(given):
        by_stage[_name(stage)].append(spent_on(stage))
    total = together(one for listed in by_stage.values() for one in listed)
    return {
        "runs": len(runs),
        "right": right,
        "prices": None if at is None else {"read": float(at.read), "written": float(at.written)},
        "n_estimated": total.n_estimated,
        "n_unknown": total.n_unknown,
        "total": _each(total, 1, at),
        "per_run": _each(total, len(runs), at),
        "per_correct_verdict": _each(total, right, at),
        "stages": {name: _each(together(listed), len(runs), at) for name, listed in by_stage.items()},
    }


def _each(spent: Spent, n: int, at: Prices | None) -> dict[str, Any] | None:
    """Return what one of `n` takes; None of nothing."""
    if not n:
        return None
    money = spent.money(at)
    counts = {"requests": spent.requests, "images": spent.images}
    tokens = {"read": spent.read, "written": spent.written}
    return {
        **{name: rounded(Fraction(count, n)) for name, count in counts.items()},
        **{name: None if spent.n_unknown else rounded(Fraction(count, n)) for name, count in tokens.items()},
        "money": None if money is None else round(float(money / n), 6),
        "is_estimated": bool(spent.n_estimated),
    }


def _billed(runs: Sequence[Sequence[Stage]]) -> Iterator[Stage]:
    """Yield each reply once: those that hold nothing of a run are shared by all runs and votes.

    Of a shared one, the copies of other runs have no tokens: the one that was billed stands for all.
    """
    shared: dict[str, Stage] = {}
    for stages in runs:
        for (key, _), replies in _of_run(stages).items():
            if not _is(replies[0], "is_shared"):
                yield from replies
            elif key not in shared or _is(shared[key], "is_estimated"):
                shared[key] = replies[0]
    yield from shared.values()


def _of_run(stages: Sequence[Stage]) -> dict[tuple[str, int], list[Stage]]:
    """Return the replies of a run by request and vote: members of a panel share those to equal requests."""
    found: dict[tuple[str, int], list[Stage]] = {}
    by_member: dict[str, dict[tuple[str, int], list[Stage]]] = {}
    for at, stage in enumerate(stages):
        own = by_member.setdefault(str(stage.get("member", "")), {})
        sample = stage.get("sample")
        key = str(stage.get("request_key") or f"unnamed {at}"), sample if isinstance(sample, int) else 0
        own.setdefault(key, []).append(stage)
    for own in by_member.values():
        for key, replies in own.items():
            if len(replies) > len(found.get(key, ())):
                found[key] = replies
    return found


def _is(stage: Stage, mark: str) -> bool:
    usage = stage.get("usage")
    return isinstance(usage, Mapping) and usage.get(mark) is True


def _name(stage: Stage) -> str:
    parts = (str(stage[name]) for name in ("member", "stage") if stage.get(name))
    return " ".join(parts)
