"""How easily judges are fooled: each run judged again under attacks, priced, asked and counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.byte_source import Sources, bundles_in
from replaykit.decoders import decode
from replaykit.errors import JudgeError, ReplaykitError
from replaykit.file_types import kind_of, read_whole
from replaykit.grading.agreement.agreement_rates import difference_p, rounded, share
from replaykit.grading.agreement.labels import Labels
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.attack_donors import BothBlobs, Corpus
from replaykit.grading.judge_runs.judge_run import UNREAD, JudgedBundle, PlannedJudge
from replaykit.grading.judges.attacks import AGAIN, Attack, Donor, attacks_tape
from replaykit.grading.judges.clients.client import Client
from replaykit.grading.judges.clients.transports import client_or_own
from replaykit.grading.judges.judge_config import judge_name, tape_of
from replaykit.grading.judges.judge_loop import Asked
from replaykit.grading.judges.request_plan import plan, plan_of
from replaykit.grading.judges.tape.tape import Tape, read_tape, request_key
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.grading.judges.tape.tape_recorder import CONCURRENCY, RequestSlots, TapeRecorder, judge_async
from replaykit.grading.statistics import Interval, upper_bound, wilson
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings

OnUnread = Callable[[ReplaykitError], None]
"""Takes the error of a bundle that is left out."""

S, E = JudgeOutcome.SUCCESS, JudgeOutcome.ERROR


class Flips(Struct, frozen=True, kw_only=True):
    """Runs that change under an attack, of so many."""

    flips: int
    """Runs that change."""
    n: int
    """Runs that could."""
    share: float | None
    """The one over the other; null of nothing."""
    ci95: Interval | None
    """Wilson's interval."""
    high95: float | None
    """The one-sided 95 % Clopper-Pearson bound."""


class AttackResult(Struct, frozen=True, kw_only=True):
    """Effect of one attack on one judge over all runs."""

    judge: str
    """The judge."""
    fingerprint: str
    """Digest of everything that shapes its answer, without the attack."""
    attack: str
    """The attack."""
    danger: str
    """`success`: a flip to SUCCESS is dangerous. `stays`: a SUCCESS that stays. `any`: every flip."""
    n: int
    """Runs that the judge was asked about with and without the attack."""
    n_missing: int
    """Runs with an error in one of both: no reply on the tape, for instance."""
    n_skipped: int
    """Runs that were not attacked: no other run has another task and other screenshots."""
    n_immune: int
    """Runs of which the judge is sent the same under the attack: nothing was asked."""
    origins: dict[str, int]
    """Where the replies under attack come from: `synthetic` ones are no model's."""
    flipped: Flips
    """Any change of outcome."""
    to: dict[str, int]
    """Flips by the outcome that they end in."""
    susceptible: Flips
    """Flips to SUCCESS, of the runs that were no SUCCESS."""
    stays: Flips
    """Runs that stay SUCCESS, of those that were."""
    beyond_again: float | None
    """Share of flips less that of `again`, over the runs that both know."""
    mcnemar_p: float | None
    """Exact p of that difference."""
    false_positives: Flips | None
    """With labels: runs called SUCCESS under attack, of those that people call a failure."""
    false_positives_before: Flips | None
    """The same without the attack."""


class _Trial(NamedTuple):
    """One run with and without an attack."""

    before: JudgeOutcome
    after: JudgeOutcome
    is_immune: bool
    run: str
    origins: Mapping[str, int]


def plan_attacks(sources: Sources, options: GradeOptions, attacks: Sequence[Attack]) -> list[PlannedJudge]:
    """Return what the judges would ask under each attack that no tape answers; nothing is sent.

    A request of several attacks counts for the first of them.
    """
    planned = []
    for case, lent in _attacked(sources, options, attacks):
        tape = _known(case)
        for settings in case.panel.judges:
            seen: set[tuple[str, tuple[int, int]]] = set()
            for attack in filter(None, lent):
                found = plan(settings, case.task, case.replay(), tape, case.panel.mode, attack=attack)
                own = tuple(one for one in found.missing if _mark(one) not in seen)
                seen.update(map(_mark, own))
                left = max(0, found.at_most - len(found.missing) + len(own)) if own else 0
                named = f"{judge_name(settings)} under {attack.name}"
                fresh = (
                    plan_of(own, left)
                    if own
                    else replace(found, missing=(), blocked=None, at_most=0, tokens=0, images=0)
                )
                planned.append(
                    PlannedJudge(source=case.source, judge=named, model=settings.model, plan=fresh)
                )
    return planned


def run_attacks(
    sources: Sources,
    options: GradeOptions,
    attacks: Sequence[Attack],
    *,
    client: Client | None = None,
    concurrency: int = CONCURRENCY,
) -> list[tuple[str, str, Judgement]]:
    """Ask what is missing under each attack and record it; return (source, attack, judgement) in order."""
    with client_or_own(client, options.judge_base_url) as asked:
        return asyncio.run(_run(sources, options, attacks, asked, concurrency))


def attack_judges(
    sources: Sources,
    options: GradeOptions,
    attacks: Sequence[Attack],
    labels: Labels | None = None,
    *,
    on_unread: OnUnread | None = None,
) -> list[AttackResult]:
    """Return what the tapes know of each judge under each attack. Nothing is sent.

    `on_unread`: takes the error of each bundle that cannot be read, which is left out; else it is raised.
    """
    tasks: dict[str, str] = {}
    trials: dict[tuple[str, str], list[_Trial | None]] = {}
    marks: dict[str, str] = {}
    skipped: Counter[tuple[str, str]] = Counter()
    for case, lent in _attacked(sources, options, attacks, on_unread):
        try:
            judged_here = list(_judged(case, lent))
        except UNREAD as error:
            _report(error, on_unread)
            continue
        tasks[case.bundle.digest] = case.task.id
        for before, after in judged_here:
            marks.setdefault(before.judge, before.fingerprint)
            for one, attack, judged in zip(attacks, lent, after, strict=True):
                trial = _trial(before, judged, attack, case.bundle.digest) if attack and judged else None
                skipped[before.judge, one.name] += attack is None
                trials.setdefault((before.judge, one.name), []).append(trial)
    names = list(dict.fromkeys(judge for judge, _ in trials))
    failures = None if labels is None else _failures(labels.of_runs(tasks))
    return [
        _result(
            (name, marks[name]),
            attack,
            trials[name, attack.name],
            trials[name, AGAIN],
            skipped[name, attack.name],
            failures,
        )
        for name in names
        for attack in attacks
    ]


def _judged(
    case: JudgedBundle, attacks: Sequence[Attack | None]
) -> Iterator[tuple[Judgement, list[Judgement | None]]]:
    """Yield what each judge says of a bundle as it is, and under each attack that there is."""
    base, known = tape_of(case.bundle, case.panel.tape), _known(case)

    def judged(settings: JudgeSettings, tape: Tape | None, attack: Attack | None = None) -> Judgement:
        return judge_from_tape(settings, case.task, case.replay(), tape, case.panel.mode, attack=attack)

    for settings in case.panel.judges:
        before = judged(settings, base)
        yield before, [judged(settings, known, one) if one is not None else None for one in attacks]


def read_attacks(path: str | Path) -> tuple[AttackResult, ...]:
    """Return the results that `judge sensitivity --attacks ... --json` printed. Raises JudgeError."""
    how = "`replaykit judge sensitivity RUNS --attacks all --json` prints one"
    try:
        return decode(read_whole(path), tuple[AttackResult, ...])
    except OSError as error:
        raise JudgeError(what=f"{path}: cannot read the attacks: {error.strerror}; {how}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise JudgeError(
            what=f"{path}: not a list of attacks ({error}), found {kind_of(path)}; {how}"
        ) from error


def susceptibility_code(results: Sequence[AttackResult], most: float | None) -> int:
    """Return an exit code: 1 where a bound of flips to SUCCESS is above, 3 where too few runs can say so.

    It is about the attacks that are made to turn a verdict to SUCCESS.
    """
    bounds = [one.susceptible for one in results if one.danger == "success"] if most is not None else []
    above = [one for one in bounds if one.high95 is None or (most is not None and one.high95 > most)]
    few = [one for one in above if not one.n or (upper_bound(0, one.n) or 0) > (most or 0)]
    if any(one not in few or one.flips for one in above):
        return 1
    return 3 if few else 0


async def _run(
    sources: Sources, options: GradeOptions, attacks: Sequence[Attack], client: Client, concurrency: int
) -> list[tuple[str, str, Judgement]]:
    slots, found = RequestSlots(concurrency), []
    try:
        for case, lent in _attacked(sources, options, attacks):
            for settings in case.panel.judges:
                for attack in filter(None, lent):
                    judged = await judge_async(
                        settings, case.task, case.replay(), _recorder(case, client, attack), case.panel.mode,
                        slots=slots, attack=attack,
                    )  # fmt: skip
                    found.append((case.source, attack.name, judged))
    finally:
        slots.close()
    return found


def _attacked(
    sources: Sources, options: GradeOptions, attacks: Sequence[Attack], on_unread: OnUnread | None = None
) -> Iterator[tuple[JudgedBundle, tuple[Attack | None, ...]]]:
    """Yield each bundle with its attacks; one that cannot be opened is reported, or its error is raised.

    An attack that borrows from another run is replaced by None if no other run fits.
    """
    listed = list(bundles_in(sources))
    is_borrowing = any(attack.is_borrowing for attack in attacks)
    with Corpus(listed, options) as runs:
        for at in range(len(listed)):
            try:
                donor = runs.donor(at) if is_borrowing else None
                case = runs.case(at)
            except UNREAD as error:
                _report(error, on_unread)
                continue
            yield case, tuple(_with_donor(one, donor) for one in attacks)


def _report(error: ReplaykitError, on_unread: OnUnread | None) -> None:
    if on_unread is None:
        raise error
    on_unread(error)


def _with_donor(attack: Attack, donor: Donor | None) -> Attack | None:
    if not attack.is_borrowing:
        return attack
    return None if donor is None else attack._replace(donor=donor)


def _recorder(case: JudgedBundle, client: Client, attack: Attack) -> TapeRecorder:
    donor = attack.donor
    blobs = case.bundle if donor is None else BothBlobs(case.bundle, donor.replay.bundle)
    base = tape_of(case.bundle, case.panel.tape)
    path = attacks_tape(case.panel.tape)
    return TapeRecorder(blobs, client, path, trajectory=case.bundle.digest, also=base)


def _known(case: JudgedBundle) -> Tape | None:
    """Return the replies to attacks and those to the judge as it is, for requests that stay the same."""
    base, own = tape_of(case.bundle, case.panel.tape), read_tape(attacks_tape(case.panel.tape))
    if base is None or own is None:
        return own if base is None else base
    return replace(own, found={**base.found, **own.found}, entries=(*own.entries, *base.entries))


def _mark(asked: Asked) -> tuple[str, tuple[int, int]]:
    return request_key(asked.request), asked.ordinal


def _failures(labels: Labels) -> set[str]:
    return {run for run, label in labels.primary().items() if label.label == "failure"}


def _trial(before: Judgement, after: Judgement, attack: Attack, run: str) -> _Trial | None:
    if E in (before.outcome, after.outcome):
        return None
    same = [stage.get("request_key") for stage in before.stages] == [
        stage.get("request_key") for stage in after.stages
    ]
    is_immune = same and not attack.is_sample
    return _Trial(before.outcome, after.outcome, is_immune, run, after.origins)


def _result(
    judge: tuple[str, str],
    attack: Attack,
    given: Sequence[_Trial | None],
    again: Sequence[_Trial | None],
    n_skipped: int,
    failures: set[str] | None,
) -> AttackResult:
    trials = [one for one in given if one is not None]
    origins: Counter[str] = Counter()
    for one in trials:
        origins.update(one.origins)
    beyond, p = _beyond(given, again)
    failed = None if failures is None else [one for one in trials if one.run in failures]
    return AttackResult(
        judge=judge[0],
        fingerprint=judge[1],
        attack=attack.name,
        danger=attack.danger,
        n=len(trials),
        n_missing=len(given) - len(trials) - n_skipped,
        n_skipped=n_skipped,
        n_immune=sum(one.is_immune for one in trials),
        origins=dict(sorted(origins.items())),
        flipped=_flips([one.before is not one.after for one in trials]),
        to=dict(sorted(Counter(str(one.after) for one in trials if one.before is not one.after).items())),
        susceptible=_flips([one.after is S for one in trials if one.before is not S]),
        stays=_flips([one.after is S for one in trials if one.before is S]),
        beyond_again=beyond,
        mcnemar_p=p,
        false_positives=None if failed is None else _flips([one.after is S for one in failed]),
        false_positives_before=None if failed is None else _flips([one.before is S for one in failed]),
    )


def _flips(changed: Sequence[bool]) -> Flips:
    flips, n = sum(changed), len(changed)
    part = rounded(share(flips, n))
    return Flips(flips=flips, n=n, share=part, ci95=wilson(flips, n, 4), high95=upper_bound(flips, n))


def _beyond(
    given: Sequence[_Trial | None], again: Sequence[_Trial | None]
) -> tuple[float | None, float | None]:
    """Return by how much more runs flip than by asking again, and McNemar's p over the same runs."""
    both = list(_pairs(given, again))
    only_attack = sum(one and not other for one, other in both)
    only_again = sum(other and not one for one, other in both)
    if not both:
        return None, None
    gap = Fraction(only_attack - only_again, len(both))
    return rounded(gap), rounded(difference_p(only_attack, only_again))


def _pairs(given: Sequence[_Trial | None], again: Sequence[_Trial | None]) -> Iterator[tuple[bool, bool]]:
    for one, other in zip(given, again, strict=True):
        if one is not None and other is not None:
            yield one.before is not one.after, other.before is not other.after
