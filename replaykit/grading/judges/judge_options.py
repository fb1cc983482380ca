"""Options of judges: known protocols and providers, valid values, and the fingerprint of an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

from replaykit.decoders import convert
from replaykit.errors import JudgeError
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings

PROVIDERS = ("anthropic", "openai")
"""Providers that a model may name, as `provider:name`; a bare name of Claude means the first."""

_BARE = "claude"
"""Start of the names that need no provider. Any other bare name may be a model of several servers."""

PROTOCOLS = ("webvoyager", "webjudge", "agent_reward", "claims", "rubric")
"""Judges that are named without settings."""

MAX_TOKENS = (256, 21333)
"""Least and most tokens of a reply; above, clients of the first provider refuse."""


class Named(Protocol):
    """Name of a judge in its judgements."""

    name: str
    """Name in reports."""

    @property
    def fingerprint(self) -> str:
        """Digest of everything that shapes its answer."""


def judge_settings(judge: str | JudgeSettings) -> JudgeSettings:
    """Return the settings of a judge given by name or by settings; raise JudgeError for others."""
    if isinstance(judge, JudgeSettings):
        return judge
    if judge not in PROTOCOLS:
        own = "or a file of your own settings (.yaml, .toml, .json)"
        raise JudgeError(what=f"no judge {judge!r}; there are {', '.join(PROTOCOLS)}, {own}")
    return convert({"protocol": judge}, JudgeSettings)


def validated(settings: JudgeSettings) -> JudgeSettings:
    """Return the settings, or raise JudgeError naming option, value and range."""
    low, high = MAX_TOKENS
    tokens: object = settings.max_tokens
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not low <= tokens <= high:
        raise JudgeError(what=f"option max_tokens: {tokens!r} is not an integer from {low} to {high}")
    checked_model(settings.model)
    for name in ("members", "success", "failure", "veto"):
        if getattr(settings, name):
            raise JudgeError(what=f"option {name}: it is of protocol panel, not of {settings.protocol}")
    if settings.protocol != "rubric":
        _refuse_of_rubric(settings)
    return settings


_OF_RUBRIC = ("rubric", "rubrics", "look_batch", "per_criterion", "reading", "story", "facts")


def _refuse_of_rubric(settings: JudgeSettings) -> None:
    usual = JudgeSettings(protocol=settings.protocol)
    for name in _OF_RUBRIC:
        if getattr(settings, name) != getattr(usual, name):
            raise JudgeError(what=f"option {name}: it is of protocol rubric, not of {settings.protocol}")


def checked_model(model: str, option: str = "option model") -> str:
    """Return the model, or raise JudgeError where it names no provider or no model that there is.

    `option`: what named the model, for the error.
    """
    if model and ":" not in model and not model.startswith(_BARE):
        how = f"write openai:{model} (OpenAI, and servers with its API) or anthropic:{model}"
        raise JudgeError(what=f"{option}: {model!r} names no provider; {how}")
    provider, name = provider_of(model)
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise JudgeError(what=f"{option}: {model!r} names provider {provider!r}; known: {known}")
    if not name:
        raise JudgeError(what=f"{option}: {model!r} names no model")
    return model


def provider_of(model: str) -> tuple[str, str]:
    """Return provider and name of a model."""
    provider, colon, name = model.partition(":")
    return (provider, name) if colon else (PROVIDERS[0], model)


def canonical(value: Any) -> bytes:
    """Return JSON with sorted keys, without blanks, in UTF-8: the text that digests are taken of."""
    import json  # for those who ask, or compare what was asked

    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def fingerprint(parts: Mapping[str, Any]) -> str:
    """Return the digest of everything that shapes a judge's answer."""
    return "sha256:" + hashlib.sha256(canonical(dict(parts))).hexdigest()


def unasked(judge: Named, outcome: JudgeOutcome, reason: str, detail: str | None = None) -> Judgement:
    """Return a judgement that rests on no reply."""
    return Judgement(
        judge=judge.name, outcome=outcome, reason=reason, fingerprint=judge.fingerprint, detail=detail
    )
