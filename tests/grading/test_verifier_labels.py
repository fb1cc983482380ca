"""CUAVerifierBench's tables as published: ties, three annotators, both rules, what is refused. Rows are synthetic."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run as run_cli
from replaykit.errors import LabelError
from replaykit.grading.agreement.calibration import agree, people
from replaykit.grading.agreement.labels import read_labels

PUBLISHED = Path(__file__).parents[1] / "interop" / "cuaverifierbench"
VOTES = {"a": "CC", "b": "CI", "c": "CIC", "d": "I", "e": "II"}
"""Five runs: one tie, one with three annotators. C = Correct, I = Incorrect."""


def rows() -> list[dict[str, Any]]:
    words = {"C": "Correct", "I": "Incorrect"}
    return [
        {
            "task_id": task,
            "annotator": f"Judge{place}",
            "human_judgement_outcome": words[vote],
            "informed_outcome_agreement": "Correct" if vote == "I" else "Incorrect",
        }
        for task, votes in VOTES.items()
        for place, vote in enumerate(votes, 1)
    ]


def write(path: Path, given: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return path


def parquet(path: Path, given: Sequence[dict[str, Any]]) -> Path:
    pa = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(list(given)), path)
    return path


def said(path: Path, rule: Any = None) -> dict[str, str]:
    return {run: label.label for run, label in read_labels(path, rule=rule).primary().items()}


EXPECTED = {"a": "success", "b": "unsure", "c": "success", "d": "failure", "e": "failure"}


def test_a_strict_majority_of_the_blind_judgements_and_a_tie_is_unsure(tmp_path: Path) -> None:
    assert said(write(tmp_path / "a.jsonl", rows())) == EXPECTED
    assert said(parquet(tmp_path / "a.parquet", rows())) == EXPECTED
    (tmp_path / "a.json").write_text(json.dumps(rows()))
    assert said(tmp_path / "a.json", "majority") == EXPECTED


def test_two_people_are_compared_without_the_majority(tmp_path: Path) -> None:
    found = people(read_labels(write(tmp_path / "a.jsonl", rows())))
    assert found is not None
    assert (found["n"], found["accuracy"]) == (4, 0.5)  # a and e agree, b and c do not


def test_the_adjudicated_label_is_the_final_column(tmp_path: Path) -> None:
    finals = [
        {"task_id": task, "final_human_outcome_label": value}
        for task, value in zip("abcd", (1, 0, None, 0.0), strict=True)
    ]
    expected = {"a": "success", "b": "failure", "d": "failure"}
    assert said(write(tmp_path / "t.jsonl", finals), "adjudicated") == expected
    assert said(parquet(tmp_path / "t.parquet", finals), "adjudicated") == expected


def test_the_tables_of_the_published_layout() -> None:
    pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    name = "internal-00000-of-00001.parquet"
    assert said(PUBLISHED / "annotations" / name) == {"shop--1": "success"}
    finals = said(PUBLISHED / "trajectories" / name, "adjudicated")
    assert finals == {"shop--1": "success", "empty--2": "success"}


@pytest.mark.parametrize(
    ("given", "rule", "message"),
    [
        (
            [{"task_id": "a", "final_human_outcome_label": 1}],
            None,
            "majority needs the column human_judgement_outcome",
        ),
        (
            [{"task_id": "a", "human_judgement_outcome": "Correct"}],
            "adjudicated",
            "which the table trajectories has",
        ),
        (
            [{"task_id": "a", "human_judgement_outcome": "Maybe"}],
            None,
            "row 1: human_judgement_outcome 'Maybe'",
        ),
        ([{"task_id": "", "human_judgement_outcome": "Correct"}], None, "row 1: it names no task_id"),
        (
            [{"task_id": "a", "final_human_outcome_label": 1}] * 2,
            "adjudicated",
            "task 'a' stands there 2 times",
        ),
        ([{"trajectory": "f" * 64, "label": "success"}], "majority", "needs a table of CUAVerifierBench"),
    ],
)
def test_what_is_no_such_table_is_refused(
    given: list[dict[str, Any]], rule: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(LabelError, match=message):
        read_labels(write(tmp_path / "a.jsonl", given), rule=rule)


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    data = parquet(tmp_path / "a.parquet", rows()).read_bytes()
    for cut in (5, len(data) // 2, len(data) - 9):
        (tmp_path / "cut.parquet").write_bytes(data[:cut])
        with pytest.raises(LabelError, match="no Parquet file that can be read"):
            read_labels(tmp_path / "cut.parquet")


def test_labels_are_compared_by_task_and_the_rule_is_named(tmp_path: Path, capfd: Any) -> None:
    labels = write(tmp_path / "a.jsonl", rows())
    lines = [{"task_id": task, "predicted_label": 1} for task in VOTES]
    other = write(tmp_path / "other.jsonl", lines)
    found = agree(labels, other)
    assert found["labels"]["rule"] == "majority"
    (grader,) = found["graders"]
    assert grader["decided"]["matrix"] == {"tp": 2, "fp": 2, "fn": 0, "tn": 0}
    assert grader["excluded"] == {"label unsure": 1}
    assert run_cli(["agree", str(labels), str(other), "--label-rule", "majority"]) == 0
    assert "2 success, 2 failure, 1 unsure" in capfd.readouterr().out
    assert run_cli(["agree", str(labels), str(other), "--label-rule", "adjudicated"]) in (2, 3)
