"""Other people's prompts: read from their source without running it, recognised by their digests."""

from __future__ import annotations

import hashlib

import pytest

from replaykit.errors import JudgeError
from replaykit.grading.judges.prompts import upstream_prompts
from replaykit.grading.judges.prompts.upstream_prompts import literal, read_prompts
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.settings_file import load_judge
from replaykit.tasks.judge_settings import JudgeSettings

SOURCE = '''
import pathlib
pathlib.Path({marker!r}).write_text("executed")
raise SystemExit(3)
SYSTEM_PROMPT = """Judge <task>."""
USER_PROMPT: str = "TASK: <task>" "\\nResult: <answer> <num>"
def ask(x):
    prompt = "first {{task}}"
    if x:
        prompt = "second"
    def inner():
        prompt = "inner"
FORMATTED = f"{{SYSTEM_PROMPT}}"
CALLED = SYSTEM_PROMPT.strip()
ADDED = "a" + SYSTEM_PROMPT
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "auto_eval.py"
    path.write_text(SOURCE.format(marker=str(tmp_path / "marker")))
    return path


def test_literals_are_read_and_nothing_runs(source, tmp_path):
    assert literal(source, "SYSTEM_PROMPT") == "Judge <task>."
    assert literal(source, "USER_PROMPT") == "TASK: <task>\nResult: <answer> <num>"
    assert literal(source, "ask.prompt") == "first {task}"
    assert literal(source, "ask.prompt#2") == "second"
    assert literal(source, "ask.inner.prompt") == "inner"
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("FORMATTED", "line 13: FORMATTED is a JoinedStr; only string constants are read"),
        ("CALLED", "line 14: CALLED is a Call"),
        ("ADDED", "line 15: ADDED is a BinOp"),
        ("MISSING", "MISSING is wanted; MISSING is assigned nowhere"),
        ("ask.prompt#3", "ask.prompt is assigned 2 times"),
    ],
)
def test_anything_else_is_refused_with_its_line(source, name, words):
    with pytest.raises(JudgeError) as caught:
        literal(source, name)
    assert words in str(caught.value)
    assert str(source.parent) not in str(caught.value)


@pytest.mark.parametrize("content", [b"def (", b"\x00", b"\xff\xfe\x00", b"(" * 5000])
def test_what_is_no_source_is_an_error(tmp_path, content):
    path = tmp_path / "x.py"
    path.write_bytes(content)
    with pytest.raises(JudgeError, match=r"^x\.py: not Python source"):
        literal(path, "X")
    with pytest.raises(JudgeError, match="cannot read the prompts"):
        literal(tmp_path / "none.py", "X")


def test_the_label_depends_only_on_the_digest(source, monkeypatch):
    prompts = read_prompts(source, "webvoyager")
    assert build(prompts).prompts.label == "custom"
    known = {slot: (hashlib.sha256(text.encode()).hexdigest(),) for slot, text in prompts.items()}
    monkeypatch.setitem(upstream_prompts.KNOWN, "webvoyager", known)
    assert build(prompts).prompts.label == "upstream-identical"
    assert build({**prompts, "system": prompts["system"] + " "}).prompts.label == "custom"
    assert build({"system": prompts["system"]}).prompts.label == "custom"
    assert build({}).prompts.label == "own"


def test_the_peer_s_placeholders_are_filled_literally_in_one_pass(ask, recorded, task, source):
    prompts = read_prompts(source, "webvoyager")
    run = recorded(1, answer="<task> {answer}")
    _, (request,) = ask(run, task, "SUCCESS", "compat", protocol="webvoyager", prompts=prompts)
    assert request.system == "Judge <task>."
    assert request.content[0].text == "TASK: Find the order number.\nResult: <task> {answer} 15"


def test_a_protocol_without_a_known_source(source):
    with pytest.raises(JudgeError, match="no source is known for custom"):
        read_prompts(source, "custom")


def test_the_general_judge_of_the_same_peer(tmp_path):
    source = tmp_path / "general.py"
    source.write_text(
        "async def identify_key_points(task):\n    system_msg = 'K'\n    prompt = 'Task: {task}'\n"
        "async def judge_image(task):\n    system_msg = 'S'\n    prompt = '{task} {key_points}'\n"
        "async def WebJudge_general_eval(task):\n    system_msg = 'V'\n    prompt = '{task} {last_actions} {thoughts}'\n"
        "    if not task:\n        prompt = '{task} {last_actions}'\n"
    )
    found = read_prompts(source, "webjudge", variant="general")
    assert (found["verdict.system"], found["verdict.user_bare"]) == ("V", "{task} {last_actions}")
    with pytest.raises(JudgeError, match="WebJudge_Online_Mind2Web_eval"):
        read_prompts(source, "webjudge")
    (tmp_path / "ours.yaml").write_text("protocol: webjudge\nvariant: general\nprompts_from: general.py\n")
    judge = build_judge(load_judge(tmp_path / "ours.yaml"), "compat")
    assert (judge.prompts.label, judge.prompts.text("score.system")) == ("custom", "S")


def build(prompts):
    return build_judge(JudgeSettings(protocol="webvoyager", prompts=prompts), "compat")
