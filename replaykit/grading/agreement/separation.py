"""Which rules distinguish the runs of a corpus, and which never do: read off reports, without any bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import UsageError
from replaykit.grading.agreement.agreement_rates import Matrix, phi
from replaykit.grading.agreement.labels import Labels
from replaykit.grading.agreement.rule_votes import (
    KINDS_OF_RULES,
    RuleAnswer,
    RuleKey,
    RuleKind,
    RuleVote,
    votes_of,
)
from replaykit.grading.mutation_counts import MutationScore
from replaykit.grading.verdict import Report, Verdict

SCHEMA = "replaykit.separates/1"
"""Name and version of the layout."""

Word: TypeAlias = Literal[
    "separates", "all_pass", "all_fail", "undecided_in_part", "never_decided", "dormant"
]
"""How a rule divides a corpus."""

WORDS: Mapping[Word, str] = {
    "separates": "some runs pass it and some fail it",
    "all_pass": "every run passes it",
    "all_fail": "every run fails it",
    "undecided_in_part": "some runs are not decided, and the others are all alike",
    "never_decided": "no run is decided",
    "dormant": "the policy never applied",
}
"""Word to meaning."""


class Rule(Struct, frozen=True, kw_only=True):
    """One rule over all runs that it was applied to."""

    kind: RuleKind
    """`check item policy judge criterion finding`."""
    task: str | None
    """Task of a check, item or criterion; null = over all tasks."""
    name: str
    """Id of the check, `check/item`, id of the policy, judge, `judge/criterion`, or code of the finding."""
    fingerprint: str | None
    """Of a judge, also of that of a criterion."""
    basis: str | None
    """Of a criterion: digest of the rubric that holds it."""
    word: Word
    """How the rule divides the corpus."""
    n: int
    """Runs it was applied to."""
    passed: int
    """Runs that pass, dormant ones included."""
    failed: int
    """Runs that fail."""
    undecided: int
    """Runs that it does not decide, errors included."""
    errors: int
    """Runs on which it could not be applied."""
    dormant: int
    """Runs in which a policy did not apply."""
    tasks: int
    """Tasks with two decided runs or more."""
    tasks_differ: int
    """Tasks with a run that passes and a run that fails."""
    phi_success: float | None
    """Correlation with the success of a run by all other rules; null where one of both never varies."""
    phi_labels: float | None
    """Correlation with people's labels; null also without labels."""
    mutants: MutationScore | None = None
    """Of a policy: breaches made on purpose, and how many it noticed; null where no one tried."""
    same_as: str | None = None
    """Of a rule that separates: the first rule with the same answers; null = no rule before it has them."""

    @property
    def title(self) -> str:
        """Name of the rule where several kinds stand together."""
        return f"{self.kind} {self.name}" if self.task is None else f"{self.kind} {self.task}: {self.name}"


class Separation(Struct, frozen=True, kw_only=True):
    """All rules of a corpus."""

    schema: str = SCHEMA
    """Name and version of this layout."""
    runs: int
    """Runs, each once."""
    tasks: int
    """Tasks of these runs."""
    duplicates: int
    """Further verdicts of the same runs, equal to the first."""
    unreadable: int
    """Verdicts of bundles that could not be graded: left out."""
    labelled: int | None
    """Runs with a label `success` or `failure`; null without labels."""
    words: dict[Word, int]
    """How many rules do what."""
    rules: tuple[Rule, ...]
    """Checks, items, policies, judges, criteria, findings; of a kind by task, in order of their first run."""


def separation(
    reports: Sequence[Report],
    labels: Labels | None = None,
    mutations: Mapping[str, MutationScore] | None = None,
) -> Separation:
    """Return what each rule of these reports does. Labels are joined by trajectory, or by task.

    `mutations`: policy id to what `policies try --mutate` found.

    Raises UsageError where two verdicts of one run differ.
    """
    given = [verdict for report in reports for verdict in report.verdicts]
    graded = [one for one in given if one.error is None and one.trajectory is not None]
    runs = list(_once(graded).values())
    truth = _truth(runs, labels)
    rules = tuple(_with_mutants(rule, mutations or {}) for rule in _rules(runs, truth))
    words = Counter(rule.word for rule in rules)
    return Separation(
        runs=len(runs),
        tasks=len({one.task_id for one in runs}),
        duplicates=len(graded) - len(runs),
        unreadable=len(given) - len(graded),
        labelled=None if labels is None else len(truth),
        words={word: words[word] for word in WORDS},
        rules=rules,
    )


def _with_mutants(rule: Rule, mutations: Mapping[str, MutationScore]) -> Rule:
    is_tried = rule.kind == "policy" and rule.name in mutations
    return replace(rule, mutants=mutations[rule.name]) if is_tried else rule


_Votes = Mapping[int, RuleVote]
"""Place of a run to what a rule answers about it."""


def _once(verdicts: Sequence[Verdict]) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    for one in verdicts:
        run = one.trajectory or ""
        if found.setdefault(run, one) != one:
            reason = f"two verdicts of {one.task_id!r} ({run}) differ: they were graded in two ways"
            raise UsageError(what=f"{reason}; `replaykit diff` compares such reports")
    return found


def _truth(runs: Sequence[Verdict], labels: Labels | None) -> dict[int, bool]:
    """Return place of a run to whether people call it a success."""
    if labels is None:
        return {}
    names = [(one.trajectory or "").removeprefix("sha256:") for one in runs]
    tasks = dict(zip(names, (one.task_id for one in runs), strict=True))
    primary, found = labels.of_runs(tasks).primary(), {}
    for place, name in enumerate(names):
        label = primary.get(name)
        if label is not None and label.label in ("success", "failure"):
            found[place] = label.label == "success"
    return found


def _rules(runs: Sequence[Verdict], truth: Mapping[int, bool]) -> Iterator[Rule]:
    codes = sorted({one.code for verdict in runs for one in verdict.findings})
    by_rule: dict[RuleKey, dict[int, RuleVote]] = {}
    for place, verdict in enumerate(runs):
        for vote in votes_of(verdict, codes):
            by_rule.setdefault(vote.rule, {})[place] = vote
    first: dict[tuple[tuple[int, RuleAnswer], ...], str] = {}
    for key in sorted(by_rule, key=_order):
        votes = by_rule[key]
        rule = _rule(key, votes, [one.task_id for one in runs], truth)
        if rule.word == "separates":
            answer = tuple((place, _PLAIN.get(vote.answer, vote.answer)) for place, vote in votes.items())
            rule = replace(rule, same_as=first.get(answer))
            first.setdefault(answer, rule.title)
        yield rule


_PLAIN: Mapping[str, RuleAnswer] = {"dormant": "pass", "error": "undecided"}
_PASSES: Mapping[str, bool] = {"pass": True, "dormant": True, "fail": False}


def _order(key: RuleKey) -> tuple[int, str]:
    return KINDS_OF_RULES.index(key.kind), key.task or ""


def _rule(key: RuleKey, votes: _Votes, tasks: Sequence[str], truth: Mapping[int, bool]) -> Rule:
    count = Counter(vote.answer for vote in votes.values())
    passed, undecided = count["pass"] + count["dormant"], count["undecided"] + count["error"]
    decided = {place: _PASSES[vote.answer] for place, vote in votes.items() if vote.answer in _PASSES}
    by_task: dict[str, list[bool]] = {}
    for place, passes in decided.items():
        by_task.setdefault(tasks[place], []).append(passes)
    return Rule(
        kind=key.kind,
        task=key.task,
        name=key.name,
        fingerprint=key.fingerprint,
        basis=key.basis,
        word=_word(count),
        n=len(votes),
        passed=passed,
        failed=count["fail"],
        undecided=undecided,
        errors=count["error"],
        dormant=count["dormant"],
        tasks=sum(len(answer) > 1 for answer in by_task.values()),
        tasks_differ=sum(len(set(answer)) > 1 for answer in by_task.values()),
        phi_success=phi(_table(decided, {place: vote.others for place, vote in votes.items()})),
        phi_labels=phi(_table(decided, truth)),
    )


def _word(count: Counter[RuleAnswer]) -> Word:
    passed, failed, n = count["pass"] + count["dormant"], count["fail"], count.total()
    if passed and failed:
        return "separates"
    if not passed and not failed:
        return "never_decided"
    if passed + failed < n:
        return "undecided_in_part"
    if count["dormant"] == n:
        return "dormant"
    return "all_pass" if passed else "all_fail"


def _table(decided: Mapping[int, bool], other: Mapping[int, bool | None]) -> Matrix:
    """Return the runs that both decide: the answer of the rule against that of the other."""
    both = Counter(
        (answer, other[place]) for place, answer in decided.items() if other.get(place) is not None
    )
    return Matrix(tp=both[True, True], fp=both[True, False], fn=both[False, True], tn=both[False, False])
