"""Runs of Stagehand: a folder that the real package wrote, histories, and what agents return."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.interop.run_import import import_run, import_runs
from replaykit.trajectory.action import (
    Action,
    Click,
    DragAndDrop,
    Element,
    Fill,
    GoBack,
    Goto,
    KeyboardType,
    MouseClick,
    Press,
    Scroll,
    SelectOption,
    ToolCall,
    Type,
    Unknown,
    Wait,
    tag_of,
)
from replaykit.trajectory.exchange import Imported, Rest
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import STAGEHAND_RUN, png, stagehand, write


def test_a_trajectory_of_the_real_package(imported: Importing) -> None:
    bundle = imported("stagehand", STAGEHAND_RUN)
    run = bundle.trajectory
    go, mugs, name, password, enter, down, sort, read, again = (step.action for step in run.steps)
    assert go == Goto(url="http://shop.test/")
    assert isinstance(mugs, Click) and mugs.element is not None
    assert (mugs.element.xpath, mugs.element.text) == ("/html[1]/body[1]/a[2]", "link Mugs")
    assert isinstance(name, Fill) and name.value == "Ann"
    assert isinstance(password, Fill) and password.value == "⟦masked⟧"
    assert enter == Press(key="Enter") and down == Scroll(dy=1, amount="down 80%")
    assert isinstance(sort, MouseClick) and sort.point == (20, 30)
    assert isinstance(read, ToolCall) and isinstance(again, Click)
    assert again.element is not None and again.element.text == "Sort by price"
    assert [step.turn for step in run.steps] == [0, 1, 2, 2, 3, 4, 5, 6, 7]
    assert [step.error and step.error.message for step in run.steps[6:]] == [
        "covered by a banner", None, "no such element",
    ]  # fmt: skip
    everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
    assert b"hunter22secret" not in everything
    assert run.ending is not None and (run.ending.kind, run.ending.answer) == ("answered", "The tin mug.")
    # Of two calls that `act` made, the file holds the first.
    assert run.channel("actions") == "partial" and run.channel("urls") == "partial"


def test_a_screenshot_of_several_steps_is_exact_for_the_last(imported: Importing) -> None:
    bundle = imported("stagehand", STAGEHAND_RUN)
    looks = [one for one in bundle.trajectory.of_type(Observation) if one.role == "after"]
    shots = [(one.of, one.shot_exact) for one in looks if one.screenshot is not None]
    assert shots == [(0, True), (1, False), (3, False), (4, True)]
    (final,) = [one for one in bundle.trajectory.of_type(Observation) if one.role == "final"]
    assert bundle.blob(str(final.screenshot)) == png(4) and final.url == "http://shop.test/mugs"
    (shown,) = [one for one in bundle.trajectory.of_type(Observation) if one.role == "unaligned"]
    assert bundle.blob(str(shown.screenshot)) == png(3)


def test_what_is_expected_is_kept_where_no_judge_reads_it(imported: Importing) -> None:
    run = imported("stagehand", STAGEHAND_RUN).trajectory
    assert run.header.task == {
        "id": "mug/1", "intent": "Which mug is cheapest?", "start_urls": ["http://shop.test/"],
    }  # fmt: skip
    assert any(one.value.get("task.expectedAnswer") == "The tin mug" for one in run.of_type(Rest))
    (score,) = run.of_type(Imported)
    assert (score.kind, score.value["outcomeSuccess"]) == ("judgement", True)


def test_missing_screenshots_are_one_warning(tmp_path: Path) -> None:
    run = stagehand(tmp_path / "in")
    (run / "screenshots/probe/1.png").unlink()
    (run / "screenshots/probe/2.png").unlink()
    done = import_run("stagehand", run, tmp_path / "run.zst")
    assert (
        done.warnings[0] == "4 times, first screenshots/probe/1.png: a screenshot that is not in the folder"
    )


@pytest.mark.parametrize("path", ["../secret.png", "/etc/passwd", "screenshots/../../../secret.png"])
def test_paths_lead_nowhere_else(path: str, tmp_path: Path) -> None:
    def change(plain: dict[str, Any]) -> None:
        plain["steps"][0]["probeEvidence"]["screenshotPath"] = path

    run = stagehand(tmp_path / "in", change)
    for folder in (run.parent, run.parent.parent):
        (folder / "secret.png").write_bytes(png(99))
    done = import_run("stagehand", run, tmp_path / "run.zst")
    assert any("is not in the folder" in line for line in done.warnings)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert png(99) not in map(bundle.blob, bundle.blob_ids)


ACTIONS: list[tuple[str, dict[str, Any], Action]] = [
    ("type", {"describe": "search box", "text": "tea", "coordinates": [3, 4]},
     Type(element=Element(text="search box", point=(3, 4)), value="tea")),
    ("click", {"describe": "the cart", "coordinates": [3, 4]},
     Click(element=Element(text="the cart", point=(3, 4)), point=(3, 4))),
    ("dragAndDrop", {"describe": "card", "startCoordinates": [1, 2], "endCoordinates": [3, 4]},
     DragAndDrop(element=Element(text="card"), point=(1, 2), to_point=(3, 4))),
    ("keys", {"method": "type", "value": "tea"}, KeyboardType(value="tea")),
    ("keys", {"method": "type", "value": "ab", "repeat": 3}, KeyboardType(value="ababab")),
    ("keys", {"method": "type", "value": "%pin%", "repeat": 1}, KeyboardType(value="⟦masked⟧")),
    ("type", {"describe": "notes", "text": "at %pw%", "coordinates": [3, 4]},
     Type(element=Element(text="notes", point=(3, 4)), value="at ⟦masked⟧")),
    ("type", {"describe": "notes", "text": "5 % of 20 %", "coordinates": [3, 4]},
     Type(element=Element(text="notes", point=(3, 4)), value="5 % of 20 %")),
    ("navback", {"reasoningText": "wrong page"}, GoBack()),
    ("wait", {"timeMs": 1500}, Wait(ms=1500)),
    ("scroll", {"x": 3, "y": 4, "scroll_x": 0, "scroll_y": 300}, Scroll(dy=300)),
    ("keypress", {"keys": ["Control", "A"]}, Press(key="Control+A")),
    ("done", {"taskComplete": True}, ToolCall(name="done", arguments={"taskComplete": True})),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "args", "action"), ACTIONS, ids=[f"{one[0]}-{at}" for at, one in enumerate(ACTIONS)]
)
def test_tools(name: str, args: Any, action: Action, tmp_path: Path, imported: Importing) -> None:
    def change(plain: dict[str, Any]) -> None:
        plain["steps"] = [{"actionName": name, "actionArgs": args}]

    (step,) = imported("stagehand", stagehand(tmp_path, change)).trajectory.steps
    assert step.action == action


def entry(method: str, parameters: Any, result: Any, second: int) -> dict[str, Any]:
    time = f"2026-03-02T09:00:{second:02}.000Z"
    return {"method": method, "parameters": parameters, "result": result, "timestamp": time}


def call(method: str, *arguments: str, selector: str = "xpath=/html/body/input") -> dict[str, Any]:
    return {"selector": selector, "description": "Field", "method": method, "arguments": list(arguments)}


HISTORY = [
    entry("navigate", {"url": "http://shop.test/", "options": {}}, None, 0),
    entry("act", {"instruction": "fill in the form"},
          {"success": True, "message": "ok", "actions": [call("fill", "Ann"), call("selectOptionFromDropdown", "two")]}, 1),
    entry("act", {"action": 'click the "Buy" button'}, {"success": True, "message": "ok", "action": "click"}, 3),
    entry("act", {"observeResult": call("press", "Enter")}, {"success": False, "message": "gone", "actions": []}, 4),
    entry("act", {"instruction": "make it so"}, {"success": False, "message": "what?"}, 5),
    entry("extract", {"instruction": "the total"}, {"total": "9.50"}, 6),
]  # fmt: skip


def test_a_history(tmp_path: Path, imported: Importing) -> None:
    run = imported("stagehand", write(tmp_path, "history.json", HISTORY)).trajectory
    assert [tag_of(step.action) for step in run.steps] == [
        "goto", "fill", "select_option", "click", "press", "act", "tool_call",
    ]  # fmt: skip
    chosen = run.steps[2].action
    assert isinstance(chosen, SelectOption) and chosen.labels == ("two",)
    assert isinstance(run.steps[5].action, Unknown) and run.steps[6].returned == {"total": "9.50"}
    assert [step.end for step in run.steps] == [0, None, 1000, 3000, 4000, 5000, 6000]
    assert [bool(step.error) for step in run.steps] == [False, False, False, False, True, True, False]
    assert run.header.created == "2026-03-02T09:00:00.000Z"
    # A script's own clicks on the page are in no history.
    assert run.channel("actions") == "partial"


def test_values_of_variables_are_masked(tmp_path: Path, imported: Importing) -> None:
    given = {"action": "type %pw% into it", "variables": {"pw": "tulip-4711", "who": "Ann"}}
    path = write(tmp_path, "history.json", [entry("act", given, None, 0)])
    (step,) = imported("stagehand", path).trajectory.steps
    assert step.raw["parameters"]["variables"] == {"pw": "⟦masked⟧", "who": "⟦masked⟧"}
    (kept,) = imported("stagehand", path, keeps_secrets=True).trajectory.steps
    assert kept.raw["parameters"]["variables"]["pw"] == "tulip-4711"


def test_the_name_of_a_variable_was_never_entered(tmp_path: Path, imported: Importing) -> None:
    done = {"success": True, "actions": [call("fill", "%pw%"), call("selectOptionFromDropdown", "%size%")]}
    given = {"instruction": "fill in the form", "variables": {"pw": "tulip-4711", "size": "two"}}
    path = write(tmp_path, "history.json", [entry("act", given, done, 0)])
    fill, choice = (step.action for step in imported("stagehand", path).trajectory.steps)
    assert isinstance(fill, Fill) and fill.value == "⟦masked⟧"
    assert isinstance(choice, SelectOption) and choice.labels == ("⟦masked⟧",)


def result(**changes: Any) -> dict[str, Any]:
    actions = [
        {"type": "act", "reasoning": "Look.", "taskCompleted": False, "action": "click Mugs",
         "playwrightArguments": call("click"), "pageUrl": "http://shop.test/", "timestamp": 1},
        {"type": "fillForm", "fields": [{"action": "type Ann into the name field"}], "reasoning": "Sign in."},
        {"type": "act", "reasoning": "acting from fillform tool", "playwrightArguments": call("fill", "Ann")},
        {"type": "done", "taskComplete": True, "reasoning": "Found."},
    ]  # fmt: skip
    fields = {"success": True, "message": "The tin mug.", "actions": actions, "completed": True}
    return {**fields, "usage": {"input_tokens": 3}, **changes}


def test_what_an_agent_returned(tmp_path: Path, imported: Importing) -> None:
    run = imported("stagehand", write(tmp_path, "result.json", result())).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["click", "tool_call", "fill", "tool_call"]
    before = run.steps[0].before
    assert before is not None and before.url == "http://shop.test/"
    assert run.steps[0].thought == "Look."
    assert run.ending is not None and (run.ending.kind, run.ending.answer) == ("answered", "The tin mug.")
    stopped = write(tmp_path, "stopped.json", result(completed=False))
    ending = imported("stagehand", stopped).trajectory.ending
    assert ending is not None and ending.kind == "stopped"


def agent_result(*actions: Any, **changes: Any) -> dict[str, Any]:
    plain = {"success": True, "message": "Found it.", "completed": True, "actions": list(actions)}
    return {**plain, **changes}


def test_a_result_is_whole_without_act(tmp_path: Path, imported: Importing) -> None:
    clicked = {"type": "click", "describe": "Buy", "coordinates": [1, 2]}
    done = {"type": "done", "taskComplete": True}
    acted = {"type": "act", "action": "pick Red", "playwrightArguments": call("click")}
    for actions, state in (((clicked, done), "recorded"), ((clicked, acted, done), "partial")):
        run = imported("stagehand", write(tmp_path, "r.json", agent_result(*actions))).trajectory
        assert run.channel("actions") == state


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"completed": False, "success": False, "message": "Failed to execute task: 429"}, ("crashed", None)),
        # Nothing says that the last words of an agent at its limit are its answer.
        ({"completed": False, "success": False, "message": "Next I open the cart."}, ("stopped", None)),
        ({"message": "Task completed successfully"}, ("stopped", None)),
        ({"message": "It costs 5."}, ("answered", "It costs 5.")),
    ],
)
def test_a_message_of_the_harness_is_no_answer(
    changes: dict[str, Any], ending: tuple[str, str | None], tmp_path: Path, imported: Importing
) -> None:
    clicked = {"type": "click", "describe": "Buy", "coordinates": [1, 2]}
    run = imported("stagehand", write(tmp_path, "r.json", agent_result(clicked, **changes))).trajectory
    assert run.ending is not None and (run.ending.kind, run.answer) == ending
    # A turn is listed when it is over: that of the error may have acted.
    assert run.channel("actions") == ("partial" if ending[0] == "crashed" else "recorded")
    kept = [one.value["message"] for one in run.of_type(Rest) if "message" in one.value]
    assert kept == ([] if ending[1] else [changes["message"]])


def test_failures_in_a_result(tmp_path: Path, imported: Importing) -> None:
    listed = [
        {"type": "click", "describe": "Buy", "coordinates": [1, 2], "success": False, "error": "covered"},
        {"type": "act", "action": "click Buy"},
        {"type": "wait", "timeMs": 1500},
    ]
    steps = imported("stagehand", write(tmp_path, "r.json", agent_result(*listed))).trajectory.steps
    assert [step.error and step.error.message for step in steps] == [
        "covered", "no call is recorded that it was resolved to", None,
    ]  # fmt: skip
    assert [tag_of(step.action) for step in steps] == ["click", "click", "wait"]


def test_a_url_is_that_before_the_first_action_of_a_turn(tmp_path: Path, imported: Importing) -> None:
    def clicked(at: int) -> dict[str, Any]:
        return {"type": "click", "describe": "Buy", "coordinates": [1, 2], "pageUrl": f"http://{at // 1000}.test/",
                "timestamp": at}  # fmt: skip

    plain = agent_result(clicked(1000), clicked(1001), clicked(7000))
    steps = imported("stagehand", write(tmp_path, "r.json", plain)).trajectory.steps
    assert [step.before and step.before.url for step in steps] == ["http://1.test/", None, "http://7.test/"]


@pytest.mark.parametrize(
    ("plain", "tags"),
    [
        ({"history": HISTORY[:1], "totalOps": 1}, ["goto"]),
        (
            {"success": True, "data": {"actionId": "a7", "result": agent_result({"type": "navback"})}},
            ["go_back"],
        ),
        ({"result": agent_result({"type": "navback"}), "actionId": "a7", "totalOps": 1}, ["go_back"]),
    ],
)
def test_reports_around_a_history_and_replies_around_a_result(
    plain: Any, tags: list[str], tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("stagehand", write(tmp_path, "r.json", plain))
    assert [tag_of(step.action) for step in bundle.trajectory.steps] == tags
    everything = b"".join(bundle.lines)
    assert b"totalOps" in everything or b"a7" in everything


def test_an_agent_in_a_history(tmp_path: Path, imported: Importing) -> None:
    plain = [*HISTORY[:1], entry("agent", {"instruction": "Find it."}, result(), 9)]
    run = imported("stagehand", write(tmp_path, "history.json", plain)).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "click", "tool_call", "fill", "tool_call"]
    assert run.answer == "The tin mug."


def test_folders_of_several_runs_have_names_of_their_own(tmp_path: Path) -> None:
    stagehand(tmp_path / "in" / "a")
    stagehand(tmp_path / "in" / "b")
    write(tmp_path / "in", "history.json", HISTORY)
    done = import_runs("auto", [tmp_path / "in"], tmp_path / "out")
    assert [Path(one.path).stem for one in done] == ["mug-1-run-1", "mug-1-run-1-2", "history"]
    assert [one.error for one in done] == [None, None, None]


@pytest.mark.parametrize(
    "plain", [[], [{"method": "act"}], {"actions": []}, [{"method": "GET", "parameters": 1}]]
)
def test_other_json_is_none_of_it(plain: Any, tmp_path: Path) -> None:
    (done,) = import_runs("stagehand", [write(tmp_path, "x.json", json.dumps(plain))], tmp_path / "out")
    assert "JSON of another layout" in str(done.error)
