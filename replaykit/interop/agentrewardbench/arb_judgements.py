"""Judgements of AgentRewardBench: `<benchmark>/<agent>/<judge>/<task>.json`.

Where a judge could not be asked the file is `<task>_error.json`.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from replaykit.grading.judges.replies.answer_tags import PeerRefusal, tags
from replaykit.grading.verdict import JudgeOutcome
from replaykit.interop.imported_run import Run
from replaykit.interop.source_files import Folder
from replaykit.trajectory.exchange import Imported

FAILED = "_error"
"""End of the names of files that say why a judge gave no reply."""


class Words(Struct, kw_only=True):
    """The text of a model."""

    content: str | None = None


class CompletionChoice(Struct, kw_only=True):
    """One reply."""

    message: Words
    finish_reason: str | None = None


class ChatCompletion(Struct, kw_only=True):
    """A chat completion."""

    choices: list[CompletionChoice]


class JudgementFile(Struct, kw_only=True):
    """A file of a judgement; that of the functional judge holds no reply."""

    response: ChatCompletion | None = None
    judge_model_name: str | None = None
    goal: str | None = None
    error: str | None = None


def add_judgements(run: Run, folder: Path, benchmark: str, agent: str, stem: str, goal: str) -> None:
    """Add the judgements of a trajectory: read again from raw replies, as we do and as the benchmark does.

    `stem`: name of the trajectory file without its ending. A file about another goal is skipped.
    """
    source = Folder(run.source.format, folder, run.options.limits)
    for name in sorted(source.names()):
        parts = PurePosixPath(name).parts
        is_about = len(parts) >= 4 and parts[-4:-2] == (benchmark, agent)
        if not is_about or parts[-1] not in (f"{stem}.json", f"{stem}{FAILED}.json"):
            continue
        found = source.convert(source.json(name), JudgementFile, name)
        run.source.files[f"judgements/{name}"] = source.files[name]
        if found.goal not in (None, goal):
            run.warn(f"judgements/{name} is about another goal: left out")
        elif found.response is not None or found.error is not None:
            fields = {"model": found.judge_model_name, **_verdict_fields(found)}
            value = {key: one for key, one in fields.items() if one is not None}
            run.add(Imported(kind="judgement", name=parts[-2], value=value, file=f"judgements/{name}"))


def _verdict_fields(found: JudgementFile) -> dict[str, Any]:
    reply = found.response.choices[0] if found.response is not None and found.response.choices else None
    if reply is None or reply.message.content is None:
        return {"outcome": JudgeOutcome.ERROR.value, "error": found.error or "no reply"}
    text = reply.message.content
    stop = "end_turn" if reply.finish_reason in (None, "stop") else reply.finish_reason
    # Both readings are kept: the benchmark's finds tags that ours refuses.
    ours = tags(text, stop, "strict")
    return {"outcome": ours.outcome.value, "compat": _peer(text, stop), **ours.extra, "reply": text}


def _peer(text: str, stop: str) -> str:
    try:
        return tags(text, stop, "compat").outcome.value
    except PeerRefusal:
        return JudgeOutcome.ERROR.value
