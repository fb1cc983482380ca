"""Transports by the provider that a model names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from replaykit.grading.judges.clients.anthropic_client import AnthropicClient
from replaykit.grading.judges.clients.client import BatchClient, Client, ClientAnswer, Images, SentRequest
from replaykit.grading.judges.clients.openai_client import OpenAIClient
from replaykit.grading.judges.judge_options import provider_of
from replaykit.grading.model_request import ModelRequest, ReplyFailure

_Given = TypeVar("_Given", bound=Client)


class Transports:
    """Carries each request to the provider of its model. Nothing is loaded before the first one.

    `clients`: provider to client, instead of the built-in one.
    """

    def __init__(self, *, base_url: str | None = None, clients: Mapping[str, Client] | None = None) -> None:
        self._clients: dict[str, Client] = {
            "anthropic": AnthropicClient(base_url=base_url),
            "openai": OpenAIClient(base_url=base_url),
            **(clients or {}),
        }

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Ask the provider that the model names."""
        client = self._clients.get(provider_of(request.model)[0])
        return client.ask(request, images) if client is not None else _unknown(request)

    def close(self) -> None:
        """Close the connections of clients that have any."""
        for client in self._clients.values():
            close = getattr(client, "close", None)
            if close is not None:
                close()

    def ask_many(self, sent: Sequence[SentRequest]) -> list[ClientAnswer]:
        """Hand in one batch for each provider; where it takes none, ask one by one."""
        answers: dict[int, ClientAnswer] = {}
        for provider in dict.fromkeys(provider_of(one.request.model)[0] for one in sent):
            places = [n for n, one in enumerate(sent) if provider_of(one.request.model)[0] == provider]
            client = self._clients.get(provider)
            answers.update(zip(places, _many(client, [sent[n] for n in places]), strict=True))
        return [answers[place] for place in range(len(sent))]


@contextmanager
def client_or_own(client: _Given | None, base_url: str | None) -> Iterator[_Given | Transports]:
    """Give the client of the caller, who closes it, or transports that are closed at the end."""
    if client is not None:
        yield client
        return
    made = Transports(base_url=base_url)
    try:
        yield made
    finally:
        made.close()


def _many(client: Client | BatchClient | None, sent: Sequence[SentRequest]) -> list[ClientAnswer]:
    if client is None:
        return [_unknown(one.request) for one in sent]
    batch = getattr(client, "ask_many", None)
    return batch(sent) if batch is not None else [client.ask(one.request, one.images) for one in sent]


def _unknown(request: ModelRequest) -> ClientAnswer:
    words = f"there is no transport for {provider_of(request.model)[0]} ({request.model})"
    return ClientAnswer(reply=ReplyFailure(kind="missing_sdk", message=words))
