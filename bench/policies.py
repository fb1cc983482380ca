"""1,000 policies over one run of 60 steps, and how the cost grows with the length of a run.

Run: .venv/bin/python -m bench.policies [--seconds 2]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.figures.figure import Figure, cpu, least
from bench.figures.reporting import main
from bench.grade import as_one_json, each
from replaykit.bundle.reader import open_bundle
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task, decode_task
from replaykit.testing import trajectory

STEPS, POLICIES = 60, 1000
GOAL = 100
"""ms that 1,000 policies may take over 60 steps."""

LONG = 1000
"""Steps of the run over which growth is measured, and then twice as many."""

_WORDS = (
    "Refund",
    "Delete",
    "Publish",
    "Archive",
    "Invite",
    "Export",
    "Transfer",
    "Approve",
    "Merge",
    "Close",
)


def written(steps: int, path: Path) -> str:
    """Write a run that fills, clicks, asks and goes on to the next page, over and over; return its place."""
    run = trajectory({"id": "t", "intent": "Tidy up."})
    for step in range(steps // 3):
        rows = "".join(f"<li><button id=b{n}>Row {n}</button></li>" for n in range(20))
        run.goto(f"http://desk.test/items/{step}", f"<h1>Items {step}</h1><input id=q>{rows}")
        run.fill("#q", f"note {step}", tag="input").say(f"Shall I refund item {step}?").reply(
            "yes", approved=True
        )
        run.click("#b1", text=f"{_WORDS[step % len(_WORDS)]} item {step}", tag="button")
    return str(run.answer("All done.").write(path))


def task(policies: int = POLICIES) -> Task:
    """Return a task with every kind of rule, no two alike."""
    rows = [
        {"id": f"p{n}", "dimension": "strict_execution", "rule": _RULES[n % len(_RULES)](n)}
        for n in range(policies)
    ]
    return decode_task({"id": "t", "intent": "Tidy up.", "policies": rows})


def _click(n: int) -> dict[str, Any]:
    return {"action": "@activate", "text": f"{_WORDS[n // 14 % len(_WORDS)]} item {n % 25}"}


_RULES: tuple[Callable[[int], dict[str, Any]], ...] = (
    lambda n: {"type": "never", "match": _click(n)},
    lambda n: {"type": "never", "match": {"action": "click", "selector": f"#b{n} button"}},
    lambda n: {"type": "url_boundary", "deny": [f"/admin/{n}", f"view=Payroll{n}"], "allow": ["desk.test"]},
    lambda n: {"type": "consent", "guarded": _click(n), "about": ["refund"]},
    lambda n: {"type": "only_fill", "allowed": [f"note {k}" for k in range(30)]},
    lambda n: {"type": "no_leak", "secrets": [f"QX-{n:05}"]},
    lambda n: {"type": "reports_error", "within": n % 5},
    lambda n: {"type": "eventually", "match": {"kind": "visit", "url": f"/items/{n}"}},
    lambda n: {"type": "before", "guarded": _click(n), "requires": {"kind": "message", "message": "refund"}},
    lambda n: {"type": "after", "trigger": _click(n), "response": {"kind": "answer", "message": "done"}},
    lambda n: {"type": "sequence", "items": [{"action": "fill", "value": f"note {n % 20}"}, _click(n)]},
    lambda n: {"type": "at_most", "n": 1, "match": _click(n)},
    lambda n: {"type": "exactly", "n": 1, "match": _click(n), "zero": "violated"},
    lambda n: {
        "type": "page_state",
        "locator": f"#b{n % 20}",
        "property": "text",
        "expect": {"equals": f"Row {n}"},
    },
)

_NEVER_MET: tuple[dict[str, Any], ...] = (
    {"type": "before", "guarded": {"action": "click"}, "requires": {"action": "fill"}, "within": 0},
    {"type": "after", "trigger": {"action": "click"}, "response": {"action": "fill"}, "within": 0},
    {"type": "consent", "guarded": {"action": "click"}, "about": ["payroll"], "scope": "each"},
    {
        "type": "sequence",
        "items": [{"action": "fill"}, {"action": "fill"}, {"action": "hover"}],
        "contiguous": True,
    },
)
"""Rules that hold every event against every other, if they are written carelessly."""


def pairs() -> Task:
    """Return a task of the rules that look for pairs."""
    rows = [
        {"id": f"p{n}", "dimension": "strict_execution", "rule": rule} for n, rule in enumerate(_NEVER_MET)
    ]
    return decode_task({"id": "t", "intent": "Tidy up.", "policies": rows})


def grading(asked: Task) -> Callable[[str], object]:
    """Return the work of opening a bundle and grading these policies only."""

    def work(source: str) -> object:
        with open_bundle(source) as bundle:
            return grade_policies(asked, Replay(bundle))

    return work


def figures(folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure."""
    run, longer = (written(STEPS * n, folder / f"{n}.zst") for n in (1, 2))
    text, work = as_one_json(run), grading(task())
    found, double, few, read = cpu(
        each([run], work),
        each([longer], work),
        each([run], grading(task(POLICIES // 10))),
        lambda: msgspec.json.decode(text),
        seconds=seconds,
    )
    yield least(f"{POLICIES:,} policies, {STEPS} steps", found, 1000, "ms", GOAL, "loading one JSON", read)
    yield least("the same, twice the steps", double, 1000, "ms", None, "the steps once", found, 2.5)
    yield least("the same, a tenth of the policies", few, 1000, "ms", None, "all of them", found, 0.5)
    run, longer = (written(LONG * n, folder / f"{n}-long.zst") for n in (1, 2))
    once, twice = cpu(each([run], grading(pairs())), each([longer], grading(pairs())), seconds=seconds)
    name = f"rules over pairs, {2 * LONG:,} steps"
    yield least(name, twice, 1000, "ms", None, f"{LONG:,} steps", once, 2.6)


if __name__ == "__main__":
    sys.exit(main("policies", __doc__, figures))
