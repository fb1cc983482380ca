"""Judges by the name of their protocol."""

from __future__ import annotations

from importlib import import_module

from replaykit.errors import JudgeError
from replaykit.grading.judges.check_comparisons import asks_for_checks
from replaykit.grading.judges.judge_interface import Judge
from replaykit.grading.judges.judge_plugins import Maker, load_maker
from replaykit.tasks.judge_settings import JudgeSettings

_PROTOCOLS = {
    "webvoyager": ("webvoyager_judge", "WebVoyager"),
    "webjudge": ("webjudge", "WebJudge"),
    "agent_reward": ("agent_reward_judge", "AgentReward"),
    "claims": ("claims.claims_judge", "Claims"),
    "rubric": ("rubric.rubric_judge", "RubricJudge"),
    "custom": ("custom_judge", "Custom"),
}
"""Protocol to module and class: a judge is loaded for those who name it, not for all who grade."""


def build_judge(settings: JudgeSettings, mode: str) -> Judge:
    """Return the judge of these settings; raise JudgeError naming a bad option."""
    if settings.entry:
        return load_maker(settings.entry)(settings, mode)
    if asks_for_checks(settings):
        raise JudgeError(what="protocol checks is no judge: it sets how checks ask a model")
    if settings.protocol not in _PROTOCOLS:
        raise JudgeError(what=f"protocol {settings.protocol} is several judges: each is built by itself")
    module, name = _PROTOCOLS[settings.protocol]
    maker: Maker = getattr(import_module(f"replaykit.grading.judges.{module}"), name)
    return maker(settings, mode)
