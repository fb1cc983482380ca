"""How a run ends without the agent: an exception, the limit of time or steps, Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

from replaykit.recorder.live_run import LiveRun

SOON_S = 0.005
"""Delay of a signal that has to come in a moment."""


@contextmanager
def failing(run: LiveRun) -> Iterator[None]:
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
    except OutOfTime as error:
        run.failed(error, "timeout", "harness")
    except SystemExit as error:
        exited(run, error)
    except Exception as error:  # noqa: BLE001 - an agent may raise anything
        run.failed(error)


def exited(run: LiveRun, error: SystemExit) -> None:
    """Take `sys.exit` as the end of the agent: a code other than 0 without an answer is a crash."""
    if error.code not in (None, 0) and not run.has_answered:
        run.failed(error)


class OutOfTime(BaseException):
    """The agent's time, or its steps, are used up; no agent's `except Exception` may catch it."""


LATE = "the agent was still at work when its time was over"


@asynccontextmanager
async def within(seconds: float | None) -> AsyncIterator[None]:
    """Cancel what takes longer (s; None = no limit), as OutOfTime; a TimeoutError of its own stays one."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if limit.expired():
            raise OutOfTime(LATE) from error
        raise


@contextmanager
def alarm(run: LiveRun, seconds: float | None) -> Iterator[None]:
    """Stop an agent that blocks: when its time (s; None = no limit) or its steps are used up, at Ctrl-C."""
    # Only a signal can stop a function that blocks; Playwright hands what it raises to the blocked call.
    # Outside of the main thread there are no signals: the agent ends by itself, its run does not wait for it.
    # Windows has no such signal: Ctrl-C is Python's own there, and the agent's time is not limited.
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "setitimer"):
        yield
        return

    reasons: list[BaseException] = []

    def ring(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            reasons.insert(0, KeyboardInterrupt())
        if not run.is_busy and _may_raise(frame):
            raise reasons[0] if reasons else OutOfTime(LATE)
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
def patient(run: LiveRun) -> Iterator[None]:
    """Let Ctrl-C wait until it tears nothing: for the agent's own code, or the loop that waits.

    Only where Python's own handler would raise at once; any other one knows what it does.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        if not run.is_busy and _may_interrupt(frame):
            raise KeyboardInterrupt
        threading.Timer(SOON_S, _ring_again).start()

    before = signal.signal(signal.SIGINT, ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
    if _is_waiting(frame):
        return True
    caller = _caller(frame)
    return caller is not None and _module(caller) == "replaykit.recorder.agent_runs"


def _may_interrupt(frame: FrameType | None) -> bool:
    return _is_waiting(frame) or _caller(frame) is None


def _is_waiting(frame: FrameType | None) -> bool:
    return frame is not None and _module(frame) == "selectors"


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the frame of ours, or of the event loop's, that has called the running code; None = none."""
    while frame is not None and _module(frame).partition(".")[0] not in (
        "asyncio",
        "playwright",
        "replaykit",
    ):
        frame = frame.f_back
    return frame


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _ring_again() -> None:
    # Raised in the main thread only: another thread would not interrupt its wait.
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _ring_soon() -> None:
    signal.setitimer(signal.ITIMER_REAL, SOON_S)
