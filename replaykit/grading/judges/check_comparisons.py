"""How checks ask a model where the user asks for it: settings of the protocol `checks` beside the judges."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_options import validated
from replaykit.grading.model_request import PLACES, Asking
from replaykit.patterns import lazy_pattern
from replaykit.tasks.judge_settings import JudgeSettings

CHECKS = "checks"
"""The protocol."""

TEMPLATES = ("fuzzy", "unachievable")
"""Slots of templates; `system` is the slot of the system text."""

_OPTIONS = ("protocol", "prompts", "model", "effort", "max_tokens")
_PLACE = lazy_pattern(r"\{(\w+)\}")


def asks_for_checks(settings: JudgeSettings) -> bool:
    """Return whether these settings are no judge, but say how checks ask."""
    return settings.protocol == CHECKS


def asking_of(settings: Iterable[JudgeSettings]) -> Asking:
    """Return how checks ask, by the settings of their protocol; without any, as they usually do.

    Raises JudgeError for settings of which there are two, options that only judges have, prompts that do
    not exist, and templates without their places.
    """
    found = [one for one in settings if asks_for_checks(one)]
    if len(found) > 1:
        raise JudgeError(what=f"{len(found)} files set how checks ask a model; name one")
    return _asking(validated(found[0])) if found else Asking()


def _asking(settings: JudgeSettings) -> Asking:
    usual = asdict(JudgeSettings(protocol="checks"))
    for name, value in asdict(settings).items():
        if name not in _OPTIONS and value != usual[name]:
            raise JudgeError(what=f"option {name} is for judges; checks have {', '.join(_OPTIONS[1:])}")
    for slot, text in settings.prompts.items():
        _check(slot, text)
    return Asking(
        prompts=settings.prompts,
        model=settings.model,
        effort=settings.effort,
        max_tokens=settings.max_tokens,
    )


def _check(slot: str, text: str) -> None:
    known = (*TEMPLATES, "system")
    if slot not in known:
        raise JudgeError(what=f"no prompt {slot!r} in {CHECKS}; there are {', '.join(known)}")
    named = set(_PLACE.findall(text)) if slot in TEMPLATES else set(PLACES)
    for place in sorted(named - set(PLACES)):
        raise JudgeError(what=f"prompt {slot} names {{{place}}}; there are {_shown(PLACES)}")
    for place in PLACES[1:]:
        if place not in named:
            raise JudgeError(what=f"prompt {slot} names no {{{place}}}: there would be nothing to compare")


def _shown(places: Iterable[str]) -> str:
    return ", ".join(f"{{{place}}}" for place in places)
