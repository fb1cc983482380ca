"""Interface of a judge: it yields rounds of requests, receives replies, and returns a judgement."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol, TypeAlias

from replaykit.grading.judges.judge_evidence import EvidenceNeeds, JudgeEvidence
from replaykit.grading.judges.judge_options import Named
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure
from replaykit.grading.verdict import Judgement

Round: TypeAlias = tuple[ModelRequest, ...]
"""Independent requests, asked together."""

Replies: TypeAlias = tuple[ModelReply | ReplyFailure, ...]
"""As many replies, in the same order."""


class Judge(Named, Protocol):
    """A judge of your own: it asks a model in rounds and returns a judgement.

    A callable `(settings, mode) -> Judge` makes it. Name that callable with `--judge file.py@NAME`, or
    register it as an entry point of the group `replaykit.judges`. A task never names code. The judge must be
    pure: it uses no file, socket, clock or random number.
    """

    needs: EvidenceNeeds
    """Evidence that the judge needs, such as screenshots."""

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Yield rounds of requests, receive their replies, and return the judgement."""
