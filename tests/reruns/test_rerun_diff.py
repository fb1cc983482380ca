"""Two runs beside each other: differences are listed by step and kind. No browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.replay.player import Replay
from replaykit.reruns.allowed_addresses import addresses
from replaykit.reruns.rerun_diff import GATED, KINDS, Rerun, RerunRow, compare_runs
from replaykit.reruns.rerun_plan import RerunInputs, plan_rerun
from replaykit.reruns.rerun_text import rerun_text
from replaykit.reruns.step_outcomes import Became, StepOutcome
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder
from replaykit.trajectory.action import Click, Element

OLD, NEW = "http://shop.test", "http://127.0.0.1:9000"
PLACES = addresses({}, url_map=[(OLD, NEW)])


def a_run(root: str, page: str = "<p>Paid</p>", name: str = "Pay", url: str = "/done") -> Builder:
    run = trajectory("t1").see(f"<p>{root}/</p><button id=a>Pay</button>", url=f"{root}/", role="start")
    element = Element(css="#a", role="button", name=name)
    # A step of the new run says which one it repeats.
    run.step(Click(element=element), raw=None if root == OLD else {"rerun": 0})
    return run.see(page, url=root + url)


def compared(then: Builder, now: Builder, folder: Path, outcome: StepOutcome | None = None) -> Rerun:
    paths = then.write(folder / "then.zst"), now.write(folder / "now.zst")
    with open_bundle(paths[0]) as before, open_bundle(paths[1]) as after:
        plan = plan_rerun(Replay(before), PLACES, RerunInputs())
        outcomes = [outcome or StepOutcome(step=0, state="done")]
        rows = compare_runs(Replay(before), Replay(after), plan, outcomes, PLACES)
    return Rerun(recorded="sha256:a", rerun="sha256:b", rows=rows)


def kinds(row: RerunRow) -> list[str]:
    return [one.kind for one in row.differences]


def test_the_same_run_elsewhere_is_the_same(tmp_path: Path) -> None:
    found = compared(a_run(OLD), a_run(NEW), tmp_path)
    assert found.diverges_at(KINDS) is None
    assert [row.text for row in found.rows] == ["same", "same"]
    assert found.rows[1].url == f"{NEW}/done"
    assert "1 of 1 step done, no divergence" in rerun_text(found, GATED)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (a_run(NEW, url="/failed"), ["url"]),
        (a_run(NEW, page="<p>Declined</p>"), ["text"]),
        (a_run(NEW, name="Buy"), ["target"]),
        (a_run(NEW).dialog("Really?", kind="confirm"), ["dialog"]),
    ],
    ids=["url", "text", "target", "dialog"],
)
def test_each_difference_has_its_kind(now: Builder, expected: list[str], tmp_path: Path) -> None:
    found = compared(a_run(OLD), now, tmp_path)
    assert kinds(found.rows[1]) == expected
    assert (found.diverges_at() is None) == (expected == ["text"])
    assert found.diverges_at(expected) is found.rows[1]


def test_lines_that_are_gone_and_new_are_shown(tmp_path: Path) -> None:
    found = compared(a_run(OLD), a_run(NEW, page="<p>Declined</p><p>Again</p>"), tmp_path)
    (text,) = found.rows[1].differences
    assert (text.before, text.after) == ("1 lines gone", "2 lines new")
    assert (text.gone, text.new) == (("Paid",), ("Declined", "Again"))


@pytest.mark.parametrize(
    ("state", "expected"),
    [("missing", ["target"]), ("changed", ["target"]), ("failed", ["action"]), ("refused", [])],
)
def test_a_step_that_was_not_done_says_so_and_is_not_compared(
    state: Became, expected: list[str], tmp_path: Path
) -> None:
    outcome = StepOutcome(step=0, state=state, why="it is \x1b[31mso\u202e", before="#a")
    found = compared(a_run(OLD), a_run(NEW, page="<p>Declined</p>"), tmp_path, outcome)
    assert kinds(found.rows[1]) == expected
    assert found.rows[1].text == "unknown"
    text = rerun_text(found, GATED)
    assert "\x1b" not in text and "\u202e" not in text
    assert "0 of 1 step done" in text
