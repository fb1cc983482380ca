"""Tapes that are redacted with their bundle: texts, screenshots and keys; what cannot be asked any more is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.decoders import NEST_MAX
from replaykit.errors import SecretLeft, TapeError
from replaykit.grading.judges.tape.tape import append_reply, read_tape
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, TextPart
from replaykit.redaction.bundle_redaction import redact
from replaykit.testing import trajectory
from replaykit.trajectory.observation import Observation

SECRET = "hunter22"
TOKEN = "⟦secret:PW⟧"
DECLARED = {"secrets": {"PW": SECRET}}


def request(text: str, *screenshots: str) -> ModelRequest:
    images = tuple(
        ImagePart(sha256=id, media_type="image/png", width=2, height=2, step=0) for id in screenshots
    )
    return ModelRequest(
        judge="webvoyager",
        stage="verdict",
        index=0,
        system="You decide.",
        content=(TextPart(text=text), *images),
        model="claude-sonnet-5-5",
        max_tokens=4096,
        effort="medium",
    )


def reply(text: str) -> ModelReply:
    return ModelReply(text=text, stop_reason="end_turn", model="claude-sonnet-5-5", origin="synthetic")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A run whose only screenshot shows nobody knows what."""
    run = trajectory().goto("http://shop.test/", f"<p>{SECRET}</p>").screenshot().answer(f"It is {SECRET}.")
    return run.write(tmp_path / "run.zst")


def record(bundle: Path, asked: ModelRequest, said: str, **more: Any) -> None:
    append_reply(bundle.with_name("run.replies.jsonl"), asked, reply(said), trajectory="d" * 64, **more)


def screenshot(bundle: Path) -> str:
    with open_bundle(bundle) as opened:
        return next(
            one.screenshot
            for one in opened.trajectory.of_type(Observation)
            if isinstance(one.screenshot, str)
        )


def test_a_reply_is_found_by_the_request_without_the_secret(bundle: Path, tmp_path: Path) -> None:
    record(bundle, request(f"Answer: {SECRET}"), f"{SECRET} is right.\nSUCCESS", provenance={"note": SECRET})
    done = redact(bundle, tmp_path / "out.zst", **DECLARED)
    assert done.tape == str(tmp_path / "out.replies.jsonl")
    tape = read_tape(tmp_path / "out.replies.jsonl")
    assert tape is not None
    assert tape.trajectory == done.digest
    found = tape.reply(request(f"Answer: {TOKEN}"), (0, 0))
    assert found is not None
    assert found.text == f"{TOKEN} is right.\nSUCCESS"
    assert tape.entries[0].reply.blocks == ({"type": "text", "text": found.text},)
    assert SECRET not in (tmp_path / "out.replies.jsonl").read_text()


def test_requests_name_the_screenshots_that_were_painted(tmp_path: Path) -> None:
    run = trajectory().goto("http://shop.test/", "<p>4111 1111 1111 1111</p>").answer("x")
    source = run.write(tmp_path / "run.zst")
    with open_bundle(source) as opened:
        (page,) = {seen.snapshot for seen in opened.trajectory.of_type(Observation)}
    record(source, request("x", str(page)), "SUCCESS")
    redact(source, tmp_path / "out.zst")
    with open_bundle(tmp_path / "out.zst") as opened:
        (new,) = {seen.snapshot for seen in opened.trajectory.of_type(Observation)}
    tape = read_tape(tmp_path / "out.replies.jsonl")
    assert tape is not None
    assert new != page
    assert tape.reply(request("x", str(new)), (0, 0)) is not None


def test_a_reply_about_a_screenshot_that_was_left_out_is_left_out(bundle: Path, tmp_path: Path) -> None:
    record(bundle, request("a", screenshot(bundle)), "SUCCESS")
    record(bundle, request("b"), "NOT SUCCESS")
    done = redact(bundle, tmp_path / "out.zst", **DECLARED)
    tape = read_tape(tmp_path / "out.replies.jsonl")
    assert tape is not None
    assert [entry.reply.text for entry in tape.entries] == ["NOT SUCCESS"]
    assert (done.withheld, done.replies_left_out) == (1, 1)


def test_a_secret_in_a_tape_that_cannot_be_taken_out_means_no_file(bundle: Path, tmp_path: Path) -> None:
    record(bundle, request("a"), "SUCCESS", provenance={SECRET: 1})
    with pytest.raises(SecretLeft, match=r"out\.replies\.jsonl.*line 2 at \$\.provenance \(a key\)"):
        redact(bundle, tmp_path / "out.zst", **DECLARED)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.replies.jsonl", "run.zst"]


def test_a_damaged_tape_means_no_file(bundle: Path, tmp_path: Path) -> None:
    bundle.with_name("run.replies.jsonl").write_text(json.dumps({"tape": "other"}) + "\n")
    with pytest.raises(TapeError, match=r"run\.replies\.jsonl"):
        redact(bundle, tmp_path / "out.zst", **DECLARED)
    assert not (tmp_path / "out.zst").exists()


def test_a_tape_nested_too_deeply_means_no_file(bundle: Path, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(NEST_MAX):
        deep = [deep]
    record(bundle, request("a"), "SUCCESS", provenance={"deep": deep})
    with pytest.raises(TapeError, match="nested deeper than 200 levels"):
        redact(bundle, tmp_path / "out.zst", **DECLARED)
    assert not (tmp_path / "out.zst").exists()
