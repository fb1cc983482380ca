"""The transport for chat completions against a server of our own: what is sent, what every answer becomes."""

from __future__ import annotations

import base64
import importlib.util
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.grading.judges.clients.openai_client import OpenAIClient, reading
from replaykit.grading.judges.clients.transports import Transports
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.grading.judges.tape.tape_recorder import TapeRecorder, judge_sync
from replaykit.grading.model_request import ModelReply, ReplyFailure
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings

from .conftest import DIGEST
from .messages_server import FAST, IMAGE, IMAGES, Server, cuts, resets, says
from .messages_server import REQUEST as ASKED

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("openai") is None, reason="the extra `openai` is not installed"
    ),
    pytest.mark.usefixtures("retries_at_once"),
]

REQUEST = replace(ASKED, model="openai:o4-mini")
EFFORT = "Unsupported parameter: 'reasoning_effort' is not supported with this model."
LIMIT = "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs'}]"


def completion(text="All there.\nSUCCESS", stop="stop", refusal=None, **fields):
    said = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "o4-mini-2025-04-16",
        "choices": [{"index": 0, "finish_reason": stop, "message": said}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127}, **fields,
    }  # fmt: skip


def error(words="no", code=None):
    return {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": code}}


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch):
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)


def opened(server, **options):
    return closing(OpenAIClient(**{"api_key": "sk-secret", "base_url": f"{server.url}/v1", **options}))


def ask(server, request=REQUEST, **options):
    with opened(server, **options) as client:
        return client.ask(request, IMAGES)


def bearer(headers):
    return {name.lower(): value for name, value in headers.items()}["authorization"]


def test_what_is_sent():
    with Server(says(200, completion(), x_request_id="req_1")) as server:
        answered = ask(server)
    (method, path, headers, body) = server.seen[0]
    assert (method, path) == ("POST", "/v1/chat/completions")
    assert bearer(headers) == "Bearer sk-secret"
    data = base64.b64encode(b"\x89PNG...").decode()
    assert body == {
        "model": "o4-mini", "max_completion_tokens": 4096, "reasoning_effort": "medium",
        "messages": [
            {"role": "system", "content": "You judge."},
            {"role": "user", "content": [
                {"type": "text", "text": "Task"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", "detail": "high"}},
                {"type": "text", "text": "Your verdict:\n"},
            ]},
        ],
    }  # fmt: skip
    reply = answered.reply
    assert (reply.text, reply.stop_reason, reply.model, reply.origin) == (
        "All there.\nSUCCESS", "end_turn", "o4-mini-2025-04-16", "live",
    )  # fmt: skip
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (120, 7)
    said = answered.provenance
    assert (said["message_id"], said["request_id"], said["base_host"]) == (
        "chatcmpl-1",
        "req_1",
        "127.0.0.1",
    )
    assert said["sdk"].startswith("openai ")
    assert "secret" not in str(said)


def test_no_effort_is_not_sent():
    with Server(says(200, completion())) as server:
        ask(server, replace(REQUEST, effort=None))
    assert "reasoning_effort" not in server.bodies[0]


@pytest.mark.parametrize(("status", "words"), [(400, EFFORT), (422, EFFORT)])
def test_a_model_that_does_not_reason_is_asked_without_effort(status, words):
    with Server(says(status, error(words)), says(200, completion())) as server, opened(server) as client:
        first, second = (client.ask(REQUEST, IMAGES) for _ in range(2))
    assert ["reasoning_effort" in body for body in server.bodies] == [True, False, False]
    assert first.reply.text == second.reply.text == "All there.\nSUCCESS"
    assert first.provenance["not_sent"] == second.provenance["not_sent"] == ["reasoning_effort"]


def test_an_older_server_gets_the_older_name():
    script = says(400, error(EFFORT)), says(400, error(LIMIT)), says(200, completion())
    with Server(*script) as server:
        answered = ask(server)
    assert server.bodies[-1].keys() == {"model", "messages", "max_tokens"}
    assert server.bodies[-1]["max_tokens"] == 4096
    assert answered.provenance["not_sent"] == ["max_completion_tokens", "reasoning_effort"]


@pytest.mark.parametrize(
    "words",
    [
        "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.",
        "Unsupported parameter: 'messages'",
    ],
)
def test_another_bad_request_is_not_asked_again(words):
    with Server(says(400, error(words))) as server:
        assert ask(server).reply.kind == "bad_request"
    assert len(server.seen) == 1


def test_a_server_that_refuses_everything_is_asked_three_times_at_most():
    with Server(says(400, error(f"{EFFORT} {LIMIT}"))) as server:
        assert ask(server).reply.kind == "bad_request"
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (says(400, error()), "bad_request", 1),
        (says(404, error("no such model", "model_not_found")), "bad_request", 1),
        (says(401, error("Incorrect API key", "invalid_api_key")), "auth", 1),
        (says(403, error()), "auth", 1),
        (says(413, error()), "too_large", 1),
        (says(429, error("slow down", "rate_limit_exceeded"), **FAST), "rate_limited", 3),
        (says(429, error("check your plan", "insufficient_quota"), **FAST), "spend_limit", 3),
        (says(500, error(), **FAST), "server", 3),
        (says(503, b"<html>", content_type="text/html", **FAST), "server", 3),
        (resets, "connection", 3),
        (cuts, "connection", None),
        (says(200, b'{"id": ', content_type="application/json"), "bad_response", None),
        (says(200, b"<html>hello</html>", content_type="text/html"), "bad_response", 1),
        (says(200, {"hello": 1}), "bad_response", 1),
        (says(200, [1]), "bad_response", 1),
        (says(200, completion(choices=[])), "bad_response", 1),
        (says(200, completion(stop=None)), "bad_response", 1),
        (says(200, completion(text=[{"type": "text"}])), "bad_response", 1),
        (says(200, completion("boom", stop="error")), "server", 1),
        (says(200, error("upstream fell over")), "server", 1),
    ],
)
def test_failures_are_values_of_a_kind(answer, kind, tries):
    with Server(answer) as server:
        reply = ask(server).reply
    assert reply.kind == kind, reply
    assert tries is None or len(server.seen) == tries
    assert reply.retryable == (kind in ("rate_limited", "server", "connection"))
    assert "secret" not in reply.message


def test_a_retry_that_helps_is_a_reply():
    with Server(says(429, error(), **FAST), says(200, completion())) as server:
        assert ask(server).reply.text.endswith("SUCCESS")
    assert len(server.seen) == 2


def test_a_server_that_asks_for_an_hour_does_not_get_it():
    with Server(says(429, error(), retry_after="3600")) as server:
        reply = ask(server, deadline=5).reply
    assert (reply.kind, reply.retryable) in (("rate_limited", True), ("deadline", True))


def test_a_slow_body_meets_the_deadline():
    free = threading.Event()

    def waits(handler, request):
        handler.send_response(200)
        handler.send_header("content-length", "50")
        handler.end_headers()
        handler.wfile.write(b'{"id"')
        handler.wfile.flush()
        free.wait(5)

    with Server(waits) as server:
        assert ask(server, deadline=0.2).reply.kind == "deadline"
        free.set()


@pytest.mark.parametrize(
    ("said", "text", "stop", "detail"),
    [
        (completion(None, refusal="I cannot."), "", "refusal", "I cannot."),
        (completion("SUCC", stop="content_filter"), "SUCC", "refusal", "content_filter"),
        (completion("SUCCESS", stop="length"), "SUCCESS", "max_tokens", None),
        (completion(None, stop="tool_calls"), "", "tool_use", None),
        (completion("SUCCESS", stop="novelty"), "SUCCESS", "novelty", None),
        (completion(None), "", "end_turn", None),
        (completion(usage=None), "All there.\nSUCCESS", "end_turn", None),
    ],
)
def test_replies_that_are_unusual(said, text, stop, detail):
    with Server(says(200, said)) as server:
        reply = ask(server).reply
    assert (reply.text, reply.stop_reason, reply.stop_detail) == (text, stop, detail)


def test_without_a_key_nothing_is_sent():
    reply = OpenAIClient().ask(REQUEST, IMAGES).reply
    assert reply.kind == "missing_key"
    for named in ("OPENAI_API_KEY", "--judge-base-url", "--judge-mode none", "https://api.openai.com/v1"):
        assert named in reply.message


def test_a_server_on_loopback_needs_none(monkeypatch):
    with Server(says(200, completion())) as server:
        assert ask(server, api_key=None).reply.text
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        with closing(OpenAIClient()) as client:
            assert client.ask(REQUEST, IMAGES).reply.text
    monkeypatch.setenv("OPENAI_BASE_URL", "https://judge.example/v1")
    assert OpenAIClient().ask(REQUEST, IMAGES).reply.kind == "missing_key"


def test_a_key_of_the_environment_is_used(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    with Server(says(200, completion())) as server:
        ask(server, api_key=None)
    assert bearer(server.seen[0][2]) == "Bearer sk-env"


def test_without_the_sdk(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    reply = OpenAIClient(api_key="x").ask(REQUEST, IMAGES).reply
    assert reply.kind == "missing_sdk"
    assert "pip install 'replaykit-web[openai]'" in reply.message


@pytest.mark.parametrize(
    ("count", "fields", "words"),
    [
        (501, {}, "501 screenshots in a request, 500 are allowed"),
        (1, {"media_type": "image/svg+xml"}, "is image/svg+xml, models take image/png"),
    ],
)
def test_screenshots_beyond_the_limits_are_refused_before_sending(count, fields, words):
    images = [replace(IMAGE, sha256=f"{n:064d}", step=n, **fields) for n in range(count)]
    data = {image.sha256: b"x" for image in images}
    client = OpenAIClient(api_key="x", base_url="http://127.0.0.1:9/v1")
    reply = client.ask(replace(REQUEST, content=tuple(images)), data).reply
    assert reply.kind == "image_limit"
    assert words in reply.message


SETTINGS = JudgeSettings(protocol="webvoyager", model="openai:o4-mini")


def judge(recorded, task, tape, server):
    run = recorded(1)
    with closing(Transports(base_url=f"{server.url}/v1")) as client:
        return judge_sync(SETTINGS, task, Replay(run), TapeRecorder(run, client, tape, trajectory=DIGEST))


def test_the_model_s_name_chooses_the_transport_and_the_tape_keeps_no_secret(
    recorded, task, tape, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with Server(says(200, completion(), set_cookie="a=secret", openai_organization="secret")) as server:
        judged = judge(recorded, task, tape, server)
    assert (judged.outcome, judged.origins) == ("SUCCESS", {"live": 1})
    (entry,) = read_tape(tape).entries
    assert (entry.provider, entry.request["model"]) == ("openai", "o4-mini")
    assert not any(word in tape.read_text().lower() for word in ("secret", "authorization", "cookie"))


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (says(200, completion(None, refusal="no")), "ABSTAIN", "refused"),
        (says(200, completion("SUCCESS", stop="length")), "ABSTAIN", "truncated"),
        (says(200, completion("SUCCESS", stop="tool_calls")), "ABSTAIN", "stopped"),
        (says(401, error()), "ERROR", "auth"),
        (says(200, {"hello": 1}), "ERROR", "bad_response"),
    ],
)
def test_only_replies_are_recorded(recorded, task, tape, answer, outcome, reason):
    with Server(answer) as server:
        judged = judge(recorded, task, tape, server)
    assert (judged.outcome, judged.reason) == (outcome, reason)
    assert tape.exists() == (outcome == "ABSTAIN")


def test_the_package_is_loaded_by_the_first_call_alone():
    code = (
        "import sys\n"
        "from replaykit.grading.judges.clients.transports import Transports\n"
        "Transports(base_url='http://127.0.0.1:9/v1').close()\n"
        "print([m for m in ('openai', 'anthropic', 'httpx2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Loose:
    """Anything that a lenient SDK may make of a body."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)


@given(content=VALUES, stop=VALUES, refusal=VALUES, usage=VALUES, model=VALUES)
def test_whatever_comes_back_is_a_reply_or_a_failure(content, stop, refusal, usage, model):
    message = Loose(content=content, refusal=refusal)
    made = Loose(choices=[Loose(message=message, finish_reason=stop)], usage=usage, model=model)
    said = reading(made)
    assert isinstance(said, ModelReply | ReplyFailure)
    if isinstance(said, ModelReply) and said.stop_reason == "end_turn":
        assert stop == "stop"
        assert not (isinstance(refusal, str) and refusal)
    assert isinstance(reading(content), ReplyFailure)
