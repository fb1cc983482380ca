"""Whose an event of a script is: decided by when scripts of the agent ran."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.session.agent_scripts import SLACK_MS, SPANS_MAX, AgentScripts
from replaykit.recorder.session.driver_messages import TabOpened
from replaykit.recorder.session.session import Session, SessionOptions
from replaykit.recorder.session.witnesses import ScriptAsked, ScriptEnded
from replaykit.trajectory.action import Click, Element, Fill, SelectOption, UploadFile
from replaykit.trajectory.step import Header
from tests.recorder.conftest import Driver

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
CARD = Element(tag="div", css="#card")
FIELD = Element(tag="input", type="text", css="#email")
SELECT = Element(tag="select", css="#size")
FILES = Element(tag="input", type="file", css="#file")


class ObservedSession(Driver):
    """A session whose promise is to observe every command of the agent."""

    def __init__(self, *, is_whole: bool = True) -> None:
        super().__init__()
        header = Header(channels={}, witnesses=("commands",) if is_whole else ())
        self.session = Session(SessionOptions(), header)
        self._put(self.session.start(0.0))
        self.feed(TabOpened(at=0.0, page=0, url="http://shop.test/"))

    def script(self, begin: float, end: float | None, *, number: int = 1, **more: Any) -> ObservedSession:
        self.feed(ScriptAsked(at=begin, number=number, **more))
        if end is not None:
            self.feed(ScriptEnded(at=end, number=number))
        return self

    def choose(self, at: float, **more: Any) -> ObservedSession:
        self.event("input", SELECT, at, trusted=False, task=1, **more)
        self.event("change", SELECT, at, trusted=False, task=1, control="select", values=["l"], **more)
        return self

    def kinds(self) -> list[type]:
        self.wait(3000)
        return [type(step.action) for step in self.steps]


@pytest.mark.parametrize("end", [1005, None])
def test_a_choice_while_a_script_of_the_agent_runs_is_the_agent_s(end: float | None) -> None:
    assert ObservedSession().script(1000, end).choose(1003).kinds() == [SelectOption]


@pytest.mark.parametrize("cause", ["", "unseen"])
def test_a_choice_while_none_runs_is_the_page_s(cause: str) -> None:
    driver = ObservedSession().script(1000, 1005)
    assert driver.choose(1006 + SLACK_MS, cause=cause).choose(990 - SLACK_MS, cause=cause).kinds() == []


def test_a_report_that_comes_after_the_answer_is_the_agent_s_still() -> None:
    driver = ObservedSession().script(1000, 1005)
    driver.now = 4000  # the page's word was a long time on its way
    assert driver.choose(1003).kinds() == [SelectOption]


def test_a_script_right_after_a_click_is_an_action_of_its_own() -> None:
    driver = ObservedSession()
    driver.click(BUTTON, 1000).script(1002, 1006)
    driver.event("click", CARD, 1004, trusted=False, task=1, reaction=True)
    driver.event("idle", None, 1005)
    assert driver.kinds() == [Click, Click]


def test_a_click_by_a_timer_of_the_page_is_none_however_late() -> None:
    driver = ObservedSession()
    driver.click(BUTTON, 1000)
    driver.event("click", BUTTON, 9000, trusted=False)
    assert driver.kinds() == [Click]


def test_a_field_that_a_script_sets_while_another_is_typed_into_is_filled() -> None:
    driver = ObservedSession()
    driver.event("keydown", FIELD, 1000, key="x", chord="x", printable=True)
    driver.event("beforeinput", FIELD, 1000, input_type="insertText", text="x", cause="key")
    driver.event("input", FIELD, 1001, input_type="insertText", text="x", value="x", cause="key")
    driver.script(1010, 1012)
    other = Element(tag="input", type="text", css="#name")
    driver.event("change", other, 1011, trusted=False, control="text", value="Ann")
    assert [step.action.value for step in driver.wait(3000).steps] == ["x", "Ann"]


@pytest.mark.parametrize(("name", "kind"), [("click", Click), ("input", Fill)])
def test_without_a_whole_log_it_is_open_whose_script_made_an_event(name: str, kind: type[Any]) -> None:
    driver = ObservedSession(is_whole=False)
    driver.event(name, BUTTON if name == "click" else FIELD, 5000, trusted=False, value="x")
    (step,) = driver.wait(3000).steps
    assert (type(step.action), step.action.by) == (kind, "unknown")
    driver = ObservedSession(is_whole=False).script(5000, 5010)
    driver.event(name, BUTTON if name == "click" else FIELD, 5004, trusted=False, value="x")
    (step,) = driver.wait(3000).steps
    assert (type(step.action), step.action.by) == (kind, None)


def test_a_script_apart_from_the_page_s_world_is_seen_unless_nothing_is() -> None:
    driver = ObservedSession().script(1000, 1005, is_apart=True)
    assert driver.choose(1002, cause="").kinds() == []
    driver = ObservedSession().script(1000, 1005, is_apart=True)
    assert driver.choose(1002, cause="unseen").kinds() == [SelectOption]


def test_a_script_in_another_tab_explains_nothing_in_this_one() -> None:
    assert ObservedSession().script(1000, None, page=1).choose(1003).kinds() == []
    assert ObservedSession().script(1000, None, page=0).choose(1003).kinds() == [SelectOption]


def test_what_a_handler_does_in_a_script_s_time_is_the_page_s() -> None:
    assert ObservedSession().script(1000, None).choose(1003, cause="page").kinds() == []


@given(st.lists(st.tuples(st.floats(0, 1e6), st.booleans()), max_size=600), st.floats(0, 1e6))
def test_open_scripts_are_never_forgotten_and_ended_ones_are_few(
    spans: list[tuple[float, bool]], at: float
) -> None:
    scripts = AgentScripts()
    for number, (begin, is_open) in enumerate(spans):
        scripts.asked(ScriptAsked(at=begin, number=number))
        if not is_open:
            scripts.ended(ScriptEnded(at=begin, number=number))
    kept = scripts._spans
    assert {number for number, (_, is_open) in enumerate(spans) if is_open} == {
        number for number, span in kept.items() if span.end == inf
    }
    assert sum(span.end < inf for span in kept.values()) <= SPANS_MAX + 1


# Several inputs that a busy page gets at once: one task, and yet each has a cause of its own.


def pointed(driver: Driver, task: int = 1) -> Driver:
    driver.event("pointerdown", FIELD, 1000, point=[5, 6], button=0, task=task)
    driver.event("pointerup", FIELD, 1000, point=[5, 6], button=0, task=task, cause="pointer")
    driver.event("click", FIELD, 1000, point=[5, 6], button=0, detail=1, task=task, cause="pointer")
    return driver


def test_text_that_is_inserted_in_the_task_of_a_click_is_a_fill_of_its_own(driver: Driver) -> None:
    pointed(driver)
    driver.event("beforeinput", FIELD, 1010, input_type="insertText", text="Ann", task=1)
    driver.event("input", FIELD, 1011, input_type="insertText", text="Ann", value="Ann", task=1)
    driver.event("idle", None, 1012, task=None)
    assert [type(step.action) for step in driver.wait(3000).steps] == [Click, Fill]


@pytest.mark.parametrize("cause", ["pointer", "key"])
def test_files_that_are_chosen_in_the_task_of_a_click_or_a_key_are_uploaded(
    driver: Driver, cause: str
) -> None:
    pointed(driver)
    if cause == "key":
        driver.event("keydown", FIELD, 1001, key="Tab", chord="Tab", printable=False, task=1)
    driver.event("input", FILES, 1005, task=1, cause=cause)
    files = [{"name": "a.txt", "size": 3, "mime": "text/plain"}]
    driver.event("change", FILES, 1005, task=1, cause=cause, control="file", files=files)
    assert UploadFile in [type(step.action) for step in driver.wait(3000).steps]
