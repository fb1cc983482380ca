"""Findings: for each code a run that fires and one that comes near and does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.errors import BlobMissing
from replaykit.grading.findings.detection import findings_of, first_failure
from replaykit.grading.findings.taxonomy import KINDS, MOST
from replaykit.grading.grader import grade
from replaykit.grading.verdict import RunFinding
from replaykit.replay.player import Replay
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder
from replaykit.trajectory.action import Click, Element, Goto, Press, Scroll, Unknown
from replaykit.trajectory.exchange import Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Threw
from tests.grading.judges.conftest import Recorded

SHOP = "http://shop.test/"
PAGE = "<button id=a>Go</button><input id=f>"
CONFORMANCE = Path(__file__).parents[3] / "recordings/conformance"


def found(built: Builder) -> list[RunFinding]:
    return list(findings_of(Replay(Recorded(built))))


def codes(built: Builder) -> list[tuple[str, int | None, bool]]:
    """Return code, step and whether it was recovered, of all but notes of the recording."""
    return [(one.code, one.step, one.recovered) for one in found(built) if one.code != "R1"]


def at_shop(**header: Any) -> Builder:
    return trajectory(**header).goto(SHOP, PAGE)


def clicked(built: Builder, html: str = PAGE, css: str = "#a", **fields: Any) -> Builder:
    """Click and look at what follows: by default the same page."""
    return built.click(css, html, **{"tag": "button", "name": "Go", **fields})


def test_a_click_without_effect() -> None:
    assert codes(clicked(at_shop()).end()) == [("A1", 1, False), ("E4", 1, False)]


NEAR: dict[str, Callable[[], Builder]] = {
    "the page changed": lambda: clicked(at_shop(), "<p>done"),
    "a request followed": lambda: clicked(at_shop()).request("GET", SHOP + "x"),
    "a dialog followed": lambda: clicked(at_shop()).dialog("Sure?"),
    "it was a field": lambda: clicked(at_shop(), tag="input"),
    "nobody looked afterwards": lambda: at_shop().click("#a", tag="button"),
    "it was a key": lambda: at_shop().press("#a", "Tab", PAGE),
    "it scrolled": lambda: at_shop().step(Scroll(dx=0, dy=300)).see(PAGE),
}


@pytest.mark.parametrize("name", list(NEAR))
def test_what_is_no_click_without_effect(name: str) -> None:
    assert "A1" not in {code for code, _, _ in codes(NEAR[name]().answer("ok"))}


def test_a_later_action_on_the_same_element_makes_up_for_it() -> None:
    built = clicked(clicked(at_shop()), "<p>done").answer("ok")
    assert codes(built) == [("A1", 1, True)]
    other = (
        at_shop().click("#a", PAGE, tag="button", name="Go").click("#b", "<p>done", tag="button", name="B")
    )
    assert codes(other.answer("ok")) == [("A1", 1, False)]


def test_an_action_that_failed() -> None:
    failed = at_shop().step(Click(element=Element(css="#x", tag="a", name="X")), error="no such element")
    assert codes(failed.answer("ok")) == [("A2", 1, False)]
    assert found(failed)[0].evidence[0].note == "Error: no such element"
    gone = trajectory().step(Goto(url=SHOP), error=Threw(name="net::ERR_X")).goto(SHOP, PAGE)
    assert codes(gone.answer("ok")) == [("A2", 0, True)]


def test_another_target_than_the_agent_reported() -> None:
    said = Click(element=Element(css="#a", tag="button", name="Go"))
    seen = Click(element=Element(css="#ad", tag="a", name="Ad"))
    built = at_shop().step(seen, declared=said).see("<p>ad")
    assert codes(built.answer("ok")) == [("A3", 1, False)]
    again = at_shop().step(seen, declared=said).see(PAGE + "x").step(said).see("<p>done")
    assert codes(again.answer("ok")) == [("A3", 1, True)]


def test_an_action_that_is_not_understood_is_a_note() -> None:
    built = at_shop().step(Unknown(name="dance", raw="dance()")).see(PAGE)
    assert codes(built.answer("ok")) == [("A4", 1, False)]
    assert found(built)[0].severity == "note"


def test_the_same_action_three_times() -> None:
    """A request each time: so that the click is not without effect."""
    built = at_shop()
    for _ in range(3):
        clicked(built).request("GET", SHOP + "poll")
    assert codes(built.end()) == [("C1", 2, False), ("E4", 3, False)]
    assert found(built)[0].steps == (2, 3)
    on = clicked(built, "<p>on", css="#b", name="B")
    assert ("C1", 2, True) in codes(on)


NOT_REPEATED: dict[str, Callable[[Builder], Builder]] = {
    "twice": lambda built: clicked(clicked(built).request("GET", SHOP)).request("GET", SHOP),
    "pages that differ": lambda built: clicked(clicked(clicked(built, "<p>2"), "<p>3"), "<p>4"),
    "keys": lambda built: (
        built.press("#f", "ArrowDown", PAGE).press("#f", "ArrowDown", PAGE).press("#f", "ArrowDown")
    ),
    "scrolls": lambda built: built.step(Scroll(dx=0, dy=9)).step(Scroll(dx=0, dy=9)).step(Scroll(dx=0, dy=9)),
}


@pytest.mark.parametrize("name", list(NOT_REPEATED))
def test_what_is_no_repetition(name: str) -> None:
    given_ = {code for code, _, _ in codes(NOT_REPEATED[name](at_shop()).answer("ok"))}
    assert not given_ & {"C1", "C2"}


def walk(*pages: str) -> Builder:
    """Go through pages by links that are named like them."""
    built = trajectory().goto(SHOP, f"<p>{pages[0]}")
    for page in pages[1:]:
        built.click(f"#{page}", f"<p>{page}", tag="a", name=page)
    return built


def test_a_loop() -> None:
    assert codes(walk("s", "a", "b", "a", "b").end()) == [("E4", 4, False)], (
        "the first way to a is another one"
    )
    looped = walk("b", "a", "b", "a", "b")
    assert [row for row in codes(looped.end()) if row[0] != "E4"] == [("C2", 3, False)]
    assert "steps 1 to 4 go round 2 times" in (found(looped)[0].evidence[0].note or "")
    assert ("C2", 3, True) in codes(walk("b", "a", "b", "a", "b", "c").end())
    six = ["f", "a", "b", "c", "d", "e", "f"]
    assert ("C2", 7, False) in codes(walk(*six, *six[1:]).end())
    seven = ["g", "a", "b", "c", "d", "e", "f", "g"]
    assert not any(code == "C2" for code, _, _ in codes(walk(*seven, *seven[1:]).end()))


def paged(*actions: tuple[str, dict[str, Any]]) -> Builder:
    """Click elements, each on a page of which there is only what is given."""
    built = trajectory()
    for css, look in actions:
        before = Observation(role="before", url=SHOP, **look)
        built.step(Click(element=Element(css=css)), before=before)
    return built


def test_a_loop_without_snapshots_is_found_by_trees_and_screenshots() -> None:
    """Pages of importers: a tree or a screenshot distinguishes them, and without either they are unknown."""
    first, second = "1" * 64, "2" * 64
    for field in ("a11y", "screenshot"):
        actions = [("#a", {field: first}), ("#b", {field: second})]
        assert ("C2", 2, False) in codes(paged(*actions, *actions))
        on = [
            ("#a", {field: first}),
            ("#b", {field: second}),
            ("#a", {field: second}),
            ("#b", {field: first}),
        ]
        assert not any(code == "C2" for code, _, _ in codes(paged(*on)))


def test_a_loop_on_pages_that_were_not_recorded_is_unknown() -> None:
    unknown = [one for one in found(paged(*[("#a", {}), ("#b", {})] * 2)) if one.code == "C2"]
    assert [(one.step, one.severity, one.unknown) for one in unknown] == [(None, "note", True)]
    other = [("#a", {}), ("#b", {}), ("#a", {}), ("#c", {})]
    assert not any(one.code == "C2" for one in found(paged(*other)))
    half = [("#a", {"a11y": "1" * 64}), ("#b", {}), ("#a", {"a11y": "2" * 64}), ("#b", {})]
    assert not any(one.code == "C2" for one in found(paged(*half))), "the pages of a differ"


def test_a_bot_wall_a_login_and_a_site_that_is_down() -> None:
    wall = trajectory().goto(SHOP, "<h1>Verify you are human</h1>", status=403).answer("blocked")
    assert ("B1", 0, False) in codes(wall)
    shut = trajectory().goto(SHOP, "<h1>Nothing for you</h1>", status=403).answer("blocked")
    assert not any(code == "B1" for code, _, _ in codes(shut))
    login = trajectory().goto(SHOP, "<input type=password>").answer("blocked")
    assert ("B2", 0, False) in codes(login)
    past = trajectory().goto(SHOP, "<input type=password>").click("#in", "<p>in", tag="button").answer("ok")
    assert ("B2", 0, True) in codes(past)
    down = trajectory().goto(SHOP, "<p>oops", status=502).answer("down")
    assert ("B3", 0, False) in codes(down)
    never = at_shop().add(
        Navigation(url="http://x.test/", kind="link", committed=False, error="net::ERR_DNS", step=0)
    )
    assert ("B3", 0, False) in codes(never.answer("ok"))
    aborted = Navigation(url="http://x.test/", kind="link", committed=False, error="net::ERR_ABORTED", step=0)
    assert codes(at_shop().add(aborted).answer("ok")) == []


def test_dialogs_and_other_sites() -> None:
    assert ("B5", 0, False) in codes(at_shop().dialog("Sure?", kind="confirm").answer("ok"))
    built = trajectory(sites={"shop": (SHOP,)}).goto(SHOP, PAGE)
    built.goto("https://other.test/x", "<p>x").goto("https://other.test/y", "<p>y").answer("ok")
    assert [row for row in codes(built) if row[0] == "C3"] == [("C3", 1, False)]
    assert not [row for row in codes(at_shop().answer("ok")) if row[0] == "C3"]


@pytest.mark.parametrize(
    ("kind", "code"), [("max_steps", "E2"), ("crashed", "E3"), ("timeout", "E3"), ("stopped", "E4")]
)
def test_endings(kind: str, code: str) -> None:
    assert codes(at_shop().end(kind)) == [(code, 0, False)]
    assert codes(at_shop().answer("ok")) == []


def test_an_answer_that_no_page_shows() -> None:
    shown = trajectory().goto(SHOP, "<p>It costs 84.50").answer("It costs 84.50")
    made_up = trajectory().goto(SHOP, "<p>It costs 84.50").answer("It costs 99.10")
    assert codes(shown) == []
    assert codes(made_up) == [("D4", 0, False)]
    assert found(made_up)[0].evidence[0].excerpt == "99.10"


def test_what_a_page_may_have_shown_otherwise() -> None:
    with_image = trajectory().goto(SHOP, "<p>x<img src=chart.png>").answer("It costs 99.10")
    assert [(one.code, one.severity) for one in found(with_image)] == [("D4", "note")]
    typed = trajectory().goto(SHOP, "<input id=f>").fill("#f", "99.10").answer("It costs 99.10 now")
    assert codes(typed) == []


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("<p><b>84</b>.<b>50</b>", "84.50"),
        ("<p>15,000", "15000"),
        ("<p>15 000", "15,000"),
        ("<p>The <i>Blue</i> Mug", 'It is the "blue mug"'),
    ],
)
def test_what_a_page_shows_in_another_form(page: str, answer: str) -> None:
    assert codes(trajectory().goto(SHOP, page).answer(answer)) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[[1,2", b"\xff\xfe", b'{"v":1}', None])
def test_pages_that_cannot_be_read_stop_no_grading(damage: bytes | None, tmp_path: Path) -> None:
    """Neither a snapshot that is none, nor one that is missing, nor a look without an address."""
    built = at_shop()
    for number in range(3):
        clicked(built, f"<p>{number}")
    recorded = Recorded(built.answer('It is 84.50, "so it says"').end("answered"))
    ids = [id for id, (kind, _) in recorded.blobs.items() if "dom" in kind]
    assert ids
    for id in ids:
        if damage is None:
            del recorded.blobs[id]
        else:
            recorded.blobs[id] = (recorded.blobs[id][0], damage)
    events = tuple(
        replace(event, url=None) if isinstance(event, Observation) else event
        for event in recorded.trajectory.events
    )
    recorded.trajectory = replace(recorded.trajectory, events=events)
    recorded.blob = lambda id: missing(recorded, id)  # type: ignore[method-assign]  # one whose payloads are gone
    assert isinstance(findings_of(Replay(recorded)), tuple)


def missing(recorded: Recorded, id: str) -> bytes:
    if id not in recorded.blobs:
        raise BlobMissing(source="run", id=id, referred_by="an observation")
    return recorded.blobs[id][1]


def test_success_claimed_after_an_error() -> None:
    page = "<p>Something went wrong. Try again."
    assert ("E5", 0, False) in codes(trajectory().goto(SHOP, page).answer("All done."))
    assert codes(trajectory().goto(SHOP, page).answer("There was an error, I could not do it.")) == []


def test_gaps_are_notes() -> None:
    built = at_shop().gap("network", "target.late").gap("network", "target.late").gap("urls").answer("ok")
    notes = [one for one in found(built) if one.code == "R1"]
    assert [(one.severity, one.evidence[0].note) for one in notes] == [
        ("note", "target.late"),
        ("note", "timeout"),
    ]


def test_the_first_failing_step_is_the_earliest_that_was_not_recovered() -> None:
    built = clicked(clicked(at_shop()), "<p>done").click("#c", "<p>done", tag="button", name="C").end()
    rows = findings_of(Replay(Recorded(built)))
    assert [(one.code, one.step, one.recovered) for one in rows] == [
        ("A1", 1, True),
        ("A1", 3, False),
        ("E4", 3, False),
    ]
    failed = first_failure(rows)
    assert failed is not None and (failed.step, failed.code, failed.source) == (3, "A1", "detected")
    assert first_failure(one for one in rows if one.recovered) is None


def test_a_verdict_holds_findings_and_changes_nothing_by_them(tmp_path: Path) -> None:
    task = {"id": "t", "intent": "x", "checks": [{"type": "string_match", "exact": "7"}]}
    path = clicked(trajectory(task).goto(SHOP, PAGE)).answer("9").write(tmp_path / "a.zst")
    with open_bundle(path) as bundle:
        verdict = grade(bundle)
    assert verdict.success == "FAIL"
    assert [one.code for one in verdict.findings] == ["A1", "D4"]
    assert verdict.first_failure is not None and verdict.first_failure.step == 1
    good = clicked(trajectory(task).goto(SHOP, PAGE)).answer("7").write(tmp_path / "b.zst")
    with open_bundle(good) as bundle:
        passed = grade(bundle)
    # Findings that read pages are not looked for in a run that passed, and such a run has no failing step.
    assert ([one.code for one in passed.findings], passed.first_failure) == (["A1"], None)
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=type(verdict)) == verdict


@pytest.mark.parametrize("path", sorted(CONFORMANCE.glob("*--good.zst")), ids=lambda path: path.stem)
def test_good_recorded_runs_have_no_failing_step(path: Path) -> None:
    with open_bundle(path) as bundle:
        replay = Replay(bundle)
        assert first_failure(findings_of(replay)) is None, json.dumps(
            msgspec.to_builtins(findings_of(replay)), indent=1
        )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["<p>1", "<p>2", None])), max_size=30))
def test_whatever_an_agent_does_findings_are_bounded_and_name_its_steps(
    rows: list[tuple[str, str | None]],
) -> None:
    built = at_shop()
    for css, html in rows:
        built.click(f"#{css}", html, tag="button", name=css)
    rows_ = found(built.answer("1 2 3"))
    assert all(one.code in KINDS and one.severity == KINDS[one.code].severity for one in rows_)
    assert all(0 <= step <= len(rows) for one in rows_ for step in one.steps)
    assert max([[one.code for one in rows_].count(code) for code in KINDS]) <= MOST
    assert rows_ == found(built)


def test_a_press_is_not_a_click() -> None:
    built = at_shop().step(Press(key="Enter")).see(PAGE)
    assert codes(built.answer("ok")) == []
