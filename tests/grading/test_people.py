"""How well people agree: the published figures of AgentRewardBench, from its counts and from its own file.

The counts are those of the 106 runs with two annotators in `annotations.csv` of the package
`agent-reward-bench` 0.1.2 (arXiv 2504.08942); with the package installed, its file itself is read.
"""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.cli.main import run as run_cli
from replaykit.grading.agreement.agreement_rates import plain_kappa, weighted_kappa
from replaykit.grading.agreement.calibration import people
from replaykit.grading.agreement.labels import read_labels

SUCCESS = {
    ("Unsuccessful", "Unsuccessful"): 60,
    ("Successful", "Successful"): 33,
    ("Unsuccessful", "Successful"): 6,
    ("Successful", "Unsuccessful"): 6,
    ("Unsure", "Successful"): 1,
}
SIDE_EFFECT = {("No", "No"): 98, ("Yes", "Yes"): 4, ("No", "Yes"): 3, ("Yes", "No"): 1}

PUBLISHED = {"success": (105, 0.886, 0.755), "trajectory_side_effect": (106, 0.962, 0.647)}
"""Question to runs, agreement and kappa, as published; one success was `Unsure`."""


def spread(counts: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [pair for pair, n in counts.items() for _ in range(n)]


def annotations(path: Path) -> Path:
    """Write a file of the benchmark's layout with its counts."""
    head = "annotator_name,benchmark,task_id,model_name,trajectory_success,trajectory_side_effect"
    rows = [head]
    for number, (said, effects) in enumerate(zip(spread(SUCCESS), spread(SIDE_EFFECT), strict=True)):
        rows += [f"{who},b,{number},m,{said[one]},{effects[one]}" for one, who in enumerate(("A", " B"))]
    path.write_text("\n".join(rows))
    return path


def own_file() -> Path | None:
    """Return the benchmark's own file; the package is looked for, never loaded."""
    spec = importlib.util.find_spec("agent_reward_bench")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) / "data" / "annotations.csv" if folders else None


def figures(found: dict[str, Any]) -> dict[str, tuple[int, float, float]]:
    rows = {"success": found, **found["questions"]}
    return {
        name: (rows[name]["n"], round(rows[name]["accuracy"], 3), round(rows[name]["kappa"], 3))
        for name in PUBLISHED
    }


def test_the_published_agreement_of_people(tmp_path: Path, capfd: Any) -> None:
    file = annotations(tmp_path / "annotations.csv")
    found = people(read_labels(file))
    assert found is not None
    assert figures(found) == PUBLISHED
    run_cli(["agree", str(file), str(file)])
    said = capfd.readouterr().out
    assert "two people, 105 runs: accuracy 0.8857, kappa 0.7552\n" in said
    assert "  trajectory_side_effect, 106 runs: accuracy 0.9623, kappa 0.6473\n" in said


@pytest.mark.skipif(own_file() is None, reason="the package agent-reward-bench is not installed")
def test_the_published_agreement_from_the_benchmark_s_own_file() -> None:
    file = own_file()
    assert file is not None
    labels = read_labels(file)
    assert (len(labels.labels), len(labels.primary()), len(labels.pairs())) == (1408, 1302, 106)
    found = people(labels)
    assert found is not None
    assert figures(found) == PUBLISHED
    questions = found["questions"]
    assert (questions["trajectory_looping"]["n"], questions["trajectory_optimality"]["n"]) == (106, 105)
    assert questions["trajectory_looping"]["accuracy"] == 0.8962
    assert questions["trajectory_optimality"]["kappa"] > questions["trajectory_optimality"]["accuracy"]


def test_answers_in_order_are_weighted_and_others_are_not(tmp_path: Path) -> None:
    said = [("1. a", "2. b"), ("1. a", "1. a"), ("3. c", "3. c"), ("2. b", "2. b"), ("", "1. a")]
    lines = [
        json.dumps({"trajectory": str(n), "label": "success", "annotator": who, "others": {"q": pair[one]}})
        for n, pair in enumerate(said)
        for one, who in enumerate("AB")
    ]
    (tmp_path / "l.jsonl").write_text("\n".join(lines))
    found = people(read_labels(tmp_path / "l.jsonl"))
    assert found is not None
    table = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert found["questions"] == {
        "q": {"n": 4, "accuracy": 0.75, "kappa": round(float(weighted_kappa(table) or 0), 4)}
    }
    assert plain_kappa(table) == Fraction(7, 11)


def test_no_kappa_where_it_is_undefined() -> None:
    assert plain_kappa([]) is None
    assert plain_kappa([[0, 0], [0, 0]]) is None
    assert plain_kappa([[9, 0], [0, 0]]) is None


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_of_two_classes_both_kappas_are_one(cells: list[int]) -> None:
    table = [cells[:2], cells[2:]]
    assert plain_kappa(table) == weighted_kappa(table)


@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_is_at_most_1_and_does_not_know_who_is_first(table: list[list[int]]) -> None:
    found = plain_kappa(table)
    assert found is None or -1 <= found <= 1
    assert found == plain_kappa([list(column) for column in zip(*table, strict=True)])
