"""Version 3 of Playwright's traces, which releases 1.15 to 1.31 write: calls whole in one event, no calls begun.

The two files were written by playwright-core 1.16.3 and 1.31.2 from one script of fourteen actions, with headless
Chromium; their screencast frames are taken out, and the script's path is its name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import Bundle
from replaykit.errors import UnsupportedVersion
from replaykit.replay.player import Replay
from replaykit.snapshot.codec import decode
from replaykit.trajectory.action import Click, Fill, Goto, tag_of
from replaykit.trajectory.exchange import Console, Dialog, Exchange, TabChange
from tests.interop.conftest import Importing
from tests.interop.samples import trace, unpacked

RELEASES = ("1.16.3", "1.31.2")
EVERY = pytest.mark.parametrize("release", RELEASES)


def file_of(release: str) -> Path:
    return Path(__file__).with_name(f"trace-{release}.zip")


def events_of(release: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in unpacked(file_of(release))["trace.trace"].splitlines()]


@EVERY
def test_a_trace_of_a_real_release(release: str, imported: Importing) -> None:
    bundle = imported("playwright-trace", file_of(release))
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == [
        "new_tab", "goto", "fill", "fill", "check", "select_option", "click", "click", "handle_dialog",
        "keyboard_type", "evaluateExpression", "click", "click", "go_back",
    ]  # fmt: skip
    go, name, password = (step.action for step in run.steps[1:4])
    assert go == Goto(url="http://shop.test/") and isinstance(name, Fill) and name.value == "Ann"
    assert isinstance(password, Fill) and password.value == "⟦masked⟧"
    everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
    assert b"hunter22secret" not in everything
    missing = run.steps[12]
    assert missing.error is not None and missing.error.message.startswith("Timeout 300ms exceeded")
    assert run.steps[7].log and "attempting click action" in run.steps[7].log
    times = [step.t for step in run.steps]
    assert times[0] == 0 and None not in times
    assert [step.end is not None for step in run.steps] == [True] * len(times)


@EVERY
def test_targets_are_the_elements_of_the_snapshots(release: str, imported: Importing) -> None:
    steps = imported("playwright-trace", file_of(release)).trajectory.steps
    aimed = [step.action.element for step in steps[2:8]]
    assert [one and one.tag for one in aimed] == ["input", "input", "input", "select", "b", "button"]
    assert all(one is not None and one.node is not None for one in aimed)
    inner = aimed[4]
    assert inner is not None and inner.text == "Inside"
    buy = steps[7].action
    assert isinstance(buy, Click) and buy.point is not None and buy.element is not None
    assert buy.element.text == "Buy"


@EVERY
def test_pages_dialogs_consoles_and_requests(release: str, imported: Importing) -> None:
    bundle = imported("playwright-trace", file_of(release))
    run = bundle.trajectory
    (dialog,) = run.of_type(Dialog)
    assert (dialog.kind, dialog.message, dialog.accepted, dialog.page) == ("confirm", "Sure?", True, 0)
    assert [one.text for one in run.of_type(Console)] == ["hello", "bought", "hello", "hello"]
    assert [one.state for one in run.of_type(TabChange)] == ["opened"]
    asked = run.of_type(Exchange)
    assert [one.url for one in asked] == ["http://shop.test/", "http://shop.test/two", "http://shop.test/"]
    assert [one.t for one in asked] == sorted(one.t or 0 for one in asked)
    assert b"<h1>Shop</h1>" in bundle.blob(str(asked[0].body))
    final = Replay(bundle).final
    assert final is not None and final.url == "http://shop.test/" and final.dom is not None
    assert final.dom.select("#name") is not None
    for name in ("actions", "network", "console", "dialogs"):
        assert run.channel(name) == "recorded", name


@EVERY
def test_live_values_are_those_of_the_page(release: str, imported: Importing) -> None:
    bundle = imported("playwright-trace", file_of(release))
    before = bundle.trajectory.steps[9].before
    assert before is not None
    page = decode(bundle.blob(str(before.snapshot)))
    (row,) = [
        row for row, flat in page.attributes.items() if "id" in flat and flat[flat.index("id") + 1] == "name"
    ]
    flat, state = page.attributes[row], page.state.get(row)
    said = dict(zip(flat[::2], flat[1::2], strict=True)).get("value")
    # Releases before 1.20 wrote the live value into the attribute.
    assert "Ann" in (said, state and state.value)


def test_a_release_without_wall_times_begins_at_its_first_event(imported: Importing) -> None:
    run = imported("playwright-trace", file_of("1.16.3")).trajectory
    assert run.header.created is None and run.header.clock == "source"
    assert imported("playwright-trace", file_of("1.31.2")).trajectory.header.created is not None


def test_what_the_tracer_does_itself_is_counted_and_no_step(tmp_path: Path, imported: Importing) -> None:
    events = events_of("1.31.2")
    call = next(one for one in events if one["type"] == "action")
    inner = {**call, "metadata": {**call["metadata"], "id": "call@99", "internal": True}}
    bundle: Bundle = imported("playwright-trace", trace(tmp_path, [*events, inner]))
    assert len(bundle.trajectory.steps) == 14
    source = bundle.header.source
    assert source is not None
    left = source.extra["left_out"]
    assert (
        isinstance(left, dict)
        and left["*.trace internal call"] == 1
        and left["*.trace call of the tracer"] == 1
    )


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_versions_are_refused_with_what_to_do(
    version: int, tmp_path: Path, imported: Importing
) -> None:
    head, *others = events_of("1.16.3")
    with pytest.raises(UnsupportedVersion, match="expected 3 to 10") as found:
        imported("playwright-trace", trace(tmp_path, [{**head, "version": version}, *others]))
    assert found.value.fields["advice"] == "Record with Playwright 1.15 or newer."
