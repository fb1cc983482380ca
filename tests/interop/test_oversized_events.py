"""Texts that are longer than a bundle takes cost their own ends, and no run."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import EVENT_MAX
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.interop.oversized_events import SHORTEST, cut, storable
from replaykit.interop.run_import import import_run
from replaykit.trajectory.action import Answer
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Step
from tests.interop.samples import run_jsonl, write

LONG = "tea " * (EVENT_MAX // 3)


def test_a_run_with_a_text_that_no_event_takes_is_imported(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in run_jsonl(tmp_path / "in").read_text().splitlines()]
    lines[0]["text"] = LONG
    lines[1]["text"] = lines[1]["reasoning"] = LONG
    path = write(tmp_path, "long.jsonl", "\n".join(map(json.dumps, lines)))
    done = import_run("run-jsonl", path, tmp_path / "run.zst")
    assert not verify(tmp_path / "run.zst").findings
    assert sum("longer than" in line for line in done.warnings) == 2
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert len(bundle.trajectory.steps) == 2
        assert bundle.trajectory.channel("actions") == "partial"
        thought = bundle.trajectory.steps[0].thought
        assert thought is not None and thought.startswith("tea tea") and "characters left out" in thought


def test_what_is_short_stays_as_it_is() -> None:
    for one in (
        Message(role="user", kind="say", text="tea"),
        Step(index=0, action=Answer(text="x" * (EVENT_MAX // 2))),
    ):
        assert storable(one) == (one, False)


def test_half_a_character_is_replaced() -> None:
    broken = Step(index=0, action=Answer(text="a\ud800b"), raw=["\udfff"])
    whole, is_cut = storable(broken)
    assert isinstance(whole, Step) and whole.action == Answer(text="a\ufffdb") and whole.raw == ["\ufffd"]
    assert not is_cut


def test_what_is_long_fits_then() -> None:
    long = Step(index=0, action=Answer(text=LONG), raw={"a": [LONG, "short"]}, thought=LONG)
    found, is_cut = storable(long)
    assert is_cut
    assert isinstance(found, Step) and len(msgspec.json.encode(found)) < EVENT_MAX
    assert found.raw["a"][1] == "short"


@given(st.text(max_size=50), st.integers(1, 60))
def test_a_cut_says_how_much_is_missing(text: str, kept: int) -> None:
    found = cut({"a": [text]}, kept)["a"][0]
    assert found == text if len(text) <= kept else f"[... {len(text) - kept} characters" in found
    assert kept < SHORTEST or found
