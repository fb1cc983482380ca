from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.session.driver_messages import MAIN
from replaykit.recorder.session.observations.changed_without_event import CHANGES_MAX, FieldChanges
from tests.recorder.test_snapshot_history import AD, shown

PHONE = ("#phone", "", "555")


def snapshot(at: float, *rows: tuple[str, str, str], **more: Any) -> Any:
    return shown("main", at, changed=rows, **more)


def test_a_change_is_recorded_once_with_the_next_observation() -> None:
    changes = FieldChanges()
    for one in (snapshot(10, PHONE), snapshot(20)):
        changes.take(one)
    assert changes.until(snapshot(20), 25) == (PHONE,)
    assert changes.until(snapshot(30), 30) == ()


def test_the_same_look_made_twice_has_the_same_changes() -> None:
    changes = FieldChanges()
    changes.take(snapshot(10, PHONE))
    look = snapshot(20)
    assert changes.until(look, 20) == changes.until(look, 20) == (PHONE,)


def test_a_path_of_another_document_leads_nowhere_on_the_page() -> None:
    changes = FieldChanges()
    changes.take(snapshot(10, PHONE, source=AD))
    changes.take(snapshot(11, PHONE, document=0))
    found = changes.until(snapshot(20, source=MAIN, document=1), 20)
    assert found == (("iframe >>> #phone", "", "555"), ("left >>> #phone", "", "555"))


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_every_change_is_recorded_in_one_observation_at_least(looks: list[tuple[int, bool]]) -> None:
    changes, at = FieldChanges(), 0.0
    recorded: list[tuple[str, str, str]] = []
    for number, (later, is_observed) in enumerate(looks):
        at += 1 + later
        changes.take(snapshot(at, (f"#f{number}", "", "x")))
        recorded += changes.until(snapshot(at), at) if is_observed else ()
    recorded += changes.until(snapshot(at + 1), at + 1)
    assert {row[0] for row in recorded} == {f"#f{number}" for number in range(len(looks))}


def test_memory_is_bounded() -> None:
    changes = FieldChanges()
    for number in range(3 * CHANGES_MAX):
        changes.take(snapshot(number, PHONE, (f"#{number}", "", "")))
    assert len(changes.until(snapshot(1000), 1000)) <= CHANGES_MAX
