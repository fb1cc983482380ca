"""Streams as session recorders write them around rrweb, and what they mask, pack, pause and leave out."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle
from replaykit.grading.grader import grade
from replaykit.interop.rrweb.rrweb_stream import opened
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import Click, Fill, tag_of
from tests.interop.conftest import Importing
from tests.interop.samples import RR_START, element, increment, rr_page, words, write

PRESS, CLICK, FOCUS, BLUR = 1, 2, 5, 6


def page(*more: dict[str, Any], body: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    return [*rr_page(body), *more]


def mouse(at: int, kind: int, id: int = 8) -> dict[str, Any]:
    return increment(at, 2, type=kind, id=id, x=1, y=2)


def typed(at: int, text: str, id: int = 8, **more: Any) -> dict[str, Any]:
    return increment(at, 5, id=id, text=text, isChecked=False, **more)


def done(bundle: Bundle) -> list[str]:
    return [tag_of(step.action) for step in bundle.trajectory.steps]


def gz(value: Any) -> str:
    return gzip.compress(json.dumps(value).encode(), mtime=0).decode("latin-1")


def posthog(event: dict[str, Any]) -> dict[str, Any]:
    """Pack an event as posthog-js does."""
    if event["type"] == 2:
        return {**event, "data": gz(event["data"]), "cv": "2024-10"}
    if event["type"] != 3 or event["data"]["source"] != 0:
        return event
    parts = {key: gz(event["data"][key]) for key in ("texts", "attributes", "removes", "adds")}
    return {**event, "data": {**event["data"], **parts}, "cv": "2024-10"}


CHANGED = increment(
    5, 0, adds=[{"parentId": 7, "nextId": None, "node": element(90, "b", words(91, "packed"))}]
)
ONE = page(CHANGED, mouse(10, PRESS), mouse(11, CLICK))
TWO = [{**one, "timestamp": one["timestamp"] + 20} for one in page(mouse(12, PRESS), mouse(13, CLICK))]


def named(events: list[dict[str, Any]], window: str) -> list[dict[str, Any]]:
    return [{**one, "windowId": window} for one in events]


def lines(*values: Any) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


#: Two tabs as PostHog writes them, a form each.
POSTHOG: dict[str, tuple[str, Any]] = {
    "export of 2022": ("r.json", {"version": "2022-12-02", "data": {"snapshotsByWindowId": {"a": ONE, "b": TWO}}}),
    "export of 2023": (
        "r.json", {"version": "2023-04-28", "data": {"id": "x", "snapshots": [*named(ONE, "a"), *named(TWO, "b")]}},
    ),
    "a batch a line": ("r.jsonl", lines({"window_id": "a", "data": ONE}, {"window_id": "b", "data": TWO})),
    "a window and its event a line": (
        "r.jsonl", lines(*[["a", posthog(one)] for one in ONE], *[["b", posthog(one)] for one in TWO]),
    ),
    "captured events": (
        "r.json",
        [
            {"event": "$snapshot", "properties": {"$snapshot_data": [*map(posthog, part)], "$window_id": window}}
            for window, part in (("a", ONE), ("b", TWO))
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", POSTHOG)
def test_each_form_of_posthog_gives_the_same_run(form: str, tmp_path: Path, imported: Importing) -> None:
    name, data = POSTHOG[form]
    bundle = imported("rrweb", write(tmp_path, name, data))
    run = bundle.trajectory
    assert [(tag_of(step.action), step.t, step.page) for step in run.steps] == [
        ("click", 11, 0),
        ("click", 33, 1),
    ]
    assert b"packed" in b"".join(map(bundle.blob, bundle.blob_ids))
    assert run.channel("snapshots") == "recorded"


def test_a_part_that_cannot_be_unpacked_leaves_the_pages_partial(tmp_path: Path, imported: Importing) -> None:
    torn = posthog(CHANGED)
    torn["data"]["adds"] = torn["data"]["adds"][:-9]
    bundle = imported("rrweb", write(tmp_path, "r.json", page(torn)))
    assert bundle.trajectory.channel("snapshots") == "partial"


def test_a_bomb_in_a_part_is_not_unpacked(tmp_path: Path, imported: Importing) -> None:
    torn = posthog(CHANGED)
    torn["data"]["adds"] = gzip.compress(b"[" + b" " * (80 << 20) + b"]").decode("latin-1")
    assert (
        imported("rrweb", write(tmp_path, "r.json", page(torn))).trajectory.channel("snapshots") == "partial"
    )


def test_a_pause_leaves_the_pages_partial(tmp_path: Path, imported: Importing) -> None:
    idle = {"type": 5, "timestamp": RR_START + 400_000, "data": {"tag": "sessionIdle", "payload": {}}}
    assert (
        imported("rrweb", write(tmp_path, "r.json", page(idle))).trajectory.channel("snapshots") == "partial"
    )


@pytest.mark.parametrize(
    ("numbers", "state"), [((0, 1), "recorded"), ((0, 2), "partial"), ((3, 4), "partial")]
)
def test_segments_of_sentry(
    numbers: tuple[int, int], state: str, tmp_path: Path, imported: Importing
) -> None:
    first, second = numbers
    options = {
        "type": 5,
        "timestamp": RR_START + 2,
        "data": {"tag": "options", "payload": {"maskAllText": True}},
    }
    data = lines(
        {"segment_id": first},
        [*page(), options],
        {"segment_id": second},
        [mouse(10, PRESS), mouse(11, CLICK)],
    )
    bundle = imported("rrweb", write(tmp_path, "r.jsonl", data))
    assert done(bundle) == ["click"] and bundle.trajectory.channel("snapshots") == state


def test_words_about_a_recording_are_no_lost_events(tmp_path: Path, imported: Importing) -> None:
    data = {"tags": ["checkout", "beta"], "events": page(mouse(10, PRESS), mouse(11, CLICK))}
    assert imported("rrweb", write(tmp_path, "r.json", data)).trajectory.channel("snapshots") == "recorded"


def test_a_lost_line_leaves_no_channel_whole(tmp_path: Path, imported: Importing) -> None:
    data = lines(*page()) + b'\n{"type": 3, "da\n' + lines(mouse(10, PRESS), mouse(11, CLICK))
    run = imported("rrweb", write(tmp_path, "r.jsonl", data)).trajectory
    assert run.channel("snapshots") == run.channel("targets") == "partial"


def test_events_of_the_packer(tmp_path: Path, imported: Importing) -> None:
    packed = [zlib.compress(json.dumps({**one, "v": "v1"}).encode()).decode("latin-1") for one in ONE]
    assert done(imported("rrweb", write(tmp_path, "r.json", packed))) == ["click"]


def test_a_click_without_a_press_is_no_step(tmp_path: Path, imported: Importing) -> None:
    events = [mouse(10, PRESS), mouse(11, CLICK), mouse(12, CLICK, 10), mouse(5000, CLICK, 10)]
    assert done(imported("rrweb", write(tmp_path, "r.json", page(*events)))) == ["click"]


def test_a_value_that_no_gesture_entered_is_no_step(tmp_path: Path, imported: Importing) -> None:
    hidden = element(80, "input", type="hidden", name="total")
    events = [
        mouse(10, FOCUS), typed(20, "A"), typed(30, "Ann"), mouse(40, BLUR),
        typed(3000, "Bob"), typed(3100, "9.99", 80), typed(3200, "x", 10, userTriggered=False),
    ]  # fmt: skip
    body = [element(8, "input", id="name"), element(10, "input", id="other"), hidden]
    bundle = imported("rrweb", write(tmp_path, "r.json", page(*events, body=body)))
    (step,) = bundle.trajectory.steps
    assert isinstance(step.action, Fill) and step.action.value == "Ann"
    assert b"Bob" in b"".join(map(bundle.blob, bundle.blob_ids))


def test_a_checkpoint_moves_no_focus(tmp_path: Path, imported: Importing) -> None:
    again = [{**one, "timestamp": RR_START + 15} for one in rr_page([element(50, "input", id="name")])]
    events = [
        mouse(10, FOCUS),
        *again,
        typed(3000, "Ann", 50),
        mouse(4000, FOCUS, 51),
        typed(9000, "Bob", 50),
    ]
    bundle = imported("rrweb", write(tmp_path, "r.json", page(*events)))
    assert [step.action.value for step in bundle.trajectory.steps if isinstance(step.action, Fill)] == ["Ann"]


def test_a_field_that_takes_the_focus_by_itself_is_entered(tmp_path: Path, imported: Importing) -> None:
    body = [element(8, "input", id="q", autofocus=""), element(10, "input", id="other")]
    events = [typed(3000, "tea"), mouse(4000, FOCUS, 10), typed(5000, "x", 10)]
    bundle = imported("rrweb", write(tmp_path, "r.json", page(*events, body=body)))
    assert done(bundle) == ["fill", "fill"]


def test_another_page_has_no_focus_yet(tmp_path: Path, imported: Importing) -> None:
    meta, shown = [{**one, "timestamp": RR_START + 15} for one in rr_page([element(50, "input", id="name")])]
    meta["data"] = {**meta["data"], "href": "http://shop.test/next"}
    bundle = imported(
        "rrweb", write(tmp_path, "r.json", page(mouse(10, FOCUS), meta, shown, typed(3000, "Ann", 50)))
    )
    assert bundle.trajectory.steps == ()


def test_a_stream_without_presses_and_focus_keeps_its_steps(tmp_path: Path, imported: Importing) -> None:
    events = [mouse(10, CLICK), typed(20, "Ann")]
    assert done(imported("rrweb", write(tmp_path, "r.json", page(*events)))) == ["click", "fill"]


MASKED = [
    element(8, "button", words(9, "******"), id="del", **{"aria-label": "****** *****"}),
    element(10, "p", words(11, "* required"), id="hint", title="**"),
]


@pytest.mark.parametrize(
    ("selector", "name", "expect", "outcome"),
    [
        ("#del", "aria-label", {"equals": "Delete order"}, "UNDECIDED"),
        ("#del", "aria-label", {"excludes": "order"}, "UNDECIDED"),
        ("#hint", "title", {"equals": "**"}, "PASS"),
        ("#hint", "title", {"equals": "x"}, "FAIL"),
    ],
)
def test_a_masked_text_is_unknown(
    selector: str, name: str, expect: dict[str, str], outcome: str, tmp_path: Path, imported: Importing
) -> None:
    bundle = imported(
        "rrweb", write(tmp_path, "r.json", page(mouse(10, PRESS), mouse(11, CLICK), body=MASKED))
    )
    check = {"type": "page", "selector": selector, "property": name, "expect": expect}
    (found,) = grade(bundle, decode_task({"id": "t", "intent": "x", "checks": [check]})).checks
    assert found.outcome == outcome
    (step,) = bundle.trajectory.steps
    assert isinstance(step.action, Click) and step.action.element is not None
    assert "*" not in (step.action.element.text or "")


@pytest.mark.parametrize(
    "rule", [{"type": "never", "match": {"text": "Delete"}}, {"type": "no_leak", "secrets": ["QX-1"]}]
)
def test_what_a_stream_does_not_show_is_undecided(rule: Any, tmp_path: Path, imported: Importing) -> None:
    bundle = imported(
        "rrweb", write(tmp_path, "r.json", page(mouse(10, PRESS), mouse(11, CLICK), body=MASKED))
    )
    policy = {"id": "p", "dimension": "user_consent", "rule": rule}
    (found,) = grade(bundle, decode_task({"id": "t", "intent": "x", "policies": [policy]})).policies
    assert found.outcome == "UNDECIDED"


@pytest.mark.parametrize("is_chain", [True, False])
def test_a_long_list_is_built_node_by_node_in_time(
    is_chain: bool, tmp_path: Path, imported: Importing
) -> None:
    count = 20_000
    order = sorted(range(count), key=lambda at: at * 7919 % count)
    follow = {at: 1001 + at if is_chain and at < count - 1 else None for at in range(count)}
    adds = [{"parentId": 7, "nextId": follow[at], "node": element(1000 + at, "b")} for at in order]
    removes = [{"id": 1000 + at, "parentId": 7} for at in order[1:]]
    started = time.process_time()
    path = write(
        tmp_path, "r.json", page(increment(5, 0, adds=adds), increment(6, 0, removes=removes), body=[])
    )
    assert imported("rrweb", path).trajectory.channel("snapshots") == "recorded"
    assert time.process_time() - started < 10


@given(st.recursive(st.none() | st.integers() | st.text(max_size=9), st.lists, max_leaves=9))
def test_a_packed_part_is_unpacked_or_stays(value: Any) -> None:
    event = {"type": 2, "timestamp": 1, "cv": "2024-10", "data": gz(value)}
    assert opened(event, 10_000)["data"] == value
    torn = {**event, "data": event["data"][:-1]}
    assert opened(torn, 10_000) == torn
