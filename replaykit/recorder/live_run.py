"""A run as agent and harness see it: thoughts, messages, questions, answers, and its ending."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import UsageError
from replaykit.recorder.browser.lifecycle import Lifecycle
from replaykit.recorder.browser.playwright_versions import has_lost_driver
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.scripted_user import User, UserReply
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.declared_actions import Utterance as Declared
from replaykit.recorder.session.declared_actions import declared
from replaykit.recorder.session.driver_messages import End, HistoryCall, StepEnter, StepExit, Utterance
from replaykit.recorder.session.run_ending import CAUSES, KINDS, VALIDITIES
from replaykit.recorder.session.witnesses import Answered, Commanded, ScriptAsked, ScriptEnded, Witnessed

Error = tuple[str, str]
"""Name and message of an exception."""


class Ended(Struct, frozen=True, kw_only=True):
    """How the harness says that the run ended."""

    kind: str | None = None
    """`answered stopped max_steps timeout crashed unknown`; absent = as it looks."""
    cause: str | None = None
    """`agent browser recorder harness person`."""
    validity: str = "valid"
    """`valid blocked site_down session_lost other`."""
    error: Error | None = None
    """An exception."""


_P = ParamSpec("_P")
_Block = TypeVar("_Block")
_Run = TypeVar("_Run", bound="LiveRun")


def declares_in_block(
    method: Callable[Concatenate[_Run, _P], _Block],
) -> Callable[Concatenate[_Run, _P], _Block]:
    """Count the calls of a method that does its work in a `with` block; the block counts itself off."""

    @wraps(method)
    def called(run: _Run, /, *arguments: _P.args, **named: _P.kwargs) -> _Block:
        run.unused_blocks += 1
        return method(run, *arguments, **named)

    return called


class LiveRun:
    """Interface of an agent, or of the harness around it, during a recording."""

    def __init__(self, driver: Lifecycle, user: User | None) -> None:
        self._driver = driver
        self._user = user
        self._ended = Ended()
        self._own_end = Ended()
        self.speech_counts: dict[str, int] = {}
        """Counts of lines in event files, and of lines that were not written by their speaker."""
        self.failure: BaseException | None = None
        """Exception with which the agent ended."""
        self._answer: str | None = None
        self._is_in_step = False
        self.unused_blocks = 0
        """Calls of `step` whose block was not entered: they declare nothing."""

    @property
    def clock(self) -> Clock:
        """Clock of the recording."""
        return self._driver.clock

    @property
    def is_busy(self) -> bool:
        """Whether the recorder is writing something that must not be interrupted."""
        return self._driver.is_busy

    def on_limit(self, call: Callable[[], None]) -> None:
        """Set the function that stops the agent when its steps are used up."""
        self._driver.on_limit = call

    @property
    def is_proxied(self) -> bool:
        """Whether all commands of the agent to the browser pass through a proxy of the recorder."""
        return self._driver.is_proxied

    @is_proxied.setter
    def is_proxied(self, is_it: bool) -> None:
        self._driver.is_proxied = is_it

    @property
    def names(self) -> InjectedNames:
        """Names that this recording uses for what it injects into pages."""
        return self._driver.names

    def on_armed(self, call: Callable[[str], None]) -> None:
        """Set the function that is called with the target id of each new page when recording starts in it."""
        self._driver.on_armed = call

    def commanded(self, message: Commanded | Answered, target: str | None = None) -> None:
        """Record a command of the agent to the browser, or a request that the agent answers itself.

        `target`: id of the page that its input reaches.
        """
        if isinstance(message, Commanded):
            message = replace(message, within=self._page_of(target))
        self._driver.feed(message)

    def travelled(self, at: float, target: str) -> None:
        """Record that the agent moves back or forward in the page with that target id."""
        page = self._page_of(target)
        if page is not None:
            self._driver.feed(HistoryCall(at=at, page=page, is_over=False))

    def _page_of(self, target: str | None) -> int | None:
        found = self._driver.target_registry.get(target or "")
        return found.tab.page if found is not None and found.tab is not None else None

    def look_last(self, target: str, then: Callable[[], None]) -> None:
        """Look once more at the page with that target id, which the agent closes; call `then` afterwards."""
        found = self._driver.target_registry.get(target)
        tab = found.tab if found is not None else None
        if tab is None or tab.is_gone:
            then()
        else:
            self._driver.look_last(tab, then)

    def scripted(self, message: ScriptAsked | ScriptEnded, target: str | None = None) -> None:
        """Record that a script of the agent starts or has ended; `target`: id of its page."""
        if isinstance(message, ScriptAsked):
            within = self._page_of(target)
            message = replace(message, within=within, is_outermost=within is not None)
        self._driver.feed(message)

    def arrived(self, loader: str, at: float) -> None:
        """Record that no command after a time reaches what was there before a document, by its loader."""
        self._driver.command_times.arrived(loader, at)

    def missed(self, why: str, channels: Sequence[str]) -> None:
        """Record a gap in these channels, with its reason."""
        for channel in channels:
            self._driver.gap(channel, why)

    @property
    def has_answered(self) -> bool:
        """Whether the agent gave an answer."""
        return self._answer is not None

    def thought(self, text: str) -> None:
        """Record reasoning of the agent; it belongs to the next step."""
        self.say("thought", text)

    def message(self, text: str) -> None:
        """Record a message of the agent to the user."""
        self.say("say", text)

    def ask(self, text: str, reply: str | None = None, approved: bool | None = None) -> str | None:
        """Record a question to the user and return the reply.

        `reply`: the user's reply; without it the scripted user answers. `approved`: the user's decision, if
        one was given. Returns None if no one replies.
        """
        replied = self.asked(text, UserReply(reply=reply, approved=approved) if reply is not None else None)
        return replied.reply if replied else None

    def asked(
        self,
        text: str,
        reply: UserReply | None = None,
        at: float | None = None,
        stated_at: float | None = None,
    ) -> UserReply | None:
        """Record a question at a given time, and return the whole reply (by default of the scripted user)."""
        self.say("ask", text, at=at, stated_at=stated_at)
        if reply is None and self._user is not None:
            reply = self._user.answer(text)
        if reply is not None:
            self.reply(reply.reply, reply.approved)
        return reply

    def reply(self, text: str, approved: bool | None = None) -> None:
        """Record a message of the user. `approved`: the user's decision, if one was given."""
        self.say("reply", text, approved)

    def answer(self, text: str) -> None:
        """Record the agent's answer; the last one counts."""
        self.say("answer", text)

    def end(
        self,
        kind: str | None = None,
        cause: str | None = None,
        validity: str = "valid",
        error: BaseException | Error | str | None = None,
    ) -> None:
        """Set how the run ends, if it differs from what the recorder observes. Recording goes on.

        `kind`: `answered stopped max_steps timeout crashed unknown`. `cause`: `agent browser recorder harness
        person`. `validity`: `valid blocked site_down session_lost other`; a run that is not valid leaves
        every rate. Raises UsageError for another word.
        """
        _expect_one_of("kind", kind, KINDS)
        _expect_one_of("cause", cause, CAUSES)
        _expect_one_of("validity", validity, VALIDITIES)
        named_error = named(error) if isinstance(error, BaseException) else error
        named_error = ("Error", named_error) if isinstance(named_error, str) else named_error
        self._ended = Ended(kind=kind, cause=cause, validity=validity, error=named_error)

    def end_own(self, kind: str | None = None, error: Error | None = None) -> None:
        """Set how the agent itself reports its end; an end that the harness sets takes precedence."""
        self._own_end = Ended(kind=kind, cause="agent", error=error)

    def failed(self, error: BaseException, kind: str = "crashed", cause: str | None = None) -> None:
        """Record that the agent ended with an exception."""
        self.failure = error
        self._ended = Ended(kind=kind, cause=cause, validity=self._ended.validity, error=named(error))

    def say(
        self,
        kind: str,
        text: str,
        approved: bool | None = None,
        at: float | None = None,
        stated_at: float | None = None,
        of: str | None = None,
    ) -> None:
        """Note a word: kind is `thought say ask reply answer claim`; `at` in ms since start, default now.

        `stated_at`: the time that the speaker states, which does not affect the order; `of`: what a claim is
        about. Raises UsageError for what is no text, and outside of the recorder's block: the agent's call
        fails, not the recording.
        """
        self._require_open(kind)
        _expect(kind, text, str)
        if approved is not None:
            _expect("approved", approved, bool)
        if kind == "answer":
            self._answer = text
        moment = self._when(at)
        if at is None and kind in ("say", "ask", "answer"):
            self._look()
        self._driver.feed(
            Utterance(at=moment, kind=kind, text=text, approved=approved, stated_at=stated_at, of=of)
        )
        self._driver.pump()

    def enter(
        self,
        action: Declared | None,
        thought: str | None = None,
        raw: Any = None,
        at: float | None = None,
        stated_at: float | None = None,
    ) -> None:
        """Begin a declared step. Raises UsageError inside another declared step, or for an unknown action."""
        if self._is_in_step:
            raise UsageError(what="a step inside of a step: leave the first one before the next begins")
        if thought is not None:
            _expect("thought", thought, str)
        actions = declared(action)
        self._is_in_step = True
        stated = action if raw is None and isinstance(action, str) else raw
        self._driver.feed(
            StepEnter(at=self._when(at), actions=actions, thought=thought, raw=stated, stated_at=stated_at)
        )
        self._driver.pump()

    def leave(self, error: Error | None = None, at: float | None = None) -> None:
        """End the declared step, if there is one."""
        if self._is_in_step:
            self._is_in_step = False
            self._driver.feed(StepExit(at=self._when(at), error=error))
            self._driver.pump()

    @property
    def has_crashed(self) -> bool:
        """Whether a page of the agent or its browser has crashed."""
        return self._driver.has_crashed

    def mentions_crash(self, error: BaseException | None) -> bool:
        """Whether the agent's error reports a crash; the browser may report it later."""
        named_error = named(error) if error is not None else self._ended.error or self._own_end.error
        return named_error is not None and "crash" in named_error[1].lower()

    def speech(self, at: float) -> Witnessed:
        """Return the evidence that all messages passed through this run and none was lost."""
        return Witnessed(at=at, witness="speech", counts=dict(self.speech_counts))

    def ending(
        self, error: BaseException | None = None, exit_code: int | None = None, at: float | None = None
    ) -> End:
        """Return how the run ended: as it was set, otherwise as the recorder observed it."""
        kind, cause, named_error = self._looks(error, exit_code)
        kind = self._ended.kind or self._own_end.kind or kind
        if kind == "crashed" and (self.has_crashed or has_lost_driver(error)):
            cause = "browser"
        return End(
            at=self._when(at),
            kind=kind,
            cause=self._ended.cause or self._own_end.cause or cause,
            answer=self._answer,
            exit_code=exit_code,
            error=self._ended.error or self._own_end.error or named_error,
            validity=self._ended.validity,
        )

    def _require_open(self, action: str) -> None:
        """Raise UsageError where what is recorded would go nowhere."""

    def _look(self) -> None:
        """Have the page looked at before the agent goes on, where this can wait."""

    def _when(self, at: float | None) -> float:
        return self._driver.clock.now() if at is None else at

    def _looks(self, error: BaseException | None, exit_code: int | None) -> tuple[str, str, Error | None]:
        if isinstance(error, KeyboardInterrupt):
            return "stopped", "person", None
        if isinstance(error, CancelledError):  # a timeout around the recording, or the end of the loop
            return "stopped", "harness", None
        if error is not None:
            return "crashed", "agent", named(error)
        if self._answer is not None:
            return "answered", "agent", None
        return ("crashed" if exit_code else "stopped"), "agent", None


def _expect(what: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise UsageError(what=f"{what}: expected {kind.__name__}, found {type(value).__name__}")


def named(error: BaseException) -> Error:
    """Return the name and message of an exception."""
    return type(error).__name__, str(error)


def _expect_one_of(name: str, value: str | None, known: Collection[str]) -> None:
    """Raise UsageError for a word of an ending that means nothing; None leaves it to what is observed."""
    if value is not None and value not in known:
        raise UsageError(what=f"end: {name} {value!r:.80} is not one of {', '.join(sorted(known))}")
