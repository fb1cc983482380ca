"""The stream of events: kinds, order, and what stands for what was not said."""

from __future__ import annotations

import msgspec
import pytest

from replaykit.grading.policies.events.event_stream import KIND_CHANNELS, history
from replaykit.replay.player import Replay
from replaykit.trajectory import action as actions
from replaykit.trajectory.completeness import END
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.observation import TabView


def stream(run):
    """Return the events, without the one that says that the recording broke off."""
    return tuple(event for event in history(Replay(run)).events if event.code != END)


def kinds(run):
    return [event.kind for event in stream(run)]


def visits(run):
    return [(event.url, event.failed) for event in stream(run) if event.kind == "visit"]


def field(css="#q"):
    return actions.Element(tag="input", css=css, names=actions.Names())


def test_the_page_acted_on_comes_before_messages_since(run):
    built = run().look("http://h.test/", "<p>Hi</p>").says("May I?").reply("yes").click("Go").ended("done")
    assert kinds(built) == ["visit", "page", "page", "message", "user_reply", "action", "answer"]


def test_after_a_recording_that_broke_off_anything_may_have_happened(run):
    (last,) = history(Replay(run())).events
    assert (last.code, last.hides) == (END, {*KIND_CHANNELS, "answer"})
    assert history(Replay(run().ended())).events == ()


def test_what_the_agent_claims_of_the_user_is_no_word_of_the_user(run):
    built = run().ended()
    built.events.insert(0, Message(role="agent", kind="claim", of="reply", text="yes", approved=True))
    assert kinds(built) == []


def test_a_message_as_a_step_is_action_and_message(run):
    assert kinds(run().send_message("Hello there")) == ["action", "message"]
    infeasible = run().do(actions.ReportInfeasible(text="No such order"))
    assert kinds(infeasible) == ["action", "message"]


def test_the_answer_that_counts_comes_last_and_once(run):
    built = run().says("41", "answer").says("42", "answer").look("http://h.test/", role="final").ended("42")
    events = stream(built)
    assert [(e.kind, e.message) for e in events if e.kind == "answer"] == [("answer", "41"), ("answer", "42")]
    assert events[-1].message == "42"
    acted = run().do(actions.Answer(text="42")).look("http://h.test/", role="final").ended("42")
    assert [e.kind for e in stream(acted)][-1] == "answer"
    assert kinds(acted).count("answer") == 1


def test_a_goto_that_never_arrived_is_a_failed_visit(run):
    assert visits(run().goto("http://h.test/a", failed=True)) == [("http://h.test/a", True)]
    assert visits(run().goto("http://h.test/a")) == [("http://h.test/a", False)]


def test_a_goto_that_was_sent_elsewhere_did_not_arrive(run):
    built = run().do(actions.Goto(url="http://h.test/admin")).visit("http://h.test/login", kind="goto")
    assert visits(built) == [("http://h.test/admin", True), ("http://h.test/login", False)]


def test_a_goto_without_a_log_may_have_arrived(run):
    assert visits(run(urls="absent").do(actions.Goto(url="http://h.test/a"))) == [("http://h.test/a", None)]


def test_urls_that_the_log_lacks_are_visits_too(run):
    built = run(urls="absent").look("http://h.test/a")
    built.do(actions.Click(), tabs=(TabView(page=1, url="http://pop.test/"),))
    assert visits(built) == [("http://h.test/a", False), ("http://pop.test/", False)]
    assert visits(run().on("http://h.test/a").click("Go")) == [("http://h.test/a", False)]


def test_frames_and_failed_links_are_no_visits(run):
    built = run().visit("http://ad.test/", frame=(1,)).visit("http://h.test/x", committed=False)
    assert visits(built) == []


def test_addresses_of_a_tab_never_listened_in_may_not_have_been_reached(run):
    built = run().visit("http://away.test/", kind="unknown", ambiguous=True)
    assert visits(built) == [("http://away.test/", None)]


@pytest.mark.parametrize(
    ("kind", "ways"),
    [("back", ["go_back"]), ("forward", ["go_forward"]), ("unknown", ["go_back", "go_forward"])],
)
def test_what_the_page_s_own_button_would_look_like_may_be_an_action(run, kind, ways):
    built = run().visit("http://h.test/", kind=kind, cause="step", ambiguous=True)
    assert [event.tag for event in stream(built) if event.kind == "maybe"] == ways
    assert visits(built) == [("http://h.test/", False)]


def test_printable_keys_in_one_field_are_one_text(run):
    built = run()
    for key in "abc":
        built.do(actions.Press(key=key, element=field()))
    built.do(actions.Press(key="Enter", element=field())).do(actions.Press(key="d", element=field("#other")))
    assert [event.values for event in stream(built)] == [(), (), (("abc",),), (), (("d",),)]


def test_a_text_that_was_submitted_is_also_an_enter(run):
    built = run().do(actions.Type(value="tea", submit=True, element=field()))
    assert [event.tag for event in stream(built)] == ["type", "press"]
    enter = actions.Press(key="Enter", element=field())
    seen = (actions.Type(value="tea", submit=True, element=field()), enter)
    assert [event.tag for event in stream(run().do(seen[0], observed=seen))] == ["type", "press"]


def test_every_action_seen_in_a_step_counts(run):
    seen = (actions.Click(element=field()), actions.Fill(value="x", element=field()))
    assert [event.tag for event in stream(run().do(seen[0], observed=seen))] == ["click", "fill"]


@pytest.mark.parametrize("fields", [{"seen": False}, {"failed": True}])
def test_an_action_that_left_no_trace_was_only_tried(run, fields):
    assert stream(run().do(actions.Click(element=field()), **fields))[0].failed
    assert stream(run().do(actions.Click(element=field(), completed=False)))[0].failed


def test_options_have_value_and_label_and_files_their_names(run):
    built = run().do(actions.SelectOption(values=("1", "2"), labels=("One", "Two"), element=field()))
    built.do(actions.UploadFile(files=(actions.FileInfo(name="cv.pdf"),), element=field()))
    assert [event.values for event in stream(built)] == [(("1", "One"), ("2", "Two")), (("cv.pdf",),)]


def test_a_closed_shadow_root_hides_nothing_that_is_looked_for(run):
    assert kinds(run().gap("snapshots", "shadow.closed")) == []
    assert kinds(run().gap("actions")) == ["gap"]


def test_names_may_be_missing_or_known_to_be_empty(run):
    def unnamed(element, **channels):
        return stream(run(**channels).do(actions.Click(element=element)))[0].unnamed.missing

    assert unnamed(None) == ("target@0",)
    assert unnamed(actions.Element(ref="7")) == ("names@0",)
    assert unnamed(actions.Element(text="")) == ("names@0",)
    assert unnamed(actions.Element(text=" ", names=actions.Names(title="Sort"))) == ()
    assert unnamed(actions.Element(text="Sort"), targets="partial") == ("names@0",)
    assert unnamed(actions.Element(ref="7", text="Sort")) == ("names@0",)
    for page in ({"tag": "button"}, {"role": "button"}, {"name": "Sort"}, {"attributes": {"id": "s"}}):
        assert unnamed(actions.Element(text="Sort", **page)) == ()
    assert unnamed(actions.Element(text="Sort", cut=True)) == ("text.cut@0",)
    assert unnamed(actions.Element(text="Host", closed_shadow=True)) == ("names.closed@0",)


def test_the_order_is_that_of_the_clock_not_of_the_lines(run):
    built = run().look("http://h.test/").click("Export").says("It failed.")
    built.look("http://h.test/export", status=503)
    times = [0, 10, 40, 20]
    assert len(times) == len(built.events)
    built.events = [msgspec.structs.replace(e, t=t) for e, t in zip(built.events, times, strict=True)]
    events = stream(built)
    assert [event.kind for event in events][-2:] == ["page", "message"]
    assert [event.story for event in events][-2:] == [3, 2]
