"""Asking models: recorded before it is used, the same by every pump, and never twice."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextlib import closing

import msgspec
import pytest

from replaykit.errors import JudgeError, TapeError
from replaykit.grading.judges.clients.anthropic_client import AnthropicClient
from replaykit.grading.judges.clients.client import CallableClient, ClientAnswer
from replaykit.grading.judges.request_plan import plan
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.grading.judges.tape.tape_recorder import RequestSlots, TapeRecorder, judge_async, judge_sync
from replaykit.grading.model_request import ModelReply, ReplyFailure
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings

from .messages_server import FAST, Server, cuts, error, message, resets, says

pytestmark = pytest.mark.usefixtures("retries_at_once")

DIGEST = "d" * 64
WEBJUDGE = JudgeSettings(protocol="webjudge")
SECRET = "sk-very-secret"


def said(request, images):
    if request.stage == "key_points":
        return "**Key Points**:\n1. The order"
    if request.stage == "score":
        return f"**Reasoning**: {request.index}\n**Score**: {request.index % 5 + 1}"
    return "Thoughts: fine\nStatus: success"


def recorder(run, tape, client=None, mode="new"):
    return TapeRecorder(run, client or CallableClient(said), tape, trajectory=DIGEST, mode=mode)


def test_every_pump_gives_the_same_judgement(recorded, task, tmp_path):
    run = recorded(6)
    tapes = [tmp_path / f"{n}.jsonl" for n in range(4)]
    found = [judge_sync(WEBJUDGE, task, Replay(run), recorder(run, tapes[0]))]
    for n, slots in ((1, 1), (2, 2), (3, 16)):
        found.append(asyncio.run(concurrent(task, run, tapes[n], slots)))
    found += [judge_from_tape(WEBJUDGE, task, Replay(run), read_tape(tape)) for tape in tapes]
    assert len({msgspec.json.encode(judgement) for judgement in found}) == 1
    assert found[0].outcome == "SUCCESS"
    assert [len(read_tape(tape).entries) for tape in tapes] == [8] * 4


async def concurrent(task, run, tape, slots):
    with closing(RequestSlots(slots)) as bounded:
        return await judge_async(WEBJUDGE, task, Replay(run), recorder(run, tape), slots=bounded)


def test_replies_that_come_in_another_order_change_nothing(recorded, task, tmp_path):
    run, late = recorded(3), threading.Event()

    def shuffled(request, images):
        if request.stage == "score" and request.index == 0:
            late.wait(5)
        if request.stage == "score" and request.index == 2:
            late.set()
        return said(request, images)

    coming = judge_async(
        WEBJUDGE, task, Replay(run), recorder(run, tmp_path / "a.jsonl", CallableClient(shuffled))
    )
    assert msgspec.json.encode(asyncio.run(coming)) == msgspec.json.encode(
        judge_sync(WEBJUDGE, task, Replay(run), recorder(run, tmp_path / "b.jsonl"))
    )


def test_no_more_requests_are_under_way_than_there_are_slots(recorded, task, tape):
    run, lock = recorded(8), threading.Lock()
    under_way, most = [0], [0]

    def counted(request, images):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        try:
            return said(request, images)
        finally:
            with lock:
                under_way[0] -= 1

    async def judged():
        with closing(RequestSlots(2)) as slots:
            return await judge_async(
                WEBJUDGE, task, Replay(run), recorder(run, tape, CallableClient(counted)), slots=slots
            )

    asyncio.run(judged())
    assert 1 <= most[0] <= 2


def test_as_many_are_under_way_as_there_are_slots(recorded, task, tape):
    run, all_there = recorded(10), threading.Barrier(10)

    def together(request, images):
        if request.stage == "score":
            all_there.wait(20)
        return said(request, images)

    async def judged():
        with closing(RequestSlots(10)) as slots:
            return await judge_async(
                WEBJUDGE, task, Replay(run), recorder(run, tape, CallableClient(together)), slots=slots
            )

    assert asyncio.run(judged()).outcome == "SUCCESS"


def test_what_is_recorded_is_not_asked_again(recorded, task, tape):
    run, asked = recorded(2), []

    def counting(request, images):
        asked.append(request.stage)
        return said(request, images)

    for expected in (4, 4):
        judge_sync(WEBJUDGE, task, Replay(run), recorder(run, tape, CallableClient(counting)))
        assert len(asked) == expected
    judge_sync(WEBJUDGE, task, Replay(run), recorder(run, tape, CallableClient(counting), "refresh"))
    assert len(asked) == 8
    assert read_tape(tape).superseded == 4


def test_plans_advance_stage_by_stage(recorded, task, tape):
    run = recorded(6)
    found, asked = [], []
    while True:
        now = plan(WEBJUDGE, task, Replay(run), read_tape(tape))
        if not now.missing:
            break
        found.append((now.blocked, len(now.missing), now.at_most, now.images))
        for one in now.missing:
            asked.append(one.request)
            at = recorder(run, tape)
            at.ask(one, at.sent(one.request))
    assert found == [("key_points", 1, 8, 0), ("score", 6, 7, 6), ("verdict", 1, 1, 3)]
    live = []

    def noting(request, images):
        live.append(request)
        return said(request, images)

    judge_sync(WEBJUDGE, task, Replay(run), recorder(run, tape, CallableClient(noting), "refresh"))
    assert live == asked
    assert judge_from_tape(WEBJUDGE, task, Replay(run), read_tape(tape)).outcome == "SUCCESS"


def test_a_failure_is_not_recorded(recorded, task, tape):
    run = recorded(1)
    client = CallableClient(lambda request, images: ReplyFailure(kind="overloaded", message="busy"))
    settings = JudgeSettings(protocol="webvoyager")
    judged = judge_sync(settings, task, Replay(run), recorder(run, tape, client))
    assert (judged.outcome, judged.reason) == ("ERROR", "overloaded")
    assert not tape.exists()


def test_a_client_that_raises_is_a_failure(recorded, task, tape):
    def broken(request, images):
        raise OSError("no route")

    judged = judge_sync(
        JudgeSettings(protocol="webvoyager"),
        task,
        Replay(recorded(1)),
        recorder(recorded(1), tape, CallableClient(broken)),
    )
    assert (judged.outcome, judged.reason, judged.detail) == ("ERROR", "client_error", "OSError: no route")


def test_screenshots_are_sent_as_png_and_named_by_their_pixels(recorded, task, tape):
    run, sent = recorded(1), {}

    def noting(request, images):
        sent.update(images)
        return "SUCCESS"

    judge_sync(
        JudgeSettings(protocol="webvoyager"),
        task,
        Replay(run),
        recorder(run, tape, CallableClient(noting)),
    )
    ((id, data),) = sent.items()
    assert data.startswith(b"\x89PNG")
    (entry,) = read_tape(tape).entries
    assert entry.provenance["images"][0]["sha256"] == id
    assert entry.provenance["images"][0]["sent"] != id


def test_more_votes_extend_a_tape(recorded, task, tape):
    run, asked = recorded(1), []

    def counting(request, images):
        asked.append(1)
        return "SUCCESS" if len(asked) != 2 else "NOT SUCCESS"

    def judged(votes):
        settings = JudgeSettings(protocol="webvoyager", votes=votes)
        return judge_sync(settings, task, Replay(run), recorder(run, tape, CallableClient(counting)))

    assert judged(1).votes == ("SUCCESS",)
    assert judged(3).votes == ("SUCCESS", "FAILURE", "SUCCESS")
    assert len(asked) == 3
    assert judged(3).outcome == "SUCCESS"
    assert len(asked) == 3
    assert [stage["sample"] for stage in judged(3).stages] == [0, 1, 2]


@pytest.mark.parametrize("votes", [1, 2])
def test_several_votes_say_that_they_repeat_each_other(recorded, task, tape, votes):
    found, run = [], recorded(1)

    def noting(request, images):
        found.append(request.is_repeated)
        return "SUCCESS"

    settings = JudgeSettings(protocol="webvoyager", votes=votes)
    judge_sync(settings, task, Replay(run), recorder(run, tape, CallableClient(noting)))
    assert found == [votes > 1] * votes


def test_sync_inside_a_loop_names_the_other(recorded, task, tape):
    async def inside():
        return judge_sync(WEBJUDGE, task, Replay(recorded(1)), recorder(recorded(1), tape))

    with pytest.raises(JudgeError, match="await judge_async"):
        asyncio.run(inside())


def test_a_cancelled_pump_leaves_a_valid_tape(recorded, task, tape):
    run, begun, free = recorded(4), threading.Event(), threading.Event()

    def slow(request, images):
        if request.stage == "score":
            begun.set()
            free.wait(5)
        return said(request, images)

    async def cancelled():
        coming = asyncio.ensure_future(
            judge_async(WEBJUDGE, task, Replay(run), recorder(run, tape, CallableClient(slow)))
        )
        await asyncio.to_thread(begun.wait, 5)
        coming.cancel()
        free.set()
        with pytest.raises(asyncio.CancelledError):
            await coming

    asyncio.run(cancelled())
    assert read_tape(tape).entries[0].stage == "key_points"
    assert judge_sync(WEBJUDGE, task, Replay(run), recorder(run, tape)).outcome == "SUCCESS"


def test_no_secret_reaches_the_tape(recorded, task, tape):
    pytest.importorskip("anthropic")
    run = recorded(1)
    with (
        Server(says(200, message())) as server,
        closing(AnthropicClient(api_key=SECRET, base_url=server.url)) as client,
    ):
        judged = judge_sync(
            JudgeSettings(protocol="webvoyager"), task, Replay(run), recorder(run, tape, client)
        )
    assert judged.origins == {"live": 1}
    text = tape.read_text().lower()
    assert SECRET not in text
    assert not any(
        word in text for word in ("authorization", "x-api-key", "cookie", "organization", "signature")
    )


@pytest.mark.parametrize(
    ("answer", "outcome", "reason", "is_recorded"),
    [
        (says(200, message("NOT SUCCESS")), "FAILURE", "verdict", True),
        (says(200, message(content=[], stop_reason="refusal")), "ABSTAIN", "refused", True),
        (says(200, message("Thus", stop_reason="max_tokens")), "ABSTAIN", "truncated", True),
        (says(200, message(content=[{"type": "thinking", "thinking": "", "signature": "x"},
                                    {"type": "text", "text": "SUCCESS"}])), "SUCCESS", "verdict", True),
        (says(400, error("invalid_request_error")), "ERROR", "bad_request", False),
        (says(401, error("authentication_error")), "ERROR", "auth", False),
        (says(404, error("not_found_error")), "ERROR", "bad_request", False),
        (says(429, error("rate_limit_error"), **FAST), "ERROR", "rate_limited", False),
        (says(500, error("api_error"), **FAST), "ERROR", "server", False),
        (says(529, error("overloaded_error"), **FAST), "ERROR", "overloaded", False),
        (says(200, b'{"id": '), "ERROR", "bad_response", False),
        (says(200, b"<html>", content_type="text/html"), "ERROR", "bad_response", False),
        (says(200, {"hello": 1}), "ERROR", "bad_response", False),
        (resets, "ERROR", "connection", False),
        (cuts, "ERROR", "connection", False),
    ],
)  # fmt: skip
def test_nothing_but_replies_reaches_the_tape(recorded, task, tape, answer, outcome, reason, is_recorded):
    pytest.importorskip("anthropic")
    run, settings = recorded(1), JudgeSettings(protocol="webvoyager")
    with Server(answer) as server, closing(AnthropicClient(api_key=SECRET, base_url=server.url)) as client:
        judged = judge_sync(settings, task, Replay(run), recorder(run, tape, client))
    assert (judged.outcome, judged.reason) == (outcome, reason)
    assert tape.exists() == is_recorded
    if is_recorded:
        assert judge_from_tape(settings, task, Replay(run), read_tape(tape)) == judged


def test_an_answer_without_provenance_is_recorded(recorded, task, tape):
    class Client:
        def ask(self, request, images):
            reply = ModelReply(text="SUCCESS", stop_reason="end_turn", model="m", origin="live")
            return ClientAnswer(reply=reply)

    run = recorded(1)
    judge_sync(JudgeSettings(protocol="webvoyager"), task, Replay(run), recorder(run, tape, Client()))
    assert read_tape(tape).entries[0].reply.model == "m"


def test_the_tape_s_pump_forbids_itself_sockets(tmp_path):
    code = (
        "import socket, sys\n"
        "def no(*a, **k): raise AssertionError('a socket')\n"
        "socket.socket.connect = no\n"
        "from replaykit.grading.judges.tape.tape_player import judge_from_tape\n"
        "from replaykit.replay.player import Replay\n"
        "from replaykit.tasks.judge_settings import JudgeSettings\n"
        "from replaykit.tasks.task import Task\n"
        "from replaykit.testing import trajectory\n"
        "built = trajectory().goto('http://h.test/', '<p>x').screenshot().answer('x')\n"
        "class B:\n"
        "    trajectory = built.build()\n"
        "    def blob(self, id): return built.blobs()[id][1]\n"
        "    def blob_type(self, id): return built.blobs()[id][0]\n"
        "j = judge_from_tape(JudgeSettings(protocol='webjudge'), Task(id='t', intent='x'), Replay(B()), None)\n"
        "print(j.reason, [m for m in ('anthropic', 'openai', 'playwright', 'httpx2', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "tape_miss []"


def test_a_reply_that_is_too_long_is_a_failure(recorded, task, tape):
    client = CallableClient(lambda request, images: "x" * 2**20 + "SUCCESS")
    run = recorded(1)
    judged = judge_sync(JudgeSettings(protocol="webvoyager"), task, Replay(run), recorder(run, tape, client))
    assert (judged.outcome, judged.reason) == ("ERROR", "bad_response")


def test_a_place_where_no_tape_can_be_written(recorded, task, tmp_path):
    run = recorded(1)
    with pytest.raises(TapeError, match="cannot write the tape"):
        judge_sync(
            JudgeSettings(protocol="webvoyager"),
            task,
            Replay(run),
            recorder(run, tmp_path / "no" / "tape.jsonl"),
        )


def test_no_model_is_asked_where_no_tape_can_be_written(recorded, task, tmp_path):
    asked: list[str] = []
    client = CallableClient(lambda request, images: asked.append(request.stage) or "SUCCESS")
    run, place = recorded(1), tmp_path / "no"
    settings = JudgeSettings(protocol="webvoyager")
    with pytest.raises(TapeError, match="cannot write the tape"):
        judge_sync(settings, task, Replay(run), recorder(run, place / "tape.jsonl", client))
    assert not asked
    place.mkdir()
    judge_sync(settings, task, Replay(run), recorder(run, place / "tape.jsonl", client))
    assert asked
