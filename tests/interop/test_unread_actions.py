"""Actions of a table that no step has: in other columns, in broken rows, before the first row. Then none is proven absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import UnknownLayout
from replaykit.interop.run_import import ImportResult, import_runs
from replaykit.interop.text_action_parts import statements
from tests.interop.conftest import Importing
from tests.interop.samples import write

RUN = {"run_id": "a", "goal": "Tidy up.", "answer": "Done."}
DELETE = {"name": "click", "arguments": {"text": "Delete"}}
SCROLL = {"name": "scroll", "arguments": {"dy": 5}}
REPRS = ["[textbox]  Search -> TYPE: tea", "[button]  Go -> CLICK"]
OPERATIONS = [{"op": "TYPE", "original_op": "TYPE", "value": "tea"}, {"op": "CLICK", "value": ""}]


def as_rows(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps({**RUN, **row}) + "\n" for row in rows)


def state(rows: str, name: str, folder: Path, imported: Importing) -> str:
    return imported("table", write(folder, name, rows)).trajectory.channel("actions")


LACKING: dict[str, tuple[dict[str, Any], ...]] = {
    "the last row has calls": (
        {"step": 1, "action": "scroll down"}, {"step": 2, "action": None, "tool_calls": [DELETE]}),
    "the first row has code": (
        {"step": 0, "action": None, "code": "click()"}, {"step": 1, "action": "scroll down"}),
    "the last row has a target": (
        {"step": 1, "action": "scroll down"}, {"step": 2, "action": None, "target": "Delete"}),
    "calls beside the action": ({"step": 1, "action": "go_back", "tool_calls": [DELETE]},),
    "calls in another list": ({"step": 1, "action": "go_back", "attempts": [{"action": "click 'Delete'"}]},),
    "calls in a wrapper": ({"step": 1, "action": "go_back", "info": {"tool_calls": [DELETE]}},),
    "a list of words beside it": ({"step": 1, "action": "go_back", "low_level": ["click 'Delete'"]},),
    "a command beside it": ({"step": 1, "action": "go_back", "command": "click 'Delete'"},),
    "actions before the first row": ({"step": 1, "action": "go_back", "previous_actions": ["click 'Delete'"]},),
    "a text of them": ({"step": 1, "action": "go_back", "action_history": "click 'Delete'"},),
    "a list of all of them": ({"step": 1, "action": REPRS[0], "action_reprs": REPRS},),
    "two lists of steps": ({"history": [{"action": "go_back"}], "events": [{"action": "click 'Delete'"}]},),
    "steps and actions": ({"history": [{"action": "go_back"}], "actions": ["click 'Delete'"]},),
    "steps in steps": ({"steps": [{"action": "go_back", "actions": [DELETE]}]},),
    "a step that is a text": ({"steps": [{"action": "go_back"}, "click 'Delete'"]},),
    "a step that names its call": ({"steps": [{"action": "go_back"}, {"tool": "click", "input": {}}]},),
    "a number left out beside a row without one": (
        {"step": 1, "action": "go_back"}, {"step": None, "action": "go_back"}, {"step": 9, "action": "go_back"}),
    "numbers as names": ({"step": "step_1", "action": "go_back"}, {"step": "step_3", "action": "go_back"}),
    "a summary of another action": ({"step": 1, "action": "go_back", "summary": "Clicked on the 'Delete' button."},),
    "a summary of one more": ({"step": 1, "action": "go_back", "note": "Went back and then clicked Delete."},),
    "what happened after it": (
        {"step": 1, "action": "click 'Buy'", "what_happened": "Clicked Buy. Clicked Confirm order."},),
    "a row that names no run": (
        {"step": 1, "action": "go_back"}, {"run_id": None, "step": 2, "action": "click 'Delete'"}),
}  # fmt: skip

WHOLE: dict[str, tuple[dict[str, Any], ...]] = {
    "the same call in another notation": (
        {"step": 1, "action": REPRS[0], "operation": json.dumps(OPERATIONS[0]), "action_reprs": REPRS},
        {"step": 2, "action": REPRS[1], "operation": json.dumps(OPERATIONS[1]), "action_reprs": REPRS}),
    "messages that grow": (
        {"step": 1, "action": SCROLL, "messages": [{"role": "assistant", "tool_calls": [{"function": SCROLL}]}]},
        {"step": 2, "action": DELETE, "messages": [
            {"role": "assistant", "tool_calls": [{"function": SCROLL}]},
            {"role": "assistant", "tool_calls": [{"function": DELETE}]}]}),
    "earlier actions of rows before": (
        {"step": 1, "action": "go_back", "previous_actions": []},
        {"step": 2, "action": "go_back", "previous_actions": ["go_back"]}),
    "tools that there are": ({"step": 1, "action": "go_back", "tools": [{"name": "click", "parameters": {}}]},),
    "a summary of the same": (
        {"step": 1, "action": "fill('12', 'tea')", "summary": "Typed tea into the search box and pressed Enter"},
        {"step": 2, "action": "click 'Search'", "summary": "Clicked the search button and the results loaded."},
        {"step": 3, "action": "click 'Large'", "summary": "Selected the size Large"},
        {"step": 4, "action": "scroll down", "summary": "Scrolled down to find the price, but no luck."}),
    "words of a page": ({"step": 1, "action": "go_back", "page_summary": "Click Delete", "text": "Click Delete"},),
    "words about it": ({"step": 1, "action": "go_back", "action_type": "go_back", "raw_action": "I go back."},),
    "texts of a page": ({"step": 1, "action": "go_back", "links": ["Go back", "Tea"], "code": 200},),
    "a last look": (
        {"step": 1, "action": "go_back"}, {"step": 2, "action": None, "url": "https://x.test/", "reward": 1}),
    "a run that did nothing": ({"actions": []}, {"run_id": "b", "actions": ["go_back"]}),
}  # fmt: skip


@pytest.mark.parametrize("case", LACKING)
def test_what_other_cells_hold_is_not_proven_absent(case: str, tmp_path: Path, imported: Importing) -> None:
    assert state(as_rows(*LACKING[case]), "t.jsonl", tmp_path, imported) == "partial"


@pytest.mark.parametrize("case", WHOLE)
def test_cells_about_the_same_actions_lack_nothing(case: str, tmp_path: Path) -> None:
    found = results(as_rows(*WHOLE[case]), "t.jsonl", tmp_path)
    assert found and not any(warning for one in found for warning in one.warnings)


def results(rows: str, name: str, folder: Path) -> list[ImportResult]:
    return import_runs("table", [write(folder, name, rows)], folder / "out")


def test_a_user_who_names_the_column_has_decided(tmp_path: Path, imported: Importing) -> None:
    path = write(tmp_path, "t.jsonl", as_rows({"step": 1, "action": "go_back", "tool_calls": [DELETE]}))
    bundle = imported("table", path, columns={"action": "action"})
    assert bundle.trajectory.channel("actions") == "recorded"


def test_runs_of_spaces_in_a_summary_are_one() -> None:
    assert statements("Scrolled" + "\n" * 20_000 + "clicked Delete" + " " * 20_000) == [
        "Scrolled",
        "clicked Delete",
    ]


SHEETS = {
    "a row that breaks off": "run,goal,answer,step,action\na,g,k,1,go_back\na,g,k,2",
    "a row that breaks off before its run": "goal,answer,step,action,run\ng,k,1,go_back,a\ng,k,2,click()",
    "a comma without quotes": 'run,goal,answer,step,action\na,g,k,1,go_back,"click ""Delete"""\n',
    "quotes that never end": 'run,goal,answer,step,action,thought\na,g,k,1,go_back,"hm\na,g,k,2,click(),x\n',
    "quotes that end late": 'run,goal,answer,action,thought\na,g,k,go_back,"hm\na,g,k,click(),"x"\n',
    "two columns of one name": 'run,goal,answer,action,action\na,g,k,go_back,"click ""Delete"""\n',
    "a list in a row that breaks off": 'run,goal,answer,actions,note\na,g,k,"[""go_back""]"',
}


@pytest.mark.parametrize("case", SHEETS)
def test_rows_unlike_their_columns_lack_something(case: str, tmp_path: Path, imported: Importing) -> None:
    assert state(SHEETS[case], "t.csv", tmp_path, imported) == "partial"


def test_rows_like_their_columns_lack_nothing(tmp_path: Path, imported: Importing) -> None:
    rows = 'run,goal,answer,step,action,\na,"g, ""h""",k,1,go_back\na,"g, ""h""",k,2,go_back,\n'
    assert state(rows, "t.csv", tmp_path, imported) == "recorded"


@pytest.mark.parametrize("run", [{"events": [{"name": "click"}]}, {"trajectory": [{"command": "click()"}]}])
def test_lists_of_objects_without_an_action_are_no_runs(run: dict[str, Any], tmp_path: Path) -> None:
    (one,) = import_runs("auto", [write(tmp_path, "t.jsonl", as_rows(run))], tmp_path / "out")
    assert isinstance(one.error, UnknownLayout)


def test_numbers_that_begin_again_keep_their_rows_in_order(tmp_path: Path, imported: Importing) -> None:
    rows = [{"step": at % 2, "action": f"click('{at}')"} for at in range(4)]
    steps = imported("table", write(tmp_path, "t.jsonl", as_rows(*rows))).trajectory.steps
    assert [step.raw for step in steps] == [row["action"] for row in rows]


def test_actions_of_one_turn_may_share_its_number(tmp_path: Path, imported: Importing) -> None:
    rows = [{"step_num": at, "action": "pyautogui.click(1, 2)", "instruction": "g"} for at in (1, 1, 2)]
    path = write(tmp_path, "traj.jsonl", "\n".join(map(json.dumps, rows)))
    assert len(imported("table", path).trajectory.steps) == 3
