"""Several judges as one: each member is asked as if it were the only one, and code folds what they say.

A member's requests are those of the judge itself, so its replies on the tape answer both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import fields, replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_options import fingerprint, judge_settings
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings

PANEL = "panel"
"""Name of the protocol."""

VERSION = 1
"""Raised when members are folded differently."""

SIZE = (2, 9)
"""Fewest and most members."""

S, F = JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE
A, E = JudgeOutcome.ABSTAIN, JudgeOutcome.ERROR


def members_of(settings: JudgeSettings, mode: str) -> tuple[JudgeSettings, ...]:
    """Return the members of a panel; empty for another judge. Raises JudgeError for an impossible panel."""
    if settings.protocol != PANEL:
        return ()
    _refuse_other_options(settings)
    members = tuple(judge_settings(one) for one in settings.members)
    low, high = SIZE
    if not low <= len(members) <= high:
        raise JudgeError(what=f"option members: a panel has {low} to {high}, this one {len(members)}")
    if any(one.protocol == PANEL for one in members):
        raise JudgeError(what="option members: a member of a panel is no panel")
    _refuse_equals(members, mode)
    _refuse_thresholds(settings, members)
    return members


def fingerprint_of(settings: JudgeSettings, mode: str) -> str:
    """Return the fingerprint that the judgements of a judge or panel will have; no model is asked.

    Raises JudgeError for settings that no judge can have.
    """
    members = [build_judge(one, mode) for one in members_of(settings, mode)]
    if not members:
        return build_judge(settings, mode).fingerprint
    return _fingerprint(settings, {one.name: one.fingerprint for one in members})


def fold(
    outcomes: Mapping[str, JudgeOutcome], success: int, failure: int, veto: Sequence[str] = ()
) -> tuple[JudgeOutcome, str]:
    """Return outcome and reason of the members' outcomes, by name.

    A FAILURE of a member with a veto decides. A verdict needs its number of members, and the other verdict
    not its own. Members that could not be asked count for neither side: nothing is a SUCCESS without them,
    and a FAILURE stands only where they could not have changed it.
    """
    count = Counter(outcomes.values())
    missing = count[E]
    if any(outcomes[name] is F for name in veto):
        return F, "veto"
    if count[F] >= failure and count[S] + missing < success:
        return F, "quorum"
    if missing and _could_decide(outcomes, count, success, failure, veto):
        return E, "no_quorum"
    if count[S] >= success:
        return (A, "tie") if count[F] >= failure else (S, "quorum")
    return A, "no_quorum"


def folded(settings: JudgeSettings, judgements: Sequence[Judgement]) -> Judgement:
    """Return the judgement of a panel from those of its members, in their order; each is kept."""
    success, failure = thresholds(settings)
    outcome, reason = fold({one.judge: one.outcome for one in judgements}, success, failure, settings.veto)
    other, _ = fold(
        {one.judge: JudgeOutcome(one.other_mode or one.outcome) for one in judgements},
        success,
        failure,
        settings.veto,
    )
    lost = next((one for one in judgements if one.outcome is E), None) if outcome is E else None
    return Judgement(
        judge=settings.id or PANEL,
        outcome=outcome,
        reason=lost.reason if lost is not None else reason,
        fingerprint=_fingerprint(settings, {one.judge: one.fingerprint for one in judgements}),
        stages=tuple({"member": one.judge, **stage} for one in judgements for stage in one.stages),
        images=_images(judgements),
        origins=_origins(judgements),
        other_mode=other,
        grounding=next((one.grounding for one in judgements if one.grounding), ()),
        detail=f"{lost.judge}: {lost.detail}" if lost is not None else None,
        members=tuple(_member(one) for one in judgements),
        depends_on=next((one.depends_on for one in judgements if one.depends_on is not UNSET), UNSET),
    )


def thresholds(settings: JudgeSettings) -> tuple[int, int]:
    """Return how many SUCCESS and how many FAILURE a verdict needs: all, and more than half."""
    n = len(settings.members)
    return settings.success or n, settings.failure or n // 2 + 1


def with_model(settings: JudgeSettings, model: str) -> JudgeSettings:
    """Return a judge that asks another model; of a panel, all members do."""
    if settings.protocol != PANEL:
        return replace(settings, model=model)
    members = tuple(replace(judge_settings(one), model=model) for one in settings.members)
    return replace(settings, members=members)


def _could_decide(
    outcomes: Mapping[str, JudgeOutcome],
    count: Counter[JudgeOutcome],
    success: int,
    failure: int,
    veto: Sequence[str],
) -> bool:
    """Return whether members that could not be asked might have made a verdict."""
    can_veto = any(outcomes[name] is E for name in veto)
    return can_veto or count[S] + count[E] >= success or count[F] + count[E] >= failure


def _refuse_other_options(settings: JudgeSettings) -> None:
    own = ("protocol", "id", "members", "success", "failure", "veto")
    plain = JudgeSettings(protocol="panel")
    others = [one.name for one in fields(settings) if one.name not in own]
    wrong = [name for name in others if getattr(settings, name) != getattr(plain, name)]
    if wrong:
        raise JudgeError(what=f"option {wrong[0]}: it is of a panel's members, not of the panel")


def _refuse_equals(members: Sequence[JudgeSettings], mode: str) -> None:
    names: dict[str, str] = {}
    marks: dict[str, str] = {}
    for one in members:
        judge = build_judge(one, mode)
        if judge.name in names:
            raise JudgeError(what=f"option members: two are named {judge.name!r}: give each an id")
        same = marks.setdefault(judge.fingerprint, judge.name)
        names[judge.name] = judge.name
        if same != judge.name:
            equal = f"{same!r} and {judge.name!r} ask the same of the same model"
            raise JudgeError(what=f"option members: {equal}: equal members add cost, not evidence")


def _refuse_thresholds(settings: JudgeSettings, members: Sequence[JudgeSettings]) -> None:
    for name in ("success", "failure"):
        number = getattr(settings, name)
        if number is not None and not 1 <= number <= len(members):
            raise JudgeError(what=f"option {name}: {number} is not from 1 to {len(members)}, the members")
    names = [one.id or one.protocol for one in members]
    for name in settings.veto:
        if name not in names:
            raise JudgeError(what=f"option veto: {name!r} is no member; there are {', '.join(names)}")


def _fingerprint(settings: JudgeSettings, members: Mapping[str, str]) -> str:
    success, failure = thresholds(settings)
    return fingerprint(
        {
            "protocol": PANEL,
            "version": VERSION,
            "members": dict(members),
            "success": success,
            "failure": failure,
            "veto": sorted(settings.veto),
        }
    )


_OF_STAGES = ("stages", "images", "grounding")


def _member(one: Judgement) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(one).items() if name not in _OF_STAGES}


def _images(judgements: Sequence[Judgement]) -> dict[str, Any]:
    sent = {str(image): image for one in judgements for image in one.images.get("sent", [])}
    return {"sent": list(sent.values())} if sent else {}


def _origins(judgements: Sequence[Judgement]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in judgements:
        total.update(one.origins)
    return dict(sorted(total.items()))
