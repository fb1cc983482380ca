from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.checks.check_grading import complete, grade_checks
from replaykit.grading.verdict import CheckResult, Item, Outcome
from replaykit.replay.player import Replay
from replaykit.tasks.benchmarks.webarena import read_webarena
from replaykit.tasks.task import decode_task, fill_task
from replaykit.testing.builder import Builder

S = "http://s.test"
Run = Callable[..., Builder]


def test_a_webarena_task_over_a_bundle_file(run: Run, tmp_path: Path) -> None:
    record: dict[str, Any] = {
        "task_id": 3,
        "intent": "Put one cup into the cart",
        "start_url": "__SHOP__",
        "sites": ["shop"],
        "eval": {
            "eval_types": ["string_match", "url_match", "program_html"],
            "reference_answers": {"must_include": ["1 cup"]},
            "reference_url": "__SHOP__/cart",
            "url_note": "GOLD in PRED",
            "program_html": [
                {
                    "url": "last",
                    "locator": "document.querySelector('[name=\"qty\"').value",
                    "required_contents": {"exact_match": "1"},
                },
                {"url": "__SHOP__/stock", "locator": "", "required_contents": {"must_include": ["9 left"]}},
            ],
        },
    }
    path = tmp_path / "run.zst"
    built = run().goto(f"{S}/cart", "<input name=qty value=1>").answer("There is 1 cup in it.")
    built.probe(f"{S}/stock", "<p>9 left</p>").write(path)
    (task,) = read_webarena([record], "tasks.json")
    with open_bundle(path) as bundle:
        replay = Replay(bundle)
        for mode in ("strict", "compat"):
            results = grade_checks(fill_task(task, bundle.header.sites), replay, mode)
            assert [result.outcome for result in results] == [Outcome.PASS] * 3
            assert {(result.dialect, result.mode) for result in results} == {("webarena@f62e0b9", mode)}
            assert [result.id for result in results] == ["string_match[0]", "url_match[1]", "program_html[2]"]


@pytest.mark.parametrize(
    ("dialect", "mode", "named"),
    [
        ("native", "strict", "native"),
        ("native", "compat", "webarena@f62e0b9"),
        ("webarena", "strict", "webarena@f62e0b9"),
    ],
)
def test_every_result_names_whose_rules_it_follows(
    grade: Callable[..., CheckResult], run: Run, dialect: str, mode: str, named: str
) -> None:
    result = grade(run().answer("x"), {"type": "string_match", "exact": "x"}, mode, dialect=dialect)
    assert result.dialect == named


def test_a_check_may_override_the_mode(replay: Callable[[Builder], Replay], run: Run) -> None:
    checks = [
        {"type": "string_match", "must_include": "cat"},
        {"type": "string_match", "must_include": "cat"},
    ]
    checks[0]["mode"] = "compat"
    task = decode_task({"id": "t", "intent": "i", "checks": checks})
    results = grade_checks(task, replay(run().answer("catalogue")), "strict")
    assert [(result.mode, result.outcome) for result in results] == [("compat", "PASS"), ("strict", "FAIL")]


def test_a_task_without_checks_has_no_completion(replay: Callable[[Builder], Replay], run: Run) -> None:
    task = decode_task({"id": "t", "intent": "i"})
    assert grade_checks(task, replay(run().answer("x")), "strict") == ()
    assert complete((), "strict") is None


def test_the_peers_browser_stays_where_a_check_left_it(replay: Callable[[Builder], Replay], run: Run) -> None:
    checks = [
        {"type": "program_html", "targets": [{"url": f"{S}/b", "must_include": ["bee"]}]},
        {"type": "url_match", "url": f"{S}/b"},
    ]
    task = decode_task({"id": "t", "intent": "i", "checks": checks})
    ended = replay(run().goto(f"{S}/a", "").answer("x").probe(f"{S}/b", "<p>bee</p>"))
    assert [result.outcome for result in grade_checks(task, ended, "compat")] == ["PASS", "PASS"]
    assert [result.outcome for result in grade_checks(task, ended, "strict")] == ["PASS", "FAIL"]


def result(kind: str, **items: Outcome) -> CheckResult:
    outcome = max(items.values(), key=["PASS", "UNDECIDED", "ERROR", "FAIL"].index)
    return CheckResult(
        id="c",
        type=kind,
        dialect="native",
        mode="strict",
        outcome=outcome,
        score=float(outcome == "PASS"),
        items=tuple(Item(id=name.replace("_", "."), outcome=o, rule="r") for name, o in items.items()),
    )


PASS, FAIL, UNDECIDED, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDED, Outcome.ERROR


@pytest.mark.parametrize(
    ("results", "mode", "outcome", "any_met", "fraction"),
    [
        ([result("string_match", exact=PASS)], "strict", PASS, True, 1.0),
        ([result("string_match", a=PASS, b=FAIL, c=UNDECIDED)], "strict", FAIL, True, 1 / 3),
        ([result("string_match", a=FAIL)], "strict", FAIL, False, 0.0),
        ([result("url_match", url=PASS), result("string_match", a=FAIL)], "strict", FAIL, True, 0.5),
        ([result("url_match", url=PASS), result("string_match", a=FAIL)], "compat", FAIL, False, 0.0),
        ([result("url_match", url=PASS)], "compat", PASS, True, 1.0),
        (
            [result("program_html", target_0_a=PASS, target_0_b=FAIL, target_1_a=PASS)],
            "strict",
            FAIL,
            True,
            0.5,
        ),
        ([result("string_match", a=FAIL), result("string_match", a=ERROR)], "strict", FAIL, False, 0.0),
        ([result("string_match", a=FAIL), result("string_match", a=ERROR)], "compat", ERROR, False, 0.0),
    ],
)
def test_completion(
    results: list[CheckResult], mode: Any, outcome: Outcome, any_met: bool, fraction: float
) -> None:
    found = complete(results, mode)
    assert found is not None
    assert (found.outcome, found.partial_any, found.partial_fraction) == (outcome, any_met, fraction)
    assert found.score == float(outcome is PASS)
