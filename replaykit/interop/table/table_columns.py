"""Which column of a table holds what: as `--columns` names them, else by names that are usual."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from replaykit.errors import UsageError
from replaykit.interop.repaired_values import plain_number
from replaykit.patterns import lazy_pattern

RUN_FIELDS: dict[str, str] = {
    "run": "run run_id runid episode episode_id trajectory_id traj_id trajectory session session_id "
    "annotation_id rollout_id conversation_id demo_id",
    "task": "task_id taskid problem_id question_id sample_id",
    "intent": "intent instruction confirmed_task goal query ques question task_description task user_query",
    "start_url": "start_url init_url initial_url website web site_url",
    # `answer` comes last: beside another one, it may be the expected answer.
    "answer": "final_answer agent_answer agent_final_answer final_response final_result "
    "final_result_response answer",
    "ending": "ending",
    "validity": "validity",
    "agent": "agent agent_name",
    "model": "model model_name",
    "labels": "success reward score label is_success successful cum_reward correct passed cup "
    "violations outcome",
}
"""Fields of a run, to the names of columns that usually hold them, the surest first."""

STEP_FIELDS: dict[str, str] = {
    "step": "step step_id step_index step_idx step_num step_number step_no num turn turn_id "
    "target_action_index idx index action_index",
    "action": "action_json action action_str action_string target_action_reprs raw_action parsed_action "
    "operation tool_call tool_calls function_call action_reprs actions action_history action_sequence "
    "action_list",
    "target": "target element target_element element_text element_name",
    "arguments": "arguments args params parameters kwargs action_args action_arguments action_params "
    "action_input tool_input tool_args tool_arguments",
    "value": "value action_value input_value typed_text",
    "point": "coordinate coordinates point click_point position",
    "x": "x click_x",
    "y": "y click_y",
    "thought": "thought thoughts reasoning rationale think thinking chain_of_thought cot reflection",
    "returned": "returned tool_output tool_result action_result",
    "error": "error error_message last_action_error exception",
    "t": "t",
    "time": "timestamp time timestamps created_at datetime",
    "title": "title page_title",
    "url": "url page_url current_url urls",
    "url_before": "url_before before_url",
    "url_after": "url_after after_url next_url",
    "screenshot": "screenshot image screenshots images screenshot_path image_path img screenshot_paths "
    "screenshot_file frame",
    "screenshot_before": "screenshot_before before_screenshot image_before",
    "screenshot_after": "screenshot_after after_screenshot image_after next_screenshot",
    "a11y": "axtree axtree_txt accessibility_tree a11y a11y_tree acc_tree",
}
"""Fields of a step, in the same way."""

STEPS = "steps"
"""The field of a column that holds all steps of a run, an object each."""

STEPS_NAMES = "steps trajectory trajectories history events turns traces trace"

LISTED_NAMES = ("actions", "action_history", "action_sequence", "action_list", "action_reprs", "tool_calls")
"""Names of columns that may hold a list of all actions of a run."""

FIELDS = (*RUN_FIELDS, *STEP_FIELDS, STEPS)
"""Every name that a file of `--columns` may give."""

WRAPPERS = ("observation", "obs", "state", "info", "metadata", "meta", "data", "context", "step_data")
"""Columns whose own fields are looked at: `observation.url`."""

OWN_ACTION = "action_json"
"""Column of actions in tables that `export parquet` writes: URLs and screenshots there follow the action."""

OWN_FILE = "@file"
"""For `run`: the whole file is one run."""

#: A column or several of them, by field.
Columns = Mapping[str, Any]


def check_columns(stated: Any) -> dict[str, Any]:
    """Return what a file of `--columns` holds. Raises UsageError."""
    if not isinstance(stated, dict):
        raise UsageError(what="--columns: expected field: column")
    for field, column in stated.items():
        if field not in FIELDS:
            near = difflib.get_close_matches(str(field), FIELDS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(what=f"--columns: no field {field!r:.60}{hint}; fields are {', '.join(FIELDS)}")
        many = column if field == "labels" and isinstance(column, list) else [column]
        if not all(isinstance(one, str) or one is None for one in many):
            raise UsageError(
                what=f"--columns: {field} is {column!r:.60}; expected the name of a column, or null"
            )
    return dict(stated)


def run_columns(names: Iterable[str], stated: Columns, *, is_step_row: bool) -> dict[str, Any]:
    """Return the columns of the fields of a run; `stated` goes before what is guessed."""
    known = {plain_name(name): name for name in reversed(list(names))}
    found: dict[str, Any] = {}
    for field, usual in RUN_FIELDS.items():
        matches = [known[name] for name in usual.split() if name in known]
        if field == "labels":
            found[field] = matches
        elif matches:
            found[field] = matches[0]
    # `task` is the task's text if no other column has it; otherwise it is an id.
    if "task" not in found and "task" in known and found.get("intent") != known["task"]:
        found["task"] = known["task"]
    # Without an id of its own, a row a step is of the run of its task.
    if is_step_row and "run" not in found:
        found.update({"run": found[key]} if (key := _run_key(found)) else {})
    found.update({field: stated[field] for field in (*RUN_FIELDS, STEPS) if field in stated})
    return {field: column for field, column in found.items() if column}


def _run_key(found: Columns) -> str | None:
    return next((key for key in ("task", "intent") if key in found), None)


def step_columns(names: Iterable[str], stated: Columns) -> dict[str, str]:
    """Return the columns of the fields of a step."""
    known = {plain_name(name): name for name in reversed(list(names))}
    found = {}
    for field, usual in STEP_FIELDS.items():
        name = next((known[one] for one in usual.split() if one in known), None)
        if name is not None:
            found[field] = name
    found.update({field: stated[field] for field in STEP_FIELDS if field in stated})
    return {field: column for field, column in found.items() if column}


def steps_column(names: Iterable[str], stated: Columns) -> str | None:
    """Return the column that may hold all steps of a run."""
    if STEPS in stated:
        return str(stated[STEPS]) if stated[STEPS] else None
    known = {plain_name(name): name for name in names}
    return next((known[one] for one in STEPS_NAMES.split() if one in known), None)


def column_names(cells: Mapping[str, Any]) -> list[str]:
    """Return the columns of a row, and the fields of those that wrap others: `observation.url`."""
    inner = [
        f"{name}.{key}"
        for name, cell in cells.items()
        if plain_name(name) in WRAPPERS and isinstance(cell, dict)
        for key in cell
    ]
    return [*cells, *inner]


def cell_of(cells: Mapping[str, Any], column: str | None) -> Any:
    """Return a cell, by its column or by a path into one; None if absent."""
    if column is None:
        return None
    if column in cells:
        return cells[column]
    at: Any = cells
    for part in column.split("."):
        at = at.get(part) if isinstance(at, dict) else None
    return at


def missing_column(names: Iterable[str], columns: Columns) -> str | None:
    """Return the first column that a user named and that is in no row; None where all are there."""
    known = {*names}
    named = [
        one
        for stated in columns.values()
        for one in (stated if isinstance(stated, list) else [stated])
        if one
    ]
    return next(
        (one for one in named if one != OWN_FILE and one not in known and one.partition(".")[0] not in known),
        None,
    )


_UNFIT = lazy_pattern(r"[^a-z0-9@]+")


def plain_name(name: str) -> str:
    """Return a name as the guesses are written: `observation.url` by its last part, `stepId` as `step_id`."""
    outer, dot, inner = name.partition(".")
    last = inner if dot and outer.lower() in WRAPPERS else name
    return _UNFIT.sub("_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).lower()).strip("_")


_NUMBERED = lazy_pattern(r"[A-Za-z _#-]{0,16}(\d{1,9})(?:\s?/\s?\d{1,9})?")


def step_number(cell: Any) -> float | None:
    """Return the number of a step, also of `step_3` and `3/5`; None for anything else."""
    number = plain_number(cell)
    text = _NUMBERED.fullmatch(cell.strip()) if number is None and isinstance(cell, str) else None
    return number if text is None else float(text[1])
