"""Online-Mind2Web's result folders, both versions, and WABE's."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import MalformedSource, UnsupportedVersion
from replaykit.interop.online_mind2web.mind2web_actions import has_failed, read_action
from replaykit.interop.run_import import import_run
from replaykit.trajectory.action import (
    Action,
    Answer,
    Click,
    Element,
    Fill,
    Goto,
    Hover,
    KeyboardType,
    MouseClick,
    Noop,
    Press,
    Scroll,
    SelectOption,
    Unknown,
    tag_of,
)
from replaykit.trajectory.action_rendering import render_action
from replaykit.trajectory.exchange import Imported, Rest
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import mind2web, mind2web_second, png, wabe, write


def roles(run: Any) -> list[tuple[str, int | None]]:
    return [(seen.role, seen.of) for seen in run.of_type(Observation)]


def test_one_screenshot_more_than_actions_shows_the_start(tmp_path: Path, imported: Importing) -> None:
    run = imported("online-mind2web", mind2web(tmp_path)).trajectory
    assert roles(run) == [("start", None), ("after", 0), ("after", 1)]
    assert run.header.source is not None and run.header.source.alignment == "n_plus_1"
    assert run.steps[0].action.element == Element(tag="button", attributes={"id": "s"}, name="Search")
    assert run.steps[1].action == Fill(
        element=Element(tag="input", name="Email"), value="ann@x.test", submit=True
    )
    assert [step.thought for step in run.steps] == ["First.", "Then."]
    assert run.answer == "Done." and run.channel("screenshots") == "recorded"
    assert run.channel("urls") == "absent"


def test_as_many_screenshots_follow_the_actions(tmp_path: Path, imported: Importing) -> None:
    run = imported("online-mind2web", mind2web(tmp_path, shots=2)).trajectory
    assert roles(run) == [("after", 0), ("after", 1)]


@pytest.mark.parametrize("shots", [0, 1, 5])
def test_any_other_number_of_screenshots_belongs_to_no_step(
    shots: int, tmp_path: Path, imported: Importing
) -> None:
    run = imported("online-mind2web", mind2web(tmp_path, shots=shots)).trajectory
    assert roles(run) == [("unaligned", None)] * shots
    assert run.channel("screenshots") == "absent"


def test_screenshots_sort_by_the_first_number_of_their_names(tmp_path: Path, imported: Importing) -> None:
    actions = [f"<a> {number} -> CLICK" for number in range(11)]
    path = mind2web(tmp_path, shots=12, action_history=actions, thoughts=[])
    bundle = imported("online-mind2web", path)
    shots = [seen.screenshot for seen in bundle.trajectory.of_type(Observation)]
    assert [bundle.blob(str(shot)) for shot in shots] == [png(number) for number in range(12)]


def test_a_screenshot_without_a_number_is_refused(tmp_path: Path, imported: Importing) -> None:
    path = mind2web(tmp_path)
    write(path, "trajectory/final.png", png())
    with pytest.raises(MalformedSource, match=r"trajectory/final\.png is an image without a number"):
        imported("online-mind2web", path)


def test_thoughts_of_another_number_are_paired_up_to_the_shorter(tmp_path: Path, imported: Importing) -> None:
    run = imported("online-mind2web", mind2web(tmp_path, thoughts=["One."])).trajectory
    assert [step.thought for step in run.steps] == ["One.", None]


def test_other_keys_are_kept_and_null_is_no_answer(tmp_path: Path, imported: Importing) -> None:
    run = imported("online-mind2web", mind2web(tmp_path, final_result_response=None, seed=7)).trajectory
    assert run.header.source is not None and run.header.source.extra == {
        "seed": 7,
        "screenshots": [f"trajectory/{number}_full_screenshot.png" for number in range(3)],
    }
    assert run.answer is None and run.ending is not None and run.ending.kind == "unknown"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task_id": [3, 4]}, r"result\.json task_id is array; expected str"),
        ({"action_history": [{"a": 1}]}, r"action_history\[0\] is object; expected str | null"),
        ({"action_history": {"a": 1}}, "action_history is object; expected array"),
        ({"schema_version": "online-mind2web-v3"}, "schema_version has version 'online-mind2web-v3'"),
    ],
)
def test_wrong_types_name_their_key(
    changes: dict[str, Any], says: str, tmp_path: Path, imported: Importing
) -> None:
    with pytest.raises((MalformedSource, UnsupportedVersion), match=says):
        imported("online-mind2web", mind2web(tmp_path, **changes))


def test_version_two_has_urls_statuses_and_keyed_screenshots(tmp_path: Path, imported: Importing) -> None:
    run = imported("online-mind2web", mind2web_second(tmp_path)).trajectory
    assert [step.url for step in run.steps] == ["http://x.test/", None]
    assert tag_of(run.steps[0].action) == "click" and run.steps[0].error is None
    assert run.steps[1].action == Answer(text="Tin mug")
    assert run.channel("urls") == "partial" and run.answer == "Tin  mug"
    assert run.header.source is not None and run.header.source.version == "online-mind2web-v2"


def entry(**changes: Any) -> dict[str, Any]:
    last = {
        "step": 0, "screenshot": "0.png", "url": None, "action": "TASK_COMPLETE -> ANSWER: Tin mug",
        "action_status": None, "thought": None,
    }  # fmt: skip
    return {**last, **changes}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"task_id": "a b"}, "task_id 'a b' is another id than letters"),
        ({"action_history": []}, "action_history is an empty list"),
        ({"action_history": [entry(step=1)]}, r"action_history\[0\].step is not the number of its place"),
        ({"action_history": [entry(screenshot="9.png")]}, r"\[0\].screenshot is '9.png', which is not in"),
        ({"action_history": [entry(screenshot=None)]}, r"\[0\].screenshot is None, which is not in"),
        ({"action_history": [entry(action_status="OK")]}, r"\[0\].action_status is 'OK', neither"),
        (
            {"action_history": [entry(action="<a> x -> CLICK | FAILED", action_status="SUCCESS")]},
            r"\[0\].action_status is not as its action ends",
        ),
        (
            {"action_history": [{k: v for k, v in entry().items() if k != "thought"}]},
            r"\[0\].thought is missing",
        ),
        ({"action_history": [entry(action="<a> x -> CLICK")]}, r"\[0\].action is not the final answer"),
        ({"agent_final_answer": "Another"}, r"\[1\].action is another text than agent_final_answer"),
    ],
)
def test_a_broken_rule_of_version_two_is_a_flaw_with_its_key(
    changes: dict[str, Any], says: str, tmp_path: Path
) -> None:
    path = mind2web_second(tmp_path, **changes)
    done = import_run("online-mind2web", path, tmp_path / "run.zst")
    assert any(re.search(says, line) for line in done.warnings), done.warnings
    with open_bundle(done.path) as bundle:
        assert len(bundle.trajectory.steps) == len(changes.get("action_history", [1, 2]))
        assert bundle.trajectory.answer == changes.get("agent_final_answer", "Tin  mug")


def test_what_version_two_leaves_to_its_writer(tmp_path: Path, imported: Importing) -> None:
    """Keys that its schema does not require, and screenshots named by paths or held in the file."""
    bare = ("step", "screenshot", "action", "thought")
    lean = {key: value for key, value in entry(step=1, screenshot="1.png").items() if key in bare}
    held = "data:image/png;base64," + b64encode(png(9)).decode()
    first = {"step": 0, "screenshot": r"C:\runs\trajectory\0.png", "action": "<a> x -> CLICK", "thought": ""}
    path = mind2web_second(tmp_path, action_history=[first, {**lean, "screenshot": held}])
    run = imported("online-mind2web", path).trajectory
    shots = [one.screenshot for one in run.of_type(Observation) if one.role == "after"]
    assert len(set(shots)) == 2 and all(shots) and run.channel("screenshots") == "recorded"
    again = imported("online-mind2web", mind2web_second(tmp_path, action_history=[lean, first]))
    assert [tag_of(step.action) for step in again.trajectory.steps] == ["click", "answer"]


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("<button> Pay -> CLICK", Click(element=Element(tag="button", name="Pay"))),
        ("<button> Pay -> CLICK | FAILED", Click(element=Element(tag="button", name="Pay"))),
        ('<a href="x -> y"> A -> B -> CLICK', Click(element=Element(tag="a", name="A -> B", attributes={"href": "x -> y"}))),
        ("<select> Size -> SELECT: Large", SelectOption(element=Element(tag="select", name="Size"), values=(), labels=("Large",))),
        ("page -> GOTO: http://x.test/?a=b: c", Goto(url="http://x.test/?a=b: c")),
        ("page -> SCROLL: up", Scroll(dy=-1, amount="up")),
        ("page -> TYPE: hello", KeyboardType(value="hello")),
        ("<input> -> PRESS: Enter", Press(element=Element(tag="input"), key="Enter")),
        ("page -> SCROLL: sideways", Unknown(name="scroll", raw="page -> SCROLL: sideways")),
        ("<a> x -> FROBNICATE", Unknown(name="frobnicate", raw="<a> x -> FROBNICATE")),
        ("no arrow", Unknown(name="text", raw="no arrow")),
        ("TASK_COMPLETE -> ANSWER: a -> b", Answer(text="a -> b")),
    ],
)  # fmt: skip
def test_the_forms_of_actions(line: str, action: object) -> None:
    assert read_action(line) == action


@given(st.text())
def test_any_text_is_some_action(line: str) -> None:
    assert tag_of(read_action(line))


NAMES = (
    st.text(alphabet="abc ", min_size=1).map(str.strip).filter(bool).map(lambda text: " ".join(text.split()))
)
TARGETS = st.builds(Element, tag=st.sampled_from(["a", "button", "input"]), name=NAMES)


@given(
    st.one_of(
        st.builds(Click, element=TARGETS, button=st.sampled_from(["left", "right"])),
        st.builds(Fill, element=TARGETS, value=NAMES, submit=st.booleans()),
        st.builds(Goto, url=st.just("http://x.test/")),
        st.builds(Press, element=TARGETS, key=st.just("Enter")),
    )
)
def test_what_is_rendered_is_read_back(action: Click) -> None:
    assert read_action(render_action(action)) == action


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize(
    ("changes", "kind", "actions"),
    [
        ({"final_result_response": None, "steps_taken": 10}, "max_steps", "partial"),
        ({"final_result_response": None, "steps_taken": 2, "max_steps": 2}, "max_steps", "recorded"),
        ({"final_result_response": None, "steps_taken": 2, "max_steps": 2, "error": "boom"}, "unknown", "recorded"),
        ({"final_result_response": None, "steps_taken": 2}, "unknown", "recorded"),
        ({"steps_taken": 5}, "answered", "partial"),
        ({"thoughts": ["a", "b", "c"]}, "answered", "recorded"),
        ({"thoughts": ["a", "b", "c", "d"]}, "answered", "partial"),
    ],
)  # fmt: skip
def test_wabe_counts_its_steps(
    changes: dict[str, Any], kind: str, actions: str, is_file: bool, tmp_path: Path, imported: Importing
) -> None:
    path = wabe(tmp_path, **changes)
    if is_file:
        task = json.loads((path / "result.json").read_text())
        detail = {"success_rate": 100, "successful_tasks": 1, "total_tasks": 1, "tasks": [task]}
        path = write(tmp_path / "b", "results.json", {"participants": {}, "results": [{"detail": detail}]})
    run = imported("wabe", path).trajectory
    assert run.ending is not None and run.ending.kind == kind and run.channel("actions") == actions


@pytest.mark.parametrize("history", [None, "<a> x -> CLICK", {}])
def test_a_task_of_wabe_without_its_list_of_actions_shows_none(
    history: Any, tmp_path: Path, imported: Importing
) -> None:
    task = {"task_id": "t", "task": "Buy.", "action_history": history, "final_result_response": "Done."}
    if history is None:
        del task["action_history"]
    detail = {"success_rate": 0, "successful_tasks": 0, "total_tasks": 1, "tasks": [task]}
    path = write(tmp_path, "results.json", {"participants": {}, "results": [{"detail": detail}]})
    assert imported("wabe", path).trajectory.channel("actions") != "recorded"


def test_results_of_wabe_without_a_task_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "results.json", {"participants": {}, "results": []})
    with pytest.raises(MalformedSource, match="without a task in its results"):
        import_run("auto", path, tmp_path / "x.zst")


def test_wabe_reads_as_version_one_with_a_label(tmp_path: Path, imported: Importing) -> None:
    run = imported("wabe", wabe(tmp_path)).trajectory
    assert roles(run) == [("after", 0), ("after", 1)]
    (label,) = run.of_type(Imported)
    assert (label.kind, label.value) == ("outcome", {"success": True, "success_source": "unknown"})
    assert run.header.source is not None and run.header.source.extra["level"] == "easy"
    assert run.ending is not None and run.answer == "Done."


def results(**changes: Any) -> dict[str, Any]:
    tasks = [
        {"success": True, "steps_taken": 1, "max_steps": 5, "level": "easy", "thoughts": ["a"],
         "action_history": ["<a> x -> CLICK"], "screenshots": ["shots/0.png"], "error": None},
        {"success": False, "steps_taken": 0, "max_steps": 5, "level": "hard", "thoughts": [],
         "action_history": [], "screenshots": ["/etc/passwd"], "error": "browser died"},
    ]  # fmt: skip
    detail = {"success_rate": 50.0, "successful_tasks": 1, "total_tasks": 2, "tasks": tasks, **changes}
    return {"participants": {"white_agent": "w"}, "results": [{"detail": detail}]}


def test_a_results_file_is_one_run_per_task(tmp_path: Path) -> None:
    from replaykit.bundle.reader import open_bundle
    from replaykit.interop.run_import import import_runs

    file = write(tmp_path, "results.json", results(successful_tasks=2))
    write(tmp_path, "shots/0.png", png())
    done = import_runs("wabe", [file], tmp_path / "out")
    assert [one.state for one in done] == ["imported", "imported"]
    assert "successful_tasks is 2, but it marks as success 1 task" in done[0].warnings[0]
    with open_bundle(done[0].path) as first, open_bundle(done[1].path) as second:
        assert roles(first.trajectory) == [("after", 0)]
        assert second.trajectory.of_type(Observation) == ()  # a path out of the folder is not followed
        assert second.trajectory.ending is not None and second.trajectory.ending.error is not None
        assert second.trajectory.ending.error.message == "browser died"


def test_a_published_result_without_actions_is_an_answer(tmp_path: Path, imported: Importing) -> None:
    result = {
        "task_id": "m2w-1",
        "task": "Buy a mug.",
        "final_result_response": "Done.",
        "judge": {"score": 100},
    }
    run = imported("auto", write(tmp_path / "in" / "m2w-1", "result.json", result).parent).trajectory
    assert (run.answer, len(run.steps), run.channel("actions")) == ("Done.", 0, "absent")
    (judged,) = run.of_type(Imported)
    assert (judged.kind, judged.value) == ("judgement", {"score": 100})


@pytest.mark.parametrize(
    ("line", "kind", "element", "failed"),
    [
        ("[button]  Reserve -> CLICK", Click, Element(role="button", text="Reserve"), False),
        ("[link]   -> CLICK", Click, Element(role="link"), False),
        ("[span] Size -> HOVER", Hover, Element(tag="span", text="Size"), False),
        ("[input type=\"text\"] q -> TYPE: tea", Fill, Element(tag="input", attributes={"type": "text"}, text="q"), False),
        ("[c-wiz] parent_node: Sign in -> CLICK", Click, Element(tag="c-wiz"), False),
        ("<input[aria-label='To?']> -> TYPE 'Rome'", Fill, Element(ref="input[aria-label='To?']"), False),
        ('[a] Go -> Failed to TYPE "x -> y" because z -> w, did a CLICK instead', Click, Element(tag="a", text="Go"), False),
        ("[a] Go -> Failed to CLICK because Timeout, and more", Click, Element(tag="a", text="Go"), True),
        ("PRESS ENTER", Press, None, False),
        ("No Operation", Noop, None, False),
        ("CLICK", Unknown, None, False),
    ],
)  # fmt: skip
def test_lines_of_mind2web_and_seeact(line: str, kind: type, element: Element | None, failed: bool) -> None:
    action = read_action(line)
    assert (type(action), getattr(action, "element", None), has_failed(line)) == (kind, element, failed)


@given(
    st.text("[]<>'\" ab->:,", max_size=40), st.sampled_from(["CLICK", "TYPE: x", "Failed to CLICK because x"])
)
def test_any_target_gives_an_action(head: str, operation: str) -> None:
    assert isinstance(read_action(f"{head} -> {operation}"), Action)


def test_a_result_of_seeact(tmp_path: Path, imported: Importing) -> None:
    lines = ["[button] Pay -> CLICK", "[a] Go -> Failed to CLICK because Timeout"]
    plain = {"confirmed_task": "Pay.", "website": "http://shop.test/", "task_id": "t7", "success_or_not": "0",
             "num_step": 2, "action_history": lines, "exit_by": "No elements"}  # fmt: skip
    write(tmp_path / "t7", "result.json", plain)
    run = imported("online-mind2web", tmp_path / "t7").trajectory
    assert run.header.task == {"id": "t7", "intent": "Pay."}
    assert [step.error is not None for step in run.steps] == [False, True]
    assert (run.channel("thoughts"), run.answer) == ("absent", None)
    assert [(one.name, one.value) for one in run.of_type(Imported)] == [("success_or_not", "0")]
    assert run.header.source is not None and run.header.source.extra["website"] == "http://shop.test/"


@pytest.mark.parametrize(
    ("thoughts", "state"), [([], "absent"), (["a", None], "partial"), (["a", "b"], "recorded")]
)
def test_thoughts_are_recorded_where_they_are(
    thoughts: list[str | None], state: str, tmp_path: Path, imported: Importing
) -> None:
    folder = mind2web(tmp_path, action_history=["page -> GO_BACK", "page -> RELOAD"], thoughts=thoughts)
    assert imported("online-mind2web", folder).trajectory.channel("thoughts") == state


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("<Delete the order button> -> CLICK", Click(element=Element(text="Delete the order"))),
        ("<e5> -> TYPE: tea", Fill(element=Element(ref="e5"), value="tea")),
        ("<h1> -> CLICK", Click(element=Element(tag="h1"))),
        ("<button> -> CLICK", Click(element=Element(tag="button"))),
        (
            "<input type=text> -> TYPE: tea",
            Fill(element=Element(tag="input", attributes={"type": "text"}), value="tea"),
        ),
        ("<unknown> -> CLICK", Click()),
        ("<unknown> -> TYPE: ", Unknown(name="type", raw="<unknown> -> TYPE: ")),
    ],
)
def test_a_description_in_the_place_of_a_tag_is_no_tag(line: str, action: Action) -> None:
    assert read_action(line) == action


def test_a_result_of_browser_use_without_an_id_and_with_joined_thoughts(
    tmp_path: Path, imported: Importing
) -> None:
    """Some harnesses write neither the id, which is the name of the folder, nor thoughts one by one."""
    path = mind2web(tmp_path, thoughts="First.\n---\nThen.")
    plain = json.loads((path / "result.json").read_text())
    write(path, "result.json", {key: part for key, part in plain.items() if key != "task_id"})
    run = imported("online-mind2web", path).trajectory
    assert [type(step.action) for step in run.steps] == [Click, Fill]
    assert run.header.task is not None and run.header.task["id"] == path.name
    assert [rest.value for rest in run.of_type(Rest)] == [{"thoughts": "First.\n---\nThen."}]


def test_actions_that_are_calls_of_a_tool(tmp_path: Path, imported: Importing) -> None:
    calls = [{"action": "click", "x": 10, "y": 20}, {"type": "type", "text": "tea"}]
    run = imported("online-mind2web", mind2web(tmp_path, action_history=calls, thoughts=[])).trajectory
    assert [step.action for step in run.steps] == [MouseClick(point=(10, 20)), KeyboardType(value="tea")]
