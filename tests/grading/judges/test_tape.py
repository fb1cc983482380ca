"""Recorded replies: keys, lines, and what a miss says."""

from __future__ import annotations

import hashlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.errors import TapeError
from replaykit.grading.judges.tape.tape import (
    append_reply,
    normal_request,
    parse_tape,
    plain_request,
    read_tape,
    request_key,
)
from replaykit.grading.judges.tape.tape_miss import explain
from replaykit.grading.model_request import ImagePart, ModelRequest, TextPart

DIGEST = "d" * 64


def image(letter, step):
    return ImagePart(sha256=letter * 64, media_type="image/png", width=2, height=2, step=step)


REQUEST = ModelRequest(
    judge="webvoyager",
    stage="verdict",
    index=0,
    system="You decide.",
    content=(TextPart(text="Task: buy tea"), image("a", 3), image("b", 4), TextPart(text="Your verdict:\n")),
    model="claude-sonnet-5-5",
    max_tokens=4096,
    effort="medium",
)


def test_round_trip(tape, reply):
    append_reply(tape, REQUEST, reply("Yes.\nSUCCESS"), trajectory=DIGEST, provenance={"latency_ms": 5})
    head, line = tape.read_text().splitlines()
    assert json.loads(head) == {"tape": "replaykit.replies", "version": 1, "trajectory": DIGEST}
    entry = json.loads(line)
    assert (entry["origin"], entry["ordinal"], entry["provider"]) == ("synthetic", [0, 0], "anthropic")
    assert line == json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    found = read_tape(tape)
    assert found.reply(REQUEST, (0, 0)) == reply("Yes.\nSUCCESS")
    assert found.reply(REQUEST, (0, 1)) is None
    assert found.reply(REQUEST, (1, 0)) is None
    assert (found.trajectory, found.torn, found.superseded) == (DIGEST, False, 0)
    assert found.digest == read_tape(tape).digest != parse_tape(b"").digest


def test_the_key_is_written_down():
    """Frozen: another key would orphan every tape."""
    assert request_key(REQUEST) == request_key(replace(REQUEST, judge="x", stage="y", index=7))
    plain = {
        "effort": "medium", "max_tokens": 4096, "model": "claude-sonnet-5-5", "provider": "anthropic",
        "system": [{"type": "text", "text": "You decide."}],
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Task: buy tea"},
            {"type": "blob", "media_type": "image/png", "sha256": "a" * 64},
            {"type": "blob", "media_type": "image/png", "sha256": "b" * 64},
            {"type": "text", "text": "Your verdict:\n"},
        ]}],
    }  # fmt: skip
    assert normal_request(plain_request(REQUEST)) == plain
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    assert request_key(REQUEST) == hashlib.sha256(b"replaykit.judge/1\n" + text.encode()).hexdigest()
    assert request_key(REQUEST) == "6c312a9f8f6c4995c513a537d358ffbbeababdb5387789f1295b94273cde6c40"


@pytest.mark.parametrize(
    "change",
    [
        {"system": "You decide!"},
        {"model": "openai:claude-sonnet-5-5"},
        {"max_tokens": 4097},
        {"effort": "high"},
        {"effort": None},
        {"content": (REQUEST.content[0], *REQUEST.content[2:])},
        {"content": (REQUEST.content[0], image("b", 4), image("a", 3), REQUEST.content[3])},
        {"content": (REQUEST.content[0], image("a", 3), image("c", 4), REQUEST.content[3])},
    ],
)
def test_what_shapes_a_reply_changes_the_key(change):
    assert request_key(replace(REQUEST, **change)) != request_key(REQUEST)


def test_what_does_not_shape_a_reply_does_not_change_it():
    one = {"model": "m", "system": "s", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 300}
    block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    other = {
        "metadata": {"user_id": "u"}, "stream": True, "max_tokens": 300, "timeout": 3, "effort": None,
        "messages": [{"content": [block], "role": "user"}], "model": "m", "extra_headers": {"x": "y"},
        "system": [{"text": "s", "type": "text", "cache_control": {"type": "ephemeral"}}],
    }  # fmt: skip
    assert normal_request(one) == normal_request(other)


def test_the_later_line_wins(tape, reply):
    append_reply(tape, REQUEST, reply("NOT SUCCESS"), trajectory=DIGEST)
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    append_reply(tape, REQUEST, reply("NOT SUCCESS"), trajectory=DIGEST, ordinal=(0, 1))
    found = read_tape(tape)
    assert found.reply(REQUEST, (0, 0)).text == "SUCCESS"
    assert found.reply(REQUEST, (0, 1)).text == "NOT SUCCESS"
    assert found.superseded == 1
    assert len(tape.read_text().splitlines()) == 4


@pytest.mark.parametrize("kept", [0, 1, 40])
def test_a_torn_last_line_is_dropped_and_cut_away_by_the_next_write(tape, reply, kept):
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    whole = tape.read_bytes()
    append_reply(tape, REQUEST, reply("NOT SUCCESS"), trajectory=DIGEST)
    tape.write_bytes(whole + tape.read_bytes()[len(whole) :][:kept])
    found = read_tape(tape)
    assert (found.reply(REQUEST, (0, 0)).text, found.torn) == ("SUCCESS", kept > 0)
    append_reply(tape, REQUEST, reply("NOT SUCCESS"), trajectory=DIGEST)
    assert read_tape(tape).reply(REQUEST, (0, 0)).text == "NOT SUCCESS"
    assert tape.read_bytes().startswith(whole)


def test_a_head_that_was_torn_is_written_again(tape, reply):
    tape.write_bytes(b'{"tape":"repl')
    assert read_tape(tape).entries == ()
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    assert read_tape(tape).trajectory == DIGEST


def lines(tape, reply, *more):
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    return tape.read_bytes() + b"".join(line + b"\n" for line in more)


@pytest.mark.parametrize(
    ("more", "line", "reason"),
    [
        (b"{", 3, "malformed"),
        (b"", 3, "malformed"),
        (b"\xff", 3, "malformed"),
        (b'{"key": 1}', 3, "malformed"),
    ],
)
def test_a_malformed_line_is_named(tape, reply, more, line, reason):
    with pytest.raises(TapeError) as caught:
        parse_tape(lines(tape, reply, more), "run.replies.jsonl")
    assert str(caught.value).startswith(f"run.replies.jsonl: line {line}: {reason}")


def test_an_entry_has_to_be_what_it_says(tape, reply):
    whole = lines(tape, reply)
    with pytest.raises(TapeError, match="line 2: the key is not that of the request"):
        parse_tape(whole.replace(b"buy tea", b"buy tee"))
    with pytest.raises(TapeError, match="line 2: origin 'guessed'"):
        parse_tape(whole.replace(b'"origin":"synthetic"', b'"origin":"guessed"'))
    with pytest.raises(TapeError, match=r"line 1: expected replaykit.replies version 1, found .* version 2"):
        parse_tape(whole.replace(b'"version":1', b'"version":2'))
    with pytest.raises(TapeError, match="line 1"):
        parse_tape(b'{"hello":1}\n')


def test_no_tape_is_none_and_an_unreadable_one_an_error(tmp_path):
    assert read_tape(tmp_path / "none.jsonl") is None
    with pytest.raises(TapeError, match=r"^folder: cannot read the tape"):
        (tmp_path / "folder").mkdir()
        read_tape(tmp_path / "folder")


def test_what_is_no_reply_is_not_recorded(tape, reply):
    with pytest.raises(TapeError, match="origin 'guessed'"):
        append_reply(tape, REQUEST, reply("x", origin="guessed"), trajectory=DIGEST)
    with pytest.raises(TapeError, match="more than 1048576 bytes"):
        append_reply(tape, REQUEST, reply("x" * (2**20 + 1)), trajectory=DIGEST)
    assert not tape.exists()
    tape.write_bytes(b'{"other":"file"}\n')
    with pytest.raises(TapeError, match="line 1"):
        append_reply(tape, REQUEST, reply("x"), trajectory=DIGEST)
    assert tape.read_bytes() == b'{"other":"file"}\n'


def test_no_secret_is_written(tape, reply):
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    assert not {"authorization", "x-api-key", "headers"} & set(json.loads(tape.read_text().splitlines()[1]))


@given(st.text(), st.text())
def test_any_text_survives(task, said):
    request = replace(REQUEST, content=(TextPart(text=task),))
    plain = msgspec.json.decode(msgspec.json.encode(request), type=ModelRequest)
    assert request_key(plain) == request_key(request)


@pytest.fixture
def miss(tape, reply):
    def explained(**change):
        append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
        return explain(replace(REQUEST, **change), (0, 0), read_tape(tape))

    return explained


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "claude-opus-5"}, "model: tape has 'claude-sonnet-5-5' / request has 'claude-opus-5'"),
        ({"max_tokens": 512}, "max_tokens: tape has 4096 / request has 512"),
        ({"effort": None}, "effort: tape has 'medium' / request has None"),
        ({"system": "You judge."}, "system: tape has 'You decide.' / request has 'You judge.'"),
        ({"content": (*REQUEST.content, image("c", 5))}, f"images: the request adds step 5 ({'c' * 12})"),
        ({"content": (REQUEST.content[0], REQUEST.content[1], REQUEST.content[3])},
         f"images: only the tape has {'b' * 12}"),
        ({"content": (REQUEST.content[0], image("b", 4), image("a", 3), REQUEST.content[3])},
         "images: the same ones in another order or number; the request sends steps 4, 3"),
        ({"content": (TextPart(text="Task: buy a very long list of things, tea"), *REQUEST.content[1:])},
         "messages: tape has 'Task: buy tea"),
    ],
)  # fmt: skip
def test_a_miss_names_what_differs(miss, change, words):
    text = miss(**change)
    assert "the nearest request of run.replies.jsonl is line 2" in text
    assert words in text
    assert len(text.splitlines()) == 3
    assert text.endswith(
        "\nto record it: replaykit grade BUNDLE --judge-mode new, with the other options of this grading"
    )


def test_the_nearest_is_the_one_with_fewest_differences(tape, reply):
    append_reply(tape, replace(REQUEST, model="x", max_tokens=300), reply("SUCCESS"), trajectory=DIGEST)
    append_reply(tape, replace(REQUEST, model="y"), reply("SUCCESS"), trajectory=DIGEST)
    text = explain(REQUEST, (0, 0), read_tape(tape))
    assert "is line 3" in text
    assert "max_tokens" not in text


def test_other_misses(tape, reply):
    assert "there is no tape beside the bundle" in explain(REQUEST, (0, 0), None)
    append_reply(tape, replace(REQUEST, judge="webjudge"), reply("SUCCESS"), trajectory=DIGEST)
    other = replace(REQUEST, max_tokens=300)
    assert "has none for this judge and stage" in explain(other, (0, 0), read_tape(tape))
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    assert "but not sample 0, occurrence 1" in explain(REQUEST, (0, 1), read_tape(tape))
    assert "--judge-mode new" in explain(REQUEST, (0, 1), read_tape(tape))
    assert "--judge-mode new" in explain(REQUEST, (0, 0), None)


@pytest.mark.parametrize("text", ['[{"trajectory": "a"}]', '{"schema": "replaykit.report/1"', "notes"])
def test_a_line_that_is_no_tape_is_not_cut_away(tmp_path, reply, text):
    file = tmp_path / "mine.json"
    file.write_text(text)
    with pytest.raises(TapeError, match="not a tape of replies"):
        append_reply(file, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    assert file.read_text() == text


@pytest.mark.parametrize("length", [0, 1, 9, 30, 60])
def test_a_torn_head_is_written_again(tape, reply, length):
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    whole = tape.read_bytes()
    tape.write_bytes(whole[:length])
    append_reply(tape, REQUEST, reply("SUCCESS"), trajectory=DIGEST)
    assert tape.read_bytes() == whole
