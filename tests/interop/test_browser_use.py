"""Files of browser-use as its releases write them: what was skipped, lost or never finished, and its cloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.interop.browser_use.executed_actions import Execution, action_results
from replaykit.interop.run_import import import_run, import_runs
from replaykit.trajectory.action import Answer, Fill, Unknown, tag_of
from replaykit.trajectory.exchange import Imported, Rest
from tests.interop.conftest import Importing
from tests.interop.samples import write

INPUT = {"input": {"index": 3, "text": "tea"}}
CLICK = {"click": {"index": 5}}
DONE = {"done": {"text": "5", "success": True}}
ANSWERED = {"is_done": True, "success": True, "extracted_content": "5"}
NOTICES = [
    "Something new appeared after action 1 / 3",
    "Something new appeared after action 1 / 3, following actions are NOT executed and should be retried.",
    "Something new appeared after action 1 / 3: actions click, click were not executed",
    "Element index changed after action 1 / 3, because page changed.",
    "Page changed after action: actions click, click are not yet executed",
]
"""Results of 0.1.40, 0.4.4, 0.7.12, 0.2.7 and 0.7.12 in the place of the first action that was skipped."""


def turn(actions: list[Any], results: list[Any], number: int = 1, **state: Any) -> dict[str, Any]:
    metadata = {"step_number": number, "step_start_time": 1_772_442_000.5 + number}
    before = {"url": "http://x.test/", "title": "X", "tabs": [], **state}
    return {"model_output": {"action": actions}, "result": results, "state": before, "metadata": metadata}


def history(folder: Path, *items: Any) -> Path:
    return write(folder, "history.json", {"history": items})


@pytest.mark.parametrize("notice", NOTICES)
def test_an_action_that_was_skipped_is_no_step(notice: str, tmp_path: Path, imported: Importing) -> None:
    skipped = turn([INPUT, CLICK, CLICK], [{}, {"extracted_content": notice}])
    run = imported("browser-use", history(tmp_path, skipped, turn([DONE], [ANSWERED], 2))).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["fill", "answer"]
    kept = {key: part for one in run.of_type(Rest) for key, part in one.value.items()}
    assert kept["history[0].model_output.action[1]"] == CLICK and kept["history[0].result[1]"]
    assert run.channel("actions") == "recorded" and run.answer == "5"


@pytest.mark.parametrize(
    ("results", "tags"),
    [
        ([{}], ["fill"]),  # the page changed after the first
        ([{}, {"error": "gone"}], ["fill", "click"]),
        ([{}, {}, {}], ["fill", "click", "click"]),
        # A page that holds the words of a notice: the count is that of another turn.
        ([{}, {"extracted_content": "Something new appeared after action 2 / 3"}], ["fill", "click"]),
        ([{}, {}, {"extracted_content": "Page changed after action: actions click are not yet executed"}],
         ["fill", "click"]),
    ],
)  # fmt: skip
def test_steps_of_a_turn_are_those_with_a_result(
    results: list[Any], tags: list[str], tmp_path: Path, imported: Importing
) -> None:
    run = imported("browser-use", history(tmp_path, turn([INPUT, CLICK, CLICK], results))).trajectory
    assert [tag_of(step.action) for step in run.steps] == tags


def test_an_error_of_a_whole_turn_leaves_the_later_actions_unknown(
    tmp_path: Path, imported: Importing
) -> None:
    # Any of the actions may have raised: the harness then keeps one error for all of them.
    items = (turn([INPUT, CLICK, CLICK], [{"error": "closed"}]), turn([DONE], [ANSWERED], 2))
    steps = imported("browser-use", history(tmp_path, *items)).trajectory.steps
    assert isinstance(steps[0].action, Fill) and steps[0].error is not None
    assert [step.action for step in steps[1:3]] == [Unknown(name="click", raw='{"click":{"index":5}}')] * 2


@pytest.mark.parametrize("results", [[{}], [{"error": "closed"}]])
def test_a_password_of_an_action_without_a_result_is_masked(
    results: list[Any], tmp_path: Path, imported: Importing
) -> None:
    typed = {"input": {"index": 4, "text": "tulip-4711"}}
    field = {"node_name": "INPUT", "attributes": {"type": "password"}}
    path = history(tmp_path, turn([CLICK, typed], results, interacted_element=[None, field]))
    assert b"tulip-4711" not in b"".join(imported("browser-use", path).lines)
    assert b"tulip-4711" in b"".join(imported("browser-use", path, keeps_secrets=True).lines)


def test_a_gap_in_the_step_numbers_leaves_no_channel_whole(tmp_path: Path, imported: Importing) -> None:
    # The harness drops a step that took too long, although its actions were carried out.
    path = history(tmp_path, turn([CLICK], [{}], 1), turn([CLICK], [{}], 3), turn([DONE], [ANSWERED], 4))
    done = import_run("browser-use", path, tmp_path / "run.zst")
    assert done.warnings == ("history[1] is after a number that no step has: a step is missing",)
    assert imported("browser-use", path).trajectory.channel("actions") == "partial"
    # Releases to 0.5 begin with 2, and repeat a number after a reply of the model that could not be read.
    whole = history(tmp_path / "b", turn([CLICK], [{}], 2), turn([CLICK], [{}], 2), turn([DONE], [{}], 3))
    assert import_run("browser-use", whole, tmp_path / "whole.zst").warnings == ()
    assert imported("browser-use", whole).trajectory.channel("actions") == "recorded"


@pytest.mark.parametrize(("start", "state"), [(11.5, "partial"), (9.0, "recorded"), (None, "partial")])
def test_a_gap_that_leaves_no_time_for_a_step_is_no_gap(
    start: float | None, state: str, tmp_path: Path, imported: Importing
) -> None:
    before, after = turn([CLICK], [{}], 2), turn([DONE], [ANSWERED], 9)
    before["metadata"]["step_end_time"], after["metadata"]["step_start_time"] = 3.0, start
    assert imported("browser-use", history(tmp_path, before, after)).trajectory.channel("actions") == state


@pytest.mark.parametrize(("number", "state"), [(1, "recorded"), (2, "partial")])
def test_the_first_step_of_a_newer_release_has_the_number_1(
    number: int, state: str, tmp_path: Path, imported: Importing
) -> None:
    last = turn([DONE], [ANSWERED], number)
    last["metadata"]["step_interval"] = None
    assert imported("browser-use", history(tmp_path, last)).trajectory.channel("actions") == state


GOTO = {"navigate": {"url": "http://x.test/"}}
WENT = {"extracted_content": "Navigated to http://x.test/"}
NO_REPLY = {"error": "Invalid model output format. Please follow the correct schema.\nDetails: ..."}
CLOSED = {"error": "the page was closed"}


@pytest.mark.parametrize(
    ("items", "tags"),
    [
        # The step took too long: its actions stand beside the results of the step before.
        ([turn([GOTO], [WENT]), turn([INPUT, CLICK], [WENT], 2)], ["goto", "unknown", "unknown"]),
        # The model did not reply in time, or not at all.
        ([turn([CLICK], [WENT]), turn([CLICK], [WENT], 2)], ["click", "unknown"]),
        ([turn([CLICK], [WENT]), turn([CLICK], [CLOSED], 2)], ["click", "unknown"]),
        ([turn([CLICK], [WENT]), turn([CLICK], [NO_REPLY], 2)], ["click"]),
        # Turns of their own.
        ([turn([CLICK], [{}]), turn([INPUT], [{}], 2)], ["click", "fill"]),
        ([turn([CLICK], [{}]), turn([CLICK], [{}], 2)], ["click", "click"]),
        ([turn([CLICK], [WENT]), turn([CLICK], [{"extracted_content": "b"}], 2)], ["click", "click"]),
        ([turn([GOTO], [WENT]), turn([CLICK], [CLOSED], 2)], ["goto", "click"]),
        ([turn([GOTO], [WENT]), turn([CLICK], [NO_REPLY], 2)], ["goto", "click"]),
    ],
)  # fmt: skip
def test_an_item_that_repeats_the_one_before_shows_no_action(
    items: list[Any], tags: list[str], tmp_path: Path, imported: Importing
) -> None:
    made = [one.action for one in imported("browser-use", history(tmp_path, *items)).trajectory.steps]
    assert ["unknown" if isinstance(one, Unknown) else tag_of(one) for one in made] == tags


SELECT = {"select_dropdown": {"index": 5, "text": "Large"}}


@pytest.mark.parametrize(
    ("named", "result"),
    [
        (CLICK, {"extracted_content": "Element index 5 not available - page may have changed. Try refreshing browser state."}),
        (CLICK, {"extracted_content": "Element with index 5 does not exist. Page has 9 interactive elements"}),
        (CLICK, {"extracted_content": "Index 5 - has an element which opens file upload dialog. To upload"}),
        (CLICK, {"extracted_content": "0: text=a", "long_term_memory": "Got dropdown options for index 5"}),
        (SELECT, {"extracted_content": "Could not select option 'Large' in any frame"}),
        (SELECT, {"extracted_content": "Available dropdown options  are:\n- Small",
                  "long_term_memory": "Couldn't select the dropdown option as 'Large' is not one of them."}),
        ({"find_text": {"text": "tea"}}, {"extracted_content": "Text 'tea' not found or not visible on page"}),
    ],
)  # fmt: skip
def test_a_result_that_says_that_nothing_was_done_is_an_error(
    named: Any, result: Any, tmp_path: Path, imported: Importing
) -> None:
    step = imported("browser-use", history(tmp_path, turn([named], [result]))).trajectory.steps[0]
    assert step.error is not None and step.error.message in result.values()


@pytest.mark.parametrize(
    ("named", "text"),
    [
        (CLICK, 'Clicked button "Element index 5 not available"'),
        ({"extract": {"query": "x"}}, "Element index 5 not available"),
        ({"dropdown_options": {"index": 5}}, "Got dropdown options for index 5"),
        ({"done": {"text": "Selection failed: no"}}, "Selection failed: no"),
    ],
)
def test_a_result_with_words_of_a_page_is_no_error(
    named: Any, text: str, tmp_path: Path, imported: Importing
) -> None:
    path = history(tmp_path, turn([named], [{"extracted_content": text}]))
    assert imported("browser-use", path).trajectory.steps[0].error is None


@pytest.mark.parametrize(
    ("first", "tag", "seen"),
    [
        # A click that removes an element moves the indices of those behind it.
        ({"click_element_by_index": {"index": 4}}, "tag_name", None),
        ({"input_text": {"index": 4, "text": "tea"}}, "tag_name", "button"),
        # Newer releases keep an index for as long as its element is there.
        ({"click": {"index": 4}}, "node_name", "button"),
    ],
)
def test_an_index_of_older_releases_names_an_element_until_a_click(
    first: Any, tag: str, seen: str | None, tmp_path: Path, imported: Importing
) -> None:
    fields = [{tag: "input", "attributes": {}}, {tag: "button", "attributes": {"id": "delete"}}]
    path = history(tmp_path, turn([first, CLICK], [{}, {}], interacted_element=fields))
    element = imported("browser-use", path).trajectory.steps[1].action.element
    assert element is not None and (element.ref, element.tag) == ("5", seen)


@pytest.mark.parametrize("around", [("", ""), ("user:", "!")])
def test_a_placeholder_was_never_entered(
    around: tuple[str, str], tmp_path: Path, imported: Importing
) -> None:
    first, last = around
    typed = {"input": {"index": 3, "text": f"{first}<secret>pw</secret>{last}"}}
    # Releases 0.3 to 0.6 repeat the secret in the result.
    echo = {"long_term_memory": f"Input '{first}tulip-4711{last}' into element 3."}
    path = history(
        tmp_path, turn([typed], [echo]), turn([DONE], [{**ANSWERED, "extracted_content": "tulip-4711"}], 2)
    )
    run = imported("browser-use", path)
    assert isinstance(run.trajectory.steps[0].action, Fill)
    assert run.trajectory.steps[0].action.value == f"{first}⟦masked⟧{last}"
    assert b"tulip-4711" not in b"".join(run.lines)
    assert b"tulip-4711" in b"".join(imported("browser-use", path, keeps_secrets=True).lines)


LIMIT = {
    "model_output": None, "metadata": None, "state": {"url": "", "title": "", "tabs": [], "interacted_element": []},
    "result": [{"error": "Failed to complete task in maximum steps"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("items", "ending"),
    [
        ([turn([CLICK], [{}]), turn([DONE], [ANSWERED], 2)], ("answered", "5")),
        # A second task of the same agent, which was never finished.
        ([turn([DONE], [ANSWERED]), turn([CLICK], [{}], 2)], ("unknown", None)),
        ([turn([CLICK], [{}]), LIMIT], ("max_steps", None)),
        ([turn([DONE], [{"error": "cancelled"}])], ("unknown", None)),
        ([turn([CLICK, DONE], [{}])], ("unknown", None)),
    ],
)
def test_a_run_ends_as_its_last_item_shows(
    items: list[Any], ending: tuple[str, str | None], tmp_path: Path, imported: Importing
) -> None:
    run = imported("browser-use", history(tmp_path, *items)).trajectory
    assert run.ending is not None and (run.ending.kind, run.ending.answer) == ending
    # No later number shows whether a last step is missing that took too long.
    assert run.channel("actions") == ("recorded" if ending[0] == "answered" else "partial")
    labels = [one for one in run.of_type(Imported) if one.kind == "label"]
    assert len(labels) == (ending[0] == "answered")


def test_nothing_was_seen_before_the_initial_actions(tmp_path: Path, imported: Importing) -> None:
    opened = turn(
        [{"navigate": {"url": "http://x.test/a"}}], [{}], 0, url="http://x.test/a", title="Initial Actions"
    )
    steps = imported("browser-use", history(tmp_path, opened, turn([CLICK], [{}], 1))).trajectory.steps
    assert [step.before and step.before.url for step in steps] == [None, "http://x.test/"]


def test_a_history_may_be_saved_as_its_list_or_beside_other_data(tmp_path: Path, imported: Importing) -> None:
    items = [turn([CLICK], [{}], 1), turn([DONE], [ANSWERED], 2)]
    listed = imported("auto", write(tmp_path, "list.json", items)).trajectory
    nested = imported(
        "auto", write(tmp_path, "n.json", {"tries": 7, "history": {"history": items}})
    ).trajectory
    for run in (listed, nested):
        assert [tag_of(step.action) for step in run.steps] == ["click", "answer"] and run.answer == "5"
    assert any(one.value.get("tries") == 7 for one in nested.of_type(Rest))


@pytest.mark.parametrize(
    "plain",
    [
        [], [{"state": {}}], [*[turn([], [])], 5], {"history": {"history": 5}}, {"history": {}},
        {"history": [{"state": {"url": "http://x.test"}, "result": []}]}, {"history": [], "instance_id": "a"},
    ],
)  # fmt: skip
def test_other_json_is_no_history(plain: Any, tmp_path: Path) -> None:
    (done,) = import_runs("browser-use", [write(tmp_path, "x.json", json.dumps(plain))], tmp_path / "out")
    assert "JSON of another layout" in str(done.error)


RESULTS = st.fixed_dictionaries({}, optional={
    "error": st.sampled_from(["gone", ""]), "extracted_content": st.sampled_from([*NOTICES, "5", None]),
})  # fmt: skip


@given(st.lists(st.sampled_from([INPUT, CLICK, DONE, {}]), max_size=4), st.lists(RESULTS, max_size=5))
def test_every_action_has_one_outcome(actions: list[Any], results: list[Any]) -> None:
    found = action_results(actions, results)
    assert len(found) == len(actions)
    own = [one.result for one in found if one.execution is Execution.DONE]
    assert own == results[: len(own)] and len(own) >= min(len(actions), len(results)) - 1
    assert all(one.result is None for one in found[len(own) :])


CLOUD: dict[str, Any] = {
    "id": "7f1", "sessionId": "7f2", "llm": "gpt-4.1", "task": "What does it cost?", "status": "finished",
    "createdAt": "2026-03-02T09:00:00.000000Z", "startedAt": "2026-03-02T09:00:01Z", "finishedAt": None,
    "output": "5", "outputFiles": [], "browserUseVersion": "0.11.2", "isSuccess": True, "judgement": "{}",
    "judgeVerdict": False,
    "steps": [
        {"number": 1, "memory": "m", "evaluationPreviousGoal": "", "nextGoal": "Type it.", "url": "http://x.test/",
         "screenshotUrl": "https://cdn.test/1.png", "actions": [json.dumps(INPUT), json.dumps(CLICK)]},
        {"number": 2, "memory": "", "evaluationPreviousGoal": "", "nextGoal": "", "url": "http://x.test/s",
         "screenshotUrl": None, "actions": [json.dumps(DONE)]},
    ],
}  # fmt: skip


def snake_case(plain: Any) -> Any:
    """Return a task as the SDK for Python dumps it."""
    if isinstance(plain, list):
        return [snake_case(one) for one in plain]
    if not isinstance(plain, dict):
        return plain
    return {
        "".join(f"_{c.lower()}" if c.isupper() else c for c in key): snake_case(part)
        for key, part in plain.items()
    }


@pytest.mark.parametrize("plain", [CLOUD, snake_case(CLOUD)])
def test_a_task_of_the_cloud(plain: Any, tmp_path: Path, imported: Importing) -> None:
    done = import_run("auto", write(tmp_path, "task.json", plain), tmp_path / "run.zst")
    assert done.warnings == ("left out: steps[].screenshot_url (1)",)
    run = imported("browser-use", write(tmp_path, "task.json", plain)).trajectory
    assert run.header.task == {"id": "7f1", "intent": "What does it cost?"}
    assert run.header.created == "2026-03-02T09:00:01.000Z"
    first, second, last = run.steps
    assert (
        isinstance(first.action, Fill) and first.before is not None and first.before.url == "http://x.test/"
    )
    assert isinstance(second.action, Unknown) and second.before is None and first.thought == "m\nType it."
    assert last.action == Answer(text="5")
    # Nothing shows whether an action was carried out.
    assert run.channel("actions") == "partial"
    assert run.ending is not None and (run.ending.kind, run.ending.answer) == ("answered", "5")
    assert [(one.kind, one.value) for one in run.of_type(Imported)] == [
        ("label", {"success": True}), ("judgement", {"verdict": False, "report": "{}"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"status": "stopped", "output": None}, ("stopped", None)),
        ({"status": "failed", "output": None}, ("crashed", None)),
        ({"status": "started", "output": None}, ("unknown", None)),
        ({"status": "finished", "output": None}, ("stopped", None)),
    ],
)
def test_endings_of_the_cloud(
    changes: Any, ending: tuple[str, str | None], tmp_path: Path, imported: Importing
) -> None:
    steps = CLOUD["steps"][:1]
    run = imported("browser-use", write(tmp_path, "t.json", {**CLOUD, "steps": steps, **changes})).trajectory
    assert run.ending is not None and (run.ending.kind, run.answer) == ending


def test_an_action_of_the_cloud_that_is_no_object_is_unknown(tmp_path: Path, imported: Importing) -> None:
    steps = [{"number": 1, "actions": ["click", "[]", "{}"], "url": ""}]
    run = imported("browser-use", write(tmp_path, "t.json", {**CLOUD, "steps": steps})).trajectory
    assert [tag_of(step.action) for step in run.steps] == ["none"] * 3
