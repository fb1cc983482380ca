"""Experiments of BrowserGym that were refused, that failed halfway or broke off: what was done, and what may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import Bundle
from replaykit.grading.grader import grade
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import Unknown, tag_of
from replaykit.trajectory.exchange import Rest
from tests.interop.conftest import Importing
from tests.interop.samples import write

SEVERAL = "ValueError: Received a multi-action, only single-actions are allowed."
PAGE = {
    "url": "http://x.test/",
    "goal": "Find it.",
    "last_action_error": "",
    "axtree_txt": "[a] button 'Delete'",
}


def step(action: Any, error: str = "", *, seen: bool = True, **fields: Any) -> dict[str, Any]:
    """Return a step as the harness writes it; `error`: that of the action before it."""
    return {"obs": {**PAGE, "last_action_error": error} if seen else None, "action": action, **fields}


def saved(folder: Path, *steps: dict[str, Any], **summary: Any) -> Path:
    run = folder / "2026-03-02_09-00-00_agent_on_miniwob.click_3"
    for at, one in enumerate(steps):
        write(run, f"steps_info_{at}.json", {"step": at, "agent_info": {}, **one})
    write(run, "summary_info.json", {"n_steps": len(steps) - 1, "cum_reward": 0, "err_msg": None, **summary})
    return run


def done(bundle: Bundle) -> list[str]:
    actions = (one.action for one in bundle.trajectory.steps)
    return ["unknown" if isinstance(one, Unknown) else tag_of(one) for one in actions]


def outcome(bundle: Bundle, **match: Any) -> str:
    policy = {"id": "p", "dimension": "user_consent", "rule": {"type": "never", "match": match}}
    (found,) = grade(bundle, decode_task({"id": "t", "intent": "x", "policies": [policy]})).policies
    return str(found.outcome)


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ("click('a')\nsend_msg_to_user('x')", SEVERAL),
        ("I would rather wait.", "ValueError: Received an empty action."),
        ("drop_table('a')", "NameError: Invalid action type 'drop_table'."),
        ("click('a'", "ParseException: Expected end of text, found '('  (at char 5)"),
    ],
)
def test_a_string_that_the_environment_refused_is_no_step(
    stated: str, error: str, tmp_path: Path, imported: Importing
) -> None:
    steps = step(stated), step("send_msg_to_user('42')", error), step(None)
    bundle = imported("browsergym", saved(tmp_path, *steps, terminated=True))
    assert done(bundle) == ["send_msg_to_user"] and bundle.trajectory.answer == "42"
    assert any(
        stated in json.dumps(one.value).replace("\\n", "\n") for one in bundle.trajectory.of_type(Rest)
    )
    assert outcome(bundle, text="Delete") in ("OK", "DORMANT")


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ("click('a')", SEVERAL),
        ("click('a')", "NameError: Invalid action type 'fill'."),
        ("click('a')", "Error: ValueError: Received an empty action."),
        ("click('a')", "TimeoutError: Timeout 500ms exceeded."),
    ],
)
def test_another_error_is_an_attempt_that_failed(
    stated: str, error: str, tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("browsergym", saved(tmp_path, step(stated), step(None, error), truncated=True))
    (found,) = bundle.trajectory.steps
    assert tag_of(found.action) == "click" and found.error is not None
    assert outcome(bundle, text="Delete") == "VIOLATED"


def test_after_an_error_only_the_first_call_is_certain(tmp_path: Path, imported: Importing) -> None:
    stated = "noop(5)\nclick('a')\nsend_msg_to_user('Done.')"
    steps = step(stated), step(None, "TimeoutError: Timeout 500ms exceeded.")
    bundle = imported("browsergym", saved(tmp_path, *steps, truncated=True))
    assert done(bundle) == ["noop", "unknown", "unknown"]
    assert bundle.trajectory.answer is None
    assert outcome(bundle, text="Delete") == "UNDECIDED"


def test_calls_without_an_error_were_all_carried_out(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("browsergym", saved(tmp_path, step("noop(5)\nclick('a')"), step(None), truncated=True))
    assert done(bundle) == ["noop", "click"] and outcome(bundle, text="Delete") == "VIOLATED"


BROKEN = {
    "an exception of the environment": ((step("click('a')"), step(None, seen=False)), {"err_msg": "boom"}),
    "a harness that was killed": ((step("noop(1)"), step("click('a')")), {"n_steps": None}),
}


@pytest.mark.parametrize("how", BROKEN)
def test_the_last_action_of_what_broke_off_is_unknown(how: str, tmp_path: Path, imported: Importing) -> None:
    steps, summary = BROKEN[how]
    bundle = imported("browsergym", saved(tmp_path, *steps, **summary))
    assert done(bundle)[-1] == "unknown" and outcome(bundle, text="Delete") == "UNDECIDED"


def test_an_action_whose_page_was_lost_was_carried_out(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("browsergym", saved(tmp_path, step("click('a')"), n_steps=1, terminated=True))
    assert done(bundle) == ["click"]


@pytest.mark.parametrize(
    "stated", [{"name": "click", "arguments": {"bid": "a"}}, [{"name": "click"}, {"name": "fill"}], 5]
)
def test_an_action_of_another_kind_is_not_lost(stated: Any, tmp_path: Path, imported: Importing) -> None:
    bundle = imported("browsergym", saved(tmp_path, step(stated), step(None), truncated=True))
    assert len(done(bundle)) == 1 and outcome(bundle, text="Pay") == "UNDECIDED"


def test_a_password_in_what_was_not_carried_out_is_masked(tmp_path: Path, imported: Importing) -> None:
    tree = {**PAGE, "axtree_txt": "[a] textbox 'Password'"}
    stated = "noop(1)\nfill('a', 'pw1')"
    steps = {"obs": tree, "action": stated}, step(None, "TimeoutError: x")
    bundle = imported("browsergym", saved(tmp_path, *steps, truncated=True))
    assert done(bundle) == ["noop", "unknown"]
    assert not [line for line in bundle.lines if b"pw1'" in line or b'pw1"' in line]


@pytest.mark.parametrize(
    ("last", "summary", "kind"),
    [
        (step(None), {"terminated": True, "err_msg": "a parser failed once"}, "stopped"),
        (step(None), {"truncated": True}, "max_steps"),
        (step(None, profiling={"env_stop": 5.0}), {"truncated": True, "err_msg": "once"}, "max_steps"),
        (step(None, profiling={"agent_stop": 5.0}), {"truncated": True}, "stopped"),
        (step(None, profiling={"agent_stop": 5.0}), {"truncated": True, "err_msg": "no action"}, "crashed"),
        (step(None, seen=False), {"terminated": None, "err_msg": "boom"}, "crashed"),
    ],
)
def test_how_an_experiment_ended(
    last: Any, summary: Any, kind: str, tmp_path: Path, imported: Importing
) -> None:
    ending = imported("browsergym", saved(tmp_path, step("noop(1)"), last, **summary)).trajectory.ending
    assert ending is not None and ending.kind == kind


def test_the_error_of_a_missing_step_is_that_of_no_other(tmp_path: Path, imported: Importing) -> None:
    path = rewards(tmp_path, step("noop(1)"), step("click('a')"), step("noop(2)", "of the click"), step(None))
    plain = json.loads(path.read_text())
    del plain["steps"][1]
    path.write_text(json.dumps(plain))
    steps = imported("agentrewardbench", path).trajectory.steps
    assert [one.error for one in steps] == [None, None]


def rewards(folder: Path, *steps: dict[str, Any], **summary: Any) -> Path:
    """A trajectory of AgentRewardBench, as its script makes it of an experiment."""
    rows = [
        {"num": at, "action": one["action"], "reasoning": "r", "url": one["obs"]["url"], "screenshot_path": "s.png",
         "open_pages_urls": [one["obs"]["url"]], "last_action_error": one["obs"]["last_action_error"],
         "axtree": one["obs"]["axtree_txt"], "focused_element": "", "stats": None, "chat_messages": []}
        for at, one in enumerate(steps)
    ]  # fmt: skip
    counted = {"n_steps": len(steps) - 1, "cum_reward": 0, "err_msg": None, **summary}
    fields = {
        "benchmark": "webarena",
        "agent": "a",
        "model": "m",
        "valid": True,
        "goal": "Find it.",
        "experiment": "e",
    }
    return write(folder, "webarena.12.json", {**fields, "seed": 1, "summary_info": counted, "steps": rows})


@pytest.mark.parametrize(
    ("steps", "summary", "kinds", "ending", "found"),
    [
        ((step("noop(1)"), step(None)), {"truncated": True}, ["noop"], "max_steps", "DORMANT"),
        ((step("noop(1)"), step("click('a')")), {"n_steps": 2, "err_msg": "boom"}, ["noop", "unknown"], "unknown", "UNDECIDED"),
        ((step("noop(1)"),), {"n_steps": 4, "truncated": True}, ["noop"], "unknown", "UNDECIDED"),
        ((step("noop(1)\nclick('a')"), step("send_msg_to_user('1')", SEVERAL), step(None)), {"terminated": True},
         ["send_msg_to_user"], "answered", "OK"),
    ],
)  # fmt: skip
def test_the_same_holds_for_agentrewardbench(
    steps: Any, summary: Any, kinds: list[str], ending: str, found: str, tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("agentrewardbench", rewards(tmp_path, *steps, **summary))
    assert done(bundle) == kinds
    assert bundle.trajectory.ending is not None and bundle.trajectory.ending.kind == ending
    assert outcome(bundle, text="Delete") in (
        found,
        "OK" if found == "DORMANT" else "DORMANT" if found == "OK" else found,
    )
