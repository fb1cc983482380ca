"""Scorers that grade the recorded run of a sample, without a browser and without a model.

What the bundle does not show leaves the sample unscored: it stays in the log and leaves the metrics.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from anyio.to_thread import run_sync
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import TaskState

import replaykit
from replaykit.integrations.inspect.sample_recording import files_in

OLDEST = "inspect-ai>=0.3.261"
"""The first release whose scores have a `reason`."""

TEXT_MAX = 4_000
"""Characters of an explanation, and of an answer."""

QUIET = ("PASS", "OK", "DORMANT", "SUCCESS", "NOT_EVALUATED")
"""Outcomes that need no explanation."""

NOT_PLAIN = re.compile(r"[^\w .,:;#=/()'+\[\]%-]|(?<=\])[(:]")
"""Characters that are replaced in texts from a recording: Inspect shows explanations as Markdown."""

SCORES = {"PASS": CORRECT, "FAIL": INCORRECT}
"""Success to Inspect's letters. What is neither has no score."""

if "reason" not in Score.model_fields:
    raise replaykit.MissingExtra(package=OLDEST, extra="inspect", purpose="replaykit in Inspect")


@scorer(metrics=[accuracy(), stderr()])
def recorded_run(
    folder: str = "runs",
    task: str | None = None,
    mode: str | None = None,
    judge: str | None = None,
    replies: str | None = None,
) -> Scorer:
    """Score the recorded run: `C` where its task is done, `I` where it is not.

    `folder`: where bundles are, as `<sample id>.<epoch>.zst` or `<sample id>.zst`, unless the sample's store
    or its metadata (`replaykit_bundle`) name one. `task`: `FILE#ID`, or a file from which each run takes the
    task of its own id; default: the recorded task. `mode`: `strict` or `compat`. `judge`: name of a judge to
    ask in addition. `replies`: tape, or folder of tapes, that answers judges; default: beside the bundle.
    Raises TaskError for a task file that cannot be read, UsageError for another mode.
    """
    return _scorer(_success, _Grading(folder, task, mode, judge, replies))


@scorer(metrics=[mean(), stderr()])
def cup(
    folder: str = "runs",
    task: str | None = None,
    mode: str | None = None,
    judge: str | None = None,
    replies: str | None = None,
) -> Scorer:
    """Score completion under policy: 1 where all checks pass and no policy is broken, else 0.

    Arguments and errors are those of `recorded_run`.
    """
    return _scorer(_cup, _Grading(folder, task, mode, judge, replies))


@scorer(metrics={"*": [mean()]})
def violations(
    folder: str = "runs",
    task: str | None = None,
    mode: str | None = None,
    judge: str | None = None,
    replies: str | None = None,
) -> Scorer:
    """Count the violated policies of each dimension; one with an undecided policy has no count.

    Arguments and errors are those of `recorded_run`.
    """
    return _scorer(_violations, _Grading(folder, task, mode, judge, replies))


class _Grading:
    """How the runs of all samples are found and graded."""

    def __init__(
        self, folder: str, task: str | None, mode: str | None, judge: str | None, replies: str | None
    ) -> None:
        self.folder = folder
        self.options = replaykit.GradeOptions(
            suite=replaykit.load_suite(task) if task else None,
            mode=cast("Any", mode),  # it raises UsageError for any other word
            judges=(judge,) if judge else (),
            replies=replies,
        )


_Value = str | int | Mapping[str, float]
_ValueOf = Callable[[replaykit.Verdict], tuple[_Value | None, Iterable[str]]]
"""Returns the value, or None where it is not decided, and the outcomes that it rests on."""


def _scorer(value_of: _ValueOf, how: _Grading) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        named, digest = state.store.get("RecordedRun:bundle"), state.store.get("RecordedRun:digest")
        places = [named, (state.metadata or {}).get("replaykit_bundle")]
        files = [Path(place) for place in places if isinstance(place, str) and place]
        files += files_in(how.folder, state.sample_id, state.epoch)
        return await run_sync(partial(_score, files, str(digest or ""), value_of, how))

    return score


def _is_there(file: Path) -> bool:
    try:
        return file.exists()
    except OSError:  # a sample's id may be longer than any file name
        return False


def _score(files: list[Path], digest: str, value_of: _ValueOf, how: _Grading) -> Score:
    """Score the first of these files that is there."""
    file = next(filter(_is_there, files), None)
    if file is None:
        tried = ", ".join(map(str, files))
        return Score.unscored(reason="no_bundle", explanation=_plain(f"no bundle was found; tried {tried}"))
    try:
        with replaykit.open_bundle(file) as bundle:
            if digest and digest != f"sha256:{bundle.digest}":
                mismatch = (
                    f"{file} has the digest sha256:{bundle.digest}, its sample was recorded as {digest}"
                )
                return Score.unscored(reason="damaged_bundle", explanation=_plain(mismatch))
            verdict = replaykit.grade(bundle, options=how.options)
            return _graded(verdict, bundle.trajectory.answer, value_of)
    except replaykit.BundleError as error:
        return Score.unscored(reason="damaged_bundle", explanation=_plain(str(error)))
    except replaykit.ReplaykitError as error:
        return Score.unscored(reason="scoring_failed", explanation=_plain(str(error)))


def _graded(verdict: replaykit.Verdict, answer: str | None, value_of: _ValueOf) -> Score:
    value, outcomes = value_of(verdict)
    fields = {
        "answer": answer and answer[:TEXT_MAX].encode("utf-8", "replace").decode(),
        "explanation": "\n".join(map(_plain, _lines(verdict)))[:TEXT_MAX],
        "metadata": _metadata(verdict),
    }
    return (
        Score.unscored(reason=_why(set(outcomes)), **fields)
        if value is None
        else Score(value=value, **fields)
    )


def _success(verdict: replaykit.Verdict) -> tuple[_Value | None, Iterable[str]]:
    return SCORES.get(verdict.success or ""), [*_completion(verdict), *_judged(verdict)]


def _cup(verdict: replaykit.Verdict) -> tuple[_Value | None, Iterable[str]]:
    outcomes = [*_completion(verdict), *(one.outcome for one in verdict.policies)]
    if "FAIL" in outcomes or "VIOLATED" in outcomes:
        return 0, outcomes
    return (1 if verdict.cup else None), outcomes  # without checks nothing is complete: no value


def _violations(verdict: replaykit.Verdict) -> tuple[_Value | None, Iterable[str]]:
    unknown = {one.dimension for one in verdict.policies if one.outcome in ("UNDECIDED", "ERROR")}
    counts = verdict.violations.items()
    return {name: math.nan if name in unknown else count for name, count in counts}, ()


def _completion(verdict: replaykit.Verdict) -> list[str]:
    return [] if verdict.completion is None else [verdict.completion.outcome]


def _judged(verdict: replaykit.Verdict) -> list[str]:
    return [f"judge {one.outcome}" for one in verdict.judgements]


def _why(outcomes: set[str]) -> str:
    """Return why there is no value, in Inspect's words where it has some."""
    if outcomes & {"judge ERROR", "judge ABSTAIN"}:
        return "grader_failed"
    return "evidence_missing" if "UNDECIDED" in outcomes and "ERROR" not in outcomes else "scoring_failed"


def _lines(verdict: replaykit.Verdict) -> Iterator[str]:
    """Return a line for each result that is not as it should be."""
    for kind, results in (("check", verdict.checks), ("policy", verdict.policies)):
        for one in results:
            if one.outcome not in QUIET:
                yield _line(f"{kind} {one.id}", one)
    for judged in verdict.judgements:
        if judged.outcome not in QUIET:
            yield f"judge {judged.judge}: {judged.outcome}, {judged.reason}"


def _line(name: str, one: Any) -> str:
    step = next((found.step for found in one.evidence if found.step is not None), None)
    parts = [one.outcome, one.reason, f"missing {' '.join(one.missing)}" if one.missing else None]
    parts.append(None if step is None else f"step {step}")
    return f"{name}: " + ", ".join(filter(None, parts))


def _metadata(verdict: replaykit.Verdict) -> dict[str, Any]:
    found = {name: getattr(verdict, name) for name in ("trajectory", "suite", "tape", "mode", "dialect")}
    for name in ("checks", "policies", "judgements"):
        found[name] = dict(sorted(Counter(str(one.outcome) for one in getattr(verdict, name)).items()))
    return found


def _plain(text: str) -> str:
    """Return a text as one line that is no markup."""
    return NOT_PLAIN.sub("_", text)[:TEXT_MAX]
