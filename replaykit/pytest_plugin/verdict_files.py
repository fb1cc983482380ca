"""Verdicts stored beside bundles: written on purpose, compared ever after."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from replaykit.decoders import decode
from replaykit.file_types import WRITTEN_MAX, is_device, read_whole
from replaykit.grading.verdict import Gate, Report, Verdict
from replaykit.report.report_diff import compare
from replaykit.report.text.table import safe, short
from replaykit.report.text.text_report import describe

PLACES_MAX = 10
"""Places named where two verdicts differ in more."""

UPDATE = "If the change is meant: pytest --replaykit-update"
"""The next action."""


def store(verdict: Verdict, path: Path) -> bool:
    """Write a verdict, one value a line; return whether the file was another before."""
    text = json.dumps(msgspec.to_builtins(verdict), indent=1, ensure_ascii=False) + "\n"
    if _holds(path, text.encode()):
        return False
    path.write_bytes(text.encode())
    return True


def _bytes(path: Path) -> bytes:
    if is_device(path):
        raise OSError(errno.ENOTSUP, "it is a device or a pipe")
    return read_whole(path, WRITTEN_MAX)


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file holds these bytes."""
    try:
        return _bytes(path) == data
    except OSError:
        return False


def compare_stored(verdict: Verdict, path: Path) -> str | None:
    """Return how a verdict differs from the stored one; None where it does not."""
    if not path.exists():
        return f"no verdict is stored at {path}\n{describe(verdict)}Write it with: pytest --replaykit-update"
    try:
        before = decode(_bytes(path), Verdict)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}\nWrite it again with: pytest --replaykit-update"
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return f"{path} is no verdict: {error}\nWrite it again with: pytest --replaykit-update"
    places = list(differences(_plain(before), _plain(verdict)))
    if not places:
        return None
    lines = [f"the verdict is not the one stored in {path.name}", *_outcomes(before, verdict)]
    lines += _places(places)
    return "\n".join([*lines, "", "now:", describe(verdict).rstrip() or "  all is well", "", UPDATE])


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield `place: before -> after` for every leaf in which two JSON values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from differences(before.get(key), after.get(key), f"{place}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{place}[{index}]")
    elif before != after or type(before) is not type(after):
        yield f"{place}: {_shown(before)} -> {_shown(after)}"


def _plain(verdict: Verdict) -> Any:
    return msgspec.json.decode(msgspec.json.encode(verdict))


def _outcomes(before: Verdict, after: Verdict) -> Iterator[str]:
    for pair in compare(_report(before), _report(after)).pairs:
        for change in pair.changes:
            reason = f" ({change.reason})" if change.reason else ""
            yield safe(
                f"  {change.what}: {change.before or 'not there'} -> {change.after or 'not there'}{reason}"
            )


def _report(verdict: Verdict) -> Report:
    # Tasks pair by their id; one that was renamed is still the same bundle.
    verdict = msgspec.structs.replace(verdict, task_id="")
    return Report(verdicts=(verdict,), summary={}, gate=Gate(status="passed"))


def _places(places: list[str]) -> Iterator[str]:
    yield from (f"  {place}" for place in places[:PLACES_MAX])
    if len(places) > PLACES_MAX:
        yield f"  and {len(places) - PLACES_MAX} more"


def _shown(value: Any) -> str:
    return safe(short(json.dumps(value, ensure_ascii=False, default=str), 80))
