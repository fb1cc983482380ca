"""A recording as a whole: inputs in, records and commands out."""

from __future__ import annotations

import pytest

from replaykit.bundle.blobs import blob_id
from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.outbox import Blob
from replaykit.recorder.session.session import Session, SessionOptions, channels
from replaykit.tasks.checks import ProbePlan
from replaykit.trajectory.action import Answer, Click, Element, Fill, Goto, Hover
from replaykit.trajectory.exchange import Exchange, Gap, Message, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Header, Step

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
CANCEL = Element(tag="button", css="#cancel", attributes={"id": "cancel"})
FIELD = Element(tag="input", type="text", css="#email", attributes={"id": "email"})


def test_a_click_that_navigates(driver) -> None:
    """The transcript of the data model, message by message."""
    driver.push("rest", "cart", at=100)
    driver.hold = True
    driver.outputs.clear()
    before = driver.push("before", "cart", at=1500)
    driver.event("pointerdown", BUTTON, point=[90, 260], button=0, node=(before, 2))
    driver.event("pointerup", BUTTON, point=[90, 260], button=0)
    driver.event("click", BUTTON, 1530, point=[90, 260], button=0, detail=1)
    assert driver.steps == []  # a second click or a change may still follow

    where = {"page": 0, "document": 1, "url": "http://shop.test/paid"}
    driver.feed(m.Navigated(at=1540, stage="requested", reason="anchorClick", **where))
    driver.feed(
        requests.Requested(at=1541, request="12", page=0, method="GET", url=where["url"], resource="document")
    )
    driver.feed(m.Navigated(at=1541, stage="started", navigation_type="differentDocument", **where))
    driver.feed(requests.Responded(at=1600, request="12", status=200, mime="text/html"))
    driver.outputs.clear()
    driver.document = 1
    driver.feed(m.Navigated(at=1610, stage="committed", request="12", **where))
    step, arm, navigation = (one for one in driver.outputs if not isinstance(one, m.Pause))
    assert isinstance(step.event, Step)
    assert (step.event.index, step.event.t, step.event.end) == (0, 1500, 1530)
    assert step.event.url == "http://shop.test/"
    assert step.event.action.element.node.number == 2
    assert step.event.action.element.node.snapshot == step.event.before.snapshot
    assert (step.event.before.role, step.event.before.stale) == ("before", None)
    assert isinstance(arm, m.Arm) and (arm.page, arm.document) == (0, 1)
    assert isinstance(navigation.event, Navigation)
    assert (navigation.event.kind, navigation.event.cause) == ("link", "step")
    assert (navigation.event.step, navigation.event.exchange, navigation.event.status) == (0, 0, 200)

    driver.outputs.clear()
    driver.feed(requests.Finished(at=1700, request="12", encoded_size=11))
    (body,) = driver.outputs
    assert isinstance(body, m.FetchBody) and body.request == "12"
    driver.feed(m.CommandReply(at=1710, id=body.id, value=b"<p>paid</p>"))
    (exchange,) = driver.of(Exchange)
    assert (exchange.id, exchange.step, exchange.status) == (0, 0, 200)
    assert driver.blobs[exchange.body] == b"<p>paid</p>"

    driver.outputs.clear()
    driver.push("rest", "paid", at=2050, url=where["url"])
    (shot,) = driver.outputs
    assert isinstance(shot, m.Screenshot)
    driver.feed(
        m.CommandReply(at=2080, id=shot.id, value=(Blob.of("image/x-portable-pixmap", b"P6"), 1.0, 2070.0))
    )
    (seen,) = driver.looks()
    assert (seen.of, seen.t, seen.settled, seen.status) == (0, 2050, True, 200)
    assert (seen.screenshot, seen.shot_t) == (blob_id(b"P6"), 2070)


def test_the_header_comes_first_and_the_seal_last(driver) -> None:
    driver.click().wait(1000).end("answered", answer="42", exit_code=0)
    assert isinstance(driver.outputs[0].event, Header)
    assert isinstance(driver.outputs[-1], m.Seal)
    last = driver.events[-1]
    assert isinstance(last, Ending)
    assert (last.kind, last.answer, last.exit_code) == ("answered", "42", 0)
    assert driver.session.is_over and driver.session.feed(m.Utterance(at=9e9, kind="say", text="late")) == []


def test_channels_follow_the_options() -> None:
    assert channels(SessionOptions(), ProbePlan())["actions"] == "recorded"
    options = SessionOptions(has_screenshots=False, network="off", main_world=True)
    states = channels(options, ProbePlan())
    assert [states[name] for name in ("screenshots", "network", "actions", "probes")] == [
        "absent",
        "absent",
        "partial",
        "absent",
    ]


def test_the_header_keeps_what_the_harness_stated_about_its_channels() -> None:
    session = Session(SessionOptions(secrets={"PW": "hunter22"}), Header(channels={"replies": "recorded"}))
    header = session.start(0)[0].event
    assert (header.channels["replies"], header.channels["urls"], header.secrets) == (
        "recorded",
        "recorded",
        ("PW",),
    )


# Said and seen


def enter(driver, *actions, at: float = 1000, **more) -> None:
    driver.feed(m.StepEnter(at=at, actions=actions, **more))


def test_a_declared_click_is_one_step(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")), raw="click('#pay')", thought="Pay now.")
    driver.click(BUTTON, 1010)
    driver.feed(m.StepExit(at=1100)).wait(300)
    (step,) = driver.steps
    assert (step.origin, step.raw, step.thought, step.seen) == ("both", "click('#pay')", "Pay now.", True)
    assert (step.action.element.ref, step.action.element.css, step.t) == ("#pay", "#pay", 1010)
    assert (step.observed, step.declared, step.turn) == ((), None, None)


def test_a_contradicted_step_keeps_both(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.click(CANCEL, 1010)
    driver.feed(m.StepExit(at=1100)).wait(300)
    (step,) = driver.steps
    assert step.mismatch and step.declared.element.ref == "#pay"
    assert (step.action.element.css, [action.t for action in step.observed]) == ("#cancel", [1010])


def test_several_actions_stay_in_observed(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.click(CANCEL, 1010).click(BUTTON, 1030)
    driver.feed(m.StepExit(at=1100)).wait(300)
    (step,) = driver.steps
    assert (step.action.element.css, step.t, step.declared) == ("#pay", 1030, None)
    assert [action.element.css for action in step.observed] == ["#cancel", "#pay"]


def test_a_silent_step_is_declared(driver) -> None:
    enter(driver, Hover(element=Element(ref="#pay")))
    driver.feed(m.StepExit(at=1100)).wait(300)
    (step,) = driver.steps
    assert (step.origin, step.seen, step.t, step.end) == ("declared", True, 1000, 1100)
    assert step.before is not None


def test_a_step_that_left_nothing_failed(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.feed(m.StepExit(at=1100, error=("TimeoutError", "not found"))).wait(300)
    (step,) = driver.steps
    assert (step.origin, step.seen, step.error.name, step.done) == ("declared", False, "TimeoutError", False)


def test_several_calls_are_steps_of_one_turn(driver) -> None:
    enter(
        driver, Fill(element=Element(ref="#email"), value="a"), Click(element=Element(ref="#pay")), raw="both"
    )
    driver.event("beforeinput", FIELD, 1010, input_type="insertText", text="a")
    driver.event("input", FIELD, 1010, input_type="insertText", value="a")
    driver.click(BUTTON, 1030)
    driver.feed(m.StepExit(at=1100)).wait(300)
    assert [(s.index, s.turn, s.origin, s.raw) for s in driver.steps] == [
        (0, 0, "both", "both"),
        (1, 0, "both", "both"),
    ]


def test_actions_outside_of_windows_are_steps_of_their_own(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.click(BUTTON, 1010)
    driver.feed(m.StepExit(at=1100))
    driver.click(CANCEL, 1500).wait(1000)
    assert [(s.origin, s.action.element.css) for s in driver.steps] == [
        ("both", "#pay"),
        ("observed", "#cancel"),
    ]


def test_windows_that_touch_keep_their_actions(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.click(BUTTON, 1010)
    driver.feed(m.StepExit(at=1020))
    enter(driver, Click(element=Element(ref="#cancel")), at=1021)
    driver.click(CANCEL, 1030)
    driver.feed(m.StepExit(at=1040)).wait(500)
    assert [(s.origin, s.action.element.css, s.mismatch) for s in driver.steps] == [
        ("both", "#pay", False),
        ("both", "#cancel", False),
    ]


def test_a_message_that_comes_late_still_belongs_to_its_window(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.feed(m.StepExit(at=1100))
    driver.click(BUTTON, 1050).wait(1000)
    assert [(s.origin, s.seen) for s in driver.steps] == [("both", True)]


def test_a_window_without_an_action_gives_its_thought_to_what_happens(driver) -> None:
    enter(driver, thought="Look around.")
    driver.click(BUTTON, 1010)
    driver.feed(m.StepExit(at=1100)).wait(300)
    assert [(s.origin, s.thought) for s in driver.steps] == [("observed", "Look around.")]


def test_a_declared_goto_and_its_navigation(driver) -> None:
    enter(driver, Goto(url="http://shop.test/a"))
    driver.navigate("http://shop.test/a", 1010)
    driver.feed(m.StepExit(at=1100)).wait(300)
    (step,), (navigation,) = driver.steps, driver.of(Navigation)
    assert (step.origin, step.action.url, step.url) == ("both", "http://shop.test/a", "http://shop.test/a")
    assert (navigation.kind, navigation.cause, navigation.step) == ("goto", "agent", 0)


def test_what_the_browser_does_after_the_window_is_not_in_it(driver) -> None:
    enter(driver, Click(element=Element(ref="#pay")))
    driver.click(BUTTON, 1010)
    driver.feed(m.StepExit(at=1100))
    driver.navigate("http://shop.test/a", 1101, navigation_type="reload")
    driver.wait(300)
    assert [(type(s.action).__name__, s.origin, s.observed) for s in driver.steps] == [
        ("Click", "both", ()),
        ("Reload", "observed", ()),
    ]


def test_steps_stay_in_order_when_clocks_do_not(driver) -> None:
    driver.navigate("http://shop.test/a", 1000)
    where = {"page": 0, "document": 2, "url": "http://shop.test/b"}
    driver.feed(m.Navigated(at=980, stage="started", navigation_type="differentDocument", **where))
    driver.feed(m.Navigated(at=990, stage="committed", **where))
    assert [(s.index, s.t, s.end) for s in driver.steps] == [(0, 1000, 1005), (1, 1000, 1005)]
    assert [(n.url[-1], n.t) for n in driver.of(Navigation)] == [("a", 1005), ("b", 1005)]


def test_what_cannot_be_json_becomes_text(driver) -> None:
    enter(driver, Hover(), raw={1: object})
    driver.feed(m.StepExit(at=1100)).wait(300)
    assert isinstance(driver.steps[0].raw, str)


# Thoughts, messages, answers


def test_a_thought_goes_to_the_next_step(driver) -> None:
    driver.feed(
        m.Utterance(at=900, kind="thought", text="First."), m.Utterance(at=950, kind="thought", text="Then.")
    )
    driver.click(BUTTON, 1000).wait(1000).click(CANCEL, 3000).wait(1000)
    assert [step.thought for step in driver.steps] == ["First.\nThen.", None]


def test_a_thought_that_is_read_with_the_end_of_a_step_belongs_to_the_next(driver) -> None:
    driver.feed(m.Utterance(at=900, kind="thought", text="First."))
    enter(driver, Click(element=Element(ref="#pay")))
    driver.click(BUTTON, 1010)
    driver.feed(m.StepExit(at=1100), m.Utterance(at=1100, kind="thought", text="Then."))
    enter(driver, Click(element=Element(ref="#cancel")), at=1100)
    driver.click(CANCEL, 1110)
    driver.feed(m.StepExit(at=1200)).wait(1000)
    assert [step.thought for step in driver.steps] == ["First.", "Then."]


def test_a_thought_without_a_step_is_in_the_ending(driver) -> None:
    driver.feed(m.Utterance(at=900, kind="thought", text="I give up.")).end()
    assert driver.events[-1].thought == "I give up."


def test_messages_are_written_at_once(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    for kind, text in (("ask", "Delete it?"), ("reply", "yes"), ("say", "Done."), ("answer", "42")):
        driver.feed(m.Utterance(at=3000, kind=kind, text=text, approved=True if kind == "reply" else None))
    assert [(e.role, e.kind, e.approved, e.step) for e in driver.of(Message)] == [
        ("agent", "ask", None, 0),
        ("user", "reply", True, 0),
        ("agent", "say", None, 0),
        ("agent", "answer", None, 0),
    ]
    driver.end()
    assert driver.events[-1].answer == "42"


def test_an_empty_answer_is_an_answer(driver) -> None:
    driver.feed(m.Utterance(at=900, kind="answer", text="42")).end(answer="")
    assert driver.events[-1].answer == ""


def test_a_declared_answer_is_a_step_and_no_message(driver) -> None:
    enter(driver, Answer(text="42"))
    driver.feed(m.StepExit(at=1010)).end()
    assert driver.of(Message) == []
    assert [type(action) for action in driver.actions] == [Answer]


# Limits, ends, beginnings


def test_one_action_too_many_ends_the_run(new_driver) -> None:
    driver = new_driver(SessionOptions(max_steps=2)).open()
    driver.click(BUTTON, 1000).wait(1000).click(BUTTON, 3000).wait(1000)
    assert not driver.session.is_ending
    driver.click(CANCEL, 5000)
    assert driver.session.is_ending
    driver.wait(5000).end("answered")
    assert [step.action.element.css for step in driver.steps] == ["#pay", "#pay"]
    assert (driver.events[-1].kind, driver.events[-1].cause) == ("max_steps", "harness")
    assert len(driver.of(Ending)) == 1


def test_a_declared_step_too_many_ends_the_run(new_driver) -> None:
    driver = new_driver(SessionOptions(max_steps=1)).open()
    enter(driver, Hover())
    driver.feed(m.StepExit(at=1010))
    enter(driver, Click(element=Element(ref="#pay")), at=1020)
    assert driver.session.is_ending
    assert len(driver.steps) == 1


def test_what_happens_before_the_agent_begins_is_no_step(new_driver) -> None:
    driver = new_driver(SessionOptions(is_begun=False)).open()
    driver.navigate("http://shop.test/start", 100)
    assert driver.looks("start") == [] and driver.steps == []
    assert driver.of(Navigation)[0].cause == "unknown"
    driver.feed(m.Begin(at=500))
    assert len(driver.looks("start")) == 1 and driver.session.is_ready
    driver.click(BUTTON, 1000).wait(1000)
    assert [step.index for step in driver.steps] == [0]


def test_a_run_cut_short_in_the_middle_of_an_action_keeps_it(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[1, 2], button=0)
    driver.end("crashed", cause="person", error=("KeyboardInterrupt", ""))
    assert [(type(a), a.completed) for a in driver.actions] == [(Click, False)]
    assert (driver.events[-1].kind, driver.events[-1].error.name) == ("crashed", "KeyboardInterrupt")


def test_a_page_that_never_pushes_is_asked(driver) -> None:
    driver.errors = {"snapshot": "failed"}
    driver.click(BUTTON, 1000).wait(10_000).end()
    (step,) = driver.steps
    assert step.before is not None  # the start observation stands in
    assert step.before.stale is not None
    (seen,) = driver.looks()
    assert (seen.of, seen.snapshot, seen.url) == (0, None, "http://shop.test/")
    assert any(gap.channel == "snapshots" for gap in driver.of(Gap))


@pytest.mark.parametrize(("why", "images"), [("failed", 6), ("timeout", 3)])
def test_screenshots_are_given_up_where_they_take_too_long_not_where_they_are_refused(
    driver, why: str, images: int
) -> None:
    driver.errors = {"Screenshot": why}
    for at in range(1000, 60_000, 10_000):
        driver.click(BUTTON, at).wait(5000)
    asked = driver.commands(m.Screenshot)[1:]  # the first one was answered, when the tab opened
    assert len(asked) == images
    assert [gap.why for gap in driver.of(Gap) if gap.channel == "screenshots"] == [why] * images


def test_unknown_words_for_an_ending_are_not_written(driver) -> None:
    driver.end("exploded!", cause="", validity="hm?")
    ending = driver.events[-1]
    assert (ending.kind, ending.cause, ending.validity) == ("unknown", "harness", "other")


@pytest.mark.parametrize("at", [float("nan"), float("inf"), -5.0])
def test_times_that_are_none_do_no_harm(driver, at: float) -> None:
    driver.now = 50
    driver.session.feed(m.Utterance(at=at, kind="answer", text="42"))
    driver.end()
    assert all(event.t >= 0 for event in driver.events[1:])


def test_observations_name_all_tabs(driver) -> None:
    driver.open(1, "http://shop.test/help", opener=0).end()
    finals = driver.looks("final")
    assert [seen.page for seen in finals] == [0, 1]
    assert all(len(seen.tabs) == 2 for seen in finals)
    assert all(isinstance(seen, Observation) for seen in finals)
