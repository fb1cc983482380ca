"""Closed shadow roots: what the browser is asked, and what becomes of its answers."""

from __future__ import annotations

from typing import Any

from replaykit.recorder.browser.closed_shadow_roots import ELEMENTS_MAX, ROOTS_MAX, reveal
from replaykit.recorder.browser.command_effects import CallMethod, CommandRefused, Job
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.page.page_script import WORLD
from replaykit.recorder.session.clock import Clock


def tab() -> CdpTab:
    made = CdpTab(0, Clock())
    made.seat({"frame": {"id": "M", "url": "http://shop.test/"}})
    context = {"id": 2, "name": WORLD, "auxData": {"frameId": "M", "isDefault": False}}
    made.note("Runtime.executionContextCreated", {"context": context})
    return made


def closed(number: int, *inside: dict[str, Any]) -> dict[str, Any]:
    root = {"nodeType": 11, "backendNodeId": number, "shadowRootType": "closed", "children": list(inside)}
    return {"nodeType": 1, "backendNodeId": -number, "shadowRoots": [root]}


class Browser:
    """Answers; keeps what it was asked."""

    def __init__(self, about: Any, *roots: dict[str, Any], stuck: int | None = None) -> None:
        self.about = about
        self.root = {"nodeType": 9, "backendNodeId": 0, "children": list(roots)}
        self.stuck = stuck
        self.asked: list[CallMethod] = []

    def run(self, one: CdpTab) -> Job:
        job = Job(reveal(one))
        effect = job.step()
        while effect is not None:
            assert isinstance(effect, CallMethod)
            self.asked.append(effect)
            answer = self.answer(effect)
            is_refused = isinstance(answer, CommandRefused)
            effect = job.step(refused=answer) if is_refused else job.step(answer)
        return job

    def answer(self, effect: CallMethod) -> Any:
        match effect.method:
            case "Runtime.evaluate":
                return {"result": {"value": self.about}}
            case "DOM.getDocument":
                return {"root": self.root}
            case "DOM.resolveNode":
                number = effect.params["backendNodeId"]
                return (
                    CommandRefused("failed")
                    if number == self.stuck
                    else {"object": {"objectId": str(number)}}
                )
        return {"result": {}}

    def shown(self) -> list[str]:
        return [one.params["objectId"] for one in self.asked if one.method == "Runtime.callFunctionOn"]


def test_outer_roots_are_shown_before_inner_ones_and_the_domain_is_disabled() -> None:
    browser = Browser([10, 0], closed(1, closed(2)), closed(3))
    assert browser.run(tab()).value == 0
    shown = browser.shown()
    assert sorted(shown) == ["1", "2", "3"]
    assert shown.index("1") < shown.index("2")
    assert browser.asked[-1].method == "DOM.disable"


def test_a_root_that_cannot_be_had_is_counted() -> None:
    browser = Browser([10, 0], closed(1), closed(2), stuck=1)
    assert browser.run(tab()).value == 1
    assert browser.shown() == ["2"]


def test_too_many_roots_are_counted() -> None:
    browser = Browser([10, 0], *(closed(number) for number in range(1, ROOTS_MAX + 4)))
    assert browser.run(tab()).value == 3
    assert len(browser.shown()) == ROOTS_MAX


def test_of_a_large_page_the_browser_is_not_asked() -> None:
    browser = Browser([ELEMENTS_MAX + 1, 2])
    assert browser.run(tab()).value == 2
    assert [effect.method for effect in browser.asked] == ["Runtime.evaluate"]


def test_answers_that_no_script_of_ours_gives_do_no_harm() -> None:
    for about in (None, "x", [1], [1, None], {"a": 1}):
        job = Browser(about).run(tab())
        assert (job.value, job.error, job.fault) == (0, None, None)
