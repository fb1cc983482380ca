"""One reply for requests that hold nothing of a run: asked once, given to every run that needs it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock

from msgspec.structs import replace

from replaykit.grading.judges.clients.client import BatchClient, Client, ClientAnswer, Images, SentRequest
from replaykit.grading.judges.tape.tape import request_key
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure, Usage

COPIED = "the same request about another run"
"""The provenance of a copied reply."""


class SharedReplies:
    """A client that asks another one for each shared request once; safe to be asked by several threads.

    Later askers get a copy, `imported` where the first reply is `live`, which was billed to no one. A failure
    is forgotten once those who waited for it know it.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = Lock()
        self._answers: dict[str, Future[ClientAnswer]] = {}

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Ask, or wait for whoever asked the same first."""
        if not request.is_shared:
            return self._client.ask(request, images)
        key = request_key(request)
        with self._lock:
            first = self._answers.get(key)
            mine = self._answers.setdefault(key, Future())
        return _copy(first.result()) if first is not None else self._first(key, mine, request, images)

    def _first(
        self, key: str, future: Future[ClientAnswer], request: ModelRequest, images: Images
    ) -> ClientAnswer:
        try:
            found = self._client.ask(request, images)
        except BaseException as error:
            self._forget(key)
            future.set_exception(error)
            raise
        if isinstance(found.reply, ReplyFailure):
            self._forget(key)
        future.set_result(found)
        return found

    def _forget(self, key: str) -> None:
        with self._lock:
            del self._answers[key]


class SharedBatches:
    """A client that hands in each shared request once, in whatever batch, and gives copies to all others."""

    def __init__(self, client: BatchClient) -> None:
        self._client = client
        self._answers: dict[str, ClientAnswer] = {}

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Ask the client itself."""
        return self._client.ask(request, images)

    def ask_many(self, sent: Sequence[SentRequest]) -> list[ClientAnswer]:
        """Hand in what was not answered yet; return as many answers in the same order."""
        keys = [request_key(one.request) if one.request.is_shared else "" for one in sent]
        own = self._to_hand_in(keys)
        answers = dict(zip(own, self._client.ask_many([sent[at] for at in own]) if own else [], strict=True))
        first = {keys[at]: answer for at, answer in answers.items() if keys[at]}
        known = {**self._answers, **first}
        self._answers.update((key, one) for key, one in first.items() if isinstance(one.reply, ModelReply))
        return [answers[at] if at in answers else _copy(known[key]) for at, key in enumerate(keys)]

    def _to_hand_in(self, keys: Sequence[str]) -> list[int]:
        seen, found = set(self._answers), []
        for at, key in enumerate(keys):
            if not key or key not in seen:
                found.append(at)
                seen.add(key)
        return found


def _copy(found: ClientAnswer) -> ClientAnswer:
    if not isinstance(found.reply, ModelReply):
        return found
    origin = "imported" if found.reply.origin == "live" else found.reply.origin
    reply = replace(found.reply, origin=origin, usage=Usage())
    return ClientAnswer(reply=reply, provenance={**found.provenance, "copied_from": COPIED})
