"""Ctrl-C during a recording: where it may come up, and where it waits."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from replaykit.recorder.agent_limits import patient

PATIENCE_S = 10.0


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """Python's own handler, whatever started the tests; and no signal that is left over."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def run(**state: Any) -> Any:
    return SimpleNamespace(is_busy=False, **state)


def wait() -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        time.sleep(0.001)


def test_it_comes_up_in_the_agent_s_own_code_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), patient(run()):
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it did not come up")


def test_it_waits_while_the_recorder_is_in_the_middle_of_something() -> None:
    recording = run()
    recording.is_busy = True
    with pytest.raises(KeyboardInterrupt), patient(recording):
        signal.raise_signal(signal.SIGINT)
        recording.is_busy = False
        wait()
        pytest.fail("it was forgotten")


def test_it_waits_while_code_of_the_event_loop_runs() -> None:
    loop: dict[str, Any] = {"__name__": "asyncio.events", "signal": signal}
    exec("def turn():\n    signal.raise_signal(signal.SIGINT)\n    return 'whole'", loop)
    turns = []
    with pytest.raises(KeyboardInterrupt), patient(run()):
        turns.append(loop["turn"]())
        wait()
        pytest.fail("it was forgotten")
    assert turns == ["whole"]


def test_handlers_are_as_they_were_afterwards() -> None:
    with patient(run()):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_somebody_else_stays() -> None:
    def theirs(number: int, frame: Any) -> None: ...

    signal.signal(signal.SIGINT, theirs)
    with patient(run()):
        assert signal.getsignal(signal.SIGINT) is theirs


def test_other_threads_have_no_signals() -> None:
    seen = []

    def work() -> None:
        with patient(run()):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
