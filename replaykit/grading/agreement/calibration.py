"""Agreement of judges and checks with people: verdicts and labels joined by run, counted, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from replaykit.errors import LabelError
from replaykit.grading.agreement.agreement_rates import (
    Cluster,
    Matrix,
    accuracy,
    added,
    bootstrap,
    corrected,
    difference_p,
    f1,
    kappa,
    matrix_report,
    plain_kappa,
    precision,
    recall,
    rounded,
    share,
)
from replaykit.grading.agreement.calibration_gate import SCHEMA as CALIBRATION
from replaykit.grading.agreement.graders import FAILURE, SUCCESS, Grader, graders_of
from replaykit.grading.agreement.judging_costs import judging_costs
from replaykit.grading.agreement.labels import Label, Labels, read_labels
from replaykit.grading.agreement.question_graders import answerers_of, asked
from replaykit.grading.agreement.threshold_choice import Aims, LabelledShare, chosen
from replaykit.grading.agreement.verifier_labels import LabelRule
from replaykit.grading.judges.costs import Prices, read_prices
from replaykit.grading.statistics import weighted_kappa

SCHEMA = "replaykit.agreement/1"
"""Name and version of the layout of an agreement."""


def agree(
    labels: str | Path,
    other: str | Path,
    *,
    agent: str | None = None,
    rule: LabelRule | None = None,
    aims: Aims | None = None,
    question: str | None = None,
    prices: str | None = None,
) -> dict[str, Any]:
    """Compare labels with the judges and checks of a report, or with other labels.

    `labels`, `other`: files of labels, or a report. `agent`: whose column to read from a file that labels the
    runs of several agents. `rule`: how several judgements of one run become one label, see `read_labels`.
    `aims`: greatest `fpr` and `fnr`, for which thresholds are chosen, see `threshold_choice`. `question`:
    compare the answers to this question of the labels, see `question_graders`; yes is positive. `prices`:
    money for a million tokens read and written, such as `3/15`, for what each judge cost.

    Only `success` and `failure` are compared. All other labels are counted by reason. Labels that name tasks
    but no digests are joined by task. Returns plain values. Raises LabelError, also if a report has two
    different verdicts of one run, and TaskError for a report of another version.

    Example:
        found = replaykit.agree("labels.jsonl", "report.json")
        print(found["graders"])
    """
    at = read_prices(prices) if prices is not None else None
    truth = read_labels(labels, agent, rule)
    if agent is not None and not truth.agents:
        reason = f"it does not say whose runs it labels, so that --agent {agent} chooses none: leave it out"
        raise LabelError(source=truth.name, line=0, reason=reason)
    if question is not None:
        question, truth = asked(truth, question)
    graders = graders_of(other, agent) if question is None else answerers_of(other, question)
    runs = {run: one.tasks.get(run, run) for one in graders for run in one.answer}
    truth = truth.of_runs(runs)
    compared = [
        {**_compared(truth, one, runs), **_thresholds(truth, one, aims), **_costs(truth, one, at)}
        for one in graders
    ]
    if question is not None:
        compared = [_of_answers(row) for row in compared]
    return {
        "schema": SCHEMA,
        **({"question": question} if question is not None else {}),
        "labels": {
            "name": truth.name,
            "digest": truth.digest,
            "counts": _counts(truth, question),
            "agents": list(truth.agents),
            "rule": truth.rule,
            "replaced": truth.n_replaced,
            "unanswered": truth.n_unanswered,
            **_unmatched(truth, runs),
        },
        "people": people(truth),
        "graders": compared,
        "pairs": [_pair(truth, a, b) for a, b in combinations(graders, 2) if not _depend(a, b)],
    }


def _unmatched(truth: Labels, runs: Mapping[str, str]) -> dict[str, Any]:
    """Return how many labelled runs the other file does not have, with some of their names.

    `of_several`: those that name a task of which it has several runs.
    """
    names = [run for run in truth.primary() if run not in runs]
    tasks = set(runs.values())
    several = [name for name in names if name in tasks]
    return {"unmatched": len(names), "of_several": len(several), "such_as": names[:NAMES_MAX]}


NAMES_MAX = 3
"""Labelled runs without a partner that are named."""


_ANSWERS = {SUCCESS: "yes", FAILURE: "no"}


def _of_answers(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison in the words of a question."""
    words = {f"always {verdict.upper()}": f"always {answer}" for verdict, answer in _ANSWERS.items()}
    return {**row, "baselines": {words[name]: found for name, found in row["baselines"].items()}}


def _counts(labels: Labels, question: str | None) -> dict[str, int]:
    words = {} if question is None else _ANSWERS
    return {words.get(name, name): n for name, n in labels.counts().items()}


def people(labels: Labels) -> dict[str, Any] | None:
    """Return how well the first two annotators of doubly labelled runs agree; None where no run is.

    `questions`: the same of every further question of the file, over the pairs that both answer; where all
    answers begin with a digit they are in order, and kappa has quadratic weights.
    """
    pairs = [pair for pair in labels.pairs() if all(label.label in (SUCCESS, FAILURE) for label in pair)]
    if not pairs:
        return None
    first = {label.trajectory: label for label, _ in pairs}
    clusters = _clusters(first, {second.trajectory: second.label for _, second in pairs}, {})
    m = added(list(clusters.values())).matrix
    found = {"n": m.n, "accuracy": rounded(accuracy(m)), "kappa": rounded(kappa(m))}
    return {**found, "questions": _questions(labels.pairs())}


def calibration(agreed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a gate needs to know: how well which fingerprints agreed with which labels.

    The bounds are those of `fail_closed`: a judge that abstains where people see a success is wrong there.
    """
    judges = [row for row in agreed["graders"] if row["fingerprint"]]
    return {
        "schema": CALIBRATION,
        "labels": agreed["labels"]["digest"],
        "rule": agreed["labels"]["rule"],
        "judges": {row["fingerprint"]: _measured(row) for row in judges},
    }


def _measured(row: Mapping[str, Any]) -> dict[str, Any]:
    closed = row["fail_closed"]
    m, interval = closed["matrix"], closed["kappa"]["ci95"]
    return {
        "name": row["name"],
        "n": closed["n"],
        "n_pos": m["tp"] + m["fn"],
        "n_neg": m["fp"] + m["tn"],
        "tasks": row["tasks"],
        "kappa_low": interval[0] if interval else None,
        "fpr_high": closed["fpr"]["high95"],
        "origins": row["origins"],
        "rubrics": row["rubrics"],
        "agents": row["agents"],
        "sites": row["sites"],
        "decided": row["decided"]["matrix"],
        "fail_closed": m,
        **{name: row[name] for name in ("cost", "thresholds") if name in row},
    }


def _questions(pairs: Sequence[tuple[Label, Label]]) -> dict[str, Any]:
    asked = sorted({name for pair in pairs for label in pair for name in label.others})
    found = {name: [(a.others.get(name, ""), b.others.get(name, "")) for a, b in pairs] for name in asked}
    return {name: _agreed(answer) for name, answer in found.items()}


def _agreed(answers: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return how often two people give the same answer; pairs without two valid answers are left out."""
    clear = [pair for pair in answers if not _UNCLEAR & {answer.strip().lower() for answer in pair}]
    count = Counter(clear)
    classes = sorted({answer for pair in clear for answer in pair})
    table = [[count[first, second] for second in classes] for first in classes]
    in_order = all(answer[:1].isdecimal() for answer in classes)
    agreed = (weighted_kappa if in_order else plain_kappa)(table)
    same = sum(count[answer, answer] for answer in classes)
    return {"n": len(clear), "accuracy": rounded(share(same, len(clear))), "kappa": rounded(agreed)}


_UNCLEAR = {"", "unsure"}


def _compared(labels: Labels, grader: Grader, runs: Mapping[str, str]) -> dict[str, Any]:
    truth = labels.primary()
    decided = _clusters(truth, grader.answer, grader.tasks)
    closed = {
        run: answer if answer in (SUCCESS, FAILURE) else FAILURE for run, answer in grader.answer.items()
    }
    total = added(list(decided.values()))
    return {
        "name": grader.name,
        "fingerprint": grader.fingerprint,
        "origins": grader.origins,
        "depends_on": grader.depends_on,
        "rubrics": _rubrics(truth, grader),
        **_common(truth, grader),
        "duplicates": grader.duplicates,
        "tasks": len(decided),
        "excluded": _excluded(truth, grader, runs),
        "decided": matrix_report(list(decided.values())),
        "fail_closed": matrix_report(list(_clusters(truth, closed, grader.tasks).values())),
        "rates": _gap(total.matrix),
        "corrected": corrected(list(decided.values())),
        "baselines": _baselines(total.matrix),
    }


def _thresholds(labels: Labels, grader: Grader, aims: Aims | None) -> dict[str, Any]:
    """Return the thresholds of a judge with a share, where some are to be chosen."""
    if not aims or not grader.shares:
        return {}
    if grader.has_thresholds:
        reason = f"judge {grader.name} was graded with thresholds: choose others without --calibrated"
        raise LabelError(source=labels.name, line=0, reason=reason)
    rows = [
        LabelledShare(_task(run, grader.tasks, label), label.label == SUCCESS, grader.shares[run])
        for run, label in labels.primary().items()
        if run in grader.shares and label.label in (SUCCESS, FAILURE)
    ]
    return {"thresholds": chosen(rows, aims)}


def _costs(labels: Labels, grader: Grader, at: Prices | None) -> dict[str, Any]:
    """Return what a judge cost on the labelled runs; nothing of another grader."""
    if grader.fingerprint is None:
        return {}
    return {"cost": judging_costs(labels.primary(), grader, at)}


def _task(run: str, tasks: Mapping[str, str], label: Label | None) -> str:
    return tasks.get(run) or (label.task if label else "") or run


def _rubrics(truth: Mapping[str, Label], grader: Grader) -> dict[str, list[str]]:
    """Return task to the digests of the criteria that its labelled runs were judged by."""
    found: dict[str, set[str]] = {}
    for run, digests in grader.rubrics.items():
        if run in truth and truth[run].label in (SUCCESS, FAILURE):
            found.setdefault(grader.tasks[run], set()).update(digests)
    return {task: sorted(found[task]) for task in sorted(found)}


def _common(truth: Mapping[str, Label], grader: Grader) -> dict[str, list[str]]:
    """Return the agents and the sites of the labelled runs of a judge."""
    runs = [
        one for run, one in grader.runs.items() if run in truth and truth[run].label in (SUCCESS, FAILURE)
    ]
    agents = {one.agent for one in runs if one.agent is not None}
    return {"agents": sorted(agents), "sites": sorted({site for one in runs for site in one.sites})}


def _clusters(
    truth: Mapping[str, Label], answer: Mapping[str, str], tasks: Mapping[str, str]
) -> dict[str, Cluster]:
    """Return the counts of each task, in the order of task names."""
    found: dict[str, list[Cluster]] = {}
    for run, verdict in answer.items():
        if verdict in (SUCCESS, FAILURE):
            label = truth.get(run)
            found.setdefault(_task(run, tasks, label), []).append(_cluster(verdict, label))
    return {task: added(found[task]) for task in sorted(found)}


def _cluster(answer: str, label: Label | None) -> Cluster:
    is_success = answer == SUCCESS
    if label is None or label.label not in (SUCCESS, FAILURE):
        return Cluster(Matrix(), int(is_success), 1)
    was = label.label == SUCCESS
    matrix = Matrix(
        tp=int(is_success and was),
        fp=int(is_success and not was),
        fn=int(not is_success and was),
        tn=int(not is_success and not was),
    )
    return Cluster(matrix, int(is_success), 1)


def _excluded(truth: Mapping[str, Label], grader: Grader, runs: Mapping[str, str]) -> dict[str, int]:
    """Return how many labelled runs did not enter, by reason. `runs`: all that the other file has."""
    count: Counter[str] = Counter()
    for run, label in truth.items():
        if label.label not in (SUCCESS, FAILURE):
            count[f"label {label.label}"] += 1
        elif run not in runs:
            count["not in the other file"] += 1
        elif run not in grader.answer:
            count["not graded"] += 1
        elif grader.answer[run] not in (SUCCESS, FAILURE):
            count[grader.answer[run]] += 1
    count["not labelled"] = sum(run not in truth for run in grader.answer)
    return {reason: n for reason, n in sorted(count.items()) if n}


def _gap(m: Matrix) -> dict[str, float | None]:
    if not m.n:
        return {"grader": None, "people": None, "gap": None}
    answer, was = (m.tp + m.fp) / m.n, (m.tp + m.fn) / m.n
    return {"grader": rounded(answer), "people": rounded(was), "gap": rounded(answer - was)}


def _baselines(m: Matrix) -> dict[str, Any]:
    """Return what saying always the same would reach."""
    always = {
        "SUCCESS": Matrix(m.tp + m.fn, m.fp + m.tn, 0, 0),
        "FAILURE": Matrix(0, 0, m.tp + m.fn, m.fp + m.tn),
    }
    return {
        f"always {name}": {
            "accuracy": rounded(accuracy(answer)),
            "precision": rounded(precision(answer)),
            "recall": rounded(recall(answer)),
            "f1": rounded(f1(answer)),
        }
        for name, answer in always.items()
    }


def _depend(first: Grader, second: Grader) -> bool:
    """Return whether one of two had the other's answer: they are no two opinions."""
    return first.depends_on == second.name or second.depends_on == first.name


def _pair(labels: Labels, first: Grader, second: Grader) -> dict[str, Any]:
    """Compare two graders on the runs that both decided and a person labelled."""
    rows = list(_both(labels.primary(), first, second))
    only_first = sum(a and not b for _, a, b in rows)
    only_second = sum(b and not a for _, a, b in rows)
    clusters: dict[str, list[tuple[bool, bool]]] = {}
    for task, a, b in rows:
        clusters.setdefault(task, []).append((a, b))
    return {
        "graders": [first.name, second.name],
        "n": len(rows),
        "only_first_right": only_first,
        "only_second_right": only_second,
        "mcnemar_p": rounded(difference_p(only_first, only_second)),
        "accuracy_difference": _difference([clusters[task] for task in sorted(clusters)]),
    }


def _both(truth: Mapping[str, Label], first: Grader, second: Grader) -> Iterator[tuple[str, bool, bool]]:
    for run, label in truth.items():
        answer = first.answer.get(run), second.answer.get(run)
        if label.label in (SUCCESS, FAILURE) and all(one in (SUCCESS, FAILURE) for one in answer):
            task = first.tasks.get(run) or label.task or run
            yield task, answer[0] == label.label, answer[1] == label.label


def _difference(clusters: Sequence[Sequence[tuple[bool, bool]]]) -> dict[str, Any]:
    """Return by how much the first is right more often, with its bootstrap over tasks."""
    counted = [_rightness(cluster) for cluster in clusters]

    def gap(total: Cluster) -> Any:
        m = total.matrix
        return share(m.fp - m.fn, m.n)

    return {"value": rounded(gap(added(counted))), **bootstrap(counted, gap)}


def _rightness(cluster: Sequence[tuple[bool, bool]]) -> Cluster:
    """Return how often both were right, only the first, only the second, and neither, as a matrix."""
    cells = ((True, True), (True, False), (False, True), (False, False))
    return Cluster(Matrix(*(sum(pair == cell for pair in cluster) for cell in cells)))
