"""A run that ClawBench's own server recorded: a form with a list and a field of passwords that no name reveals.

`clawbench/` was written by clawbench-eval 0.11.0: events, requests and the interception by its runtime server in
a real browser, the metadata by its runner. One of nine screenshots is kept; two versions in the metadata are not.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from replaykit.interop.clawbench.clawbench_events import ClawbenchEvent, EventTarget, Gestures
from replaykit.interop.run_import import import_runs
from replaykit.trajectory.action import Click, Fill, Scroll, SelectOption
from replaykit.trajectory.exchange import Exchange, Imported
from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import clawbench, write
from tests.interop.test_flaws import everything

RUN = Path(__file__).parent / "clawbench"
TYPED = "tr0ub4dor&3"


def test_what_a_person_sees_is_what_was_done(imported: Importing) -> None:
    run = imported("clawbench", RUN).trajectory
    actions = [step.action for step in run.steps]
    assert list(map(type, actions)) == [Click, Fill, Click, Fill, Scroll, SelectOption, Click]
    name, size = actions[1], actions[5]
    assert isinstance(name, Fill) and name.value == "Zoë"
    assert isinstance(size, SelectOption) and size.values == ("big",)
    assert [len(step.raw) for step in run.steps] == [1, 6, 1, 25, 2, 2, 2]
    blocked = [one.url for one in run.of_type(Exchange) if one.error]
    assert blocked == ["http://127.0.0.1:8312/api/order"]


def test_no_part_of_the_password_stays(imported: Importing) -> None:
    kept = everything(imported("clawbench", RUN))
    assert not [at for at in range(2, len(TYPED)) if f'"{TYPED[:at]}"'.encode() in kept]
    assert TYPED.encode() in everything(imported("clawbench", RUN, keeps_secrets=True))


def test_what_the_benchmark_says_in_the_end_is_imported(imported: Importing) -> None:
    said = {one.file: one.value for one in imported("clawbench", RUN).trajectory.of_type(Imported)}
    assert said["run-meta.json"] == {"pass": True, "result_category": "intercepted"}
    assert said["data/interception.json"]["intercepted"] is True


def test_a_run_that_failed_before_its_browser_is_one(tmp_path: Path) -> None:
    meta = {
        "test_case": "v2-1", "harness": "openclaw", "instruction": "Order.", "result_category": "infra_failure",
        "infra_failure": True, "adjusted_eligible": False, "failure_reason": "infra_failure: no image",
    }  # fmt: skip
    write(tmp_path / "in/a", "run-meta.json", meta)
    write(tmp_path / "in/b", "run-meta.json", {"other": "tool"})
    shutil.copytree(RUN, tmp_path / "in/c")
    done = import_runs("clawbench", [tmp_path / "in"], tmp_path / "out")
    assert [Path(one.path).stem for one in done] == ["a", "c"]


@pytest.mark.parametrize(("field", "value"), [("adjusted_eligible", False), ("infra_failure", True)])
def test_a_run_that_the_benchmark_leaves_out_is_left_out(
    field: str, value: bool, tmp_path: Path, imported: Importing
) -> None:
    path = clawbench(tmp_path)
    meta = json.loads((path / "run-meta.json").read_text())
    write(path, "run-meta.json", {**meta, field: value, "failure_category": "api_or_credit"})
    ending = imported("clawbench", path).trajectory.ending
    assert ending is not None and (ending.validity, ending.cause) == ("other", "harness")


def events(*said: tuple[str, Any], tag: str = "INPUT", id: str = "a") -> list[Any]:
    target = EventTarget(tagName=tag, id=id, xpath=f"/{id}")
    return [(ClawbenchEvent(type=type, value=value, target=target, url="http://x.test/"), {"type": type, "value": value}) for type, value in said]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ([("click", "on"), ("input", "on"), ("change", "on")], [Click]),
        ([("click", ""), ("input", "tea"), ("change", "tea")], [Click, Fill]),
        ([("click", None), ("change", "x")], [Click]),
        ([("input", "tea"), ("click", "tea"), ("change", "tea")], [Fill, Click]),
        ([("input", "tea"), ("change", "coffee")], [Fill]),
        ([("change", "tea")], [Fill]),
    ],
)
def test_a_change_says_again_what_was_done(said: list[Any], kinds: list[Any]) -> None:
    found = list(Gestures(keeps_secrets=False).of(events(*said)))
    assert [type(one.action) for one in found] == kinds
    assert sum(len(one.raws) for one in found) == len(said)


def test_parts_of_a_password_are_masked_in_every_event() -> None:
    lines = events(("input", "se"), ("input", "secret"), id="password") + events(("input", "tea"))
    first, second = Gestures(keeps_secrets=False).of(lines)
    assert [raw["value"] for raw in first.raws] == [MASKED, MASKED]
    assert [raw["value"] for raw in second.raws] == ["tea"]
