"""Steps of a run that are repeated, skipped, or refused. No browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import UsageError
from replaykit.replay.player import Replay
from replaykit.reruns.allowed_addresses import addresses
from replaykit.reruns.rerun_plan import Move, RerunInputs, RerunPlan, plan_rerun
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder
from replaykit.trajectory import action as actions
from replaykit.trajectory.step import Threw

ROOT = "http://shop.test"
PLACES = addresses({}, url_map=[(ROOT, "http://127.0.0.1:9000")])


def begun() -> Builder:
    return trajectory("t1").see("<button id=a>Pay</button>", url=f"{ROOT}/", role="start")


def planned(run: Builder, folder: Path, **given: Any) -> RerunPlan:
    with open_bundle(run.write(folder / f"{len(list(folder.glob('*')))}.zst")) as bundle:
        return plan_rerun(Replay(bundle), PLACES, RerunInputs(**given))


def only(run: Builder, folder: Path, **given: object) -> Move:
    (move,) = planned(run, folder, **given).moves
    return move


def test_actions_are_planned_with_live_addresses(tmp_path: Path) -> None:
    plan = planned(begun().click("#a").goto(f"{ROOT}/orders", "<p>o</p>"), tmp_path)
    assert plan.start == ("http://127.0.0.1:9000/",)
    assert [move.step for move in plan.moves] == [0, 1]
    assert [type(move.actions[0]) for move in plan.moves] == [actions.Click, actions.Goto]
    assert plan.moves[1].actions[0] == actions.Goto(url="http://127.0.0.1:9000/orders")
    assert plan.moves[1].leads_to == "http://127.0.0.1:9000/orders"


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (actions.Answer(text="42"), "words to the user"),
        (actions.SendMsgToUser(text="hello"), "words to the user"),
        (actions.Wait(ms=10), "nothing to do"),
        (actions.ToolCall(name="bash", arguments={"command": "rm -rf /"}), "no action in the browser"),
    ],
)
def test_what_is_no_action_in_the_browser_is_passed_over(
    action: actions.Action, words: str, tmp_path: Path
) -> None:
    move = only(begun().step(action), tmp_path)
    assert move.actions == () and words in str(move.skipped)


def test_what_failed_then_is_passed_over(tmp_path: Path) -> None:
    failed = begun().step(actions.Click(element=actions.Element(css="#a")), error=Threw(name="TimeoutError"))
    assert "did not succeed" in str(only(failed, tmp_path).skipped)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (actions.Goto(url="http://evil.test/"), "no root covers"),
        (actions.Goto(url="javascript:alert(1)"), "no root covers"),
        (actions.NewTab(url="file:///etc/passwd"), "no root covers"),
        (actions.UploadFile(files=(actions.FileInfo(name="a.csv"),)), "--upload 0=FILE"),
        (actions.Unknown(name="evaluate", raw="alert(1)"), "not known: 'evaluate'"),
        (actions.Fill(element=actions.Element(css="#p"), value="⟦masked⟧"), "--fill"),
        (actions.Type(element=actions.Element(css="#p"), value="x⟦secret:KEY⟧"), "--secret-env"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_reason(
    action: actions.Action, words: str, tmp_path: Path
) -> None:
    move = only(begun().step(action), tmp_path)
    assert words in str(move.refused)
    assert move.actions == ()


def test_texts_that_were_taken_out_are_given(tmp_path: Path) -> None:
    run = begun().fill("#p", "⟦masked⟧").type("#q", "k=⟦secret:KEY⟧")
    moves = planned(run, tmp_path, secrets={"KEY": "hush"}, texts={0: "harbour-42"}).moves
    assert [getattr(move.actions[0], "value", None) for move in moves] == ["harbour-42", "k=hush"]
    with pytest.raises(UsageError, match="nothing was entered in step 7"):
        planned(run, tmp_path, texts={7: "x"})


def test_a_secret_within_another_is_entered_once(tmp_path: Path) -> None:
    run = begun().type("#q", "⟦secret:B⟧⟦secret:A⟧").type("#q", "⟦secret:A⟧-⟦secret:A⟧")
    moves = planned(run, tmp_path, secrets={"A": "hush", "B": "hush-22"}).moves
    assert [getattr(move.actions[0], "value", None) for move in moves] == ["hush-22", "hush-hush"]


def test_a_tool_that_acted_in_the_browser_is_done_by_its_actions(tmp_path: Path) -> None:
    tool = actions.ToolCall(name="browse", arguments={})
    move = only(begun().step(tool, observed=(actions.Click(element=actions.Element(css="#a")),)), tmp_path)
    assert [type(action) for action in move.actions] == [actions.Click] and move.skipped is None


def test_files_are_given(tmp_path: Path) -> None:
    file, names = tmp_path / "a.csv", (actions.FileInfo(name="a.csv"), actions.FileInfo(name="b.csv"))
    file.write_text("x", "utf-8")
    one = begun().step(actions.UploadFile(element=actions.Element(css="#f"), files=names[:1]))
    move = only(one, tmp_path, files={0: (file,)})
    assert (move.refused, move.files) == (None, (file,))
    two = begun().click("#a").step(actions.UploadFile(element=actions.Element(css="#f"), files=names))
    for files, says in [
        ({0: (file,)}, "nothing was uploaded in step 0"),
        ({7: (file,)}, "nothing was uploaded in step 7"),
        ({1: (file,)}, "step 1 uploads 2 files, 'a.csv', 'b.csv'; given are 1"),
        ({1: (file, tmp_path / "b.csv")}, "there is no file .*b.csv"),
    ]:
        with pytest.raises(UsageError, match=says):
            planned(two, tmp_path, files=files)


def test_a_step_of_several_actions_leaves_out_those_of_scripts(tmp_path: Path) -> None:
    button = actions.Element(css="#a")
    seen = (actions.Click(element=button), actions.Scroll(dy=10, trusted=False), actions.Fill(value="x"))
    move = only(begun().step(actions.Click(element=button), observed=seen), tmp_path)
    assert [type(action) for action in move.actions] == [actions.Click, actions.Fill]


def test_a_run_that_begins_elsewhere_is_refused_before_a_browser_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"begins at 'http://evil.test/', which no root covers"):
        planned(trajectory("t1").see("<p>x</p>", url="http://evil.test/", role="start").click("#a"), tmp_path)
    with pytest.raises(UsageError, match="does not show at which address"):
        planned(trajectory("t1").step(actions.Press(key="a")), tmp_path)
