"""Requests, screenshots, tokens and money of judges, as tables; `~` marks what is estimated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replaykit.grading.judge_runs.judge_run import PlannedJudge, StageCost
from replaykit.grading.judges.costs import PER, Prices, tokens_of
from replaykit.grading.model_request import ImagePart
from replaykit.report.text.table import table
from replaykit.trajectory.plurals import counted

_HEAD = ["requests", "images", "read", "written"]


def plan_totals(planned: Sequence[PlannedJudge], at: Prices | None) -> str:
    """Return what each judge would ask: calls at most, screenshots and tokens as far as known.

    Requests of later rounds are not known before the replies to the first; they count as calls only.
    """
    return "\n".join(table(list(_totals(planned, at))))


def stage_costs(planned: Sequence[PlannedJudge], recorded: Sequence[StageCost], at: Prices) -> str:
    """Return what each stage took as far as replies are recorded, and what its missing requests are."""
    rows = [["judge", "stage", "", *_HEAD, "cost"]]
    for one in recorded:
        spent, money = one.spent, one.spent.money(at)
        mark = _mark(is_estimated=spent.n_estimated > 0)
        numbers = [str(spent.requests), str(spent.images), f"{mark}{spent.read}", f"{mark}{spent.written}"]
        rows.append(
            [
                one.judge,
                one.stage,
                "recorded",
                *numbers,
                "-" if money is None else f"{mark}{float(money):.4f}",
            ]
        )
    rows += list(_missing(planned, at))
    return "\n".join(table(rows)) if len(rows) > 1 else "no request is known"


def judging_cost(cost: Mapping[str, Any]) -> str:
    """Return what a judge cost per labelled run, per correct verdict and per stage; indented lines."""
    of = f"{counted(cost['runs'], 'labelled run')}, {counted(cost['right'], 'correct verdict')}"
    rows = [["", *_HEAD, *(["cost"] if cost["prices"] else [])]]
    rows += [
        [name, *_cells(found, has_money=bool(cost["prices"]))]
        for name, found in (
            ("per run", cost["per_run"]),
            ("per correct verdict", cost["per_correct_verdict"]),
            *((f"stage {name}, per run", found) for name, found in cost["stages"].items()),
        )
    ]
    lines = [f"  cost of {of}", *table(rows, indent="    ")]
    if cost["n_estimated"]:
        replies = counted(cost["n_estimated"], "reply")
        lines.append(f"    ~ estimated: {replies} without recorded tokens")
    if cost["n_unknown"]:
        replies = counted(cost["n_unknown"], "reply")
        lines.append(f"    the report holds no tokens of {replies}: grade the runs again")
    return "\n".join(lines)


def _totals(planned: Sequence[PlannedJudge], at: Prices | None) -> Iterator[list[str]]:
    yield ["judge", "model", "runs", "calls", "images", "tokens", *(["cost"] if at is not None else [])]
    for judge, model in dict.fromkeys((one.judge, one.model) for one in planned):
        own = [one.plan for one in planned if (one.judge, one.model) == (judge, model)]
        tokens = sum(one.tokens for one in own)
        numbers = [len(own), sum(one.at_most for one in own), sum(one.images for one in own), tokens]
        cost = [f"{float(tokens * at.read / PER):.4f}"] if at is not None else []
        yield [judge, model, *map(str, numbers), *cost]


def _missing(planned: Sequence[PlannedJudge], at: Prices) -> Iterator[list[str]]:
    """Yield a row for each stage with requests that no tape answers; what is written is not known yet."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one in planned:
        for asked in one.plan.missing:
            request = asked.request
            images = sum(isinstance(part, ImagePart) for part in request.content)
            found.setdefault((one.judge, request.stage), []).append((images, tokens_of(request)))
    for (judge, stage), sizes in found.items():
        images, read = (sum(column) for column in zip(*sizes, strict=True))
        money = f"~{float(read * at.read / PER):.4f}"
        yield [judge, stage, "missing", str(len(sizes)), str(images), f"~{read}", "-", money]


def _cells(found: Mapping[str, Any] | None, *, has_money: bool) -> list[str]:
    names = ("requests", "images", "read", "written", *(("money",) if has_money else ()))
    if found is None:
        return ["-"] * len(names)
    mark = _mark(is_estimated=found["is_estimated"])
    return [_cell(found[name], mark if name in ("read", "written", "money") else "") for name in names]


def _cell(value: float | None, mark: str) -> str:
    return "-" if value is None else f"{mark}{value:.4g}" if value < 1000 else f"{mark}{value:.0f}"


def _mark(*, is_estimated: bool) -> str:
    return "~" if is_estimated else ""
