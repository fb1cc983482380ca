"""Sockets of workers that ran before the recorder listened: what their heap proves, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.browser.command_effects import CallMethod, CommandRefused, Job, Together
from replaykit.recorder.browser.opened_sockets import SOCKETS, may_have_sockets
from replaykit.recorder.browser.tab.cdp_frames import Target
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock

THROWN = {"result": {"type": "object"}, "exceptionDetails": {"text": "Uncaught"}}
PLAIN = {
    name: {"result": {"objectId": name, "description": f"function {name}() {{ [native code] }}"}}
    for name in SOCKETS
}


class Worker:
    """A worker with these constructors, some of which a script has used; it refuses one method."""

    def __init__(self, *, holds: bool = False, refuses: str = "", **made: dict[str, Any]) -> None:
        self.holds, self.refuses, self.made = holds, refuses, {**PLAIN, **made}
        self.asked: list[str] = []

    def answer(self, call: CallMethod) -> Any:
        self.asked.append(call.params.get("expression") or call.method)
        if call.method == self.refuses:
            raise CommandRefused("failed")
        match call.method:
            case "Runtime.evaluate":
                expression = call.params["expression"]
                return self.made.get(expression, {"result": {"objectId": "any"}})
            case "Runtime.getProperties":
                return {"internalProperties": [{"name": "[[Prototype]]", "value": {"objectId": "root"}}]}
            case "Runtime.queryObjects":
                assert call.params["prototypeObjectId"] == "root"
                return {"objects": {"objectId": "functions"}}
            case "Runtime.callFunctionOn":
                return {"result": {"value": self.holds}}
        return {}


def found(worker: Worker, url: str = "https://a.test/w.js") -> Any:
    tab = CdpTab(0, Clock(wall=lambda: 1000.0, ticks=lambda: 0.0))
    job = Job(may_have_sockets(tab, Target(via=("W",), kind="worker", id="W", url=url)))
    effect = job.step()
    while effect is not None:
        assert isinstance(effect, Together | CallMethod)
        sends = effect.sends if isinstance(effect, Together) else (effect,)
        try:
            answers = [worker.answer(send) for send in sends]
        except CommandRefused as refused:
            effect = job.step(refused=refused)
        else:
            effect = job.step(answers if isinstance(effect, Together) else answers[0])
    return job.value


def test_worker_that_made_no_constructor_has_no_socket() -> None:
    worker = Worker()
    assert found(worker) is False
    # To ask for a constructor makes it.
    assert worker.asked.index("Runtime.queryObjects") < worker.asked.index("WebSocket")


@pytest.mark.parametrize(
    "worker",
    [
        Worker(holds=True),
        Worker(WebSocket={"result": {"objectId": "own", "description": "class Mine {}"}}),
        Worker(WebSocket=THROWN),
        Worker(WebTransport=THROWN),
        *(Worker(refuses=f"Runtime.{name}") for name in ("evaluate", "queryObjects", "callFunctionOn")),
    ],
)
def test_worker_that_proves_nothing_may_have_sockets(worker: Worker) -> None:
    assert found(worker) is True


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("http://a.test/w.js", False),
        ("blob:http://a.test/1-2", False),
        ("http://localhost/w.js", True),
        ("http://127.0.0.1:8/w.js", True),
        ("blob:https://a.test/1-2", True),
        ("data:text/javascript,1", True),
    ],
)
def test_without_tls_there_is_no_transport(url: str, may: bool) -> None:
    assert found(Worker(WebTransport=THROWN, WebSocketStream=THROWN), url) is may
