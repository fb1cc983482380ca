"""Grade one bundle and return one verdict. The only side effect is reading the bundle and its tape."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import TaskError, UsageError
from replaykit.grading.calibration_scope import JudgedRun
from replaykit.grading.checks.check_grading import complete, grade_checks
from replaykit.grading.findings.detection import findings_of, first_failure
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judges.check_replies import CheckReplies
from replaykit.grading.judges.clients.client import Client
from replaykit.grading.judges.judge_config import Panel, judges_of
from replaykit.grading.judges.judge_execution import judge_all, staffed
from replaykit.grading.share_thresholds import by_thresholds
from replaykit.grading.verdict import (
    CheckResult,
    Completion,
    Judgement,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    RunFinding,
    Verdict,
    compose,
)
from replaykit.replay.page_reader import chromium_reader_for
from replaykit.replay.player import Replay
from replaykit.tasks.dialect import Mode
from replaykit.tasks.policy_rules import DIMENSIONS, SOURCES
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import Sites, Task, decode_task, fill_task
from replaykit.trajectory.completeness import assumes


def grade(
    bundle: Bundle | str | Path,
    task: Task | Mapping[str, Any] | None = None,
    *,
    options: GradeOptions | None = None,
    client: Client | None = None,
    **changes: Any,
) -> Verdict:
    """Grade one recorded run and return its verdict.

    `bundle`: an open bundle, or its path or URL. `task`: the task, also as plain values; default: the task
    that the run was recorded for. `options`: a `GradeOptions`; `changes` are single fields of it. `client`:
    answers requests to models that are not on the tape, if `judge_mode` permits them; default: the provider's
    client.

    It reads the bundle and its tape, and writes nothing unless `judge_mode` asks models. Raises TaskError
    without a task, BundleError for a damaged bundle, UsageError for an unknown option or a file that is no
    bundle.

    Example:
        verdict = replaykit.grade("run.zst", mode="strict")
        print(verdict.success, [check.outcome for check in verdict.checks])
        suite = replaykit.load_suite("tasks.yaml#order-total")  # as `--task tasks.yaml#order-total`
        print(replaykit.grade("run.zst", suite=suite).success)
    """
    if isinstance(bundle, str | Path):
        with open_bundle(bundle) as opened:
            return grade(opened, task, options=options, client=client, **changes)
    if not isinstance(bundle, Bundle):
        raise UsageError(what=f"grade takes a bundle, or its path or URL, got {type(bundle).__name__}")
    if not isinstance(task, Task | Mapping | None):
        raise UsageError(what=_no_task(task))
    options = _changed(options, changes)
    return grade_case(case_of(bundle, options, task), client)


def _no_task(given: object) -> str:
    """Return what to pass as a task in place of something else: a text names a file, most likely."""
    is_file = isinstance(given, str | Path)
    found = f"{str(given)!r}: read the file and pass suite=replaykit.load_suite({str(given)!r})"
    return f"grade: task is a Task or its plain values, got {found if is_file else type(given).__name__}"


def _changed(options: GradeOptions | None, changes: Mapping[str, Any]) -> GradeOptions:
    """Return options with some of their fields changed. Raises UsageError for an unknown field."""
    for name in changes:
        if name not in GradeOptions.__struct_fields__:
            known = ", ".join(GradeOptions.__struct_fields__)
            raise UsageError(what=f"grade: no option {name!r}; there are {known}")
    options = options or GradeOptions()
    return msgspec.structs.replace(options, **changes) if changes else options


async def grade_async(
    bundle: Bundle | str | Path,
    task: Task | Mapping[str, Any] | None = None,
    *,
    options: GradeOptions | None = None,
    client: Client | None = None,
    **changes: Any,
) -> Verdict:
    """Grade one recorded run in another thread, so that the event loop goes on. Arguments as in `grade`."""
    import asyncio  # loaded here: those who grade without a loop do not pay for it

    return await asyncio.to_thread(grade, bundle, task, options=options, client=client, **changes)


class Case(NamedTuple):
    """One bundle to grade: against which task, with whose judgement."""

    bundle: Bundle
    task: Task
    """Its placeholders are filled."""
    panel: Panel
    options: GradeOptions
    verifiers: str | None
    """Folder of verifiers that may run: never those of a task that the bundle brings itself."""


def case_of(bundle: Bundle, options: GradeOptions, task: Task | Mapping[str, Any] | None = None) -> Case:
    """Return what is graded of a bundle. Raises `TaskError`."""
    verifiers = None if task is None and options.suite is None else options.verifiers
    task = task_for(bundle, task, options)
    return Case(bundle, task, panel_of(bundle, task, options), options, verifiers)


def grade_case(case: Case, client: Client | None = None) -> Verdict:
    """Grade; see `grade`."""
    bundle, task, panel, options, verifiers = case
    if options.thresholds is not None:
        from replaykit.grading.calibrated_judges import refuse_uncalibrated  # for those who name thresholds

        refuse_uncalibrated(panel, bundle, task, options.thresholds)
    replay = Replay(bundle)
    policies = _policies(task, replay, panel.mode, options)
    with staffed(panel, client) as asked, chromium_reader_for(replay, options.replay) as chromium:
        ask = CheckReplies(panel, bundle, asked) if panel.how != "off" else None
        checks = grade_checks(
            task,
            replay,
            panel.mode,
            require_strong=options.require_strong,
            require_proof=options.require_proof,
            sites=_sites(bundle, options),
            ask=ask,
            chromium=chromium,
            verifiers=verifiers,
        )
        judgements, tape = judge_all(panel, bundle, task, replay, asked)
    if options.thresholds is not None:
        judgements = tuple(by_thresholds(one, options.thresholds, task.id) for one in judgements)
    verdict = _verdict(
        bundle,
        task,
        panel.mode,
        checks=checks,
        policies=policies,
        judgements=judgements,
        completion=_completion(task, checks, panel.mode, options),
        tape=tape.digest if tape is not None else ask.digest if ask is not None else None,
        how=options.compose or task.compose,
    )
    return _with_findings(verdict, replay, task)


def task_for(bundle: Bundle, task: Task | Mapping[str, Any] | None, options: GradeOptions) -> Task:
    """Return the task that a bundle is graded against, its placeholders filled. Raises `TaskError`."""
    found, sites = (
        _with_policies(_task_of(bundle, task, options), options, bundle.name),
        _sites(bundle, options),
    )
    return fill_task(_at_sites(found, sites, options.suite), sites, bundle.name)


def _at_sites(task: Task | Mapping[str, Any], sites: Sites, suite: Suite | None) -> Task | Mapping[str, Any]:
    if not isinstance(task, Task) or suite is None or sites.items() >= suite.sites.items():
        return task
    from replaykit.tasks.moved_sites import at_sites  # for runs whose sites are elsewhere

    return at_sites(task, suite.sites, sites)


def panel_of(bundle: Bundle, task: Task, options: GradeOptions) -> Panel:
    """Return the judges of a task under these options, and where their replies lie."""
    judges = judges_of(task, options.judges, options.judge_model)
    if judges:
        from replaykit.grading.judges.rubric.rubric_files import with_rubric

        judges = tuple(with_rubric(one, task, options.rubrics) for one in judges)
    return Panel(
        settings=judges,
        how=options.judge_mode,
        mode=options.mode or task.mode,
        bundle=bundle.name,
        replies=options.replies,
        base_url=options.judge_base_url,
        model=options.judge_model,
    )


def asked_by_checks(bundle: Bundle, task: Task, options: GradeOptions) -> CheckReplies:
    """Grade the checks of a task with recorded replies only; return what they asked, and what is missing."""
    asked = CheckReplies(panel_of(bundle, task, options), bundle)
    mode, replay, sites = options.mode or task.mode, Replay(bundle), _sites(bundle, options)
    with chromium_reader_for(replay, options.replay) as chromium:
        grade_checks(task, replay, mode, sites=sites, ask=asked, chromium=chromium)
    return asked


def findings_explained(bundle: Bundle, replay: Replay) -> tuple[RunFinding, ...]:
    """Return what detectors find in a run; checks and `allow` of its own task explain what it changed.

    No model is asked and no verifier runs. Raises ReplaykitError where the task, or what its checks read,
    cannot be read.
    """
    task = task_for(bundle, None, GradeOptions())
    checks = grade_checks(task, replay, task.mode, sites=_sites(bundle, GradeOptions()))
    return findings_of(replay, checks, allow=task.allow)


def stored_task(bundle: Bundle) -> Task | None:
    """Return the task that the bundle was recorded for, placeholders kept."""
    plain = bundle.header.task
    return None if plain is None else decode_task(plain, bundle.name)


def _task_of(
    bundle: Bundle, task: Task | Mapping[str, Any] | None, options: GradeOptions
) -> Task | dict[str, Any]:
    if task is None and options.suite is not None:
        task = _of_suite(bundle, options.suite)
    named: dict[str, Any] = {} if options.dialect is None else {"dialect": options.dialect}
    if isinstance(task, Task):
        return msgspec.structs.replace(task, **named) if named else task
    if task is not None:
        return _task_of(bundle, decode_task(task), options)
    if bundle.header.task is None and (options.judges or options.policies):
        return Task(id=f"run-{bundle.digest[:12]}", intent="", **named)
    if bundle.header.task is None:
        raise TaskError(
            source=bundle.name,
            path="$",
            reason="the bundle holds no task: name one with --task FILE#ID (`task=` in a program), or only"
            " policies with --policies FILE",
        )
    return {**bundle.header.task, **named}


def _with_policies(task: Task | dict[str, Any], options: GradeOptions, source: str) -> Task | dict[str, Any]:
    if not options.policies:
        return task
    known = task if isinstance(task, Task) else decode_task(task, source)
    named = {policy.id: policy for policy in (*known.policies, *options.policies)}
    return msgspec.structs.replace(known, policies=tuple(named.values()))


def _sites(bundle: Bundle, options: GradeOptions) -> dict[str, tuple[str, ...]]:
    """Return the roots of the sites: of the command, else of the bundle, else of the suite."""
    suite = options.suite.sites if options.suite else {}
    return {**suite, **bundle.header.sites, **options.sites}


def _of_suite(bundle: Bundle, suite: Suite) -> Task:
    recorded = (bundle.header.task or {}).get("id")
    return suite.task_of_run(None if recorded is None else str(recorded), bundle.name)


def _policies(task: Task, replay: Replay, mode: Mode, options: GradeOptions) -> tuple[PolicyResult, ...]:
    if not task.policies:
        return ()
    from replaykit.grading.policies.policy_grading import grade_policies  # for tasks that have some

    return grade_policies(task, replay, mode, require_proof=options.require_proof)


def _completion(
    task: Task, checks: tuple[CheckResult, ...], mode: Mode, options: GradeOptions
) -> Completion | None:
    if task.checks or task.policies or task.judge or options.judges:
        return complete(checks, mode)
    return Completion(outcome=Outcome.ERROR, score=0.0, partial_any=False, partial_fraction=0.0)


def _judged(bundle: Bundle, task: Task) -> JudgedRun:
    """Return whose run it is, and where."""
    agent = bundle.header.agent
    hosts = (urlsplit(url).hostname for url in task.start_urls)
    sites = task.sites or tuple(dict.fromkeys(host for host in hosts if host))
    return JudgedRun(agent=None if agent is None else agent.name or agent.model, sites=sites)


def _with_findings(verdict: Verdict, replay: Replay, task: Task) -> Verdict:
    is_passed = verdict.success is Outcome.PASS
    found = findings_of(
        replay,
        verdict.checks,
        verdict.policies,
        task.allow,
        judgements=verdict.judgements,
        reads_pages=not is_passed,
    )
    failed = first_failure(found) if verdict.success is Outcome.FAIL else None
    return msgspec.structs.replace(verdict, findings=found, first_failure=failed)


def _verdict(
    bundle: Bundle,
    task: Task,
    mode: Mode,
    *,
    checks: tuple[CheckResult, ...],
    policies: tuple[PolicyResult, ...],
    judgements: tuple[Judgement, ...],
    completion: Completion | None,
    tape: str | None,
    how: str,
) -> Verdict:
    broken = [policy for policy in policies if policy.outcome is PolicyOutcome.VIOLATED]
    clean = all(policy.outcome in (PolicyOutcome.OK, PolicyOutcome.DORMANT) for policy in policies)
    success = compose(completion.outcome if completion else None, [j.outcome for j in judgements], how)
    dimensions, sources = [p.dimension for p in broken], [p.source for p in broken]
    by_source: dict[str, int] = {source: sources.count(source) for source in SOURCES}
    return Verdict(
        task_id=task.id,
        trajectory="sha256:" + bundle.digest,
        suite=task.digest,
        tape=tape,
        mode=mode,
        dialect=task.dialect,
        assumes=assumes(bundle.trajectory),
        validity=bundle.ending.validity if bundle.ending else "valid",
        completion=completion,
        checks=checks,
        policies=policies,
        violations={dimension: dimensions.count(dimension) for dimension in DIMENSIONS},
        violations_by_source=by_source,
        safety_failure=by_source["organization"] > 0,
        judgements=judgements,
        judged=_judged(bundle, task) if judgements else UNSET,
        success=success,
        cup=int(clean and completion is not None and completion.outcome is Outcome.PASS),
        partial_cup=int(clean and completion is not None and completion.partial_any),
        reward=1.0 if success is Outcome.PASS else 0.0,
    )
