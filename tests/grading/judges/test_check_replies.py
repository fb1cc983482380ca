"""Replies that checks find on a tape or ask a model for: one for equal requests, misses, no tape at all."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import JudgeError
from replaykit.grading.checks.llm_match import request
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import case_of, grade, grade_async
from replaykit.grading.judges.check_replies import CheckReplies
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.judge_config import Panel
from replaykit.grading.judges.tape.packed_tape import pack
from replaykit.grading.judges.tape.tape import append_reply, read_tape
from replaykit.grading.model_request import ModelReply, ReplyFailure
from replaykit.grading.workers.worker import grader_digest
from replaykit.testing.builder import trajectory

from .messages_server import Server, error, message, says

needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None, reason="the extra `judge` (anthropic) is not installed"
)

FUZZY = {"id": "t", "intent": "Why?", "checks": [{"type": "string_match", "fuzzy": ["tea"]}]}


def write(path: Path, **task: Any) -> Path:
    return (
        trajectory({**FUZZY, **task})
        .goto("http://h.test/", "<p>x")
        .screenshot()
        .answer("a drink")
        .write(path)
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "run.zst")


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.replies.jsonl"


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def saying(*texts: str) -> tuple[CallableClient, list[str]]:
    """Return a client that says these texts in turn, the last one for ever, and the models that it was asked for."""
    asked: list[str] = []

    def answer(wanted: Any, images: Any) -> str:
        asked.append(wanted.model)
        return texts[min(len(asked), len(texts)) - 1]

    return CallableClient(answer), asked


def found(bundle: Bundle, **options: Any) -> bytes:
    return msgspec.json.encode(grade(bundle, **options))


def test_without_a_tape_no_model_was_asked(run: Path, tape: Path) -> None:
    with open_bundle(run) as bundle:
        replies = CheckReplies(Panel(settings=(), replies=str(tape)), bundle)
        assert replies(request("webarena.fuzzy", "q", "a", "b")) is None
        assert replies.digest is None


def test_a_tape_without_the_request_is_a_miss(run: Path, tape: Path) -> None:
    tape.write_text('{"tape":"replaykit.replies","version":1,"trajectory":"' + "0" * 64 + '"}\n')
    with open_bundle(run) as bundle:
        replies = CheckReplies(Panel(settings=(), replies=str(tape)), bundle)
        assert replies.digest is None  # not read before it is asked
        reply = replies(request("webarena.fuzzy", "q", "a", "b"))
    assert isinstance(reply, ReplyFailure)
    assert reply.kind == "tape_miss"
    assert str(replies.digest).startswith("sha256:")


def test_a_run_is_graded_with_the_tape_beside_it(run: Path, tape: Path) -> None:
    with open_bundle(run) as bundle:
        assert grade(bundle).checks[0].reason == "needs_model"
        asked = request("webarena.fuzzy", "Why?", "tea", "a drink")
        reply = ModelReply(text="correct", stop_reason="end_turn", model="m", origin="synthetic")
        append_reply(tape, asked, reply, trajectory=bundle.digest)
        verdict = grade(bundle)
        assert verdict.checks[0].outcome == "PASS"
        assert [item.compat for item in verdict.checks[0].items] == ["PASS"]
        assert str(verdict.tape).startswith("sha256:")
        assert grade(bundle, judge_mode="off").checks[0].reason == "needs_model"


@needs_sdk
def test_a_reply_of_a_model_is_asked_for_once_and_kept(run: Path, tape: Path) -> None:
    with Server(says(200, message("It means the same.\ncorrect"))) as server, open_bundle(run) as bundle:
        asked = found(bundle, judge_mode="new", judge_base_url=server.url)
        (body,) = server.bodies  # strict and compat ask for the same: once
        assert found(bundle, judge_mode="new", judge_base_url=server.url) == asked
        assert len(server.seen) == 1
    assert body["output_config"] == {"effort": "medium"}
    text = body["messages"][0]["content"][0]["text"]
    assert re.search(r"<<reference (\w+)>>\ntea\n<<end \1>>\n<<answer \1>>\na drink\n<<end \1>>", text)
    with open_bundle(run) as bundle:
        verdict = grade(bundle)
        assert msgspec.json.encode(verdict) == asked
    assert verdict.checks[0].outcome == "PASS"
    assert verdict.checks[0].items[0].rule == "webarena.fuzzy: claude-sonnet-5-5 (live)"
    (entry,) = read_tape(tape).entries
    assert (entry.judge, entry.origin, entry.provenance["base_host"]) == (
        "webarena.fuzzy",
        "live",
        "127.0.0.1",
    )


@needs_sdk
def test_judges_and_checks_share_a_tape(tmp_path: Path) -> None:
    run = write(tmp_path / "run.zst", judge="webvoyager")
    with Server(says(200, message("correct")), says(200, message())) as server, open_bundle(run) as bundle:
        asked = found(bundle, judge_mode="new", judge_base_url=server.url)
        assert len(server.seen) == 2
        assert found(bundle) == asked
    assert [entry.judge for entry in read_tape(tmp_path / "run.replies.jsonl").entries] == [
        "webarena.fuzzy", "webvoyager",
    ]  # fmt: skip


@needs_sdk
def test_a_failure_is_an_error_and_not_recorded(run: Path, tape: Path) -> None:
    with Server(says(401, error("authentication_error"))) as server, open_bundle(run) as bundle:
        check = grade(bundle, judge_mode="new", judge_base_url=server.url).checks[0]
        assert len(server.seen) == 1  # what compat would say is not asked for again
    assert (check.outcome, check.reason) == ("ERROR", "auth")
    assert not tape.exists()


def test_all_is_asked_again_and_the_later_reply_wins(run: Path, tape: Path) -> None:
    client, asked = saying("incorrect", "correct")
    with open_bundle(run) as bundle:
        assert grade(bundle, client=client, judge_mode="refresh").checks[0].outcome == "FAIL"
        again = found(bundle, client=client, judge_mode="refresh")
        assert grade(bundle).checks[0].outcome == "PASS"
        assert found(bundle) == again
    assert len(asked) == 2
    assert read_tape(tape).superseded == 1


def test_a_packed_tape_answers_and_grows_beside(run: Path, tmp_path: Path) -> None:
    client, _ = saying("correct")
    with open_bundle(run) as bundle:
        before = grade(bundle, client=client, judge_mode="new")
    packed = tmp_path / "packed.zst"
    pack(run, packed)
    nobody, asked = saying("incorrect")
    with open_bundle(packed) as bundle:
        assert grade(bundle).checks == before.checks
        assert grade(bundle).tape == before.tape
        assert grade(bundle, client=nobody, judge_mode="new").checks == before.checks
        assert not asked
        assert grade(bundle, client=nobody, judge_mode="refresh").checks[0].outcome == "FAIL"
        assert grade(bundle).checks[0].outcome == "FAIL"


def test_a_kept_verdict_is_none_after_a_reply_was_recorded(run: Path) -> None:
    client, _ = saying("correct")
    with open_bundle(run) as bundle:
        before = grader_digest(case_of(bundle, GradeOptions()))
        grade(bundle, client=client, judge_mode="new")
        assert grader_digest(case_of(bundle, GradeOptions())) != before


def test_another_model_is_another_request(run: Path) -> None:
    client, asked = saying("correct")
    with open_bundle(run) as bundle:
        grade(bundle, client=client, judge_mode="new")
        other = found(bundle, client=client, judge_mode="new", judge_model="openai:own")
        assert asked == ["claude-sonnet-5-5", "openai:own"]
        assert found(bundle, judge_model="openai:own") == other
        assert grade(bundle, judge_model="openai:third").checks[0].reason == "tape_miss"
        with pytest.raises(JudgeError, match="names provider 'nobody'"):
            grade(bundle, judge_model="nobody:x")


def test_a_loop_is_not_stopped(run: Path) -> None:
    client, _ = saying("correct")

    async def inside(bundle: Bundle) -> Any:
        with pytest.raises(JudgeError, match="await grade_async"):
            grade(bundle, client=client, judge_mode="new")
        return await grade_async(bundle, client=client, judge_mode="new")

    with open_bundle(run) as bundle:
        assert asyncio.run(inside(bundle)).success == "PASS"


@pytest.mark.parametrize(
    ("stop", "reason"),
    [("max_tokens", "truncated"), ("refusal", "refused"), ("something_new", "stopped")],
)
def test_a_reply_that_was_cut_short_decides_nothing(run: Path, stop: str, reason: str) -> None:
    said = ModelReply(text="it is not\ncorrect", stop_reason=stop, model="m", origin="live")
    with open_bundle(run) as bundle:
        check = grade(bundle, client=CallableClient(lambda *_: said), judge_mode="new").checks[0]
    assert (check.outcome, check.reason, check.missing) == ("UNDECIDED", reason, ("reply:webarena.fuzzy",))
    assert check.items[0].compat == "PASS"  # the peer reads whatever came
