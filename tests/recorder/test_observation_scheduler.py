"""When observations are taken, and what they hold."""

from __future__ import annotations

import pytest

from replaykit.recorder.page.page_script import PageFrame, PageNode
from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.observations.snapshot_capture import EVICTED
from replaykit.recorder.session.session import SessionOptions
from replaykit.tasks.checks import ProbePlan, ProbeRead
from replaykit.trajectory.action import Click, Element, Wait
from replaykit.trajectory.exchange import Gap, Message
from replaykit.trajectory.observation import Stale
from replaykit.trajectory.scalars import Omitted

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
OTHER = Element(tag="button", css="#other", attributes={"id": "other"})
FIELD = Element(tag="input", css="#name", type="text", attributes={"id": "name"})
READ = ProbeRead(locator="#out", selector="#out", property="text")


def test_rest_shows_what_the_action_led_to(driver) -> None:
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


def test_rest_before_any_action_is_no_look(driver) -> None:
    driver.push("rest", at=500)
    assert driver.looks() == []


def test_a_fast_script_is_looked_at_between_its_actions(driver) -> None:
    driver.push("before", "one", at=1000)
    driver.click(BUTTON, 1000)
    driver.push("before", "two", at=1050)
    driver.click(OTHER, 1050).wait(1000)
    (seen,) = driver.looks()
    assert (seen.of, seen.t, seen.settled) == (0, 1050, False)
    assert b"two" in driver.blobs[seen.snapshot]
    assert [b"one" in driver.blobs[driver.steps[0].before.snapshot]] == [True]


def test_a_page_that_is_left_shows_what_its_last_gesture_led_to(driver) -> None:
    driver.push("before", "one", at=1000)
    driver.click(BUTTON, 1000)
    driver.push("left", "two", at=1050)
    driver.wait(1000)
    (seen,) = driver.looks()
    assert (seen.of, seen.t, seen.settled, seen.screenshot) == (0, 1050, False, None)
    assert b"two" in driver.blobs[seen.snapshot]


def test_a_page_that_is_left_before_any_gesture_is_no_look(driver) -> None:
    driver.push("left", "two", at=1050)
    assert driver.looks() == []


def test_a_screenshot_is_left_out_where_the_next_gesture_has_begun(driver) -> None:
    for place, at in enumerate((1000, 1050, 1089)):
        driver.push("before", str(at), at=at)
        driver.click((BUTTON, OTHER)[place % 2], at)
    driver.wait(1000).push("rest", at=1210)
    assert [seen.t for seen in driver.looks()] == [1050, 1089, 1210]
    assert [seen.screenshot == EVICTED.image for seen in driver.looks()] == [True, True, False]


def test_a_screenshot_is_left_out_where_a_gesture_begins_while_it_is_taken(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.hold = True
    driver.push("rest", at=1200)
    driver.push("before", "two", at=1210)
    driver.click(OTHER, 1210).answer_held()
    assert driver.looks()[0].screenshot == EVICTED.image


def test_the_snapshot_before_an_action_is_not_its_result(driver) -> None:
    driver.push("before", "one", at=1000)
    driver.click(BUTTON, 1000)
    driver.event("wheel", BUTTON, 1050, dy=5).wait(2000)
    first = driver.looks()[0]
    assert (first.of, first.snapshot) == (0, None)


def test_a_screenshot_waits_for_data_that_the_action_asked_for(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(
        requests.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="xhr")
    )
    before = len(driver.commands(m.Screenshot))
    driver.push("rest", at=1200)
    assert len(driver.commands(m.Screenshot)) == before
    driver.feed(requests.Finished(at=1500, request="1"))
    assert len(driver.commands(m.Screenshot)) == before + 1
    assert driver.wait(1000).looks()[0].t == 1200


def test_a_screenshot_does_not_wait_for_ever(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(
        requests.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="fetch")
    )
    driver.push("rest", at=1200)
    assert driver.wait(900).looks() == []
    assert len(driver.wait(200).looks()) == 1


def test_a_look_does_not_wait_for_the_result_of_the_next_gesture(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(
        requests.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="fetch")
    )
    driver.push("rest", at=1200)
    driver.click(OTHER, 1300)
    (seen,) = driver.looks()
    assert (seen.of, seen.screenshot) == (0, EVICTED.image)


def test_of_two_looks_in_waiting_the_later_takes_the_screenshot(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.feed(
        requests.Requested(at=1010, request="1", page=0, method="GET", url="http://x/", resource="fetch")
    )
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


def test_an_action_without_a_snapshot_of_its_own_has_a_stale_one(driver) -> None:
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


AD = PageFrame(number=2, path=(0,), url="http://ads.test/", id="F0", origin=(100, 50))
LOST = PageFrame(number=3, path=(1,), url="http://lost.test/", id="F1")


def test_frames_have_snapshots_of_their_own(driver) -> None:
    driver.push("rest", "inner", frame=(0,), at=900)
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", "outer", at=2100, frames=(AD, LOST))
    first, second = driver.looks()[0].frames
    assert b"inner" in driver.blobs[first.snapshot]
    assert (second.snapshot, second.url, second.why) == (None, "http://lost.test/", "unseen")


def test_an_action_in_a_frame(driver) -> None:
    driver.push("rest", "outer", at=900, frames=(AD,), scroll=(0, 20))
    where = {"frame": (0,), "url": "http://ads.test/pay"}
    seq = driver.push("before", "inner", at=1000, **where)
    inside = Element(tag="button", css="#in", frame=(1,), box=(5, 5, 20, 10))
    driver.click(inside, 1000, frame=(0,), node=(seq, 1)).push("rest", "later", at=1200, **where)
    driver.wait(1000)
    (step,) = driver.steps
    element, (frame,) = step.action.element, step.before.frames
    assert element.frame == (0, 1)
    assert element.frame_url == "http://ads.test/pay"
    assert b"inner" in driver.blobs[element.node.snapshot]
    assert element.node.snapshot == frame.snapshot
    assert b"outer" in driver.blobs[step.before.snapshot]
    assert step.before.stale is None
    # In px of the page, as far as it is scrolled.
    assert (element.box, step.action.point) == ((105, 35, 20, 10), (105, 36))


def test_an_action_in_a_frame_of_unknown_place_has_no_place(driver) -> None:
    driver.push("before", "inner", frame=(4,), at=1000)
    driver.click(Element(tag="button", css="#in", box=(5, 5, 20, 10)), 1000, frame=(4,)).wait(1000)
    (step,) = driver.steps
    assert (step.action.element.box, step.action.point, step.action.element.frame) == (None, None, (4,))


def test_equal_elements_of_two_documents_are_two(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.click(BUTTON, 1100, frame=(0,)).wait(1000)
    assert [type(action).__name__ for action in driver.actions] == ["Click", "Click"]
    assert [action.element.frame for action in driver.actions] == [(), (0,)]


def test_a_frame_at_rest_shows_what_an_action_in_it_led_to(driver) -> None:
    driver.push("rest", "outer", at=900, frames=(AD,))
    driver.push("before", "inner", frame=(0,), at=1000)
    driver.click(BUTTON, 1000, frame=(0,))
    driver.push("rest", "paid", frame=(0,), at=1150)
    driver.wait(1000)
    (look,) = driver.looks()
    assert b"outer" in driver.blobs[look.snapshot]
    assert b"paid" in driver.blobs[look.frames[0].snapshot]


def test_a_frame_at_rest_does_not_show_a_page_from_before_the_action(driver) -> None:
    driver.push("before", "outer", at=1000, frames=(AD,))
    driver.click(BUTTON, 1000)
    driver.push("rest", "advert", frame=(0,), at=1050)
    assert driver.looks() == []
    driver.push("rest", "outer, later", at=1200, frames=(AD,))
    driver.wait(1000)
    (look,) = driver.looks()
    assert b"later" in driver.blobs[look.snapshot]
    assert b"advert" in driver.blobs[look.frames[0].snapshot]


def test_a_fast_script_in_a_frame_is_looked_at_between_its_actions(driver) -> None:
    driver.push("rest", "outer", at=900, frames=(AD,))
    driver.push("before", "first", frame=(0,), at=1000)
    driver.click(BUTTON, 1000, frame=(0,))
    driver.push("before", "second", frame=(0,), at=1200)
    driver.click(OTHER, 1200, frame=(0,)).push("rest", "third", frame=(0,), at=1400)
    driver.wait(1000)
    first, second = driver.looks()
    assert (first.of, first.settled, second.of) == (0, False, 1)
    assert b"second" in driver.blobs[first.frames[0].snapshot]
    assert b"third" in driver.blobs[second.frames[0].snapshot]
    assert "snapshot" not in [read.what for read in driver.commands(m.ReadPage)][1:]


@pytest.mark.parametrize(("one", "other"), [((0,), ()), ((), (0,)), ((0,), (1,))])
def test_an_action_in_another_document_leaves_the_page_time_to_be_asked(driver, one, other) -> None:
    driver.push("rest", "outer", at=900, frames=(AD, LOST))
    driver.push("before", "acted on", frame=one, at=1000)
    driver.click(BUTTON, 1000, frame=one)
    driver.push("before", "other", frame=other, at=1200)
    driver.click(OTHER, 1200, frame=other).wait(1000)
    look = driver.looks()[0]
    assert (look.of, look.settled) == (0, False)
    assert look.snapshot is not None
    asked = [read.what for read in driver.commands(m.ReadPage)][1:]
    assert [what for what in asked if what != "note_action"] == ["snapshot" if other else "frames"]


def test_restless_frames_make_no_more_than_four_looks(driver) -> None:
    driver.push("before", "outer", at=1000, frames=(AD,))
    driver.click(BUTTON, 1000).push("rest", "outer", at=1100, frames=(AD,))
    for number in range(20):
        driver.push("rest", f"advert {number}", frame=(0,), at=1200 + number)
    driver.wait(1000)
    assert len(driver.looks()) == 4


def test_frames_are_asked_with_a_page_that_rests_and_note_actions(driver) -> None:
    driver.click(BUTTON, 1000).push("rest", "outer", at=1100)
    asked = [command.what for command in driver.commands(m.ReadPage)]
    assert "frames" not in asked and "note_action" not in asked
    driver.push("rest", "inner", frame=(0,), at=1200)
    driver.click(OTHER, 2000).push("rest", "outer", at=2100, frames=(AD,))
    driver.click(OTHER, 3000, frame=(0,))
    wanted = [
        (read.what, read.args)
        for read in driver.commands(m.ReadPage)
        if read.what in ("frames", "note_action")
    ]
    assert wanted == [("note_action", ("",)), ("frames", ()), ("note_action", ("F0",))]


def test_a_frame_that_went_away_is_not_shown(driver) -> None:
    driver.push("rest", "inner", frame=(0,), at=900)
    driver.feed(m.FrameLeft(at=950, page=0, source=("F0", 0), why="crashed"))
    driver.click(BUTTON, 1000).push("rest", "outer", at=1100, frames=(AD,))
    driver.wait(1000)
    assert [frame.why for frame in driver.looks()[0].frames] == ["crashed"]


def test_a_frame_that_is_matched_late_is_shown_from_then_on(driver) -> None:
    nameless = PageFrame(number=2, path=(0,), url="http://ads.test/")
    driver.push("rest", "inner", frame=(0,), at=900)
    seq = driver.push("before", "outer", at=1000, frames=(nameless,))
    driver.click(BUTTON, 1000)
    driver.feed(m.FrameOwned(at=1001, page=0, source=m.MAIN, node=PageNode(push=seq, number=2), id="F0"))
    driver.wait(1000)
    (frame,) = driver.steps[0].before.frames
    assert b"inner" in driver.blobs[frame.snapshot]


def test_a_secret_in_a_frame_withholds_the_screenshot(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"K": "hidden-word"})).open()
    driver.push("rest", "the hidden-word", frame=(0,), at=900)
    driver.click(BUTTON, 1000).push("rest", "outer", at=1100, frames=(AD,))
    driver.wait(3000)
    assert driver.looks()[0].screenshot == Omitted(why="withheld")


def test_an_unseen_frame_withholds_the_screenshot_where_secrets_are(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"K": "hidden-word"})).open()
    driver.click(BUTTON, 1000).push("rest", "outer", at=1100, frames=(LOST,))
    driver.wait(3000)
    assert driver.looks()[0].screenshot == Omitted(why="withheld")


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


def test_no_screenshots_where_none_are_wanted(new_driver) -> None:
    driver = new_driver(SessionOptions(has_screenshots=False)).open()
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", at=2100)
    driver.end()
    assert driver.commands(m.Screenshot) == []
    assert [seen.screenshot for seen in driver.looks()] == [None]


def test_three_late_screenshots_in_a_row_end_those_of_a_page(driver) -> None:
    driver.errors["Screenshot"] = "timeout"
    driver.click(BUTTON, 1000).wait(1000)
    for at in (2100, 2600, 4600, 9000):
        driver.push("rest", at=at)
    images = [seen.screenshot for seen in driver.looks()]
    assert images == [Omitted(why="timeout")] * 3 + [None]
    assert [gap.why for gap in driver.of(Gap)] == ["timeout"] * 3


def test_an_open_dialog_is_no_failure_of_the_page(driver) -> None:
    driver.errors["Screenshot"] = "dialog_open"
    driver.click(BUTTON, 1000).wait(1000)
    driver.push("rest", at=2100)
    assert driver.looks()[0].screenshot == Omitted(why="dialog_open")
    assert driver.of(Gap) == []


def test_a_screenshot_of_the_next_page_is_not_kept(driver) -> None:
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


def test_a_page_that_moves_under_a_screenshot_with_secrets_gives_none(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"PW": "hunter22"}))
    texts = iter(range(99))
    driver.replies["snapshot"] = lambda command: m.PagePush(
        seq=7, at=0, purpose="asked", snapshot=SECRET.replace("22", f"22{next(texts)}")
    )
    driver.open()
    assert len(driver.commands(m.Screenshot)) == 3
    assert driver.looks("start")[0].screenshot == Omitted(why="withheld")


def test_a_screenshot_that_cannot_be_painted_is_not_taken(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"PW": "hunter22"}))
    snapshot = SECRET.replace("[0,0,9,9,10,70,30,40]", "[]")
    driver.replies["snapshot"] = lambda command: m.PagePush(seq=7, at=0, purpose="asked", snapshot=snapshot)
    driver.open()
    assert driver.commands(m.Screenshot) == []
    assert driver.looks("start")[0].screenshot == Omitted(why="withheld")


@pytest.mark.parametrize("kind", ["say", "ask", "answer"])
def test_a_page_is_looked_at_when_the_agent_sends_a_message(driver, kind: str) -> None:
    driver.click(BUTTON, 1000).wait(600)
    driver.push("rest", "fine", at=1700)
    driver.page_text = "toast"
    driver.wait(50).feed(m.Utterance(at=1750, kind=kind, text="Done, here you are."))
    _, second = driver.looks()
    assert (second.of, second.t) == (0, 1750) and b"toast" in driver.blobs[second.snapshot]
    assert second.screenshot is not None
    (message,) = driver.of(Message)
    assert (message.t, message.step) == (1750, 0)
    assert driver.events.index(message) < driver.events.index(second)  # written at once


def test_what_has_not_changed_keeps_its_screenshot(driver) -> None:
    driver.click(BUTTON, 1000).wait(600)
    driver.push("rest", "fine", at=1700)
    taken = len(driver.commands(m.Screenshot))
    driver.wait(50).feed(m.Utterance(at=1750, kind="say", text="Done, here you are."))
    first, second = driver.looks()
    assert (second.snapshot, second.screenshot, second.shot_t) == (
        first.snapshot, first.screenshot, first.shot_t,
    )  # fmt: skip
    assert len(driver.commands(m.Screenshot)) == taken


def test_an_agent_that_can_wait_is_looked_at_once_before_its_message(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.feed(m.Speaking(at=2000), m.Utterance(at=1998, kind="say", text="Done, here you are."))
    (seen,) = driver.looks()
    (message,) = driver.of(Message)
    assert seen.t == message.t == 2000
    driver.feed(
        m.Utterance(at=2100, kind="reply", text="Thanks."), m.Utterance(at=2200, kind="say", text="Bye.")
    )
    assert [look.t for look in driver.looks()][1:] == [2200]


def test_a_page_at_a_message_before_any_step_is_a_start(driver) -> None:
    starts = len(driver.looks("start"))
    driver.feed(m.Utterance(at=500, kind="say", text="Hello there."))
    assert len(driver.looks("start")) == starts + 1
    (message,) = driver.of(Message)
    assert message.step is None


def test_messages_name_a_step_that_is_not_over_yet(driver) -> None:
    driver.click(BUTTON, 1000).wait(600)
    driver.event("keydown", FIELD, 2000, key="a")
    driver.feed(m.Utterance(at=2100, kind="say", text="Typing now."))
    assert len(driver.steps) == 1
    driver.feed(m.Utterance(at=1999 - 100, kind="say", text="Sent before, received later."))
    driver.end()
    assert [message.step for message in driver.of(Message)] == [1, 0]
    assert len(driver.steps) == 2


def test_messages_in_a_declared_turn_name_its_first_step(driver) -> None:
    driver.click(BUTTON, 1000).wait(600)
    wait = Wait(ms=1)
    driver.feed(
        m.StepEnter(at=2000, actions=(wait, wait)), m.Utterance(at=2001, kind="say", text="Within it.")
    )
    driver.feed(m.StepExit(at=2002), m.StepEnter(at=2100, actions=(wait,)))
    driver.feed(m.Utterance(at=2101, kind="say", text="In the next."), m.StepExit(at=2102))
    driver.end()
    assert [message.step for message in driver.of(Message)] == [1, 3]
    assert len(driver.steps) == 4


def test_a_message_before_the_action_of_a_declared_step_shows_the_earlier_effect(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.feed(
        m.StepEnter(at=2100, actions=(Click(),)), m.Utterance(at=2110, kind="say", text="Now I click.")
    )
    driver.click(OTHER, 2200)
    driver.feed(m.Utterance(at=2300, kind="say", text="I have clicked."), m.StepExit(at=2310))
    driver.wait(3000).end()
    at_messages = [(seen.t, seen.of) for seen in driver.looks() if seen.t in (2110, 2300)]
    assert at_messages == [(2110, 0), (2300, 1)]
