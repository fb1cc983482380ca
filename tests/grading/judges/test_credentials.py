"""Servers that repeat a credential, and bodies without end."""

from __future__ import annotations

import gzip
import importlib.util
import json
import zlib

import pytest

from replaykit.grading.judges.clients.client import ClientAnswer
from replaykit.grading.judges.clients.credentials import MARK, discreet
from replaykit.grading.model_request import ReplyFailure

from .messages_server import IMAGES, REQUEST, Server, message, says

pytestmark = pytest.mark.usefixtures("retries_at_once")

KEY = "sk-told/0123456789abcdef"


@pytest.mark.parametrize(
    "said",
    [
        KEY,
        KEY.replace("/", "\\/"),
        "".join(f"\\u{ord(one):04X}" for one in KEY),
        KEY.replace("-", "\\u002d"),
        KEY.replace("/", "%2F"),
        KEY[:12] + "…",
    ],
)
def test_a_credential_is_replaced(said):
    failed = ClientAnswer(reply=ReplyFailure(kind="auth", message=f"got {said}"))
    assert discreet(failed, (None, KEY)).reply.message == f"got {MARK}"


def test_other_words_stay():
    failed = ClientAnswer(reply=ReplyFailure(kind="auth", message="the key sk-other is wrong"))
    assert discreet(failed, (KEY, "", None)) == failed


def asked(answer):
    pytest.importorskip("anthropic", reason="the extra `judge` is not installed")
    from replaykit.grading.judges.clients.anthropic_client import AnthropicClient

    with Server(answer) as server:
        client = AnthropicClient(api_key=KEY, base_url=server.url)
        try:
            return client.ask(REQUEST, IMAGES)
        finally:
            client.close()


def test_a_reply_repeats_the_credential():
    answered = asked(says(200, message(f"You sent {KEY}.\nSUCCESS"), request_id=KEY))
    assert answered.reply.text == f"You sent {MARK}.\nSUCCESS"
    assert KEY not in repr(answered)


@pytest.mark.parametrize("encoding, pack", [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_reply_is_read_and_a_bomb_is_not(encoding, pack):
    small = pack(json.dumps(message()).encode())
    assert asked(says(200, small, content_encoding=encoding)).reply.text == "All there.\nSUCCESS"
    bomb = pack(json.dumps(message("x" * (8 << 20))).encode())
    failed = asked(says(200, bomb, content_encoding=encoding, retry_after_ms="1")).reply
    assert isinstance(failed, ReplyFailure)


@pytest.mark.skipif(importlib.util.find_spec("openai") is None, reason="the extra `openai` is not installed")
@pytest.mark.parametrize("status", [200, 400])
def test_a_body_above_the_cap_is_no_reply(status):
    from replaykit.grading.judges.clients.openai_client import OpenAIClient

    with Server(says(status, b'{"id": "' + b"x" * (8 << 20) + b'"}')) as server:
        client = OpenAIClient(api_key=KEY, base_url=f"{server.url}/v1")
        failed = client.ask(REQUEST, IMAGES).reply
        client.close()
    assert isinstance(failed, ReplyFailure)
    assert len(failed.message) < 5000
