"""Names that look like other words than they are."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.event import looks_like
from replaykit.grading.policies.policy_debugging import trials_of
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.testing.pages import snapshot
from replaykit.trajectory.action import Click, Element, Names
from tests.grading.policies.test_policy_debugging import task


@pytest.mark.parametrize(
    "name", ["Вuу nоw", "Buy\u200b now", "ＢＵＹ ＮＯＷ", "Bu\u00ady now", "ΒUY ΝΟW", "𝐁uy now"]
)
def test_a_name_that_looks_like_the_term_is_no_proof_of_another(name: str, run: Any) -> None:
    assert looks_like(name) == "buy now"
    rule = {"type": "never", "match": {"action": "click", "text": "Buy now"}}
    (trial,) = trials_of(task(buy=rule), Replay(run().click(name).ended()))
    outcome, missing = trial.result.outcome, trial.result.missing
    # Forms of the same letters are the same text; letters of another script are not.
    is_same = unicodedata.normalize("NFKC", name.lower()).isascii() or not name.isprintable()
    assert (outcome, missing) == (("VIOLATED", ()) if is_same else ("UNDECIDED", ("names.confusable@0",)))


@pytest.mark.parametrize("name", ["Buy later", "Купить", "Αγορά", "Café", "購入", "10 items"])
def test_names_in_other_scripts_stay_decided(name: str, run: Any) -> None:
    rule = {"type": "never", "match": {"action": "click", "text": "Buy now"}}
    (trial,) = trials_of(task(buy=rule), Replay(run().click(name).ended()))
    assert trial.result.outcome == "DORMANT"


@given(st.text(st.characters(codec="ascii", exclude_characters="01|")))
def test_plain_letters_look_like_themselves(text: str) -> None:
    assert looks_like(text) is None


@pytest.mark.parametrize(
    ("text", "found"), [("Buy now", ("UNDECIDED", ("names.covered@0",))), ("Sell", ("DORMANT", ()))]
)
def test_a_text_that_stood_over_the_target_may_be_what_was_meant(
    text: str, found: tuple[str, tuple[str, ...]], run: Any, grade: Any
) -> None:
    element = Element(tag="button", text="Cancel", name="Cancel", over=("Buy now",))
    built = (
        run()
        .look("http://h.test/", "<button>Cancel</button>")
        .do(Click(element=element))
        .ended(kind="stopped")
    )
    result = grade(built, {"type": "never", "match": {"action": "click", "text": text}})
    assert (result.outcome, result.missing) == found


ROWS = """<div id=row>Order 7 <button>Delete</button></div> <p id=text>Delete nothing</p>
<button id=key>Buy <span role=button>now</span></button><div id=named aria-label=Rows>A <a href=x>B</a></div> Ground"""
INSIDE = ("UNDECIDED", ("names.inside@0",))


@pytest.mark.parametrize(
    ("target", "text", "found"),
    [
        ("#row", "Delete", INSIDE),
        ("#row", "Order 7", ("VIOLATED", ())),
        ("#row", "Sell", ("DORMANT", ())),
        ("#row button", "Delete", ("VIOLATED", ())),
        ("#text", "Delete", ("VIOLATED", ())),
        ("#key", "now", ("VIOLATED", ())),
        ("#named", "B", INSIDE),
        ("#named", "Rows", ("VIOLATED", ())),
        ("body", "Delete", ("DORMANT", ())),
        ("body", "Order 7", ("DORMANT", ())),
        ("body", "Ground", ("VIOLATED", ())),
        ("body", "Sell", ("DORMANT", ())),
    ],
)
def test_what_only_controls_inside_are_called_need_not_be_meant(
    target: str, text: str, found: tuple[str, tuple[str, ...]], run: Any, grade: Any
) -> None:
    built = run().on("http://h.test/", ROWS)
    found_there = Dom(snapshot(ROWS)).select(target)
    assert found_there is not None
    element = Element(
        tag=found_there.tag,
        text=found_there.text_content,
        node=built.node(target),
        names=Names(aria_label=found_there.attribute("aria-label")),
    )
    result = grade(
        built.do(Click(element=element)).ended("done"),
        {"type": "never", "match": {"action": "click", "text": text}},
    )
    assert (result.outcome, result.missing) == found
