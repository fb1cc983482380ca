"""Which judges may decide a gate: those whose agreement with people was measured and is good enough."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import convert, decode
from replaykit.errors import LabelError, UsageError
from replaykit.file_types import kind_of, read_whole
from replaykit.grading.gate import Calibrated
from replaykit.grading.share_thresholds import ShareThresholds, ThresholdFile
from replaykit.patterns import lazy_pattern

SCHEMA = "replaykit.calibration/2"
"""Name and version of the layout of a calibration."""

MINIMUM: Mapping[str, float] = {"kappa_low": 0.4, "fpr_high": 0.15, "n": 50, "n_pos": 20, "n_neg": 20}
"""Bounds that a judge has to reach: each name with its least value, `fpr_high` with its greatest."""

_AT_MOST = ("fpr_high",)
_COUNTS = ("n", "n_pos", "n_neg")


class Measured(Struct, frozen=True, kw_only=True):
    """How well a judge agreed with people, over all labelled runs: what it did not decide is a FAILURE."""

    name: str
    """Of the judge."""
    n: int
    """Labelled runs."""
    n_pos: int
    """Runs that people call a success."""
    n_neg: int
    """Runs that people call a failure."""
    kappa_low: float | None = None
    """The 2.5 % point of kappa over resampled tasks; None = there are too few runs."""
    fpr_high: float | None = None
    """The one-sided 95 % bound of the share of failures called a success, over tasks."""
    origins: dict[str, int] = {}
    """Where its replies come from, with counts."""
    agents: tuple[str, ...] = ()
    """Whose runs were labelled, where it is known."""
    sites: tuple[str, ...] = ()
    """Where they took place."""
    rubrics: dict[str, tuple[str, ...]]
    """Task to the digests of the criteria by which its labelled runs were judged; empty without criteria."""


def read_calibration(path: str | Path, minimum: Mapping[str, float] = MINIMUM) -> dict[str, Calibrated]:
    """Return the fingerprints of a calibration, each with what it lacks and its rubrics.

    Raises LabelError.
    """
    return {mark: _calibrated(one, minimum) for mark, one in read_measured(path).items()}


def read_measured(path: str | Path) -> dict[str, Measured]:
    """Return what a calibration measured for each judge, by fingerprint. Raises LabelError."""
    name = Path(path).name
    _, judges = _judges(path)
    return {mark: _measured(judges[mark], name) for mark in sorted(judges)}


def _judges(path: str | Path) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of a calibration, and fingerprint to what it measured for a judge."""
    name = Path(path).name
    try:
        data = read_whole(path)
        plain = decode(data, dict[str, Any])
    except OSError as error:
        raise LabelError(
            source=name, line=0, reason=f"cannot read the calibration: {error.strerror}"
        ) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LabelError(source=name, line=0, reason=f"{_NONE}; found {kind_of(path)}") from error
    if plain.get("schema") == "replaykit.calibration/1":
        reason = (
            "a calibration of version 1, which has no bounds: write it again with `replaykit agree -o FILE`"
        )
        raise LabelError(source=name, line=0, reason=reason)
    judges = plain.get("judges")
    if plain.get("schema") != SCHEMA or not isinstance(judges, dict):
        raise LabelError(source=name, line=0, reason=f"{_NONE}; found {kind_of(path)}")
    return data, judges


def read_thresholds(path: str | Path) -> ThresholdFile:
    """Return the thresholds of a calibration that `agree --choose` wrote. Raises LabelError."""
    name = Path(path).name
    data, judges = _judges(path)
    found = {mark: _thresholds(judges[mark], name) for mark in sorted(judges)}
    known = {mark: one for mark, one in found.items() if one is not None}
    if not known:
        how = "write them with `replaykit agree LABELS REPORT --choose AIM -o FILE`"
        reason = f"no judge of it has thresholds: {how}"
        raise LabelError(source=name, line=0, reason=reason)
    rubrics = {mark: _rubrics(judges[mark], name) for mark in known}
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    return ThresholdFile(name=name, digest=digest, judges=known, rubrics=rubrics)


def _rubrics(plain: Any, name: str) -> dict[str, tuple[str, ...]]:
    """Return task to the digests of the criteria that its labelled runs were judged by."""
    try:
        return convert(plain.get("rubrics", {}), dict[str, tuple[str, ...]])
    except msgspec.ValidationError as error:
        raise LabelError(source=name, line=0, reason=f"{_NONE}: rubrics: {error}") from error


def _thresholds(plain: Any, name: str) -> ShareThresholds | None:
    """Return the thresholds of one judge; None of one without any."""
    sides = plain.get("thresholds") if isinstance(plain, dict) else None
    if sides is None:
        return None
    try:
        answer = convert({side: sides[side]["at"] for side in ("accept", "reject")}, ShareThresholds)
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise LabelError(source=name, line=0, reason=f"{_NONE}: thresholds: {error}") from error
    for side, at in (("accept", answer.accept), ("reject", answer.reject)):
        if at is not None and not _is_threshold(side, at):
            raise LabelError(source=name, line=0, reason=f"{_NONE}: thresholds: {side} at {at!r}")
    return answer if answer.accept is not None or answer.reject is not None else None


def _is_threshold(side: str, at: str) -> bool:
    """Return whether one can be chosen: nothing is accepted at no share, nothing rejected at a full one."""
    if not _FRACTION.fullmatch(at):
        return False
    return 0 < Fraction(at) <= 1 if side == "accept" else 0 <= Fraction(at) < 1


_FRACTION = lazy_pattern(r"[0-9]{1,4}(/[1-9][0-9]{0,3})?")


def read_minimum(text: str) -> dict[str, float]:
    """Read `NAME=VALUE,...`; what is not named keeps its default. Raises UsageError."""
    found = dict(MINIMUM)
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in MINIMUM or not _is_number(name, value):
            known = ", ".join(f"{one}={least:g}" for one, least in MINIMUM.items())
            raise UsageError(what=f"--calibration-min: {part!r}; expected NAME=VALUE as in {known}")
        found[name] = float(value)
    return found


_NONE = "it is not a calibration, which `replaykit agree -o FILE` writes"


def _is_number(name: str, value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return 0 <= number <= 1e9 if name in _COUNTS else -1 <= number <= 1


def _measured(plain: Any, name: str) -> Measured:
    try:
        return convert(plain, Measured)
    except msgspec.ValidationError as error:
        raise LabelError(source=name, line=0, reason=f"{_NONE}: {error}") from error


def _calibrated(judge: Measured, minimum: Mapping[str, float]) -> Calibrated:
    return Calibrated(
        lacks=tuple(missed_minimum(judge, minimum)),
        rubrics=judge.rubrics,
        agents=judge.agents,
        sites=judge.sites,
    )


def missed_minimum(judge: Measured, minimum: Mapping[str, float]) -> Iterator[str]:
    """Yield what a judge does not reach, each with its value and the minimum."""
    synthetic = judge.origins.get("synthetic", 0)
    if synthetic:
        yield f"{synthetic} of the replies it was measured on are synthetic, not a model's"
    for name, bound in minimum.items():
        value = getattr(judge, name)
        is_most = name in _AT_MOST
        if value is None:
            yield f"{name} is unknown: too few labelled runs or tasks"
        elif (value > bound) if is_most else (value < bound):
            yield f"{name} is {value:g}, {'above' if is_most else 'below'} {bound:g}"
