"""The builders that we and our users test with."""

from __future__ import annotations

from pathlib import Path

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.testing import snapshot, trajectory
from replaykit.trajectory.action import Click, Goto
from replaykit.trajectory.completeness_proof import WITNESSES, Proof
from replaykit.trajectory.step import CHANNELS


def test_a_built_run_is_a_whole_bundle(tmp_path: Path) -> None:
    path = (
        trajectory("t9")
        .goto("http://shop.test/", "<h1>Mugs</h1><input id=q>")
        .fill("#q", "tin")
        .click("#go", "<p>One mug</p>", tag="button", text="Go")
        .answer("one")
        .write(tmp_path / "a.zst")
    )
    found = verify(path)
    assert found.gradable
    assert found.findings == ()
    with open_bundle(path) as bundle:
        assert [type(step.action).__name__ for step in bundle.trajectory.steps] == ["Goto", "Fill", "Click"]
        replay = Replay(bundle)
        assert replay.answer == "one"
        assert replay.final is not None
        assert replay.final.dom is not None
        assert replay.final.dom.text == "One mug"


def test_the_same_words_give_the_same_bytes(tmp_path: Path) -> None:
    paths = [
        trajectory("t").goto("http://a.test/", "<p>x</p>").screenshot().answer("y").write(tmp_path / name)
        for name in ("a.zst", "b.zst")
    ]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_journal_is_what_a_killed_recorder_leaves(tmp_path: Path) -> None:
    path = trajectory("t").goto("http://a.test/", "<p>x</p>").write(tmp_path / "a.zst", sealed=False)
    with open_bundle(path) as bundle:
        assert (bundle.layout, bundle.ending, len(bundle.trajectory.steps)) == ("journal", None, 1)


def test_a_step_actions_on_the_page_seen_before_it() -> None:
    run = trajectory().goto("http://a.test/", "<p>x</p>").click("#go").build()
    first, second = run.steps
    assert isinstance(first.action, Goto)
    assert first.before is None
    assert isinstance(second.action, Click)
    seen = run.after(first)
    assert second.before is not None
    assert seen is not None
    assert second.before.snapshot == seen.snapshot


def test_everything_is_recorded_by_default() -> None:
    assert {trajectory().build().channel(name) for name in CHANNELS} == {"recorded"}
    assert trajectory(channels={}).build().channel("actions") == "absent"
    assert trajectory().gap("actions").build().channel("actions") == "partial"


def test_a_page_made_from_text_reads_as_a_browser_would() -> None:
    dom = Dom(
        snapshot(
            "<title>T</title><h1>Head</h1><p hidden>never</p><ul><li>one</li><li>two</li></ul>"
            '<input id=q value=a data-live=\'{"value": "typed"}\'><select><option>x</option><option>y</option></select>',
            url="http://a.test/p",
        )
    )
    assert dom.url == "http://a.test/p"
    assert dom.title == "T"
    assert dom.text.split() == ["Head", "one", "two", "x", "y"]
    typed = dom.select("#q")
    assert typed is not None
    assert typed.value == "typed"
    assert typed.attribute("value") == "a"


def test_a_proven_run_owes_nothing(tmp_path: Path) -> None:
    path = trajectory("t").goto("http://a.test/", "<p>x</p>").proven().answer("y").write(tmp_path / "a.zst")
    with open_bundle(path) as bundle:
        assert bundle.trajectory.header.witnesses == WITNESSES
        assert tuple(proof.witness for proof in bundle.trajectory.of_type(Proof) if proof.closed) == WITNESSES
        assert bundle.trajectory.ending is not None
