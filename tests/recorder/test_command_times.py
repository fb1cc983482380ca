"""When the agent asked for something."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.witnesses.command_times import CommandTimes
from replaykit.recorder.session.witnesses import Commanded, ScriptAsked

MOMENTS = st.integers(0, 20).map(float)


@given(
    st.lists(st.tuples(MOMENTS, st.sampled_from([0, 1, None])), max_size=8), MOMENTS, MOMENTS | st.just(inf)
)
def test_a_tab_is_asked_by_commands_to_it_and_to_none(
    asked: list[tuple[float, int | None]], since: float, until: float
) -> None:
    times = CommandTimes()
    for at, page in sorted(asked, key=lambda one: one[0]):
        times.note_command(ScriptAsked(at=at, page=page, number=1))
    expected = any(since <= at < until and page in (0, None) for at, page in asked)
    assert times.asked_between(0, since, until) is expected


def test_commands_without_effect_on_a_page_do_not_count() -> None:
    times = CommandTimes()
    times.note_command(Commanded(at=1.0, kind="navigate", name="Page.navigate"))
    assert not times.asked_between(0, 0.0)
    times.note_command(Commanded(at=1.0, kind="input", name="Input.insertText"))
    assert times.asked_between(0, 0.0)


@pytest.mark.parametrize(("is_apart", "reaches"), [(True, False), (False, True)])
def test_only_a_script_in_the_page_s_own_world_reaches_other_tabs(is_apart: bool, reaches: bool) -> None:
    times = CommandTimes()
    times.note_command(Commanded(at=1.0, kind="input", name="Input.insertText", within=1))
    times.note_command(ScriptAsked(at=1.0, number=1, is_apart=is_apart, within=1))
    assert times.asked_between(1, 0.0)
    assert times.asked_between(0, 0.0) is reaches


def test_the_first_report_of_an_arrival_counts() -> None:
    times = CommandTimes()
    assert times.arrival("L") is None
    times.arrived("L", 5.0)
    times.arrived("L", 9.0)
    assert times.arrival("L") == 5.0
