"""Judges of many bundles, and checks that need one: what they would ask, asking it live, and in batches."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from replaykit.bundle.byte_source import Sources, bundles_in
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import BundleError, ReplayError, UnknownTask
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import asked_by_checks, panel_of, task_for
from replaykit.grading.judge_runs.check_requests import CHECKS, ask_for_checks, plan_checks
from replaykit.grading.judges.clients.client import BatchClient, Client, ClientAnswer, SentRequest
from replaykit.grading.judges.clients.shared_replies import SharedBatches, SharedReplies
from replaykit.grading.judges.clients.transports import client_or_own
from replaykit.grading.judges.costs import Spent, added, spent_on, together, usage_report
from replaykit.grading.judges.judge_config import Panel, is_foreign, tape_of, unpacked
from replaykit.grading.judges.judge_execution import recorder_of
from replaykit.grading.judges.judge_loop import Asked
from replaykit.grading.judges.request_plan import RequestPlan, known_requests, plan
from replaykit.grading.judges.tape.tape import request_key
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.grading.judges.tape.tape_recorder import (
    CONCURRENCY,
    RequestSlots,
    TapeRecorder,
    judge_async,
    refuse_in_loop,
)
from replaykit.grading.model_request import ModelReply, ReplyFailure, Usage
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

BATCH_MAX = 100
"""Requests of one batch: their screenshots are in memory at once."""

UNREAD = (BundleError, ReplayError, UnknownTask)
"""Errors of one bundle that are no reason to leave out the others."""

Progress = Callable[[str, Judgement], None]
"""Called with (source, judgement) as judgements arrive."""


class PlannedJudge(Struct, frozen=True, kw_only=True):
    """Requests that one judge would send about one bundle."""

    source: str
    """Path or URL of the bundle."""
    judge: str
    """Name of the judge, or `checks`."""
    model: str
    """Model that would be asked."""
    plan: RequestPlan
    """Requests that no tape answers."""


class Sensitivity(Struct, frozen=True, kw_only=True):
    """A judge's outcomes for all bundles when it gets only so many of the last screenshots."""

    judge: str
    """The judge."""
    k: int | Literal["all"]
    """Screenshots."""
    n: int
    """Bundles."""
    n_success: int = 0
    """Successes."""
    n_failure: int = 0
    """Failures."""
    n_abstain: int = 0
    """No verdict in the reply."""
    n_missing: int = 0
    """No reply on the tape, or another error."""
    n_changed: int = 0
    """Verdicts that differ from those with the most screenshots, where both are on the tape."""


class JudgedBundle(Struct, frozen=True, kw_only=True):
    """One bundle, opened, with its judges."""

    source: str
    """The bundle's name."""
    bundle: Bundle
    """The bundle, open."""
    task: Task
    """Task against which the run is judged."""
    panel: Panel
    """Its judges."""

    def replay(self) -> Replay:
        """Return the run again."""
        return Replay(self.bundle)


def plan_judges(sources: Sources, options: GradeOptions | None = None) -> list[PlannedJudge]:
    """Return the requests that judges and checks of these bundles would send.

    It reads the tapes and sends nothing. Raises BundleError, TaskError, TapeError, JudgeError.
    """
    planned = []
    options = options or GradeOptions()
    for case in cases_of(sources, options):
        tape = tape_of(case.bundle, case.panel.tape)
        for settings in case.panel.judges:
            found = plan(settings, case.task, case.replay(), tape, case.panel.mode)
            name = settings.id or settings.protocol
            planned.append(PlannedJudge(source=case.source, judge=name, model=settings.model, plan=found))
        of_checks = plan_checks(case.bundle, case.task, options)
        if of_checks is not None:
            model, found = of_checks
            planned.append(PlannedJudge(source=case.source, judge=CHECKS, model=model, plan=found))
    return planned


def requests_of(sources: Sources, options: GradeOptions | None = None) -> list[Asked]:
    """Return every request that is known: those that the tapes answer, and the first that they do not."""
    found: list[Asked] = []
    options = options or GradeOptions()
    for case in cases_of(sources, options):
        tape = tape_of(case.bundle, case.panel.tape)
        for settings in case.panel.judges:
            found += known_requests(settings, case.task, case.replay(), tape, case.panel.mode)
        found += asked_by_checks(case.bundle, case.task, options).asked
    return found


def recorded_usage(sources: Sources, options: GradeOptions | None = None) -> tuple[int, Usage]:
    """Return how many replies the tapes of these bundles hold, and what they were billed for."""
    tapes = (tape_of(case.bundle, case.panel.tape) for case in cases_of(sources, options))
    billed = [entry.reply.usage for tape in tapes if tape is not None for entry in tape.found.values()]
    return len(billed), added(billed)


class StageCost(Struct, frozen=True, kw_only=True):
    """Cost of the recorded replies of one stage, over all bundles."""

    judge: str
    """The judge, or who asks for checks."""
    stage: str
    """Where in its protocol."""
    spent: Spent
    """Their requests, screenshots and tokens."""


def recorded_stages(sources: Sources, options: GradeOptions | None = None) -> list[StageCost]:
    """Return what the replies that these judges and checks use took, by judge and stage.

    A request that bundles, votes or members share counts once.
    """
    found: dict[tuple[str, str], list[Spent]] = {}
    shared: set[str] = set()
    options = options or GradeOptions()
    for case in cases_of(sources, options):
        for asked, reply in _recorded_here(case, options):
            key = request_key(asked.request)
            if not asked.request.is_shared or key not in shared:
                spent = spent_on({"usage": usage_report(asked.request, reply)})
                found.setdefault((asked.request.judge, asked.request.stage), []).append(spent)
            shared.add(key)
    return [
        StageCost(judge=judge, stage=stage, spent=together(spent)) for (judge, stage), spent in found.items()
    ]


def _recorded_here(case: JudgedBundle, options: GradeOptions) -> Iterator[tuple[Asked, ModelReply]]:
    """Yield the requests about one bundle that its tape answers, each once."""
    tape = tape_of(case.bundle, case.panel.tape)
    if tape is None:
        return
    judges, mode = case.panel.judges, case.panel.mode
    known = [one for judge in judges for one in known_requests(judge, case.task, case.replay(), tape, mode)]
    known += asked_by_checks(case.bundle, case.task, options).asked
    distinct = {(request_key(one.request), one.ordinal): one for one in known}
    for asked in distinct.values():
        reply = tape.reply(asked.request, asked.ordinal)
        if reply is not None:
            yield asked, reply


def foreign_tapes(sources: Sources, options: GradeOptions | None = None) -> list[str]:
    """Return the tapes that were recorded for other bundles; their replies count where requests are equal."""
    found = ((case.bundle, tape_of(case.bundle, case.panel.tape)) for case in cases_of(sources, options))
    return [tape.name for bundle, tape in found if tape is not None and is_foreign(bundle, tape)]


def sensitivity_to_screenshots(
    sources: Sources,
    options: GradeOptions | None = None,
    *,
    ks: Sequence[int | Literal["all"]] = (1, 3, 15, "all"),
) -> list[Sensitivity]:
    """Return how verdicts depend on the number of screenshots, as far as the tapes know. Nothing is sent.

    Judges that choose screenshots by their score are left out.
    """
    found: dict[tuple[str, int | Literal["all"]], list[JudgeOutcome]] = {}
    numbers = sorted(set(ks), key=_images)
    for case in cases_of(sources, options):
        tape = tape_of(case.bundle, case.panel.tape)
        for settings in case.panel.judges:
            for k in numbers if settings.protocol not in _BY_THEMSELVES else ():
                fewer = replace(settings, images="all" if k == "all" else f"last:{k}")
                judged = judge_from_tape(fewer, case.task, case.replay(), tape, case.panel.mode)
                found.setdefault((judged.judge, k), []).append(judged.outcome)
    names = sorted({name for name, _ in found})
    return [
        _sensitivity(name, k, found[name, k], found[name, numbers[-1]]) for name in names for k in numbers
    ]


def summed(rows: Iterable[Sensitivity]) -> list[Sensitivity]:
    """Return one row for each judge and number, for the rows about several bundles."""
    found: dict[tuple[str, float], Sensitivity] = {}
    for row in rows:
        key = row.judge, _images(row.k)
        before = asdict(found.get(key, Sensitivity(judge=row.judge, k=row.k, n=0)))
        counts = {name: before[name] + n for name, n in asdict(row).items() if name.startswith("n")}
        found[key] = replace(row, **counts)
    return [found[key] for key in sorted(found)]


def run_judges(
    sources: Sources,
    options: GradeOptions | None = None,
    *,
    client: Client | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: Progress | None = None,
) -> list[tuple[str, Judgement]]:
    """Ask judges what the tapes lack, record the replies, and return judgements in order.

    `client`: answers the requests; default: the provider's client. `concurrency`: greatest number of
    simultaneous requests for all bundles. `on_progress`: called with source and judgement of each bundle.
    Without `options`, `judge_mode` is `new`; `none` sends nothing.

    Returns pairs of source and judgement. Replies for checks are recorded as well; their judgement `checks`
    is NOT_EVALUATED, because only grading decides. After an interruption the tapes are valid: call it again.
    Raises JudgeError inside a running event loop: await `run_judges_async` there.

    Example:
        for source, found in replaykit.run_judges(["runs/"], replaykit.GradeOptions(judges=("webvoyager",))):
            print(source, found.outcome)
    """
    refuse_in_loop("run_judges", "run_judges_async")
    return asyncio.run(
        run_judges_async(sources, options, client=client, concurrency=concurrency, on_progress=on_progress)
    )


async def run_judges_async(
    sources: Sources,
    options: GradeOptions | None = None,
    *,
    client: Client | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: Progress | None = None,
) -> list[tuple[str, Judgement]]:
    """Do what `run_judges` does, in an event loop."""
    options = options or GradeOptions(judge_mode="new")
    with client_or_own(client, options.judge_base_url) as asked:
        return await _all_judged(sources, options, SharedReplies(asked), concurrency, on_progress)


async def _all_judged(
    sources: Sources,
    options: GradeOptions,
    shared: SharedReplies,
    concurrency: int,
    on_progress: Progress | None,
) -> list[tuple[str, Judgement]]:
    slots, open_ = RequestSlots(concurrency), asyncio.Semaphore(concurrency)

    async def one(source: str) -> list[tuple[str, Judgement]]:
        async with open_:
            try:
                return await _judged(source, options, shared, slots, on_progress)
            except (BundleError, UnknownTask) as error:
                return [(source, _unreadable(error))]

    try:
        rows = await asyncio.gather(*(one(source) for source in bundles_in(sources)))
    finally:
        slots.close()
    return [row for found in rows for row in found]


def run_batches(
    sources: Sources, options: GradeOptions | None = None, *, client: BatchClient | None = None
) -> list[ReplyFailure]:
    """Plan, hand in, record and plan again, until all is answered; return the failures that stop it.

    A failed request is not handed in twice.
    """
    options = options or GradeOptions()
    with client_or_own(client, options.judge_base_url) as asked:
        return _all_handed_in(list(bundles_in(sources)), options, SharedBatches(asked))


def _all_handed_in(sources: list[str], options: GradeOptions, asked: SharedBatches) -> list[ReplyFailure]:
    failures: list[ReplyFailure] = []
    refused: set[tuple[str, str, tuple[int, int]]] = set()
    while True:
        todo = [row for row in _missing(sources, options) if _mark(row) not in refused]
        if not todo:
            return failures
        for at in range(0, len(todo), BATCH_MAX):
            for row, failure in _handed_in(todo[at : at + BATCH_MAX], options, asked):
                failures.append(failure)
                refused.add(_mark(row))


def _images(k: int | Literal["all"]) -> float:
    return math.inf if k == "all" else k


def _sensitivity(
    judge: str, k: int | Literal["all"], outcomes: Sequence[JudgeOutcome], most: Sequence[JudgeOutcome]
) -> Sensitivity:
    decided = (JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE)
    pairs = [pair for pair in zip(outcomes, most, strict=True) if set(pair) <= set(decided)]
    return Sensitivity(
        judge=judge,
        k=k,
        n=len(outcomes),
        n_success=outcomes.count(JudgeOutcome.SUCCESS),
        n_failure=outcomes.count(JudgeOutcome.FAILURE),
        n_abstain=outcomes.count(JudgeOutcome.ABSTAIN),
        n_missing=outcomes.count(JudgeOutcome.ERROR),
        n_changed=sum(one is not other for one, other in pairs),
    )


_BY_THEMSELVES = ("webjudge", "claims", "rubric", "panel")
"""Judges that choose their screenshots themselves, look at none, or leave it to their members."""

_Row = tuple[str, Asked]


def _mark(row: _Row) -> tuple[str, str, tuple[int, int]]:
    return row[0], request_key(row[1].request), row[1].ordinal


def _missing(sources: Sources, options: GradeOptions) -> Iterator[_Row]:
    for planned in plan_judges(sources, options):
        yield from ((planned.source, asked) for asked in planned.plan.missing)


def _handed_in(
    rows: Sequence[_Row], options: GradeOptions, client: BatchClient
) -> Iterator[tuple[_Row, ReplyFailure]]:
    """Hand in one batch and record its replies; yield what failed."""
    sent = [_sent(source, asked, options) for source, asked in rows]
    fine = [place for place, one in enumerate(sent) if isinstance(one, SentRequest)]
    answers = client.ask_many([one for one in sent if isinstance(one, SentRequest)])
    found = dict(zip(fine, answers, strict=True))
    for place, row in enumerate(rows):
        one = sent[place]
        failure = one if isinstance(one, ReplyFailure) else _recorded(row, one, found[place], options)
        if failure is not None:
            yield row, failure


def _sent(source: str, asked: Asked, options: GradeOptions) -> SentRequest | ReplyFailure:
    with open_bundle(source) as bundle:
        return _recorder(bundle, options).sent(asked.request)


def _recorded(
    row: _Row, sent: SentRequest, answered: ClientAnswer, options: GradeOptions
) -> ReplyFailure | None:
    with open_bundle(row[0]) as bundle:
        reply = _recorder(bundle, options).record(row[1], sent, answered)
    return reply if isinstance(reply, ReplyFailure) else None


def _recorder(bundle: Bundle, options: GradeOptions) -> TapeRecorder:
    panel = panel_of(bundle, task_for(bundle, None, options), options)
    unpacked(bundle, panel.tape)
    return TapeRecorder(bundle, _Unconnected(), panel.tape, trajectory=bundle.digest)


class _Unconnected:
    """A client for desks that only record."""

    def ask(self, request: object, images: object) -> ClientAnswer:
        return ClientAnswer(reply=ReplyFailure(kind="client_error", message="no model is connected"))


def _unreadable(error: BundleError | UnknownTask) -> Judgement:
    """Return the judgement of a bundle that cannot be read: the others go on."""
    return Judgement(
        judge="-", outcome=JudgeOutcome.ERROR, reason="evidence_unreadable", fingerprint="", detail=str(error)
    )


async def _judged(
    source: str,
    options: GradeOptions,
    client: Client,
    slots: RequestSlots,
    on_progress: Progress | None,
) -> list[tuple[str, Judgement]]:
    found: list[tuple[str, Judgement]] = []
    for case in cases_of([source], options):
        for settings in case.panel.judges:
            found.append((source, await _judgement(case, settings, client, slots)))
            if on_progress is not None:
                on_progress(*found[-1])
        of_checks = await ask_for_checks(case.bundle, case.task, options, client, slots)
        if of_checks is not None:
            found.append((source, of_checks))
    return found


async def _judgement(
    case: JudgedBundle, settings: JudgeSettings, client: Client, slots: RequestSlots
) -> Judgement:
    panel = case.panel
    if panel.how == "none":
        tape = tape_of(case.bundle, panel.tape)
        return judge_from_tape(settings, case.task, case.replay(), tape, panel.mode)
    recorder = recorder_of(panel, case.bundle, client)
    return await judge_async(settings, case.task, case.replay(), recorder, panel.mode, slots=slots)


def cases_of(sources: Sources, options: GradeOptions | None) -> Generator[JudgedBundle]:
    """Yield each bundle with its judges; it is closed when the next one is asked for."""
    options = options or GradeOptions()
    for source in bundles_in(sources):
        with open_bundle(source) as bundle:
            task = task_for(bundle, None, options)
            yield JudgedBundle(source=source, bundle=bundle, task=task, panel=panel_of(bundle, task, options))
