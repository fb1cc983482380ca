"""Frames and workers: how they are armed, attributed to their owners, and asked together with their page."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import Any

import pytest

from replaykit.recorder.browser.command_effects import (
    CallMethod,
    CommandRefused,
    Effect,
    Job,
    Sleep,
    Together,
)
from replaykit.recorder.browser.frames_and_workers import arm_target, note_action, own, send_frames, snapshot
from replaykit.recorder.browser.instrumentation import arm, following
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.page.page_script import API, WORLD, PagePush
from replaykit.recorder.session.clock import Clock

PUSH = json.dumps({"k": "push", "seq": 1, "at": 0, "purpose": "final", "snapshot": "{}", "viewport": [8, 6]})
CLOCK = Clock(wall=lambda: 1000.0, ticks=lambda: 0.0)


def page(*, reports: bool = True) -> CdpTab:
    """A page M with a frame F in a process of its own, session S."""
    made = CdpTab(0, CLOCK)
    made.seat({"frame": {"id": "M", "loaderId": "L0", "url": "http://x.test/"}})
    about = {"sessionId": "S", "targetInfo": {"type": "iframe", "targetId": "F", "parentFrameId": "M"}}
    receive(made, "Target.attachedToTarget", about)
    for via, number, frame in (((), 2, "M"), (("S",), 5, "F")):
        context = {"id": number, "name": WORLD, "auxData": {"frameId": frame}}
        receive(made, "Runtime.executionContextCreated", {"context": context}, via)
    if reports:
        made.frames.reporters["F"] = 0
    made.take_unhandled()
    return made


def receive(tab: CdpTab, method: str, params: dict[str, Any], via: tuple[str, ...] = ()) -> None:
    assert list(tab.translate(method, params, via)) == []


def carry(
    carried: Generator[Effect, Any, Any], answer: Callable[[CallMethod], Any]
) -> tuple[Job, list[tuple[tuple[str, ...], str]]]:
    """Carry out; return the job, and what was asked of whom."""
    job, asked = Job(carried), []
    effect = job.step()
    while effect is not None:
        if isinstance(effect, Sleep):
            asked.append(((), "sleep"))
            effect = job.step()
            continue
        sends = effect.sends if isinstance(effect, Together) else (effect,)
        assert all(isinstance(send, CallMethod) for send in sends)
        asked += [(send.via, send.params.get("expression") or send.method) for send in sends]
        try:
            answers = [answer(send) for send in sends]
            result = answers if isinstance(effect, Together) else answers[0]
        except CommandRefused as refused:
            effect = job.step(refused=refused)
        else:
            effect = job.step(result)
    return job, asked


def plain(effect: CallMethod) -> Any:
    if effect.method == "Page.getFrameTree":
        return {"frameTree": {"frame": {"id": "F", "parentId": "M", "loaderId": "L1"}}}
    if effect.method == "DOM.getFrameOwner":
        return {"backendNodeId": 9}
    if effect.method == "DOM.resolveNode":
        return {"object": {"objectId": "O"}}
    if effect.method == "Runtime.callFunctionOn":
        return {"result": {"value": '{"push": 1, "number": 4}'}}
    if "getEntriesByType" in str(effect.params.get("expression")):
        return {"result": {"value": [1000_000.0, "complete", ["http://f.test/a.css"]]}}
    return {"result": {"value": PUSH}}


def methods(asked: list[tuple[tuple[str, ...], str]]) -> list[str]:
    return list(dict.fromkeys(what for _, what in asked))


FRAME_CALLS = [
    "Network.enable", "Runtime.enable", "Runtime.addBinding", "Page.enable",
    "Network.enableReportingApi", "Page.getFrameTree", "Page.addScriptToEvaluateOnNewDocument",
    "Target.setAutoAttach",
]  # fmt: skip


def test_requests_are_listened_to_first_and_nothing_is_held_up() -> None:
    tab = page()
    tab.is_watched = True
    target = tab.targets["S",]
    job, asked = carry(arm_target(tab, target, "script", CLOCK, has_network=True), plain)
    assert job.error is None
    assert methods(asked)[: len(FRAME_CALLS)] == FRAME_CALLS
    assert {via for via, _ in asked} == {("S",)}
    assert (target.is_armed, target.is_known, target.is_refused, target.loader) == (True, True, False, "L1")


@pytest.mark.parametrize("fails", [None, "Network.enable", "Page.getFrameTree"])
def test_target_that_waits_runs_once_the_recorder_listens_or_cannot(fails: str | None) -> None:
    tab = page()
    target = tab.targets["S",]
    target.is_held = True

    def answer(effect: CallMethod) -> Any:
        if effect.method == fails:
            raise CommandRefused("timeout")
        return plain(effect)

    _, asked = carry(arm_target(tab, target, "script", CLOCK, has_network=True), answer)
    done = methods(asked)
    assert done[:9] == [*FRAME_CALLS, "Runtime.runIfWaitingForDebugger"]
    assert target.is_refused is (fails is not None)
    assert target.loader == ("L1" if fails is None else "")


@pytest.mark.parametrize("holds", [False, True])
def test_what_lies_below_waits_as_its_tab_does(holds: bool) -> None:
    assert following(CdpTab(0, CLOCK, holds=holds))["waitForDebuggerOnStart"] is holds


@pytest.mark.parametrize("is_following", [True, False])
def test_page_that_has_no_history_yet_is_armed(is_following: bool) -> None:
    tab = CdpTab(0, CLOCK)
    tab.is_following = is_following
    about = {"result": {"value": [1000_000.0, 5.0, "", 1, "", "", 8, 6, []]}}

    def answer(effect: CallMethod) -> Any:
        if effect.method == "Page.getNavigationHistory":
            return None if effect.is_optional else {"entries": [{"url": "http://x.test/"}], "currentIndex": 0}
        if effect.method == "Page.getFrameTree":
            receive(tab, "Runtime.executionContextCreated", {"context": context})
            return {"frameTree": {"frame": {"id": "M", "loaderId": "L0", "url": "http://x.test/"}}}
        return about

    context = {"id": 2, "name": WORLD, "auxData": {"frameId": "M"}}
    job, asked = carry(arm(tab, "script", CLOCK, has_network=True), answer)
    assert (job.error, tab.url, tab.history.shows("http://x.test/")) == (None, "http://x.test/", True)
    assert ("Target.setAutoAttach" in methods(asked)) is is_following


def test_worker_is_only_listened_to() -> None:
    tab = page()
    about = {"sessionId": "W", "targetInfo": {"type": "worker", "targetId": "T", "parentFrameId": "M"}}
    receive(tab, "Target.attachedToTarget", about)
    _, asked = carry(arm_target(tab, tab.targets["W",], "script", CLOCK, has_network=True), plain)
    assert methods(asked)[:3] == ["Network.enable", "Runtime.enable", "Target.setAutoAttach"]
    _, asked = carry(arm_target(tab, tab.targets["W",], "script", CLOCK, has_network=False), plain)
    assert methods(asked)[:2] == ["Runtime.enable", "Target.setAutoAttach"]


@pytest.mark.parametrize(
    ("waits", "is_existing", "gaps"), [(False, False, ["target.late"]), (True, False, []), (False, True, [])]
)
def test_worker_that_ran_at_once_has_to_prove_that_it_opened_no_socket(
    waits: bool, is_existing: bool, gaps: list[str]
) -> None:
    tab = page()
    about = {"type": "service_worker", "targetId": "T"}
    event = {"sessionId": "W", "targetInfo": about, "waitingForDebugger": waits}
    receive(tab, "Target.attachedToTarget", event)
    target = tab.targets["W",]
    target.is_existing = is_existing
    carry(arm_target(tab, target, "script", CLOCK, has_network=True), plain)
    assert [gap.why for gap in tab.gaps] == gaps
    assert (target.is_armed, target.is_socketless) == (True, False)


def test_target_that_refuses_is_known_to_have() -> None:
    def refuses(effect: CallMethod) -> Any:
        raise CommandRefused("failed")

    tab = page()
    target = tab.targets["S",]
    carry(arm_target(tab, target, "script", CLOCK, has_network=True), refuses)
    assert (target.is_armed, target.is_refused) == (True, True)


def test_target_that_went_away_meanwhile_has_refused_nothing() -> None:
    tab = page()
    target = tab.targets["S",]

    def goes(effect: CallMethod) -> Any:
        tab.targets.clear()
        raise CommandRefused("failed")

    carry(arm_target(tab, target, "script", CLOCK, has_network=True), goes)
    assert not target.is_refused


def test_what_a_hostile_page_says_of_itself_does_no_harm() -> None:
    tab = page()
    for value in (None, 5, ["x", "y", "z"], [1.0, "complete"], [1.0, "complete", 7]):
        target = tab.targets["S",]

        def answer(effect: CallMethod, value: Any = value) -> Any:
            return {"result": {"value": value}} if "expression" in effect.params else plain(effect)

        job, _ = carry(arm_target(tab, target, "script", CLOCK, has_network=True), answer)
        assert job.fault is None


def test_owner_is_reported_by_the_document_around_it() -> None:
    tab = page()
    _, asked = carry(own(tab, "F"), plain)
    assert [what for _, what in asked] == [
        "DOM.getFrameOwner", "DOM.resolveNode", "Runtime.callFunctionOn", "Runtime.releaseObject",
    ]  # fmt: skip
    assert {via for via, _ in asked} == {()}
    assert tab.frames.owned == {"F"}
    (owner,) = tab.found
    assert owner.id == "F"


def test_frames_send_what_they_show_before_their_page_does() -> None:
    tab = page()
    tab.targets["S",].is_armed = True
    tab.frames.owned.add("F")
    job, asked = carry(snapshot(tab, "final"), plain)
    assert isinstance(job.value, PagePush)
    assert asked == [(("S",), f"{API}.send('asked')"), ((), f'{API}.push("final")')]
    _, asked = carry(send_frames(tab), plain)
    assert asked == [(("S",), f"{API}.send('asked')")]


def test_stuck_frame_does_not_hold_its_page_up() -> None:
    def answer(effect: CallMethod) -> Any:
        if effect.via:
            raise CommandRefused("timeout")
        return plain(effect)

    tab = page()
    tab.targets["S",].is_armed = True
    job, _ = carry(snapshot(tab, "final"), answer)
    assert isinstance(job.value, PagePush)


def test_page_waits_for_frames_that_are_being_armed_but_not_for_ever() -> None:
    tab = page(reports=False)
    job, asked = carry(snapshot(tab, "final"), plain)
    assert isinstance(job.value, PagePush)
    assert 2 < sum(what == "sleep" for _, what in asked) < 100


def test_page_without_frames_is_asked_as_ever() -> None:
    tab = CdpTab(0, CLOCK)
    tab.seat({"frame": {"id": "M", "loaderId": "L0", "url": "http://x.test/"}})
    receive(
        tab,
        "Runtime.executionContextCreated",
        {"context": {"id": 2, "name": WORLD, "auxData": {"frameId": "M"}}},
    )
    _, asked = carry(snapshot(tab, "final"), plain)
    assert asked == [((), f'{API}.push("final")')]


def test_action_is_noted_in_all_frames_but_its_own() -> None:
    tab = page()
    assert carry(note_action(tab, "F"), plain)[1] == [((), f"{API}.noteAction()")]
    assert carry(note_action(tab, ""), plain)[1] == [(("S",), f"{API}.noteAction()")]
