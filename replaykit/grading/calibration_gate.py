"""Which judges may decide a gate: those whose agreement with people was measured and is good enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import convert, decode
from replaykit.errors import LabelError, UsageError
from replaykit.grading.gate import Calibrated

SCHEMA = "replaykit.calibration/2"
"""Name and version of the layout of a calibration."""

MINIMUM: Mapping[str, float] = {"kappa_low": 0.4, "fpr_high": 0.15, "n": 50, "n_pos": 20, "n_neg": 20}
"""What a judge has to reach: each name with its least value, `fpr_high` with its greatest."""

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
    """The 2.5 % point of kappa over resampled tasks; None = nothing can be said."""
    fpr_high: float | None = None
    """The one-sided 95 % bound of the share of failures called a success, over tasks."""
    origins: dict[str, int] = {}
    """Where its replies come from, with counts."""
    rubrics: dict[str, tuple[str, ...]]
    """Task to the digests of the criteria by which its labelled runs were judged; empty without criteria."""


def read_calibration(path: str | Path, minimum: Mapping[str, float] = MINIMUM) -> dict[str, Calibrated]:
    """Return the fingerprints of a calibration, each with what it lacks and its rubrics.

    Raises LabelError.
    """
    name = Path(path).name
    try:
        plain = decode(Path(path).read_bytes(), dict[str, Any])
    except OSError as error:
        raise LabelError(source=name, line=0, reason=f"cannot read: {error.strerror}") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LabelError(source=name, line=0, reason=f"{_NONE}: {error}") from error
    if plain.get("schema") == "replaykit.calibration/1":
        reason = (
            "a calibration of version 1, which has no bounds: write it again with `replaykit agree -o FILE`"
        )
        raise LabelError(source=name, line=0, reason=reason)
    judges = plain.get("judges")
    if plain.get("schema") != SCHEMA or not isinstance(judges, dict):
        raise LabelError(source=name, line=0, reason=_NONE)
    return {mark: _calibrated(_measured(judges[mark], name), minimum) for mark in sorted(judges)}


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
    return Calibrated(lacks=tuple(_lacks(judge, minimum)), rubrics=judge.rubrics)


def _lacks(judge: Measured, minimum: Mapping[str, float]) -> Iterator[str]:
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
