"""Judges by the name of their protocol."""

from __future__ import annotations

from collections.abc import Callable

from replaykit.errors import JudgeError
from replaykit.grading.judges.agent_reward_judge import AgentReward
from replaykit.grading.judges.check_comparisons import asks_for_checks
from replaykit.grading.judges.claims.claims_judge import Claims
from replaykit.grading.judges.custom_judge import Custom
from replaykit.grading.judges.entry import load_maker
from replaykit.grading.judges.judge import Judge
from replaykit.grading.judges.rubric.rubric_judge import RubricJudge
from replaykit.grading.judges.webjudge import WebJudge
from replaykit.grading.judges.webvoyager_judge import WebVoyager
from replaykit.tasks.judge_settings import JudgeSettings

_PROTOCOLS: dict[str, Callable[[JudgeSettings, str], Judge]] = {
    "webvoyager": WebVoyager,
    "webjudge": WebJudge,
    "agent_reward": AgentReward,
    "claims": Claims,
    "rubric": RubricJudge,
    "custom": Custom,
}


def build_judge(settings: JudgeSettings, mode: str) -> Judge:
    """Return the judge of these settings; raise JudgeError naming a bad option."""
    if settings.entry:
        return load_maker(settings.entry)(settings, mode)
    if asks_for_checks(settings):
        raise JudgeError(what="protocol checks is no judge: it says how checks ask a model")
    if settings.protocol not in _PROTOCOLS:
        raise JudgeError(what=f"protocol {settings.protocol} is several judges: each is built by itself")
    return _PROTOCOLS[settings.protocol](settings, mode)
