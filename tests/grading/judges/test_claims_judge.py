"""The judge `claims`: what it asks, what its replies may decide, and what no reply can make a success."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from replaykit import grade, open_bundle
from replaykit.errors import JudgeError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.request_plan import plan
from replaykit.grading.model_request import ImagePart, ModelReply
from replaykit.grading.verdict import JudgeOutcome
from replaykit.replay.player import Replay
from replaykit.report.text.judgement_text import claim_lines
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import AllowedChange, Task
from replaykit.testing import trajectory

SHOP = "http://shop.test"
TASK = Task(id="t", intent="Refund order 42 and tell me the total.", start_urls=(SHOP,))
PAGE = (
    "<h1>Order 42</h1><table><tr><td>Total</td><td>€43.50</td></tr></table><p>The refund is on its way.</p>"
)
NEED = {
    "id": "refund", "quote": "Refund order 42", "key": True,
    "all": [{"kind": "request_sent", "method": "POST", "url": "/orders/42/refund"}],
}  # fmt: skip
CLAIM = {
    "id": "total", "quote": "The total is €43.50", "key": True,
    "all": [{"kind": "value", "label": "Total", "value": "€43.50"}],
}  # fmt: skip
NEEDS = {"asks": True, "items": [NEED]}
CLAIMS = {"items": [CLAIM]}


def run(answer="The total is €43.50.", status=303, times=1, html=PAGE):
    built = (
        trajectory().see("<p>Welcome</p>", url=f"{SHOP}/").goto(f"{SHOP}/orders/42", html).click("#refund")
    )
    for _ in range(times):
        built.request("POST", f"{SHOP}/orders/42/refund", status)
    return built.see(html).answer(answer)


@pytest.fixture
def judged(ask, as_bundle):
    def judge(built=None, needs=NEEDS, claims=CLAIMS, task=TASK, **settings):
        replies = {"needs": needs, "claims": claims}
        texts = {
            stage: said if isinstance(said, str) else json.dumps(said) for stage, said in replies.items()
        }
        return ask(as_bundle(built or run()), task, lambda r: texts[r.stage], protocol="claims", **settings)

    return judge


def test_a_run_that_shows_all_of_it(judged):
    found, requests = judged()
    assert (found.outcome, found.reason) == ("SUCCESS", "all_shown")
    assert [one["finding"] for one in found.claims] == ["SUPPORTED", "SUPPORTED"]
    assert found.claims[0]["predicates"][0]["evidence"][0]["source"] == "exchange"
    assert found.side_effects == ()
    assert found.origins == {"synthetic": 2}
    assert [request.stage for request in requests] == ["needs", "claims"]


def test_what_it_asks(judged):
    _, (needs, claims) = judged()
    assert needs.is_shared
    assert not claims.is_shared
    texts = [" ".join(part.text for part in one.content) for one in (needs, claims)]
    assert "The total is" not in texts[0]
    assert "The total is €43.50." in texts[1]
    assert not any(isinstance(part, ImagePart) for one in (needs, claims) for part in one.content)
    assert "<<task " in texts[0]
    assert all("<<name CODE>>" in one.system for one in (needs, claims))


def test_both_modes_ask_the_same(ask, as_bundle):
    said = [ask(as_bundle(run()), TASK, "{}", mode, protocol="claims") for mode in ("strict", "compat")]
    assert said[0] == said[1]


def change(item, **fields):
    return {**item, **fields}


@pytest.mark.parametrize(
    ("built", "needs", "claims", "outcome", "reason"),
    [
        (run("The total is €99.00."), NEEDS, {"items": [change(CLAIM, quote="The total is €99.00")]}, "ABSTAIN", "not_shown"),
        (
            run("The total is €99.00."),
            NEEDS,
            {"items": [change(CLAIM, quote="The total is €99.00", all=[change(CLAIM["all"][0], value="€99.00")])]},
            "FAILURE",
            "contradicted",
        ),
        (run("The total is €99.00."), NEEDS, CLAIMS, "ABSTAIN", "not_shown"),  # misquoted
        (run("The total is €99.00."), NEEDS, {"items": []}, "ABSTAIN", "not_shown"),
        (run("It is €43.50, and €9 were sent."), NEEDS, {"items": [change(CLAIM, quote="It is €43.50")]}, "ABSTAIN", "not_shown"),
        (run("The total is €43.50. I also told the boss."), NEEDS, CLAIMS, "ABSTAIN", "not_shown"),
        (run(status=500), NEEDS, CLAIMS, "FAILURE", "contradicted"),
        (run(times=0), NEEDS, CLAIMS, "FAILURE", "contradicted"),
        (run(times=2), NEEDS, CLAIMS, "ABSTAIN", "not_shown"),
        (run(), {"asks": True, "items": []}, CLAIMS, "ABSTAIN", "not_shown"),
        (run(), {"asks": True, "items": [change(NEED, quote="Refund order 41")]}, CLAIMS, "ABSTAIN", "not_shown"),
        (run(), {"asks": True, "items": [change(NEED, all=[{"kind": "no_request", "method": "PUT"}])]}, CLAIMS, "ABSTAIN", "not_shown"),
        (run(), NEEDS, {"items": [change(CLAIM, key=False)]}, "ABSTAIN", "not_shown"),
        (run(), NEEDS, {"items": [CLAIM, change(CLAIM, id="x", all=[{"kind": "css"}], key=False)]}, "ABSTAIN", "not_shown"),
        (run(answer=None), NEEDS, CLAIMS, "ABSTAIN", "not_shown"),
        (run(), NEEDS, "SUCCESS", "ABSTAIN", "no_object"),
        (run(), "SUCCESS", CLAIMS, "ABSTAIN", "no_object"),
        (run(), NEEDS, "", "ABSTAIN", "empty_reply"),
        (run(), NEEDS, json.dumps(CLAIMS) + "\nSUCCESS", "ABSTAIN", "not_final"),
        (run(), '{"asks": true, "asks": false, "items": []}', CLAIMS, "ABSTAIN", "ambiguous"),
    ],
)  # fmt: skip
def test_what_is_not_shown_is_no_success(judged, built, needs, claims, outcome, reason):
    found, _ = judged(built, needs, claims)
    assert (found.outcome, found.reason) == (outcome, reason)


def test_a_task_that_asks_for_nothing_needs_no_answer(judged):
    task = Task(id="t", intent="Refund order 42.", start_urls=(SHOP,))
    needs = {"asks": False, "items": [NEED]}
    assert judged(run(answer=None), needs, task=task)[0].outcome == "SUCCESS"
    assert judged(run(answer=None), {"items": [NEED]}, task=task)[0].outcome == "ABSTAIN"


def test_the_answer_alone_never_succeeds(judged):
    task = Task(id="t", intent=" ")
    found, requests = judged(run(), task=task, claims={"items": [CLAIM]})
    assert [request.stage for request in requests] == ["claims"]
    assert (found.outcome, found.claims[0]["finding"]) == ("ABSTAIN", "SUPPORTED")
    claim = change(CLAIM, all=[change(CLAIM["all"][0], value="€1.00", label="Total")])
    assert (
        judged(
            run("The Total is €1.00"),
            task=task,
            claims={"items": [change(claim, quote="The Total is €1.00")]},
        )[0].outcome
        == "FAILURE"
    )
    assert judged(run(answer=None), task=task)[0].reason == "no_task"


def test_two_needs_take_two_requests(judged):
    task = Task(id="t", intent="Refund order 42, then refund order 42 again.", start_urls=(SHOP,))
    again = change(NEED, id="again", quote="refund order 42 again")
    found, _ = judged(run(answer=None), {"asks": False, "items": [NEED, again]}, task=task)
    assert [one["finding"] for one in found.claims] == ["SUPPORTED", "NOT_SHOWN"]


def test_side_effects(judged):
    more = trajectory().see("<p>Welcome</p>", url=f"{SHOP}/").goto(f"{SHOP}/orders/42", PAGE).click("#refund")
    more.request("POST", f"{SHOP}/orders/42/refund", 303).request("DELETE", f"{SHOP}/notes/7", 204)
    more.see(PAGE).answer("The total is €43.50.")
    found, _ = judged(more)
    assert found.outcome == "SUCCESS"
    assert [(one["method"], one["url"]) for one in found.side_effects] == [("DELETE", f"{SHOP}/notes/7")]
    failed, _ = judged(more, side_effects="fail")
    assert (failed.outcome, failed.reason) == ("FAILURE", "side_effect")
    assert failed.fingerprint != found.fingerprint
    allowed = Task(
        id="t", intent=TASK.intent, start_urls=(SHOP,), allow=(AllowedChange(url=f"{SHOP}/notes/*"),)
    )
    assert judged(more, task=allowed, side_effects="fail")[0].outcome == "SUCCESS"
    stricter = change(
        CLAIM, all=[*CLAIM["all"], {"kind": "request_sent", "method": "DELETE", "url": "/notes/7"}]
    )
    assert judged(more, claims={"items": [stricter]})[0].side_effects  # telling it explains nothing


def test_a_run_without_a_network(judged):
    built = trajectory(channels={"snapshots": "recorded", "actions": "recorded"})
    built.see("<p>Welcome</p>", url=f"{SHOP}/").goto(f"{SHOP}/orders/42", PAGE).answer("The total is €43.50.")
    found, _ = judged(built)
    assert found.outcome == "ABSTAIN"
    assert "unknown" in found.side_effects[0]["note"]
    assert judged(built, side_effects="fail")[0].outcome == "ABSTAIN"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"protocol": "claims", "images": "last:3"}, "claims reads no screenshots"),
        (
            {"protocol": "webvoyager", "side_effects": "fail"},
            "option side_effects: 'fail' is of claims and rubric only",
        ),
        ({"protocol": "claims", "variant": "general"}, "option variant"),
        ({"protocol": "claims", "prompts": {"system": "x"}}, "no prompt 'system' in claims"),
    ],
)
def test_options_of_others_are_refused(fields, words):
    with pytest.raises(JudgeError, match=words):
        build_judge(JudgeSettings(**fields), "strict")


def test_votes_share_what_the_task_needs(tmp_path: Path, as_bundle):
    path = tmp_path / "run.zst"
    run().write(path)
    asked: list[str] = []

    def answer(request, images):
        asked.append(request.stage)
        said = NEEDS if request.stage == "needs" else CLAIMS
        return ModelReply(text=json.dumps(said), stop_reason="end_turn", model="m", origin="synthetic")

    settings = JudgeSettings(protocol="claims", votes=3)
    client = CallableClient(answer)
    with open_bundle(path) as bundle:
        live = grade(bundle, TASK, judges=(settings,), judge_mode="new", client=client)
        again = grade(bundle, TASK, judges=(settings,))
    assert sorted(asked) == ["claims", "claims", "claims", "needs"]
    assert live.judgements[0].outcome is JudgeOutcome.SUCCESS
    assert again == live
    planned = plan(settings, TASK, Replay(as_bundle(run())))
    assert [one.request.stage for one in planned.missing] == ["needs", "claims", "claims", "claims"]


def test_votes_that_are_asked_at_once_share_it_too(tmp_path: Path):
    path = tmp_path / "run.zst"
    trajectory({"id": "t", "intent": TASK.intent}).see("<p>Welcome</p>").answer("€43.50").write(path)
    asked: list[str] = []

    def answer(request, images):
        asked.append(request.stage)
        said = {"asks": True, "items": [], "n": len(asked)}
        return ModelReply(text=json.dumps(said), stop_reason="end_turn", model="m", origin="synthetic")

    options = GradeOptions(judges=(JudgeSettings(protocol="claims", votes=3),), judge_mode="new")
    ((_, live),) = run_judges([path], options, client=CallableClient(answer), concurrency=4)
    assert sorted(asked) == ["claims", "claims", "claims", "needs"]
    ((_, again),) = run_judges([path], replace(options, judge_mode="none"))
    assert again == live


def test_a_bundle_without_a_task(tmp_path: Path):
    path = tmp_path / "run.zst"
    built = run()
    built._header = replace(built._header, task=None)
    built.write(path)
    verdict = grade(path, judges=("claims",))
    assert verdict.task_id.startswith("run-")
    assert verdict.judgements[0].reason == "tape_miss"


def test_the_lines_of_a_report(judged):
    found, _ = judged(run(status=500))
    lines = list(claim_lines(found))
    assert lines[0] == 'need refund CONTRADICTED (no_change): "Refund order 42"'
    assert lines[1].startswith('claim total SUPPORTED: "The total is €43.50" @ last page')
