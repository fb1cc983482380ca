"""A judge of one's own: its prompts, its pictures, its parser."""

from __future__ import annotations

import pytest

from replaykit.errors import JudgeError
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.model_request import ImagePart
from replaykit.tasks.judge_settings import JsonParser, JudgeSettings, ScoreParser
from replaykit.testing import trajectory as build_run

PROMPTS = {"system": "You judge.", "user": "T: {{task}}\nA: {{answer}}"}


@pytest.fixture
def judged(ask):
    def run(bundle, task, say="SUCCESS", mode="strict", **settings):
        return ask(bundle, task, say, mode, protocol="custom", **{"prompts": PROMPTS, **settings})

    return run


def test_placeholders(judged, recorded, task):
    user = "{{actions}}|{{urls}}|{{thoughts}}|{{final_text}}|{{n_images}}|{{recorded_at}}"
    _, (request,) = judged(recorded(2), task, mode="compat", prompts={**PROMPTS, "user": user})
    assert request.content[0].text == (
        "1. page -> GOTO: http://shop.test/\n2. <element> -> CLICK|http://shop.test/\nhttp://shop.test/||Order 42|2|"
        "2026-01-01T00:00:00.000Z"
    )
    assert request.system == "You judge."


def test_pictures_stand_where_the_prompt_says(judged, recorded, task):
    user = "before {{task}}\n{{images}}\nafter"
    _, (request,) = judged(recorded(2), task, mode="compat", prompts={**PROMPTS, "user": user})
    first, one, two, last = request.content
    assert (first.text, last.text) == ("before Find the order number.\n", "after")
    assert isinstance(one, ImagePart)
    assert isinstance(two, ImagePart)
    _, (request,) = judged(recorded(2), task, mode="compat")
    assert [type(part).__name__ for part in request.content] == ["TextPart", "ImagePart", "ImagePart"]


def test_strict_delimits(judged, recorded, task):
    _, (request,) = judged(recorded(1), task)
    assert "<<task " in request.content[0].text
    assert "<<name CODE>>" in request.system


@pytest.mark.parametrize(
    ("parser", "say", "outcome"),
    [
        ("success_token", "fine\nSUCCESS", "SUCCESS"),
        ("status_line", "Status: failure", "FAILURE"),
        ("tags", "<success>Successful</success>", "SUCCESS"),
        ("reward_line", "Reward: 2", "FAILURE"),
        (ScoreParser(pass_at=5), "Score: 4", "FAILURE"),
        (JsonParser(pointer="/ok"), '{"ok": true}', "SUCCESS"),
    ],
)
def test_parsers(judged, recorded, task, parser, say, outcome):
    assert judged(recorded(1), task, say, parser=parser)[0].outcome == outcome


def test_its_name_is_its_id(judged, recorded, task):
    assert judged(recorded(1), task, id="ours")[0].judge == "ours"


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        ({"system": "x"}, "judge custom needs a prompt 'user'"),
        ({**PROMPTS, "user": "{{tsak}}"}, "prompt names {{tsak}}; there are actions, answer"),
        ({**PROMPTS, "usr": "x"}, "no prompt 'usr' in custom; there are system, user"),
        ({**PROMPTS, "user": "x {{images}} y"}, "stands once, alone on its line"),
        ({**PROMPTS, "user": "{{images}}\n{{images}}\n"}, "stands once, alone on its line"),
    ],
)
def test_prompts_are_checked_when_the_judge_is_built(prompts, words):
    with pytest.raises(JudgeError) as caught:
        build_judge(JudgeSettings(protocol="custom", prompts=prompts), "strict")
    assert words in str(caught.value)


def test_no_evidence_no_call(judged, task):
    class Bundle:
        trajectory = build_run().end().build()

    judgement, requests = judged(Bundle(), task)
    assert (judgement.reason, requests) == ("no_evidence", [])
