"""Events of scripts that are no actions: which of them a recording keeps, and how many."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.session import page_events
from replaykit.recorder.session.witnesses import Commanded
from replaykit.trajectory.action import Element
from replaykit.trajectory.exchange import Gap, ScriptEvent

BUTTON = Element(tag="button", css="#pay", text="Pay")


def made(driver: Any) -> list[tuple[str, str | None]]:
    return [(one.name, one.key) for one in driver.of(ScriptEvent)]


@pytest.mark.parametrize(
    ("name", "more", "kept"),
    [
        ("click", {"cause": "page"}, [("click", None)]),
        ("click", {"cause": "driver"}, []),
        ("click", {"cause": "page", "trusted": True}, []),
        ("change", {"cause": "page"}, []),
        ("mousedown", {"cause": "driver"}, [("mousedown", None)]),
        ("keydown", {"cause": "page", "key": "Enter"}, [("keydown", "Enter")]),
        ("keydown", {"cause": "", "key": "Enter", "trusted": True}, []),
    ],
)
def test_events_that_are_no_actions_are_kept(
    name: str, more: dict[str, Any], kept: list[Any], driver: Any
) -> None:
    driver.event(name, BUTTON, **{"trusted": False, **more})
    assert made(driver.wait(3000)) == kept


@pytest.mark.parametrize("name", ["pointerdown", "pointerup", "keydown", "mousedown", "dblclick"])
def test_an_event_that_a_script_dispatched_is_no_action(name: str, driver: Any) -> None:
    driver.event(name, BUTTON, trusted=False, cause="driver", key="Enter", point=[1, 1], button=0)
    assert driver.wait(3000).steps == []


def test_one_is_kept_of_each_kind_between_two_commands(driver: Any) -> None:
    for _ in range(3):
        driver.event("click", BUTTON, trusted=False, cause="page")
    driver.event("mousedown", BUTTON, trusted=False, cause="page")
    driver.feed(Commanded(at=driver.now, kind="script", name="evaluateExpression"))
    driver.event("click", BUTTON, trusted=False, cause="page")
    assert [name for name, _ in made(driver)] == ["click", "mousedown", "click"]


def test_too_many_are_counted_by_a_gap(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_events, "SCRIPT_EVENTS_MAX", 3)
    for number in range(5):
        driver.event("click", Element(tag="button", css=f"#b{number}"), trusted=False, cause="page")
    assert len(made(driver.end())) == 3
    (gap,) = (one for one in driver.of(Gap) if one.why == "flood")
    assert (gap.channel, gap.count) == ("actions", 2)
