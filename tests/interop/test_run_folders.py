"""Runs of ClawBench: events put together into actions, requests without responses, what the harness said."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.errors import InteropError
from replaykit.interop.run_import import import_run
from replaykit.trajectory.action import Click, Fill, KeyboardType, Press, Scroll, SelectOption, tag_of
from replaykit.trajectory.exchange import Exchange, Imported, Navigation
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import BOX, CLAW_START, claw_event, clawbench, png, write

AREA, BODY, PICK = "/html[1]/body[1]/div[2]", "/html[1]/body[1]", "/html[1]/body[1]/select[1]"


def test_events_are_put_together_into_actions(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("clawbench", clawbench(tmp_path))
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == [
        "click",
        "fill",
        "press",
        "fill",
        "scroll",
        "click",
    ]
    first, typed, enter, _, scrolled, last = (step.action for step in run.steps)
    assert isinstance(first, Click) and first.point == (31, 42) and first.element is not None
    assert first.element.xpath == BOX
    assert isinstance(typed, Fill) and typed.value == "ti" and len(run.steps[1].raw) == 6
    assert (
        isinstance(enter, Press)
        and enter.key == "Enter"
        and [one["type"] for one in run.steps[2].raw] == ["keydown", "submit"]
    )
    assert isinstance(scrolled, Scroll) and scrolled.dy == 800
    assert isinstance(last, Click) and last.element is not None and last.element.text == "Buy"
    assert [(one.url, one.step) for one in run.of_type(Navigation)] == [
        ("http://shop.test/", None),
        ("http://shop.test/", 5),
    ]
    assert [(one.of, one.shot_exact) for one in run.of_type(Observation) if one.role == "after"] == [
        (1, True),
        (5, True),
    ]
    assert run.header.task == {"id": "886-shop", "intent": "Order two tin mugs."}
    assert run.ending is not None and (run.ending.kind, run.ending.cause) == ("stopped", "harness")
    assert {name: run.channel(name) for name in ("actions", "urls", "network", "replies")} == {
        "actions": "partial", "urls": "partial", "network": "partial", "replies": "absent",
    }  # fmt: skip


def test_requests_have_no_responses_and_the_intercepted_one_was_blocked(
    tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("clawbench", clawbench(tmp_path))
    page, order = bundle.trajectory.of_type(Exchange)
    assert (page.method, page.resource, page.status, page.error, page.t) == (
        "GET",
        "document",
        None,
        None,
        250,
    )
    assert (order.method, order.error, order.status) == ("POST", "net::ERR_BLOCKED_BY_CLIENT", None)
    assert isinstance(order.post, str) and json.loads(bundle.blob(order.post)) == {
        "item": "tin mug",
        "count": 2,
    }
    assert [(one.kind, one.file) for one in bundle.trajectory.of_type(Imported)] == [
        ("outcome", "data/interception.json"), ("outcome", "run-meta.json"), ("judgement", "judge.json"),
    ]  # fmt: skip


def test_a_form_is_written_again_as_it_was_sent(tmp_path: Path, imported: Importing) -> None:
    path = clawbench(tmp_path)
    row = {"timestamp": 1_772_442_001, "url": "http://shop.test/f", "method": "POST", "resource_type": "Document",
           "headers": {"content-type": "application/x-www-form-urlencoded; charset=UTF-8"},
           "body": {"a": "1 2", "b": ["x", "y"]}}  # fmt: skip
    write(path, "data/requests.jsonl", json.dumps(row) + "\n")
    bundle = imported("clawbench", path)
    (sent,) = bundle.trajectory.of_type(Exchange)
    assert isinstance(sent.post, str) and bundle.blob(sent.post) == b"a=1+2&b=x&b=y"


def test_a_password_typed_key_by_key_is_nowhere(tmp_path: Path, imported: Importing) -> None:
    events = [claw_event("keydown", at, BOX, id="user-password", key=key, value="Xy7-quartz"[:at])
              for at, key in enumerate("Xy7-quartz")]  # fmt: skip
    events.append(claw_event("keyup", 99, BOX, id="user-password", key="z", value="Xy7-quartz"))
    bundle = imported("clawbench", clawbench(tmp_path, *events))
    text = b"".join(bundle.lines).decode()
    assert "Xy7" not in text and '"key":"q"' not in text and len(bundle.trajectory.steps[0].raw) == 11
    kept = imported("clawbench", clawbench(tmp_path / "b", *events), keeps_secrets=True)
    assert kept.trajectory.steps[0].action.value == "Xy7-quartz"


GESTURES: list[tuple[list[dict[str, Any]], list[Any]]] = [
    ([claw_event("keydown", 1, AREA, key="h"), claw_event("keydown", 2, AREA, key="i")], ["keyboard_type:hi"]),
    ([claw_event("keydown", 1, BODY, key="Control"), claw_event("keydown", 2, BODY, key="a"),
      claw_event("keyup", 3, BODY, key="a"), claw_event("keyup", 4, BODY, key="Control")], ["press:Control+a"]),
    ([claw_event("keydown", 1, BODY, key="Alt"), claw_event("keyup", 2, BODY, key="Alt")], ["press:Alt"]),
    ([claw_event("keydown", 1, BODY, key="Meta")], ["press:Meta"]),
    ([claw_event("change", 1, PICK, value="red")], ["select_option:('red',)"]),
    ([claw_event("click", 1, BOX, x=1, y=1, value="on"), claw_event("change", 2, BOX, value="on")], ["click"]),
    ([claw_event("change", 1, BOX, value="by script")], ["fill:by script"]),
    ([claw_event("input", 1, BOX, value="a"), claw_event("input", 2, AREA, value="b")], ["fill:a", "fill:b"]),
    ([claw_event("submit", 1, BODY)], ["submit"]),
    ([claw_event("wheelzoom", 1, BODY)], ["wheelzoom"]),
    ([claw_event("keydown", 1, BOX, key="a", value=""), claw_event("keydown", 2, BOX, key="Tab", value="a")],
     ["fill:", "press:Tab"]),
]  # fmt: skip


@pytest.mark.parametrize(("events", "expected"), GESTURES)
def test_gestures(
    events: list[dict[str, Any]], expected: list[str], tmp_path: Path, imported: Importing
) -> None:
    found = []
    for step in imported("clawbench", clawbench(tmp_path, *events)).trajectory.steps:
        match step.action:
            case Fill() | KeyboardType():
                found.append(f"{tag_of(step.action)}:{step.action.value}")
            case Press():
                found.append(f"press:{step.action.key}")
            case SelectOption():
                found.append(f"select_option:{step.action.values}")
            case _:
                found.append(tag_of(step.action))
    assert found == expected


@given(st.lists(st.sampled_from([event for events, _ in GESTURES for event in events]), max_size=30))
def test_no_event_is_lost(events: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = clawbench(Path(name) / "in")
        write(path, "data/actions.jsonl", "".join(json.dumps(one) + "\n" for one in events))
        import_run("clawbench", path, Path(name) / "run.zst")
        with open_bundle(Path(name) / "run.zst") as bundle:
            assert sum(len(step.raw) for step in bundle.trajectory.steps) == len(events)


@given(st.data())
def test_damaged_lines_cost_no_run(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = clawbench(Path(name) / "in")
        file = path / data.draw(
            st.sampled_from(["data/actions.jsonl", "data/requests.jsonl", "data/agent-messages.jsonl"])
        )
        lines = file.read_text().splitlines()
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at] = data.draw(
            st.sampled_from(["{", "[]", "5", '{"type": 5}', '{"url": null}', '"x"', "\ud83d"[:0] + "{}"])
        )
        file.write_text("\n".join(lines) + "\n")
        import_run("clawbench", path, Path(name) / "run.zst")
        assert verify(Path(name) / "run.zst").findings == ()
        with open_bundle(Path(name) / "run.zst") as bundle:
            assert bundle.trajectory.steps and bundle.trajectory.channel("actions") == "partial"


@pytest.mark.parametrize(
    ("recorded", "kind", "validity"),
    [
        ({"intercepted": False, "stop_reason": "time_limit_exceeded"}, "timeout", "valid"),
        ({"intercepted": False, "stop_reason": "agent_exited"}, "answered", "valid"),
        ({"intercepted": False, "stop_reason": "chrome_cdp_timeout"}, "crashed", "other"),
        ({"intercepted": False, "stop_reason": "proxy_failed"}, "crashed", "other"),
        ([], "answered", "valid"),
    ],
)
def test_endings(recorded: Any, kind: str, validity: str, tmp_path: Path, imported: Importing) -> None:
    path = clawbench(tmp_path)
    write(path, "data/interception.json", recorded)
    ending = imported("clawbench", path).trajectory.ending
    assert ending is not None and (ending.kind, ending.validity) == (kind, validity)


@pytest.mark.parametrize(
    "name", ["run-meta.json", "data/interception.json", "eval-schema.json", "judge.json"]
)
def test_a_side_file_that_is_broken_costs_itself_alone(name: str, tmp_path: Path) -> None:
    path = clawbench(tmp_path / "in")
    (path / name).write_text("{")
    done = import_run("clawbench", path, tmp_path / "run.zst")
    assert len([line for line in done.warnings if "unreadable" in line]) == 1


def test_screenshots_named_by_their_own_time_belong_to_the_event_before(
    tmp_path: Path, imported: Importing
) -> None:
    path = clawbench(
        tmp_path, claw_event("click", 0, BOX, x=1, y=1), claw_event("click", 5000, BOX, x=2, y=2)
    )
    for file in (path / "data/screenshots").iterdir():
        file.unlink()
    for at in (40, 3000):
        write(path, f"data/screenshots/{CLAW_START + at}.png", png(at))
    seen = imported("clawbench", path).trajectory.of_type(Observation)
    assert [(one.role, one.of, one.shot_exact) for one in seen] == [
        ("after", 0, False), ("unaligned", None, False), ("final", None, True),
    ]  # fmt: skip


def test_a_run_without_requests_or_without_anything_done(tmp_path: Path, imported: Importing) -> None:
    path = clawbench(tmp_path)
    (path / "data/requests.jsonl").unlink()
    (path / "data/actions.jsonl").unlink()
    run = imported("clawbench", path).trajectory
    assert run.steps == () and run.channel("network") == "absent" and run.channel("actions") == "partial"
    (path / "run-meta.json").unlink()
    with pytest.raises(InteropError, match=r"expected run-meta\.json beside data/actions\.jsonl"):
        import_run("clawbench", path, tmp_path / "run.zst")
