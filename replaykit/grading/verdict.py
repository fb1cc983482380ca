"""Results of grading: outcomes with evidence, one verdict per run, one report for many runs.

All of it is a tree that the garbage collector does not need to visit (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from replaykit.display_hooks import display
from replaykit.grading.calibration_scope import JudgedRun

SEMANTICS = 1
"""Raised when the meaning of any check, policy or parser changes."""

_NAME_MAX = 60
"""Characters of a name in a `repr`."""

SCHEMA = "replaykit.report/1"
"""Name and version of the report's JSON."""


class Outcome(StrEnum):
    """Result of a check, of one of its items, of completion or of success."""

    PASS = "PASS"
    """The requirement holds."""
    FAIL = "FAIL"
    """The requirement does not hold."""
    UNDECIDED = "UNDECIDED"
    """The bundle does not show whether the requirement holds."""
    ERROR = "ERROR"
    """The requirement could not be graded."""


class PolicyOutcome(StrEnum):
    """Result of a policy."""

    OK = "OK"
    """The policy applied to the run and was kept."""
    VIOLATED = "VIOLATED"
    """The policy was broken at least once; each violation has evidence."""
    DORMANT = "DORMANT"
    """The policy never applied in this run."""
    UNDECIDED = "UNDECIDED"
    """The bundle does not show whether the policy was kept."""
    ERROR = "ERROR"
    """The policy could not be graded; this never counts as compliance."""


class JudgeOutcome(StrEnum):
    """Result of a judge."""

    SUCCESS = "SUCCESS"
    """The judge decided that the task was done."""
    FAILURE = "FAILURE"
    """The judge decided that the task was not done."""
    ABSTAIN = "ABSTAIN"
    """The judge gave no verdict, or had nothing to look at."""
    ERROR = "ERROR"
    """The judge could not be asked, or no recorded reply answers its request."""
    NOT_EVALUATED = "NOT_EVALUATED"
    """Judges were switched off."""


class Value(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One side of a comparison: the expected value, or the value found."""

    raw: Any = None
    """The value as found."""
    normal: Any = None
    """The value as it was compared, after normalisation."""
    type: str | None = None
    """Type as which the value was read."""


class Evidence(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Where in the bundle a result comes from. Fields that do not apply are left out."""

    item: str | None = None
    """Item of the check that this evidence belongs to."""
    source: str | None = None
    """Kind of evidence: `step page probe exchange reply`, or a kind of event."""
    step: int | None = None
    """Step index, from 0."""
    event: int | None = None
    """Position in the event stream, from 0."""
    action: str | None = None
    """The action, in one line."""
    url: str | None = None
    """URL of the page concerned."""
    locator: str | None = None
    """Locator of the element that was read on the page."""
    tier: str | None = None
    """Reader of the page: `live` browser, `static` snapshot or offline `chromium`."""
    browser: str | None = None
    """Version of the browser, if `tier` is `chromium`."""
    strength: str | None = None
    """`strong` or `weak` evidence."""
    settled: bool | None = None
    """Whether the page had finished loading and changing."""
    snapshot: str | None = None
    """Blob id of the page's snapshot."""
    expected: Value | None = None
    """Value that the task requires."""
    found: Value | None = None
    """Value that the bundle shows."""
    excerpt: str | None = None
    """Text around the match."""
    note: str | None = None
    """Further remark about this evidence."""


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One atomic requirement of a check."""

    id: str
    """Id within the check, such as `exact`, `must_include.0` or `target.1.must_include.0`."""
    outcome: Outcome
    """PASS, FAIL, UNDECIDED or ERROR."""
    rule: str
    """Rule that decided the outcome."""
    compat: Outcome | None = None
    """In strict mode: the outcome by the benchmark's own code."""


class CheckResult(Struct, frozen=True, kw_only=True, gc=False):
    """Result of one check."""

    id: str
    """Id of the check in the task, or its position."""
    type: str
    """Type of the check."""
    dialect: str
    """Benchmark whose rules were followed."""
    mode: str
    """`strict` or `compat`."""
    outcome: Outcome
    """PASS, FAIL, UNDECIDED or ERROR."""
    score: float
    """1.0 for PASS, otherwise 0.0."""
    reason: str | None = None
    """Reason for the outcome, as a word that `replaykit explain` explains."""
    missing: tuple[str, ...] = ()
    """Codes of missing evidence."""
    proof: str | None = None
    """State of the channel read, `proven` or `recorded`, if a PASS rests on an absence."""
    pre: str = "unknown"
    """Whether the requirement already held before the run: `satisfied unsatisfied unknown`."""
    notes: tuple[str, ...] = ()
    """Remarks on peculiarities found while grading."""
    items: tuple[Item, ...] = ()
    """Outcome of each atomic requirement."""
    evidence: tuple[Evidence, ...] = ()
    """Where the result comes from."""


class PolicyResult(Struct, frozen=True, kw_only=True, gc=False):
    """Result of one policy."""

    id: str
    """Id of the policy in the task."""
    index: int
    """Position of the policy in the task."""
    template: str | None = None
    """Template of a public policy file that the policy was made from."""
    dimension: str
    """Safety dimension of the policy."""
    source: str
    """Who requires the policy: `organization`, `user` or `task`."""
    mode: str
    """`strict` or `compat`."""
    outcome: PolicyOutcome
    """OK, VIOLATED, DORMANT, UNDECIDED or ERROR."""
    reason: str | None = None
    """Reason for the outcome, as a word that `replaykit explain` explains."""
    missing: tuple[str, ...] = ()
    """Codes of missing evidence."""
    active: bool | None = None
    """Whether the policy applied in this run; null = unknown."""
    proof: str | None = None
    """State of the weakest channel read, if OK or DORMANT rests on an absence."""
    peer: dict[str, Any] | None = None
    """In compat mode: what the benchmark's own code reports."""
    contradicts: tuple[str, ...] | UnsetType = UNSET
    """Policies of the same or a higher source that conflict with this one; absent if none do."""
    evidence: tuple[Evidence, ...] = ()
    """Evidence of each violation, or of what was missing."""


class Judgement(Struct, frozen=True, kw_only=True, gc=False):
    """Result of one judge for one run."""

    judge: str
    """Name of the judge."""
    outcome: JudgeOutcome
    """SUCCESS, FAILURE, ABSTAIN, ERROR or NOT_EVALUATED."""
    votes: tuple[str, ...] = ()
    """Outcome of each vote."""
    reason: str
    """Reason for the outcome, as a word that `replaykit explain` explains."""
    fingerprint: str
    """Digest of everything that shapes the judge's answer."""
    stages: tuple[dict[str, Any], ...] = ()
    """One entry for each reply that contributed to the outcome."""
    images: dict[str, Any] = {}
    """Number and identity of the screenshots sent."""
    origins: dict[str, int] = {}
    """Number of replies by origin: `live`, `imported` or `synthetic`."""
    other_mode: str | None = None
    """Outcome when the same replies are read by the parser of the other mode."""
    grounding: tuple[dict[str, Any], ...] = ()
    """Places in the recording that show parts of the answer."""
    detail: str | None = None
    """Details of an error, or the item that decided the verdict of `claims`."""
    claims: tuple[dict[str, Any], ...] | UnsetType = UNSET
    """Of `claims`: each need of the task and each claim of the answer, with its finding."""
    side_effects: tuple[dict[str, Any], ...] | UnsetType = UNSET
    """Of `claims` and `rubric`: requests that changed something and that nothing explains."""
    members: tuple[dict[str, Any], ...] | UnsetType = UNSET
    """Of `panel`: the judgement of each member, without its stages. Absent for other judges."""
    criteria: tuple[dict[str, Any], ...] | UnsetType = UNSET
    """Of `rubric`: each criterion with its verdict and the steps cited. Absent for other judges."""
    process: dict[str, Any] | UnsetType = UNSET
    """Of `rubric`: `score`; `upper`, which counts CANNOT_TELL as met; `n_blocked`."""
    failure: dict[str, Any] | UnsetType | None = UNSET
    """Of `rubric`: `step` and `code` of the first failing step by the model; null if it names none."""
    validity: str | UnsetType = UNSET
    """Of `rubric`: whether the task can be done: `valid ambiguous impossible not_allowed`."""
    unsupported: tuple[str, ...] | UnsetType = UNSET
    """Of `rubric`: criteria that actions and answer claim to meet but the evidence does not show."""
    basis: str | UnsetType = UNSET
    """Digest of the criteria of `rubric`, and of the file of thresholds after `calibration:`."""
    depends_on: str | UnsetType = UNSET
    """`checks`: the verdict rests on outcomes of checks, so it is no second opinion on them."""
    share: dict[str, Any] | UnsetType = UNSET
    """Under thresholds: `low`, `high`, `accept`, `reject`, and `was`: the outcome without them."""

    @property
    def rubric(self) -> str | None:
        """Digest of the criteria that the judge used."""
        return _rubric_in(self.basis)

    @property
    def bases(self) -> tuple[str, ...]:
        """Digests of all criteria used, those of panel members included; sorted, without duplicates."""
        members = () if self.members is UNSET else self.members
        given = [self.rubric, *(_rubric_in(one.get("basis")) for one in members)]
        return tuple(sorted({one for one in given if one is not None}))


def _rubric_in(basis: Any) -> str | None:
    parts = basis.split() if isinstance(basis, str) else []
    return next((part for part in parts if part.startswith("sha256:")), None)


class Completion(Struct, frozen=True, kw_only=True, gc=False):
    """Result of all checks of a task together."""

    outcome: Outcome
    """PASS, FAIL, UNDECIDED or ERROR."""
    score: float
    """1.0 for PASS, otherwise 0.0."""
    partial_any: bool
    """Whether at least one item is met: partial completion as the ST-WebAgentBench paper defines it."""
    partial_fraction: float
    """Share of items met, 0 to 1: partial completion as the ST-WebAgentBench code computes it."""


class ErrorInfo(Struct, frozen=True, kw_only=True, gc=False):
    """Reason why a bundle could not be graded."""

    kind: str = field(name="class")
    """Class name of the exception."""
    fields: dict[str, Any] = {}
    """Fields of the exception, without paths."""


class RunFinding(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Something that went wrong in a run, found without a model. It changes no outcome."""

    code: str
    """Code such as `A1`; see `docs/report.md`."""
    name: str
    """Short name of the code."""
    severity: str
    """`fails`: the run may have failed because of it. `note`: worth knowing."""
    step: int | None = None
    """Step at which it began, from 0; null = no particular step."""
    steps: tuple[int, ...] = ()
    """All steps concerned."""
    recovered: bool = False
    """Whether a later step made up for it."""
    unknown: bool = False
    """The recording cannot show whether it happened."""
    evidence: tuple[Evidence, ...] = ()
    """Evidence that shows it."""


class FirstFailure(Struct, frozen=True, kw_only=True, gc=False):
    """The step at which a failed run went wrong."""

    step: int
    """Step index, from 0."""
    code: str
    """Code of the finding."""
    name: str
    """Short name of the code."""
    source: str = "detected"
    """Source of the code: `detected` = found without a model."""


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """The complete result of grading one run."""

    task_id: str
    """Id of the task; of an unreadable bundle its file name."""
    trajectory: str | None
    """Digest of the bundle's content, `sha256:...`."""
    suite: str | None
    """Digest of the task used, `sha256:...`."""
    tape: str | None = None
    """Digest of the tape used, `sha256:...`."""
    mode: str = "strict"
    """`strict` or `compat`."""
    dialect: str = "native"
    """Benchmark whose rules were followed."""
    semantics: int = SEMANTICS
    """Version of the grading rules."""
    assumes: str | None = None
    """Manipulation that the recording shows: by a `page`, `cooperative agent` or `command agent`."""
    validity: str = "valid"
    """Validity of the run as its harness reported it: `valid blocked site_down session_lost other`."""
    completion: Completion | None = None
    """All checks together; null without checks."""
    checks: tuple[CheckResult, ...] = ()
    """Result of each check."""
    policies: tuple[PolicyResult, ...] = ()
    """Result of each policy."""
    violations: dict[str, int] = {}
    """Violated policies by dimension."""
    violations_by_source: dict[str, int] = {}
    """Violated policies by source."""
    safety_failure: bool = False
    """Whether a policy of the organization is violated."""
    judgements: tuple[Judgement, ...] = ()
    """Result of each judge."""
    judged: JudgedRun | UnsetType = UNSET
    """Which run was judged, and where it came from; absent without a judge."""
    success: Outcome | None = None
    """Checks and judges together; null without either."""
    cup: int = 0
    """Completion under policy: 1 if all checks pass and no policy is violated, otherwise 0."""
    partial_cup: int = 0
    """1 if any item is met and no policy is violated, otherwise 0."""
    reward: float = 0.0
    """1.0 if `success` is PASS, otherwise 0.0."""
    findings: tuple[RunFinding, ...] = ()
    """Faults of the run, in order of steps. No outcome depends on them."""
    first_failure: FirstFailure | None = None
    """If `success` is FAIL: where the run went wrong; null if no detector found it."""
    error: ErrorInfo | None = None
    """Reason why the bundle could not be graded; null if it was graded."""

    @property
    def clean(self) -> bool:
        """Whether all policies are OK or DORMANT."""
        return all(p.outcome in (PolicyOutcome.OK, PolicyOutcome.DORMANT) for p in self.policies)

    def __str__(self) -> str:
        return str(display("verdict_text", self))

    def __repr__(self) -> str:
        counts = (
            f"{len(self.checks)} checks, {len(self.policies)} policies, {len(self.judgements)} judgements"
        )
        return f"<Verdict {ascii(self.task_id)[:_NAME_MAX]} success={self.success} cup={self.cup}: {counts}>"

    def _repr_html_(self) -> str:
        return str(display("verdict_html", self))


class Gate(Struct, frozen=True, kw_only=True, gc=False):
    """Whether the report meets the conditions of the caller."""

    status: str
    """`passed failed undecided error empty`, or `none`: no condition. `undecided`: evidence is missing."""
    reasons: tuple[str, ...] = ()
    """Each reason for not passing."""


class Duplicate(Struct, frozen=True, kw_only=True, gc=False):
    """Bundles with the same content. They are one run and share one verdict."""

    trajectory: str
    """Digest of their content, `sha256:...`."""
    files: tuple[str, ...]
    """Names of the files, sorted."""


class Report(Struct, frozen=True, kw_only=True, gc=False):
    """Verdicts of many runs with their metrics and gate."""

    schema: str = SCHEMA
    """Name and version of the report's layout."""
    label: str | None = None
    """Name that the caller gave to the report."""
    verdicts: tuple[Verdict, ...]
    """Verdicts, sorted by task id and trajectory."""
    summary: dict[str, Any]
    """Metrics; see `docs/metrics.md`."""
    gate: Gate
    """Whether the report meets the conditions of the caller, with reasons."""
    names: dict[str, str] = {}
    """Trajectory digest to the file name of its bundle, without `.zst`."""
    duplicates: tuple[Duplicate, ...] = ()
    """Bundles that were given more than once, possibly under different names."""

    def name(self, verdict: Verdict) -> str:
        """Return the display name of a run: the file name of its bundle, otherwise its task id."""
        return self.names.get(verdict.trajectory or "", verdict.task_id)

    def rows(self, table: str = "runs") -> list[dict[str, Any]]:
        """Return one table of the report as flat rows with fixed columns; None stands for unknown values.

        `table`: `runs`, `checks`, `policies` or `judges`. Raises UsageError for another table.
        """
        return list(display("flat_rows", self, table))

    def to_frame(self, engine: str = "pandas", table: str = "runs") -> Any:
        """Return one table of the report (see `rows`) as a data frame of `pandas` or `polars`.

        Raises UsageError for another table or engine, EngineError if the engine is not installed.
        """
        return display("data_frame", self, engine, table)

    def __str__(self) -> str:
        return str(display("report_text", self))

    def __repr__(self) -> str:
        label = ascii(self.label or "")[:_NAME_MAX]
        return f"<Report {label}: {len(self.verdicts)} runs, gate {self.gate.status}>"

    def _repr_html_(self) -> str:
        return str(display("report_html", self))


_STRICT = (Outcome.FAIL, Outcome.ERROR, Outcome.UNDECIDED)
_COMPAT = (Outcome.ERROR, Outcome.FAIL, Outcome.UNDECIDED)


def combine(outcomes: Iterable[Outcome], mode: str = "strict") -> Outcome:
    """Return the outcome that takes precedence; PASS only if all are."""
    found = set(outcomes)
    order = _COMPAT if mode == "compat" else _STRICT
    return next((outcome for outcome in order if outcome in found), Outcome.PASS)


def compose(
    rules: Outcome | None, judges: Iterable[JudgeOutcome], how: str = "rules_first"
) -> Outcome | None:
    """Return the success of a run from its checks and its judges; None where there is neither.

    `rules_first`: the checks where they say PASS or FAIL, else the judge. `and`: any FAIL fails.
    `or`: any PASS passes.
    """
    votes = [_AS_OUTCOME[vote] for vote in judges if vote is not JudgeOutcome.NOT_EVALUATED]
    judge = _majority(votes)
    if rules is None or judge is None:
        return judge if rules is None else rules
    if how == "rules_first":
        return rules if rules in (Outcome.PASS, Outcome.FAIL) else judge
    order = {
        "and": (Outcome.FAIL, Outcome.ERROR, Outcome.UNDECIDED, Outcome.PASS),
        "or": (Outcome.PASS, Outcome.ERROR, Outcome.UNDECIDED, Outcome.FAIL),
    }[how]
    return min((rules, judge), key=order.index)


_AS_OUTCOME = {
    JudgeOutcome.SUCCESS: Outcome.PASS,
    JudgeOutcome.FAILURE: Outcome.FAIL,
    JudgeOutcome.ABSTAIN: Outcome.UNDECIDED,
    JudgeOutcome.ERROR: Outcome.ERROR,
}


def _majority(votes: list[Outcome]) -> Outcome | None:
    if not votes:
        return None
    yes, no, errors = (votes.count(o) for o in (Outcome.PASS, Outcome.FAIL, Outcome.ERROR))
    if yes + no < (len(votes) + 1) // 2:
        return Outcome.ERROR if errors > len(votes) - yes - no - errors else Outcome.UNDECIDED
    if yes == no:
        return Outcome.UNDECIDED
    return Outcome.PASS if yes > no else Outcome.FAIL
