"""Any inputs in any order: no exception, gapless steps, valid records, at most one ending and that one last."""

from __future__ import annotations

from itertools import chain
from math import isfinite
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.bundle.story_lines import encode_line
from replaykit.recorder.page.page_script import PageEvent, PageNode, PagePush
from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.outbox import Blob
from replaykit.recorder.session.session import Session, SessionOptions
from replaykit.tasks.checks import ProbeHttp, ProbePage, ProbePlan, ProbeRead
from replaykit.trajectory.action import Click, Element, FocusTab, Goto, Hover, Unknown
from replaykit.trajectory.observation import Observation, Prep, Read
from replaykit.trajectory.step import Ending, Header, Step

NAMES = [
    "pointerdown",
    "pointerup",
    "click",
    "dblclick",
    "auxclick",
    "contextmenu",
    "keydown",
    "beforeinput",
    "input",
    "change",
    "submit",
    "focusin",
    "dragstart",
    "drop",
    "wheel",
    "scroll",
    "toggle",
    "pageshow",
    "pagehide",
    "arrived",
    "travelled",
    "sending",
    "mystery",
]
ELEMENTS = (
    None,
    Element(tag="button", css="#a", attributes={"id": "a"}),
    Element(tag="input", type="text", css="#b"),
    Element(tag="input", type="checkbox", css="#c"),
    Element(tag="select", css="#d"),
    Element(tag="input", type="password", css="#e", masked=True),
)
READ = ProbeRead(locator="#out", selector="#out", property="text")
PLAN = ProbePlan(
    pages=(
        ProbePage(id="p0", phase="pre", url="http://shop.test/"),
        ProbePage(id="p1", phase="post", url="last", reads=(READ,)),
        ProbePage(id="p2", phase="post", url="last", prep=("f()",), reads=(READ,)),
        ProbePage(id="p3", phase="post", url="http://shop.test/orders", reads=(READ,)),
    ),
    http=(ProbeHttp(id="h0", phase="post", name="order", method="GET", url="http://shop.test/api"),),
    step_reads=(READ,),
)
ACTIONS = (
    Click(element=Element(ref="#a")),
    Goto(url="http://shop.test/"),
    Hover(),
    FocusTab(tab=1),
    Unknown(name="foo", raw="foo()"),
)

# Most times lie ahead of the one before: the test adds them up.
times = st.one_of(
    *[st.integers(0, 400).map(float)] * 9, st.sampled_from([float("nan"), float("inf"), -1.0, 1e18])
)
pages = st.sampled_from([0, 0, 0, 1, 2])
texts = st.sampled_from(["", "a", "http://shop.test/", "Enter", "\ud800", "x" * 50])
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    texts,
    st.lists(st.integers(-5, 900), max_size=3),
    st.lists(texts, max_size=2),
)
data = st.fixed_dictionaries(
    {},
    optional={
        "point": values,
        "button": st.sampled_from([0, 0, 0, 1, 2, "left", None, 9]),
        "detail": st.integers(0, 3),
        "modifiers": st.sampled_from([[], ["Control"], 5]),
        "key": st.sampled_from(["a", "Enter", " ", "Shift", "PageDown", None]),
        "printable": st.booleans(),
        "repeat": st.booleans(),
        "input_type": st.sampled_from(["insertText", "insertFromPaste", "insertCompositionText", None]),
        "text": values,
        "value": values,
        "values": values,
        "checked": st.booleans(),
        "control": st.sampled_from(["text", "select", "check", "file", 1]),
        "files": st.sampled_from([None, [], [{"name": "a", "size": 1e400}], [None]]),
        "dx": values,
        "dy": values,
        "left": values,
        "top": values,
    },
)
events = st.builds(
    PageEvent,
    seq=st.integers(0, 20),
    at=st.just(0.0),
    name=st.sampled_from(NAMES),
    trusted=st.sampled_from([True, True, False]),
    element=st.sampled_from(ELEMENTS),
    node=st.none() | st.builds(PageNode, push=st.integers(0, 20), number=st.integers(0, 3)),
    data=data,
)
pushes = st.builds(
    PagePush,
    seq=st.integers(0, 20),
    at=st.just(0.0),
    purpose=st.sampled_from(["before", "rest", "rest", "final", "asked", "left"]),
    snapshot=st.sampled_from(["", "{}\n[]\n[]\n[]\n", '{}\n["<p","=⟦masked⟧",1]\n[0]\n[1,2,3,4]\n']),
    settled=st.booleans(),
    url=texts,
)
documents = st.sampled_from([0, 0, 0, 1, 2])
frames = st.sampled_from([(), (), (), (0,)])
stages = st.sampled_from(["requested", "started", "committed", "within", "failed", "?"])
types = st.sampled_from(
    [None, "differentDocument", "sameDocument", "historyDifferentDocument", "reload", "fragment"]
)
request_names = st.sampled_from(["1", "2", "2#1"])
inputs: st.SearchStrategy[Any] = st.one_of(
    *[st.builds(m.PageMessage, at=times, page=pages, document=documents, frame=frames, event=events)] * 6,
    *[st.builds(m.SnapshotPushed, at=times, page=pages, document=documents, frame=frames, push=pushes)] * 2,
    st.builds(m.TabOpened, at=times, page=pages, url=texts, opener=st.none() | pages, existing=st.booleans()),
    st.builds(m.TabClosed, at=times, page=pages),
    st.builds(m.TabCrashed, at=times, page=pages),
    *[
        st.builds(
            m.Navigated,
            at=times,
            page=pages,
            frame=frames,
            document=documents,
            url=texts,
            stage=stages,
            navigation_type=types,
            reason=st.sampled_from([None, "anchorClick", "reload"]),
            request=st.none() | request_names,
        )
    ]
    * 3,
    st.builds(m.DialogOpened, at=times, page=pages, kind=texts, message=texts),
    st.builds(m.DialogClosed, at=times, page=pages, accepted=st.booleans()),
    st.builds(m.ConsoleLine, at=times, page=pages, level=texts, text=texts),
    st.builds(
        m.DownloadChanged, at=times, page=pages, guid=texts, url=texts, state=texts, size=st.integers()
    ),
    st.builds(
        requests.Requested,
        at=times,
        request=request_names,
        page=st.none() | pages,
        method=st.just("GET"),
        url=texts,
        resource=st.sampled_from(["document", "xhr", "image"]),
        redirect_from=st.none() | request_names,
        post=st.none() | st.just(b"a=1"),
    ),
    st.builds(
        requests.Responded,
        at=times,
        request=request_names,
        status=st.integers(-1, 599),
        mime=st.none() | texts,
    ),
    st.builds(
        requests.HandshakeSent,
        at=times,
        request=request_names,
        headers=st.just((("Origin", "http://h.test"),)),
    ),
    st.builds(requests.Finished, at=times, request=request_names),
    st.builds(requests.Failed, at=times, request=request_names, error=texts),
    st.builds(m.Begin, at=times),
    *[
        st.builds(
            m.StepEnter,
            at=times,
            actions=st.lists(st.sampled_from(ACTIONS), max_size=3).map(tuple),
            raw=values,
            thought=st.none() | texts,
        ),
        st.builds(m.StepExit, at=times, error=st.none() | st.just(("E", "m"))),
    ]
    * 2,
    st.builds(m.Utterance, at=times, kind=st.sampled_from(["thought", "say", "answer", "?"]), text=texts),
)
ends = st.builds(
    m.End, at=times, kind=texts, cause=texts, validity=texts, exit_code=st.none() | st.integers()
)
options = st.builds(
    SessionOptions,
    is_begun=st.booleans(),
    max_steps=st.none() | st.integers(0, 3),
    has_screenshots=st.booleans(),
    network=st.sampled_from(["bodies", "meta", "off"]),
    secrets=st.sampled_from([{}, {"PW": "hunter22"}]),
)


def dom_events(*names: str, on: int = 1, **data: Any) -> list[Any]:
    """Return messages of one element, a few ms apart."""
    return [
        m.PageMessage(
            at=5.0,
            page=0,
            document=0,
            event=PageEvent(seq=3, at=0.0, name=name, element=ELEMENTS[on], data=data),
        )
        for name in names
    ]


def pending(reason: str | None, kind: str, *stages: str) -> list[Any]:
    """Return the stages of one navigation."""
    said = [{"reason": reason} if stage == "requested" else {"navigation_type": kind} for stage in stages]
    return [
        m.Navigated(at=9.0, page=0, document=0, url="http://shop.test/a", stage=stage, **facts)
        for stage, facts in zip(stages, said, strict=True)
    ]


REST = PagePush(seq=9, at=0.0, purpose="rest", snapshot='{}\n["<p",1]\n[0]\n[]\n', settled=True)
CLICK = dom_events("pointerdown", "pointerup", "click", button=0)
PHRASES: tuple[list[Any], ...] = (
    CLICK,
    [*CLICK, *dom_events("pointerdown", "click", "dblclick", button=0, detail=2)],
    dom_events("pointerdown", "click", "input", "change", on=3, control="check", checked=True),
    dom_events("beforeinput", "input", on=2, input_type="insertText", value="a"),
    dom_events(
        "keydown", "beforeinput", "input", on=2, key="a", printable=True, input_type="insertText", text="a"
    ),
    dom_events("keydown", key="Enter", chord="Enter"),
    dom_events("change", on=4, control="select", values=["a"]),
    dom_events("wheel", "scroll", "scroll", dy=9, top=9),
    pending("anchorClick", "differentDocument", "requested", "started", "committed"),
    pending(None, "differentDocument", "started", "committed"),
    pending(None, "differentDocument", "started", "failed"),
    pending(None, "historyDifferentDocument", "started", "committed"),
    pending(None, "fragment", "within"),
    [m.StepEnter(at=3.0, actions=ACTIONS[:1]), *CLICK, m.StepExit(at=3.0)],
    [m.StepEnter(at=3.0, actions=ACTIONS[1:3]), *pending(None, "differentDocument", "started", "committed")],
    [m.StepEnter(at=3.0, actions=()), *CLICK, m.StepExit(at=300.0)],
    [m.StepExit(at=300.0)],
    [m.SnapshotPushed(at=100.0, page=0, document=0, push=REST)],
    [m.TabOpened(at=5.0, page=1, url="about:blank", opener=0)],
    [m.TabOpened(at=2000.0, page=2, url="http://shop.test/")],
    [m.TabClosed(at=2000.0, page=1)],
    [m.TabClosed(at=2000.0, page=0)],
    [m.Utterance(at=1.0, kind="thought", text="hm")],
    [requests.Requested(at=1.0, request="1", page=0, method="GET", url="http://shop.test/", resource="xhr")],
    [
        requests.Responded(at=1.0, request="1", status=200, mime="text/html"),
        requests.Finished(at=1.0, request="1"),
    ],
    [m.Utterance(at=3000.0, kind="say", text="a pause")],
)
"""Runs of inputs as browsers give them; times are ms since the input before."""

phrases = st.one_of(
    *[st.sampled_from(range(len(PHRASES))).map(lambda n: PHRASES[n])] * 5, inputs.map(lambda one: [one])
)


def right(command: Any) -> Any:
    """Return what a command that went well replies."""
    match command:
        case m.ReadPage(what="snapshot"):
            return PagePush(
                seq=3, at=0.0, purpose="asked", snapshot='{}\n["<p",1]\n[0]\n[]\n', url="http://shop.test/"
            )
        case m.ReadPage(what="reads"):
            return [Read(locator="#out", kind="string", value="1")]
        case m.ReadPage(what="prep"):
            return [Prep(source="f()")]
        case m.ReadPage(what="history"):
            return "back"
        case m.Screenshot():
            return (Blob.of("image/x-portable-pixmap", b"P6"), 1.0, 1.0)
        case m.FetchBody():
            return b'{"a":1}'
        case m.Http():
            return (200, "application/json", b"{}")
        case m.Open():
            return {"page": -1, "url": command.url, "status": 200, "redirects": [], "settled": True}
    return None


WRONG = [None, 1, "x", b"x", (), (1, 2, 3, 4), {"page": "x"}, [None], (-1, "x", b"")]
ERRORS = [None, "timeout", "dialog_open", "gone", "failed"]


@given(
    st.randoms(use_true_random=False),
    options,
    st.lists(phrases, min_size=12, max_size=40),
    st.integers(0, 9),
    st.none() | ends,
)
def test_any_inputs(
    random: Random, chosen: SessionOptions, runs: list[list[Any]], lateness: int, end: m.End | None
) -> None:
    session = Session(chosen, Header(channels={}), PLAN)
    written = drive(session, random, list(chain.from_iterable(runs)), end, is_late=lateness == 9)
    check(written, is_over=session.is_ending)


@pytest.mark.parametrize("seed", range(40))
def test_long_runs(seed: int) -> None:
    random = Random(seed)
    session = Session(SessionOptions(is_begun=seed % 4 > 0), Header(channels={}), PLAN)
    # A run that ends early shows little: the first tab stays.
    lasting = [phrase for phrase in PHRASES if phrase != [m.TabClosed(at=2000.0, page=0)]]
    items = [item for _ in range(120) for item in random.choice(lasting)]
    written = drive(session, random, items, m.End(at=1.0, kind="stopped"))
    check(written, is_over=True)
    steps = [write.event for write in written[:-1] if isinstance(write.event, Step)]
    assert len(steps) > 10
    assert [step.t for step in steps] == sorted(step.t for step in steps)


def drive(
    session: Session, random: Random, items: list[Any], end: m.End | None, *, is_late: bool = False
) -> list[Any]:
    """Feed inputs, carry commands out in any order, well or badly; return what was written."""
    written: list[Any] = []
    waiting: list[Any] = []
    now = 0.0

    def take(outputs: list[Any]) -> None:
        written.extend(one for one in outputs if isinstance(one, (m.Write, m.Seal)))
        waiting.extend(one for one in outputs if hasattr(one, "id"))

    def reply() -> None:
        nonlocal now
        command = waiting.pop(random.randrange(len(waiting)))
        now += getattr(command, "ms", 1)
        value = right(command) if random.random() < 0.7 else random.choice(WRONG)
        error = random.choice(ERRORS) if value is None else None
        take(session.feed(m.CommandReply(at=now, id=command.id, value=value, error=error)))

    take(session.start(0.0))
    if not is_late:
        take(session.feed(m.TabOpened(at=0.0, page=0, url="http://shop.test/")))
        take(session.feed(m.Begin(at=1.0)))
    for item in items:
        if isfinite(item.at) and 0 <= item.at < 1e9:
            now += item.at
            item = replace(item, at=now)
        take(session.feed(item))
        if waiting and random.random() < 0.5:
            reply()
    if end is not None:
        take(session.feed(replace(end, at=now + 1) if isfinite(end.at) else end))
    for _ in range(5000):
        if waiting:
            reply()
    assert not waiting
    return written


def check(written: list[Any], *, is_over: bool) -> None:
    events = [one.event for one in written if isinstance(one, m.Write)]
    steps = [event for event in events if isinstance(event, Step)]
    endings = [event for event in events if isinstance(event, Ending)]
    assert isinstance(events[0], Header)
    assert [step.index for step in steps] == list(range(len(steps)))
    assert len(endings) == int(is_over)
    if endings:
        assert events[-1] is endings[0] and isinstance(written[-1], m.Seal)
        assert all((event.t or 0) <= endings[0].t for event in events[1:])
    for number, event in enumerate(events[1:]):
        encode_line(event, number, "test")
    assert_no_blob_is_missing(written)


def assert_no_blob_is_missing(written: list[Any]) -> None:
    known: set[str] = set()
    for write in written:
        if not isinstance(write, m.Write):
            continue
        known |= {id for id, _, _ in write.blobs}
        event = write.event
        looks = [event, getattr(event, "before", None)]
        for seen in looks:
            if isinstance(seen, Observation):
                assert {id for id in (seen.snapshot, seen.screenshot) if isinstance(id, str)} <= known
        if isinstance(event, Step) and event.action.element and event.action.element.node:
            assert event.action.element.node.snapshot in known
