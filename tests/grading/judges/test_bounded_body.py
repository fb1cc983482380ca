"""Attacks of a model server on its clients: bodies without end, compressed or not, silence, single bytes."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.grading.judges.clients import anthropic_client, bounded_body
from replaykit.grading.judges.clients.anthropic_client import AnthropicClient
from replaykit.grading.judges.clients.bounded_body import BODY_MAX, BodyError, Bounded
from replaykit.grading.judges.clients.client import ClientAnswer, SentRequest
from replaykit.grading.judges.clients.failures import failure
from replaykit.grading.judges.clients.openai_client import OpenAIClient
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure, TextPart
from tests.grading.judges.messages_server import Answer, Server, message

pytestmark = pytest.mark.usefixtures("retries_at_once")

COMPLETION = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "All there.\nSUCCESS"}}],
}  # fmt: skip
CLIENTS: list[tuple[Callable[..., Any], str, Any]] = [
    (AnthropicClient, "", message()),
    (OpenAIClient, "/v1", COMPLETION),
]
each_client = pytest.mark.parametrize(("client", "path", "plain"), CLIENTS, ids=["anthropic", "openai"])


def ask(client: Callable[..., Any], server: Server, path: str, deadline: float = 20) -> ClientAnswer:
    request = ModelRequest(
        judge="j", stage="verdict", index=0, system="s", content=(TextPart(text="t"),),
        model="openai:m" if client is OpenAIClient else "m", max_tokens=300, effort=None,
    )  # fmt: skip
    made = client(api_key="secret-key", base_url=server.url + path, deadline=deadline)
    try:
        answered: ClientAnswer = made.ask(request, {})
        return answered
    finally:
        made.close()


def sends(body: bytes, status: int = 200, **headers: str) -> Answer:
    """Answer with these bytes as they are."""

    def answer(handler: Any, request: dict[str, Any]) -> None:
        handler.send_response(status)
        for name, value in {"content_type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def raw_deflate(data: bytes) -> bytes:
    work = zlib.compressobj(wbits=-15)
    return work.compress(data) + work.flush()


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip", gzip.compress),
    "gzip in two parts": ("gzip", lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:])),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
}


@each_client
@pytest.mark.parametrize("how", list(ENCODERS))
def test_replies_in_every_encoding_that_is_accepted(client: Any, path: str, plain: Any, how: str) -> None:
    name, encode = ENCODERS[how]
    with Server(sends(encode(json.dumps(plain).encode()), content_encoding=name)) as server:
        reply = ask(client, server, path).reply
    assert isinstance(reply, ModelReply), reply
    assert reply.text == "All there.\nSUCCESS"


BOMB = b"0" * (64 * 2**20)
REFUSED: dict[str, tuple[bytes, str, str]] = {
    "large": (b" " * (BODY_MAX + 1), "identity", "larger than"),
    "gzip bomb": (gzip.compress(BOMB), "gzip", "larger than"),
    "deflate bomb": (zlib.compress(BOMB), "deflate", "larger than"),
    "raw bomb": (raw_deflate(BOMB), "deflate", "larger than"),
    "cut gzip": (gzip.compress(b"{}" * 9)[:-9], "gzip", "it ends too early"),
    "no gzip": (b"{}", "gzip", "does not match its encoding"),
    "rest after deflate": (zlib.compress(b"{}") + b"more", "deflate", "something follows its end"),
    "brotli": (b"\x0b\x02\x80", "br", "encoded as 'br': accepted are gzip, deflate"),
    "zstd": (b"\x28\xb5\x2f\xfd", "zstd", "encoded as 'zstd': accepted are gzip, deflate"),
    "twice": (gzip.compress(gzip.compress(b"{}")), "gzip, gzip", "encoded as 'gzip, gzip'"),
}


@each_client
@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("what", list(REFUSED))
def test_other_bodies_are_failures_whatever_their_status(
    client: Any, path: str, plain: Any, what: str, status: int
) -> None:
    body, encoding, words = REFUSED[what]
    with Server(sends(body, status, content_encoding=encoding)) as server:
        reply = ask(client, server, path).reply
    assert isinstance(reply, ReplyFailure)
    assert (reply.kind, reply.retryable) == ("bad_response", False)
    assert words in reply.message


@each_client
def test_what_is_accepted_is_what_is_asked_for(client: Any, path: str, plain: Any) -> None:
    seen: list[str] = []

    def answer(handler: Any, request: dict[str, Any]) -> None:
        seen.append(handler.headers["accept-encoding"])
        sends(json.dumps(plain).encode())(handler, request)

    with Server(answer) as server:
        ask(client, server, path)
    assert seen == ["gzip, deflate"]


def drips(begin: bytes) -> tuple[Answer, threading.Event]:
    """Answer with a beginning and then a byte now and then, until stopped or until no one reads."""
    free = threading.Event()

    def answer(handler: Any, request: dict[str, Any]) -> None:
        try:
            handler.wfile.write(begin)
            while not free.wait(0.02):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        except OSError:
            free.set()

    return answer, free


BEGINNINGS = {
    "silence": b"",
    "headers": b"HTTP/1.1 200 OK\r\nx-",
    "body": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999999\r\n\r\n",
    "error body": b"HTTP/1.1 400 Bad\r\ncontent-type: application/json\r\ncontent-length: 9999999\r\n\r\n",
}


@each_client
@pytest.mark.parametrize("begin", list(BEGINNINGS))
def test_a_server_that_does_not_come_to_an_end_meets_the_deadline(
    client: Any, path: str, plain: Any, begin: str
) -> None:
    answer, free = drips(BEGINNINGS[begin])
    if begin == "silence":
        free = threading.Event()

        def answer(handler: Any, request: dict[str, Any]) -> None:
            free.wait(20)

    with Server(answer) as server:
        reply = ask(client, server, path, deadline=0.3).reply
        free.set()
    assert isinstance(reply, ReplyFailure)
    assert (reply.kind, reply.retryable) == ("deadline", True)


def test_a_slow_body_ends_by_itself() -> None:
    """So that nothing reads on after the deadline, one byte at a time; whoever is first says that it was met."""
    now = iter(range(0, 1000, 4))
    response = response_of([b"a"] * 100)
    Bounded(20, clock=lambda: next(now))(response)
    read: list[bytes] = []
    with pytest.raises(BodyError, match="the body took more than 20 s") as raised:
        read.extend(response.stream)
    assert len(read) <= 10
    found = failure(raised.value)
    assert (found.kind, found.retryable) == ("deadline", True)


def test_an_empty_body_is_empty_whatever_its_encoding() -> None:
    response = response_of([], "gzip")
    Bounded(20)(response)
    assert list(response.stream) == []


def response_of(pieces: list[bytes], encoding: str = "identity") -> Any:
    import httpx

    class Stream(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return iter(pieces)

    request = httpx.Request("POST", "http://x.test/")
    return httpx.Response(200, request=request, stream=Stream(), headers={"content-encoding": encoding})


@settings(deadline=None)
@given(
    data=st.binary(max_size=4000),
    how=st.sampled_from(list(ENCODERS)),
    cuts=st.lists(st.integers(0, 400), max_size=6),
)
def test_bodies_are_read_whole_however_they_are_cut(data: bytes, how: str, cuts: list[int]) -> None:
    name, encode = ENCODERS[how]
    sent, places = encode(data), sorted(cuts)
    parts = [sent[a:b] for a, b in zip([0, *places], [*places, len(sent)], strict=True)]
    response = response_of([part for part in parts if part], name)
    Bounded(1e9)(response)
    assert b"".join(response.stream) == data


def test_a_batch_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    batch = SimpleNamespace(id="b1", processing_status="in_progress")
    batches = SimpleNamespace(create=lambda **_: batch, retrieve=lambda _: batch)
    given_client = SimpleNamespace(messages=SimpleNamespace(batches=batches), api_key=None)
    monkeypatch.setattr(anthropic_client, "BATCH_S", 90.0)
    client = AnthropicClient(client=given_client, sleep=waited.append)
    request = ModelRequest(
        judge="j", stage="verdict", index=0, system="s", content=(TextPart(text="t"),), model="m",
        max_tokens=300, effort=None,
    )  # fmt: skip
    (answered,) = client.ask_many([SentRequest(request=request)])
    assert isinstance(answered.reply, ReplyFailure)
    assert answered.reply.kind == "deadline"
    assert waited == [anthropic_client.POLL_S] * 3
    assert bounded_body.BATCH_MAX > BODY_MAX
