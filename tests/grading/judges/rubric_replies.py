"""Replies for the judge `rubric`, by stage: written by hand, `synthetic`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from replaykit.grading.model_request import ModelReply, ModelRequest

CRITERIA: Sequence[Mapping[str, Any]] = (
    {
        "id": "c1",
        "statement": "The answer names the order number.",
        "asked": "order number",
        "proof": ["answer"],
    },
    {"id": "c2", "statement": "The page shows the order number.", "asked": "order number", "proof": ["page"]},
    {"id": "c3", "statement": "The agent opened the list of orders.", "asked": "", "kind": "process"},
)


def rubric(criteria: Sequence[Mapping[str, Any]] = CRITERIA, **fields: Any) -> str:
    return json.dumps({"criteria": list(criteria), "validity": "valid", **fields})


def row(id: str, verdict: str = "YES", steps: Any = (0,), **fields: Any) -> dict[str, Any]:
    return {"id": id, "verdict": verdict, "steps": list(steps), "seen": f"{id} is there", **fields}


def reading(*rows: Mapping[str, Any], **fields: Any) -> str:
    said = rows or tuple(row(str(one["id"])) for one in CRITERIA)
    return json.dumps({"criteria": list(said), "first_failure": None, "validity": "valid", **fields})


def by_stage(**said: str) -> Any:
    """Return what answers by stage: what is said, else a run in which all is well."""
    usual = {"rubric": rubric(), "look": "", "story": reading(), "reading": reading()}

    def say(request: ModelRequest) -> str:
        return {**usual, **said}[request.stage]

    return say


def as_client(say: Any, asked: list[str] | None = None) -> Any:
    """Return a function for `CallableClient`; notes the stages that were asked."""

    def answer(request: ModelRequest, images: Any) -> ModelReply:
        if asked is not None:
            asked.append(request.stage)
        return ModelReply(text=say(request), stop_reason="end_turn", model="m", origin="synthetic")

    return answer
