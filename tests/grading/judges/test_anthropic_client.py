"""The transport against a server of our own: what is sent, and what every answer becomes."""

from __future__ import annotations

import base64
import importlib.util
import threading
from contextlib import closing

import pytest
from msgspec.structs import replace

from replaykit.grading.judges.clients.anthropic_client import AnthropicClient
from replaykit.grading.judges.clients.client import SentRequest
from replaykit.grading.judges.clients.screenshot_limits import over_limit
from replaykit.grading.judges.tape.tape import request_key

from .messages_server import FAST, IMAGE, IMAGES, REQUEST, Server, cuts, error, message, resets, says

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("anthropic") is None, reason="the extra `judge` (anthropic) is not installed"
    ),
    pytest.mark.usefixtures("retries_at_once"),
]


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch, tmp_path):
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def ask(server, request=REQUEST, **options):
    with closing(AnthropicClient(**{"api_key": "sk-secret", "base_url": server.url, **options})) as client:
        return client.ask(request, IMAGES)


def key_of(headers):
    """Return the key that was sent: as a bearer token, or in a header of its own before release 2."""
    sent = {name.lower(): value for name, value in headers.items()}
    return sent.get("authorization", "").removeprefix("Bearer ") or sent.get("x-api-key")


def test_what_is_sent():
    with Server(says(200, message())) as server:
        answered = ask(server)
    (method, path, headers, body) = server.seen[0]
    assert (method, path) == ("POST", "/v1/messages")
    assert key_of(headers) == "sk-secret"
    assert body == {
        "model": "claude-sonnet-5-5", "max_tokens": 4096, "system": "You judge.",
        "output_config": {"effort": "medium"},
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Task"},
            {"type": "image", "source": {
                "type": "base64", "media_type": "image/png", "data": base64.b64encode(b"\x89PNG...").decode()}},
            {"type": "text", "text": "Your verdict:\n"},
        ]}],
    }  # fmt: skip
    assert not {"temperature", "top_p", "top_k", "seed", "stream", "tools"} & body.keys()
    reply = answered.reply
    assert (reply.text, reply.stop_reason, reply.model, reply.origin) == (
        "All there.\nSUCCESS", "end_turn", "claude-sonnet-5-5", "live",
    )  # fmt: skip
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (120, 7)


def test_provenance_holds_no_secret():
    with Server(says(200, message())) as server:
        provenance = ask(server).provenance
    assert provenance.keys() >= {"message_id", "request_id", "recorded_at", "latency_ms", "sdk", "base_host"}
    assert (provenance["message_id"], provenance["request_id"]) == ("msg_1", "req_1")
    assert "secret" not in str(provenance)


def test_no_effort_is_not_sent():
    with Server(says(200, message())) as server:
        ask(server, replace(REQUEST, effort=None, model="anthropic:other"))
    assert server.bodies[0]["model"] == "other"
    assert "output_config" not in server.bodies[0]


def test_the_request_forbids_the_vendor_to_shrink_screenshots():
    sent = {}

    class Fake:
        class messages:
            @staticmethod
            def create(**parameters):
                sent.update(parameters)
                raise ConnectionError("never mind")

    answered = AnthropicClient(client=Fake()).ask(REQUEST, IMAGES)
    assert sent["messages"][0]["content"][1]["transformations"] == {"oversized_image": "error"}
    assert answered.reply.kind == "client_error"
    AnthropicClient(client=Fake()).ask(replace(REQUEST, oversized_image="downsize"), IMAGES)
    assert sent["messages"][0]["content"][1]["transformations"] == {"oversized_image": "downsize"}


def test_what_is_asked_for_several_votes_is_marked_for_the_vendor_alone():
    sent = []

    class Fake:
        class messages:
            @staticmethod
            def create(**parameters):
                sent.append(parameters["messages"][0]["content"])
                raise ConnectionError("never mind")

    again = replace(REQUEST, is_repeated=True)
    AnthropicClient(client=Fake()).ask(again, IMAGES)
    AnthropicClient(client=Fake(), base_url="http://127.0.0.1:9").ask(again, IMAGES)
    AnthropicClient(client=Fake()).ask(REQUEST, IMAGES)
    assert [["cache_control" in block for block in content] for content in sent] == [
        [False, False, True], [False] * 3, [False] * 3,
    ]  # fmt: skip
    assert request_key(again) == request_key(REQUEST)


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (says(400, error("invalid_request_error")), "bad_request", 1),
        (says(404, error("not_found_error")), "bad_request", 1),
        (says(401, error("authentication_error")), "auth", 1),
        (says(403, error("permission_error")), "auth", 1),
        (says(402, error("billing_error")), "spend_limit", 1),
        (says(413, error("request_too_large")), "too_large", 1),
        (
            says(400, error("invalid_request_error", error_code="image_dimensions_too_large")),
            "image_limit",
            1,
        ),
        (says(429, error("rate_limit_error"), **FAST), "rate_limited", 3),
        (says(429, error("rate_limit_error", "your spend limit is reached"), **FAST), "spend_limit", 3),
        (says(529, error("overloaded_error"), **FAST), "overloaded", 3),
        (says(500, error("api_error"), **FAST), "server", 3),
        (says(503, b"<html>", content_type="text/html", **FAST), "server", 3),
        (resets, "connection", 3),
        (cuts, "connection", None),
        (says(200, b'{"id": ', content_type="application/json"), "bad_response", None),
        (says(200, b"<html>hello</html>", content_type="text/html"), "bad_response", 1),
        (says(200, {"hello": 1}), "bad_response", 1),
        (says(200, message("boom", stop_reason="error")), "server", 1),
    ],
)
def test_failures_are_values_of_a_kind(answer, kind, tries):
    with Server(answer) as server:
        reply = ask(server).reply
    assert reply.kind == kind, reply
    assert tries is None or len(server.seen) == tries
    assert reply.retryable == (kind in ("rate_limited", "overloaded", "server", "connection", "timeout"))
    assert "secret" not in reply.message


def test_a_retry_that_helps_is_a_reply():
    with Server(says(529, error("overloaded_error"), **FAST), says(200, message())) as server:
        assert ask(server).reply.text.endswith("SUCCESS")
    assert len(server.seen) == 2


def test_a_server_that_asks_for_an_hour_does_not_get_it(sleeps):
    with Server(says(429, error("rate_limit_error"), retry_after="3600")) as server:
        reply = ask(server, deadline=0.3).reply
    assert (reply.kind, reply.retryable) == ("deadline", True)
    assert "no reply within 0.3 s" in reply.message


def test_a_slow_server_meets_the_deadline():
    free = threading.Event()

    def waits(handler, request):
        free.wait(5)

    with Server(waits) as server:
        assert ask(server, deadline=0.2).reply.kind == "deadline"
        free.set()


@pytest.mark.parametrize(
    ("fields", "text", "stop"),
    [
        (
            {
                "content": [
                    {"type": "thinking", "thinking": "", "signature": "x"},
                    {"type": "text", "text": "A"},
                ]
            },
            "A",
            "end_turn",
        ),
        ({"content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}, "AB", "end_turn"),
        ({"content": [{"type": "novelty", "data": 1}, {"type": "text", "text": "A"}]}, "A", "end_turn"),
        ({"content": [], "stop_reason": "max_tokens"}, "", "max_tokens"),
        (
            {"stop_reason": "model_context_window_exceeded"},
            "All there.\nSUCCESS",
            "model_context_window_exceeded",
        ),
        ({"stop_reason": "pause_turn"}, "All there.\nSUCCESS", "pause_turn"),
        ({"stop_reason": "something_new"}, "All there.\nSUCCESS", "something_new"),
    ],
)
def test_replies_that_are_unusual(fields, text, stop):
    with Server(says(200, message(**fields))) as server:
        reply = ask(server).reply
    assert (reply.text, reply.stop_reason) == (text, stop)


def test_a_refusal_keeps_its_detail():
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    with Server(says(200, message(content=[], stop_reason="refusal", stop_details=details))) as server:
        reply = ask(server).reply
    assert (reply.text, reply.stop_reason, reply.stop_detail) == ("", "refusal", "cyber; no")


def test_cached_tokens_are_read_tokens():
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 5,
        "output_tokens": 1,
    }
    with Server(says(200, message(usage=usage))) as server:
        assert ask(server).reply.usage.input_tokens == 105


def test_without_a_key_nothing_is_sent():
    reply = AnthropicClient().ask(REQUEST, IMAGES).reply
    assert reply.kind == "missing_key"
    for named in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "--judge-base-url", "--judge-mode none"):
        assert named in reply.message


def test_a_server_on_loopback_needs_none(monkeypatch):
    with Server(says(200, message())) as server:
        assert ask(server, api_key=None).reply.text
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with closing(AnthropicClient()) as client:
            assert client.ask(REQUEST, IMAGES).reply.text
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://judge.example")
    assert AnthropicClient().ask(REQUEST, IMAGES).reply.kind == "missing_key"


def test_a_key_of_the_environment_is_used(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-env")
    with Server(says(200, message())) as server:
        ask(server, api_key=None)
    assert key_of(server.seen[0][2]) == "sk-env"


def test_without_the_sdk(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "anthropic", None)
    reply = AnthropicClient(api_key="x").ask(REQUEST, IMAGES).reply
    assert reply.kind == "missing_sdk"
    assert "pip install 'replaykit-web[judge]'" in reply.message


def wide(count, **fields):
    images = [replace(IMAGE, sha256=f"{n:064d}", step=n, **fields) for n in range(count)]
    return replace(REQUEST, content=tuple(images)), {image.sha256: b"x" for image in images}


@pytest.mark.parametrize(
    ("count", "fields", "words"),
    [
        (
            21,
            {"width": 2001},
            "step 0 (000000000000) has 2001 x 3 px, a side may have 2000 where there are more than 20",
        ),
        (1, {"height": 8001}, "a side may have 8000"),
        (101, {}, "101 screenshots in a request, 100 are allowed: option images"),
        (1, {"media_type": "image/svg+xml"}, "is image/svg+xml, models take image/png"),
    ],
)
def test_screenshots_beyond_the_limits_are_refused_before_sending(count, fields, words):
    request, images = wide(count, **fields)
    reply = AnthropicClient(api_key="x", base_url="http://127.0.0.1:9").ask(request, images).reply
    assert reply.kind == "image_limit"
    assert words in reply.message


def test_within_the_limits_is_within():
    assert over_limit(*wide(20, width=8000)) is None
    assert over_limit(*wide(100, width=2000)) is None


def test_large_screenshots():
    request, _ = wide(1)
    most = 5_242_880 // 4 * 3
    assert over_limit(request, {f"{0:064d}": b"x" * most}) is None
    assert "5242884 characters in base64" in over_limit(request, {f"{0:064d}": b"x" * (most + 1)}).message
    request, _ = wide(7)
    images = {f"{n:064d}": b"x" * most for n in range(7)}
    assert "characters of screenshots, a request may have" in over_limit(request, images).message


def batch(status):
    counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    return {
        "id": "batch_1", "type": "message_batch", "processing_status": status, "request_counts": counts,
        "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z", "ended_at": None,
        "archived_at": None, "cancel_initiated_at": None,
        "results_url": None,
    }  # fmt: skip


def test_a_batch_comes_back_in_any_order():
    rows = [
        {"custom_id": "2", "result": {"type": "expired"}},
        {
            "custom_id": "1",
            "result": {"type": "errored", "error": error("invalid_request_error", "too much")},
        },
        {"custom_id": "0", "result": {"type": "succeeded", "message": message("NOT SUCCESS")}},
    ]
    lines = b"".join(__import__("json").dumps(row).encode() + b"\n" for row in rows)
    waits = []

    with Server(says(200, batch("in_progress")), says(200, batch("in_progress"))) as server:
        ended = {**batch("ended"), "results_url": f"{server.url}/v1/messages/batches/batch_1/results"}
        server.script += [
            says(200, ended),
            says(200, ended),
            says(200, lines, content_type="application/x-jsonl"),
        ]
        sent = [SentRequest(request=REQUEST, images=IMAGES)] * 4
        with closing(AnthropicClient(api_key="x", base_url=server.url, sleep=waits.append)) as client:
            answers = client.ask_many(sent)
    assert server.seen[0][1] == "/v1/messages/batches"
    assert [row["custom_id"] for row in server.bodies[0]["requests"]] == ["0", "1", "2", "3"]
    assert answers[0].reply.text == "NOT SUCCESS"
    assert answers[0].provenance["batch"] is True
    assert [a.reply.kind for a in answers[1:]] == ["batch", "batch", "bad_response"]
    assert "too much" in answers[1].reply.message
    assert len(waits) == 2


def test_a_batch_that_is_refused_fails_every_request():
    refusing = Server(says(401, error("authentication_error")))
    with refusing as server, closing(AnthropicClient(api_key="x", base_url=server.url)) as client:
        answers = client.ask_many([SentRequest(request=REQUEST, images=IMAGES)] * 2)
    assert [a.reply.kind for a in answers] == ["auth", "auth"]
