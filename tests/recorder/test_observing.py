"""When observations are taken, and what they hold."""

from __future__ import annotations

import pytest

from replaykit.recorder import messages as m
from replaykit.recorder.capture import PageFrame
from replaykit.recorder.session import SessionOptions
from replaykit.tasks.checks import ProbePlan, ProbeRead
from replaykit.trajectory.action import Element
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.observation import Stale
from replaykit.trajectory.scalars import Omitted

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
OTHER = Element(tag="button", css="#other", attributes={"id": "other"})
READ = ProbeRead(locator="#out", selector="#out", property="text")


def test_rest_shows_what_the_act_led_to(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", "paid", at=2100)
    (seen,) = driver.looks()
    assert (seen.of, seen.settled, seen.page, seen.title) == (0, True, 0, "Shop")
    assert seen.screenshot is not None and b"paid" in driver.blobs[seen.snapshot]


def test_later_rests_are_later_looks(driver) -> None:
    driver.click(BUTTON, 1000).wait(600)
    for at, text in ((1700, "toast"), (2300, "no toast")):
        driver.push("rest", text, at=at)
    assert [(seen.of, seen.t) for seen in driver.looks()] == [(0, 1700), (0, 2300)]


def test_rest_before_any_act_is_no_look(driver) -> None:
    driver.push("rest", at=500)
    assert driver.looks() == []


def test_a_fast_script_is_looked_at_between_its_acts(driver) -> None:
    driver.push("before", "one", at=1000)
    driver.click(BUTTON, 1000)
    driver.push("before", "two", at=1050)
    driver.click(OTHER, 1050).wait(1000)
    (seen,) = driver.looks()
    assert (seen.of, seen.t, seen.settled) == (0, 1050, False)
    assert b"two" in driver.blobs[seen.snapshot] and seen.screenshot is not None
    assert [b"one" in driver.blobs[driver.steps[0].before.snapshot]] == [True]


def test_the_snapshot_before_an_act_is_not_its_result(driver) -> None:
    driver.push("before", "one", at=1000)
    driver.click(BUTTON, 1000)
    driver.event("wheel", BUTTON, 1050, dy=5).wait(2000)
    first = driver.looks()[0]
    assert (first.of, first.snapshot) == (0, None)


def test_a_picture_waits_for_data_that_the_act_asked_for(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(m.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="xhr"))
    before = len(driver.commands(m.Screenshot))
    driver.push("rest", at=1200)
    assert len(driver.commands(m.Screenshot)) == before
    driver.feed(m.Finished(at=1500, request="1"))
    assert len(driver.commands(m.Screenshot)) == before + 1
    assert driver.wait(1000).looks()[0].t == 1200


def test_a_picture_does_not_wait_for_ever(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(m.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="fetch"))
    driver.push("rest", at=1200)
    assert driver.wait(900).looks() == []
    assert len(driver.wait(200).looks()) == 1


def test_a_picture_does_not_wait_for_the_next_act(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(m.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="fetch"))
    driver.push("rest", at=1200)
    driver.click(OTHER, 1300)
    (seen,) = driver.wait(600).looks()
    assert (seen.of, seen.shot_t) == (0, 1300)


def test_of_two_looks_in_waiting_the_later_takes_the_picture(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(m.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="fetch"))
    driver.push("rest", "a", at=1200)
    driver.push("rest", "b", at=1700)
    driver.wait(2000)
    assert [(seen.t, seen.screenshot is None) for seen in driver.looks()] == [(1200, True), (1700, False)]


def test_before_is_the_snapshot_of_the_gesture(driver) -> None:
    seq = driver.push("before", "cart", at=1000)
    driver.event("pointerdown", BUTTON, point=[1, 2], button=0, node=(seq, 2)).wait(12_000)
    (step,) = driver.steps
    assert (step.before.role, step.before.t, step.before.stale, step.before.settled) == (
        "before",
        1000,
        None,
        None,
    )
    assert step.action.element.node.snapshot == step.before.snapshot


def test_an_act_without_a_snapshot_of_its_own_has_a_stale_one(driver) -> None:
    driver.push("rest", at=1000)
    driver.event("change", Element(tag="select", css="#s"), 1400, control="select", values=["a"])
    assert driver.steps[0].before.stale == Stale(ms=400)


def test_a_snapshot_that_stands_in_says_how_old_it_is(driver) -> None:
    driver.push("before", at=1000, stale=Stale(ms=70, mutations=3))
    driver.click(BUTTON, 1000).wait(1000)
    assert driver.steps[0].before.stale == Stale(ms=70, mutations=3)


def test_a_node_of_an_unknown_snapshot_is_left_out(driver) -> None:
    driver.click(BUTTON, 1000, node=(99, 2)).wait(1000)
    assert driver.steps[0].action.element.node is None


def test_frames_of_other_processes_have_snapshots_of_their_own(driver) -> None:
    driver.push("rest", "inner", frame=(0,), at=900)
    frame = PageFrame(number=2, path=(0,), url="http://ads.test/")
    lost = PageFrame(number=3, path=(1,), url="http://lost.test/")
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", "outer", at=2100, frames=(frame, lost))
    first, second = driver.looks()[0].frames
    assert b"inner" in driver.blobs[first.snapshot]
    assert (second.snapshot, second.url, second.why) == (None, "http://lost.test/", "unreadable")


def test_an_act_in_a_frame_of_another_process(driver) -> None:
    driver.push("rest", "outer", at=900)
    seq = driver.push("before", "inner", frame=(2,), at=1000)
    driver.click(Element(tag="button", css="#in", frame=(1,)), 1000, frame=(2,), node=(seq, 1)).wait(1000)
    element = driver.steps[0].action.element
    assert element.frame == (2, 1)
    assert b"inner" in driver.blobs[element.node.snapshot]
    assert b"outer" in driver.blobs[driver.steps[0].before.snapshot]


def test_reads_ride_on_observations(new_driver) -> None:
    driver = new_driver(plan=ProbePlan(step_reads=(READ,))).open()
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", at=2100)
    driver.end()
    reads = [
        (seen.role, [read.locator for read in seen.reads])
        for role in ("start", "after", "final")
        for seen in driver.looks(role)
    ]
    assert reads == [("start", ["#out"]), ("after", ["#out"]), ("final", ["#out"])]


def test_a_read_that_fails_is_a_gap(new_driver) -> None:
    driver = new_driver(plan=ProbePlan(step_reads=(READ,)))
    driver.errors["reads"] = "timeout"
    driver.open()
    assert driver.looks("start")[0].reads == ()
    assert [(gap.channel, gap.why) for gap in driver.of(Gap)] == [("probes", "timeout")]


def test_no_pictures_where_none_are_wanted(new_driver) -> None:
    driver = new_driver(SessionOptions(has_screenshots=False)).open()
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", at=2100)
    driver.end()
    assert driver.commands(m.Screenshot) == []
    assert [seen.screenshot for seen in driver.looks()] == [None]


@pytest.mark.parametrize("error", ["timeout", "failed"])
def test_three_failures_in_a_row_end_the_pictures_of_a_page(driver, error: str) -> None:
    driver.errors["Screenshot"] = error
    driver.click(BUTTON, 1000).wait(1000)
    for at in (2100, 2600, 4600, 9000):
        driver.push("rest", at=at)
    pictures = [seen.screenshot for seen in driver.looks()]
    assert pictures == [Omitted(why=error)] * 3 + [None]
    assert [gap.why for gap in driver.of(Gap)] == [error] * 3


def test_an_open_dialog_is_no_failure_of_the_page(driver) -> None:
    driver.errors["Screenshot"] = "dialog_open"
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", at=2100)
    assert driver.looks()[0].screenshot == Omitted(why="dialog_open")
    assert driver.of(Gap) == []


def test_a_picture_of_the_next_page_is_not_kept(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.hold = True
    driver.push("rest", at=2100)
    driver.navigate("http://shop.test/next", 2110, reason="scriptInitiated")
    driver.answer_held()
    assert driver.looks()[0].screenshot == Omitted(why="evicted")


SECRET = '{"snapshot":1,"url":"http://shop.test/","elements":2}\n["<html",{"scroll":[50,0]},"<p","=hunter22",2]\n[0,0]\n[0,0,9,9,10,70,30,40]\n'


def test_secrets_are_painted_over(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"PW": "hunter22"}))
    driver.replies["snapshot"] = lambda command: m.PagePush(seq=7, at=0, purpose="asked", snapshot=SECRET)
    driver.open()
    (shot,) = driver.commands(m.Screenshot)
    assert shot.paint == ((10, 20, 30, 40),)
    (seen,) = driver.looks("start")
    assert b"hunter22" not in driver.blobs[seen.snapshot] and isinstance(seen.screenshot, str)


def test_a_page_that_moves_under_a_picture_with_secrets_gives_none(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"PW": "hunter22"}))
    texts = iter(range(99))
    driver.replies["snapshot"] = lambda command: m.PagePush(
        seq=7, at=0, purpose="asked", snapshot=SECRET.replace("22", f"22{next(texts)}")
    )
    driver.open()
    assert len(driver.commands(m.Screenshot)) == 3
    assert driver.looks("start")[0].screenshot == Omitted(why="withheld")


def test_a_picture_that_cannot_be_painted_is_not_taken(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"PW": "hunter22"}))
    snapshot = SECRET.replace("[0,0,9,9,10,70,30,40]", "[]")
    driver.replies["snapshot"] = lambda command: m.PagePush(seq=7, at=0, purpose="asked", snapshot=snapshot)
    driver.open()
    assert driver.commands(m.Screenshot) == []
    assert driver.looks("start")[0].screenshot == Omitted(why="withheld")
