"""Judges in files."""

from __future__ import annotations

import pytest

from replaykit.errors import JudgeError
from replaykit.grading.judges.settings_file import load_judge, named_judge
from replaykit.tasks.judge_settings import JudgeSettings, ScoreParser


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def test_a_judge_of_one_s_own(tmp_path):
    write(tmp_path, "s.txt", "You judge.")
    write(tmp_path, "u.txt", "T: {{task}}")
    text = "id: ours\nsystem_file: s.txt\nuser_file: u.txt\nparser: {kind: score, pass_at: 3}\nvotes: 3\n"
    found = load_judge(write(tmp_path, "judge.yaml", text))
    assert found == JudgeSettings(
        protocol="custom", id="ours", votes=3, parser=ScoreParser(pass_at=3),
        prompts={"system": "You judge.", "user": "T: {{task}}"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("j.yaml", "protocol: webjudge\nprompts: {score.user: u.txt}"),
        ("j.toml", 'protocol = "webjudge"\n[prompts]\n"score.user" = "u.txt"'),
        ("j.json", '{"protocol": "webjudge", "prompts": {"score.user": "u.txt"}}'),
    ],
)
def test_every_layout(tmp_path, name, text):
    write(tmp_path, "u.txt", "T: {{task}}\n")
    found = named_judge(str(write(tmp_path, name, text)))
    assert found == JudgeSettings(protocol="webjudge", prompts={"score.user": "T: {{task}}\n"})


def test_prompts_of_a_peer(tmp_path):
    write(tmp_path, "peer.py", 'SYSTEM_PROMPT = "S"\nUSER_PROMPT = "U <task>"\n')
    write(tmp_path, "own.txt", "mine")
    text = "protocol: webvoyager\nprompts_from: peer.py\nprompts: {system: own.txt}"
    assert load_judge(write(tmp_path, "j.yaml", text)).prompts == {"system": "mine", "user": "U <task>"}


def test_a_name_is_a_protocol():
    assert named_judge("agent_reward") == JudgeSettings(protocol="agent_reward")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("protocol: nobody", "Invalid enum value 'nobody' - at `$.protocol`"),
        ("protocol: webjudge\nimages: [1]", "- at `$.images`"),
        ("protocol: webjudge\nvotes: 0", "- at `$.votes`"),
        ("protocol: webjudge\nmax_tokens: 100", "- at `$.max_tokens`"),
        ("protocol: webjudge\ncolour: red", "unknown field `colour`"),
        ("- a", "expected a mapping, got list"),
        ("a: [", "not a judge"),
        ("prompts: 3", "prompts: expected slots with their files"),
        ("system_file: none.txt", "none.txt: cannot read the file: No such file"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, words):
    with pytest.raises(JudgeError) as caught:
        load_judge(write(tmp_path, "j.yaml", text))
    assert words in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
