"""Two runs compared: alignment, what differs in acts that are alike, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.report import run_diff
from replaykit.report.run_diff import Fact, RunDiff, compare_runs
from replaykit.report.text.run_diff_text import run_diff_text
from replaykit.testing import Builder, trajectory

Compared = Callable[[Builder, Builder], RunDiff]


@pytest.fixture
def parted(tmp_path: Path) -> Compared:
    def compared(one: Builder, other: Builder) -> RunDiff:
        paths = [run.write(tmp_path / f"{name}.zst") for name, run in (("a", one), ("b", other))]
        with open_bundle(paths[0]) as before, open_bundle(paths[1]) as after:
            return compare_runs(before, after)

    return compared


def walk(*clicks: str, root: str = "http://shop.test") -> Builder:
    run = trajectory(sites={"shop": (root,)}).goto(f"{root}/", "<h1>Shop</h1>")
    for name in clicks:
        run.click(f"#{name}", name=name)
    return run.answer("done")


def test_a_run_and_itself_are_alike(parted: Compared) -> None:
    found = parted(walk("buy"), walk("buy"))
    assert not found.parts
    assert found.common == 2
    assert found.facts == ()
    assert run_diff_text(found) == "the same recording\n"


def test_runs_part_where_their_actions_differ(parted: Compared) -> None:
    found = parted(walk("buy", "pay", "leave"), walk("buy", "look", "pay", "leave"))
    assert found.common == 2
    assert [(row.mark, row.before, row.after) for row in found.rows] == [
        ("same", 0, 0), ("same", 1, 1), ("new", None, 2), ("same", 2, 3), ("same", 3, 4),
    ]  # fmt: skip
    assert "part after 2 steps" in run_diff_text(found)


def test_the_same_site_on_another_port_is_the_same_site(parted: Compared) -> None:
    found = parted(walk("buy", root="http://127.0.0.1:4000"), walk("buy", root="http://127.0.0.1:5000"))
    assert not found.parts


def test_the_same_action_on_another_element_is_listed(parted: Compared) -> None:
    found = parted(trajectory().click("#a", name="Edit"), trajectory().click("#b", name="Edit"))
    (row,) = found.rows
    assert (row.mark, row.facts) == ("differs", (Fact(what="target", before="#a", after="#b"),))
    assert "~   0   0" in run_diff_text(found)


def test_another_message_before_the_same_action_is_listed(parted: Compared) -> None:
    before, after = (walk("buy").say(said).click("#pay", name="pay") for said in ("Sure?", "Done."))
    found = parted(before, after)
    assert [(row.mark, row.facts) for row in found.rows if row.mark != "same"] == [
        ("differs", (Fact(what="messages", before="agent say: Sure?", after="agent say: Done."),))
    ]
    assert "messages: agent say: Sure? -> agent say: Done." in run_diff_text(found)


def test_other_answers_and_tasks_are_facts(parted: Compared) -> None:
    found = parted(walk(), trajectory("t2", sites={"shop": ("http://shop.test",)}).answer("no"))
    facts = {fact.what: (fact.before, fact.after) for fact in found.facts}
    assert facts["answer"] == ("done", "no")
    assert facts["task"] == ("t1", "t2")
    assert facts["steps"] == ("1", "0")


def test_long_runs_are_not_aligned_for_ever(parted: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_diff, "WORK_MAX", 3)
    found = parted(walk("a", "b", "c"), walk("x", "y", "c"))
    assert [row.mark for row in found.rows] == ["same", *["removed"] * 3, *["new"] * 3]


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_every_step_of_both_stands_in_the_rows_once(ours: list[str], theirs: list[str]) -> None:
    def actions(names: list[str]) -> list[run_diff._StepRow]:
        return [run_diff._StepRow(index=at, line=name, details={}) for at, name in enumerate(names)]

    rows = list(run_diff._rows(actions(ours), actions(theirs)))
    assert [row.before for row in rows if row.before is not None] == list(range(len(ours)))
    assert [row.after for row in rows if row.after is not None] == list(range(len(theirs)))
    assert all(ours[row.before] == theirs[row.after] for row in rows if row.mark == "same")  # type: ignore[index]


def test_recorded_text_cannot_control_the_terminal(parted: Compared) -> None:
    text = run_diff_text(parted(walk("\x1b[31mred"), walk("\u202ekcab")))
    assert "\x1b" not in text
    assert "\u202e" not in text
