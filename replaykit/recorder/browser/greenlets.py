"""Commands beside a sync agent: every one gets a greenlet on Playwright's event loop.

The loop runs whenever the agent is inside a call. A greenlet may block in a call of its own while the agent
goes on, as every event handler does. Sleeping and work for the thread leave no greenlet behind; the loop
takes the command up again.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from greenlet import greenlet

from replaykit.recorder.browser.command_effects import (
    CallMethod,
    Carried,
    CommandRefused,
    Effect,
    Job,
    Sleep,
    Together,
    Work,
)
from replaykit.recorder.browser.driver import Driver
from replaykit.recorder.session.driver_messages import Pause


class Greenlets(Driver, ABC):
    """Carries out what the session and the driver ask for, while the agent goes on."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.loop: asyncio.AbstractEventLoop | None = None
        """Playwright's; None = nothing is attached yet."""
        self.worker = ThreadPoolExecutor(1, "replaykit")
        """Works while the browser talks."""
        self.under_way = 0
        """Commands to wait for."""
        self.timers = 0
        """Commands that only let time pass: nothing to wait for."""
        self._jobs: dict[Job, Callable[[Job], None]] = {}
        self._naps: dict[Job, float] = {}
        """When jobs that sleep go on, ms."""

    @abstractmethod
    def perform(self, effect: Effect) -> Any:
        """Carry out one effect in the greenlet that is here; raises `CommandRefused`."""

    @property
    def has_lost(self) -> bool:
        """Whether Playwright has stopped: every call is refused then, and nothing under way is answered."""
        return self.loop is not None and not self.loop.is_running()

    def pump(self) -> None:
        """Start what the session has asked for."""
        while self.queue:
            command = self.queue.pop(0)
            then = partial(self.replied, command)
            self.spawn(self.commands.start(command), then, is_timer=isinstance(command, Pause))

    def spawn(self, carried: Carried, then: Callable[[Job], None], *, is_timer: bool = False) -> None:
        """Carry out beside the agent, then call `then`."""
        self.timers += is_timer
        self.under_way += not is_timer

        def done(job: Job) -> None:
            self.timers -= is_timer
            self.under_way -= not is_timer
            then(job)

        job = Job(carried)
        self._jobs[job] = done
        self._soon(partial(self._go_on, job))

    def run(self, carried: Carried) -> Any:
        """Carry out in the greenlet that is here."""
        job = Job(carried)
        effect = job.step()
        while effect is not None:
            effect = self._next(job, effect)
        if job.fault is not None:
            raise job.fault
        if job.error is not None:
            raise CommandRefused(job.error)
        return job.value

    def go_on_alone(self) -> None:
        """Do without Playwright, which has stopped: time goes by, all else that is under way is refused."""
        for job in list(self._jobs):
            due = self._naps.get(job)
            if due is None:
                self._go_on(job, refused=CommandRefused("gone"))
            elif due <= self.clock.now():
                self._go_on(job)

    def _soon(self, act: Callable[[], None]) -> None:
        if self.loop is None or self.has_lost:
            act()
        else:
            self.loop.call_soon_threadsafe(_in_greenlet, act)

    def _go_on(self, job: Job, answer: Any = None, refused: CommandRefused | None = None) -> None:
        if job not in self._jobs:
            return  # it was refused
        self._naps.pop(job, None)
        effect = job.step(answer, refused)
        while effect is not None and not self._is_left(effect, job):
            effect = self._next(job, effect)
        if effect is None and job in self._jobs:
            self._jobs.pop(job)(job)
            self.pump()

    def _is_left(self, effect: Effect, job: Job) -> bool:
        go_on = partial(self._go_on, job)
        if isinstance(effect, Sleep):
            self._naps[job] = self.clock.now() + effect.ms
        if self.loop is None or self.has_lost:
            return isinstance(effect, Sleep)
        if isinstance(effect, Together) and (effect.sends[0].tab.wire or effect.sends[0].via):
            self._ask_together(effect.sends, go_on)
            return True
        if isinstance(effect, Sleep):
            self.loop.call_later(effect.ms / 1000, _in_greenlet, go_on)
            return True
        # The answer comes as an event, so no greenlet has to wait for it.
        if isinstance(effect, CallMethod) and (effect.via or effect.tab.wire):
            self._ask_target(effect, go_on)
            return True
        if isinstance(effect, Work):
            future = self.worker.submit(effect.run)
            future.add_done_callback(lambda done: self._back(lambda: go_on(*_outcome(done.result))))
            return True
        return False

    def _back(self, act: Callable[[], None]) -> None:
        # From the worker's thread; a loop that has been closed meanwhile takes nothing up.
        with suppress(RuntimeError):
            assert self.loop is not None
            self.loop.call_soon_threadsafe(_in_greenlet, act)

    def _ask_together(self, sends: tuple[CallMethod, ...], go_on: Callable[..., None]) -> None:
        answers: dict[int, tuple[Any, CommandRefused | None]] = {}

        def over(place: int, answer: Any, refused: CommandRefused | None) -> None:
            answers[place] = (answer, refused)
            if len(answers) == len(sends):
                first = next((refused for _, refused in answers.values() if refused is not None), None)
                go_on([answers[at][0] for at in range(len(sends))], first)

        for place, send in enumerate(sends):
            # Each in a greenlet of its own: a call waits for its receipt.
            self._soon(partial(self._ask_target, send, partial(over, place)))

    def _ask_target(self, effect: CallMethod, go_on: Callable[..., None]) -> None:
        if effect.tab.is_gone or self.loop is None:
            go_on(None, CommandRefused("gone"))
            return
        # A list, because `over` has to exist before its timer does.
        timers: list[asyncio.TimerHandle] = []

        def over(answer: Any, refused: CommandRefused | None) -> None:
            timers[0].cancel()
            self._soon(partial(go_on, answer, refused))

        number, call = self.relayed(effect, over)
        late = partial(self.give_up, effect.tab, number, CommandRefused("timeout"))
        timers.append(self.loop.call_later(effect.timeout_ms / 1000, late))
        try:
            self.perform(call)
        except CommandRefused as refused:
            self.give_up(effect.tab, number, refused)

    def _next(self, job: Job, effect: Effect) -> Effect | None:
        return job.step(*_outcome(partial(self.perform, effect)))


def _in_greenlet(act: Callable[[], None]) -> None:
    greenlet(act).switch()


def _outcome(act: Callable[[], Any]) -> tuple[Any, CommandRefused | None]:
    try:
        return act(), None
    except CommandRefused as refused:
        return None, refused
