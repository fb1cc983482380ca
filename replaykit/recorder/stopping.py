"""How an agent comes to its end from outside: it raises, its time or its steps are used up, Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from replaykit.recorder.run import Run

SOON_S = 0.005
"""Delay of a signal that has to come in a moment."""


@contextmanager
def failing(run: Run) -> Iterator[None]:
    """Take what the agent raises as how its run ended: it is no failure of the recorder."""
    try:
        yield
    except KeyboardInterrupt:
        run.end("stopped", "person")
    except asyncio.CancelledError:
        task = asyncio.current_task()
        run.end("stopped", "person")
        if task is not None and task.cancelling():
            raise  # somebody else wants all of this to end
    except (OutOfTime, TimeoutError) as error:
        is_limit = isinstance(error, OutOfTime) or isinstance(error.__cause__, asyncio.CancelledError)
        run.failed(error, *(("timeout", "harness") if is_limit else ()))
    except Exception as error:  # noqa: BLE001 - an agent may raise anything
        run.failed(error)


class OutOfTime(BaseException):
    """The agent's time, or its steps, are used up; no agent's `except Exception` may catch it."""


@contextmanager
def alarm(run: Run, seconds: float | None) -> Iterator[None]:
    """Stop an agent that blocks: when its time (s; None = no limit) or its steps are used up, at Ctrl-C."""
    # Only a signal can stop a function that blocks; Playwright hands what it raises to the blocked call.
    # Outside of the main thread there are no signals: the agent ends by itself, its run does not wait for it.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    reasons: list[BaseException] = []

    def ring(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            reasons.insert(0, KeyboardInterrupt())
        if not run.is_busy and _may_raise(frame):
            raise reasons[0] if reasons else OutOfTime("the agent was still at work when its time was over")
        _ring_soon()

    before = {number: signal.signal(number, ring) for number in (signal.SIGALRM, signal.SIGINT)}
    run.on_limit(_ring_soon)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts(call: Callable[[], object]) -> Iterator[None]:
    """Turn Ctrl-C into a call, so that the recording ends as it should."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, call)
    except (NotImplementedError, ValueError, RuntimeError):  # not the main thread, or no POSIX
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _may_raise(frame: FrameType | None) -> bool:
    # An exception in the middle of the event loop would tear the connection to the browser: it may come up
    # only where the loop waits, or in the agent's own code.
    if frame is not None and _module(frame) == "selectors":
        return True
    while frame is not None and _module(frame).partition(".")[0] not in (
        "asyncio",
        "playwright",
        "replaykit",
    ):
        frame = frame.f_back
    return frame is not None and _module(frame) == "replaykit.recorder.running"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _ring_soon() -> None:
    signal.setitimer(signal.ITIMER_REAL, SOON_S)
