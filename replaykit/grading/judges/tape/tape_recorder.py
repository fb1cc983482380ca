"""Ask a model for what the tape does not hold, and record every reply before it is used."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from replaykit.bundle.blobs import png
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.errors import BundleError, JudgeError
from replaykit.grading.judges.attacks import Attack
from replaykit.grading.judges.clients.client import Client, ClientAnswer, SentRequest
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Judge
from replaykit.grading.judges.judge_loop import Asked, Deliberation
from replaykit.grading.judges.judge_panel import folded, members_of
from replaykit.grading.judges.tape.tape import (
    REPLY_MAX,
    Ordinal,
    Tape,
    append_reply,
    check_appendable,
    read_tape,
    request_key,
)
from replaykit.grading.judges.tape.tape_player import judge_by, prepared
from replaykit.grading.judges.votes import voted
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, ReplyFailure
from replaykit.grading.verdict import Judgement
from replaykit.replay.player import Recording, Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

LiveMode = Literal["new", "refresh"]
"""`new`: ask for what is missing; `refresh`: ask for everything again, and let the later line win."""

CONCURRENCY = 4
"""Requests under way at once."""


class RequestSlots:
    """So many requests under way at once, of a whole run of many bundles."""

    def __init__(self, count: int = CONCURRENCY) -> None:
        # As many threads as slots: those of the event loop are few, and somebody else's.
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="judge")
        self._free = asyncio.Semaphore(count)

    async def answer(self, asked: Asked, recorder: TapeRecorder) -> ModelReply | ReplyFailure:
        """Ask when there is a slot."""
        async with self._free:
            # A bundle is read by one thread only, and no screenshot waits in memory for a slot.
            sent = recorder.sent(asked.request)
            return await asyncio.get_running_loop().run_in_executor(self._threads, recorder.ask, asked, sent)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class TapeRecorder:
    """Answers requests about one bundle: from its tape, or from the client, whose replies it appends.

    `trajectory` is the digest of the bundle, 64 hex digits. What another tape, `also`, answers is not asked.
    """

    def __init__(
        self,
        bundle: Recording,
        client: Client,
        tape: str | Path,
        *,
        trajectory: str,
        mode: LiveMode = "new",
        also: Tape | None = None,
    ) -> None:
        self._bundle = bundle
        self._client = client
        self._path = Path(tape)
        self._trajectory = trajectory
        self._tapes = [one for one in (read_tape(tape) if mode == "new" else None, also) if one is not None]
        self._replies: dict[tuple[str, Ordinal], ModelReply] = {}
        #: Shared requests under way, by their keys: votes that come later wait for the same reply.
        self.under_way: dict[str, asyncio.Future[ModelReply | ReplyFailure]] = {}

    def recorded(self, asked: Asked) -> ModelReply | None:
        """Return the recorded reply; None if absent, or if every request is to be sent again."""
        known = self._replies.get((request_key(asked.request), asked.ordinal))
        if known is not None:
            return known
        found = (tape.reply(asked.request, asked.ordinal) for tape in self._tapes)
        return next((reply for reply in found if reply is not None), None)

    def answer(self, request: ModelRequest, ordinal: Ordinal) -> ModelReply | ReplyFailure:
        """Return the recorded reply, else ask for it and record it."""
        asked = Asked(request=request, ordinal=ordinal)
        return self.recorded(asked) or self.ask(asked, self.sent(request))

    def sent(self, request: ModelRequest) -> SentRequest | ReplyFailure:
        """Return the request with its screenshots as they are sent."""
        images = (part for part in request.content if isinstance(part, ImagePart))
        try:
            return SentRequest(
                request=request, images={one.sha256: self._bytes(one.sha256) for one in images}
            )
        except BundleError as error:
            return ReplyFailure(kind="evidence_unreadable", message=str(error))

    def ask(self, asked: Asked, sent: SentRequest | ReplyFailure) -> ModelReply | ReplyFailure:
        """Ask the client and record its reply; safe to be called by several threads."""
        if isinstance(sent, ReplyFailure):
            return sent
        check_appendable(self._path)  # before it is asked: a reply costs, and would be lost
        try:
            answered = self._client.ask(sent.request, sent.images)
        except Exception as error:  # noqa: BLE001  # somebody else's client: its fault is a failure like others
            return ReplyFailure(kind="client_error", message=f"{type(error).__name__}: {error}")
        return self.record(asked, sent, answered)

    def record(self, asked: Asked, sent: SentRequest, answered: ClientAnswer) -> ModelReply | ReplyFailure:
        """Append a reply to the tape; failures are never recorded."""
        if isinstance(answered.reply, ReplyFailure):
            return answered.reply
        if len(answered.reply.text.encode("utf-8", "surrogatepass")) > REPLY_MAX:
            return ReplyFailure(kind="bad_response", message=f"a reply of more than {REPLY_MAX} bytes")
        provenance = {**answered.provenance, **_digests(sent.images), **_prompt(asked.request)}
        append_reply(
            self._path,
            asked.request,
            answered.reply,
            trajectory=self._trajectory,
            ordinal=asked.ordinal,
            provenance=provenance,
        )
        self._replies[request_key(asked.request), asked.ordinal] = answered.reply
        return answered.reply

    def _bytes(self, id: str) -> bytes:
        payload = self._bundle.blob(id)
        return png(payload) if self._bundle.blob_type(id) == PIXMAP else payload


def judge_sync(
    settings: JudgeSettings, task: Task, replay: Replay, recorder: TapeRecorder, mode: str = "strict"
) -> Judgement:
    """Judge a run, asking one request after the other. Raises JudgeError inside a running event loop."""
    refuse_in_loop("judge_sync", "judge_async")
    return judge_by(recorder.answer, settings, task, replay, mode)


def refuse_in_loop(name: str, other: str) -> None:
    """Raise JudgeError inside a running event loop, which `name` would stop; there, await `other`."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise JudgeError(what=f"{name} inside a running event loop would stop it: await {other}")


async def judge_async(
    settings: JudgeSettings,
    task: Task,
    replay: Replay,
    recorder: TapeRecorder,
    mode: str = "strict",
    *,
    slots: RequestSlots | None = None,
    attack: Attack | None = None,
) -> Judgement:
    """Judge a run, asking the requests of a round at once, as far as there are slots: 4 by default.

    The judgement is that of `judge_sync`, whatever comes back first. Cancelled, it leaves a
    valid tape: run it again.
    """
    members = members_of(settings, mode)
    if members:
        # One after the other: a request that two members share is asked once.
        judgements = [
            await judge_async(one, task, replay, recorder, mode, slots=slots, attack=attack)
            for one in members
        ]
        return folded(settings, judgements)
    judge, evidence, numbers = prepared(settings, task, replay, mode, attack)
    if isinstance(evidence, Judgement):
        return evidence
    own = slots or RequestSlots()
    try:
        votes = (_vote(judge, evidence, recorder, own, number) for number in numbers)
        return voted(await asyncio.gather(*votes), settings.require)
    finally:
        if slots is None:
            own.close()


async def _vote(
    judge: Judge, evidence: JudgeEvidence, recorder: TapeRecorder, slots: RequestSlots, sample: int
) -> Judgement:
    work = Deliberation(judge, evidence, sample)
    while work.judgement is None:
        replies = await asyncio.gather(*(_answer(asked, recorder, slots) for asked in work.round))
        work.receive(tuple(replies))
    return work.judgement


async def _answer(asked: Asked, recorder: TapeRecorder, slots: RequestSlots) -> ModelReply | ReplyFailure:
    found = recorder.recorded(asked)
    if found is not None or not asked.request.is_shared:
        return found or await slots.answer(asked, recorder)
    key = request_key(asked.request)
    if key not in recorder.under_way:
        recorder.under_way[key] = asyncio.ensure_future(slots.answer(asked, recorder))
    return await recorder.under_way[key]


def _prompt(request: ModelRequest) -> dict[str, object]:
    return {"prompt": request.prompt} if request.prompt else {}


def _digests(images: Mapping[str, bytes]) -> dict[str, object]:
    sent = [{"sha256": id, "sent": hashlib.sha256(data).hexdigest()} for id, data in sorted(images.items())]
    return {"images": sent} if sent else {}
