"""The public recorder: attach it to a page, a context or a browser, and let the agent act.

with Recorder("run.zst", task=task) as run:
page = run.attach(page)
...
run.answer("42")
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from msgspec.structs import replace

from replaykit.bundle.locking import not_recorded
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, SealResult, seal
from replaykit.errors import (
    BrowserNotSupported,
    BundleError,
    BundleWriteError,
    DriverTooOld,
    MissingExtra,
    SecretFound,
    UsageError,
)
from replaykit.file_types import DEVICE, is_device
from replaykit.recorder.agent_limits import patient
from replaykit.recorder.browser.lifecycle import Lifecycle
from replaykit.recorder.browser.timeouts import CLOSING_MAX_S
from replaykit.recorder.browser.witnesses.net_log import NetLog
from replaykit.recorder.browser.witnesses.witness_reports import has_census
from replaykit.recorder.live_run import LiveRun, declares_in_block, named
from replaykit.recorder.page.masked_fields import MaskedFields
from replaykit.recorder.page.page_script import InjectedNames, PageOptions, page_script
from replaykit.recorder.session.declared_actions import Utterance as Declared
from replaykit.recorder.session.driver_messages import Begin, Speaking, Write
from replaykit.recorder.session.session import Session
from replaykit.recorder.settings import (
    UNWATCHED,
    active_traceparent,
    all_secrets,
    as_settings,
    as_sites,
    as_task,
    completed,
    looked_at,
    probe_plan,
    refuse_traceparent,
    rfc3339,
    session_options,
    stored_options,
)
from replaykit.secrets.redactor import Redactor
from replaykit.tasks.moved_sites import at_sites
from replaykit.tasks.task import Task
from replaykit.trajectory.step import Ending, Environment, Header

if TYPE_CHECKING:
    from playwright.async_api import Browser as AsyncBrowser
    from playwright.async_api import BrowserContext as AsyncContext
    from playwright.async_api import Page as AsyncPage
    from playwright.sync_api import Browser, BrowserContext, Page

    from replaykit.recorder.browser.async_driver import AsyncDriver
    from replaykit.recorder.browser.sync_driver import SyncDriver
    from replaykit.tasks.suite import Suite

log = logging.getLogger("replaykit.recorder")

CRASH_MAX_MS = 1500.0
"""Longest wait for a crash that the agent reports; the browser reports it some 100 ms later."""

TURN_S = 0.005
"""Between two looks at whether it has."""

_T = TypeVar("_T", bound="Page | BrowserContext | Browser")
_A = TypeVar("_A", bound="AsyncPage | AsyncContext | AsyncBrowser")


class _Recording(LiveRun):
    """Common parts of both recorders: the file, the session's start, the seal."""

    def __init__(
        self,
        path: str | Path,
        *,
        task: Task | Mapping[str, Any] | Suite | str | Path | None = None,
        sites: Mapping[str, str | Sequence[str]] | None = None,
        **options: Any,
    ) -> None:
        self.path = Path(path)
        """The bundle."""
        self.result: SealResult | None = None
        """The sealed file, once it is sealed."""
        self.ended: Ending | None = None
        """How the run ended, once it has."""
        self._settings = as_settings(options)
        given, suite_sites = as_task(task)
        self._sites = {**suite_sites, **as_sites(sites)}
        self._task = at_sites(given, suite_sites, self._sites) if given is not None else None
        self._secrets = all_secrets(self._settings, self._task)
        self._plan = probe_plan(self._settings, self._task, self._sites)
        self.looks_at = looked_at(self._plan)
        """Addresses that are opened after the run for the checks of the task; also logged at the start."""
        self._journal: Journal | None = None
        self._was_opened = False
        self._is_attached = False
        self._has_header = False
        self._is_cut_short = False
        self._guards = ExitStack()
        self._thread = get_ident()
        super().__init__(self._new_driver(), self._settings.user)

    def _new_driver(self) -> Lifecycle:
        raise UsageError(what="record with Recorder or AsyncRecorder")

    def _driver_options(self) -> dict[str, Any]:
        # No secret and no test data of a policy: an agent over CDP can read every script of its pages.
        redactor = session_options(self._settings, self._task, self._secrets).redactor()
        names = InjectedNames.drawn(MaskedFields(redactor.masked))
        page = PageOptions(
            mask=self._settings.mask,
            binding=names.binding,
            api=names.api,
            question=names.question,
            key=names.fields.key,
        )
        return {
            "opening": self._open,
            "store": self._store,
            "script": page_script(page),
            "names": names,
            "has_network": self._settings.network != "off",
        }

    def _create(self) -> None:
        if self._was_opened:
            raise UsageError(what=f"{self.path} was recorded by this recorder: make a new one for each run")
        self._was_opened = True
        if is_device(self.path):
            raise BundleWriteError(source=str(self.path), operation="create the bundle", reason=DEVICE)
        if self._settings.force:
            with not_recorded(self.path, "replace it"):
                self.path.unlink(missing_ok=True)
        with suppress(OSError):  # the journal says what is in the way
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self._journal = Journal.create(self.path, self._settings.durability)

    def _require_open(self, action: str) -> None:
        """Raise UsageError where what is recorded would go nowhere."""
        if self._journal is None:
            block = f"`with {type(self).__name__}(...)`"
            raise UsageError(what=f"{action}: {self.path} is not open: {action} inside of {block}")

    def trace_context(self, traceparent: str | None = None) -> str:
        """Record the trace that the run belongs to, before `attach`, and return its W3C `traceparent`.

        `traceparent`: default: OpenTelemetry's active span. Raises UsageError without one, and after
        `attach`.
        """
        stated = active_traceparent() if traceparent is None else traceparent
        if stated is None:
            raise UsageError(what="trace_context: no span of OpenTelemetry is active; give a traceparent")
        refuse_traceparent(stated, "trace_context")
        if self._has_header:
            raise UsageError(what="trace_context: the recording has begun; call it before attach")
        self._settings = replace(self._settings, traceparent=stated)
        return stated

    def _store(self, write: Write) -> None:
        if isinstance(write.event, Ending):
            self.ended = write.event
        if self._journal is None or self._is_cut_short:
            return
        try:
            self._journal.commit([write.event], write.blobs, write.frames)
        except BundleError:
            self._is_cut_short = True  # what comes later may refer to blobs that are not there
            raise

    def _open(self, environment: Environment) -> Session:
        self._has_header = True
        is_watched = self._is_attached or bool(self._driver.tabs)
        if not is_watched:
            log.warning("%s: nothing was attached, so nothing of a browser is recorded", self.path)
        header = Header(
            created=rfc3339(self._driver.clock.started),
            run=self._settings.run,
            task=msgspec.to_builtins(self._task) if self._task else None,
            sites={name: tuple(roots) for name, roots in self._sites.items()},
            agent=self._settings.agent,
            environment=completed(environment),
            options=stored_options(self._settings),
            channels={} if is_watched else dict(UNWATCHED),  # the session knows the others
            agent_access="proxy" if self.is_proxied else None,
            traceparent=self._settings.traceparent,
            witnesses=self._witnesses(),
        )
        return Session(session_options(self._settings, self._task, self._secrets), header, self._plan)

    def _witnesses(self) -> tuple[str, ...]:
        is_logged = self._driver.commands.net_log is not None and self._driver.has_network
        has_pages = bool(self._driver.tabs)
        there = {
            "page": has_pages,
            "ledger": has_pages,
            "census": has_census(self._driver),
            "commands": self._driver.log.is_whole or self.is_proxied,
            "netlog": is_logged,
            "speech": True,
        }
        return tuple(name for name, is_there in there.items() if is_there)

    def read_net_log(self, path: Path) -> None:
        """Compare the recorded requests with the browser's own log (`--log-net-log`)."""
        self._driver.commands.net_log = NetLog(path)

    def _discard(self) -> None:
        """Leave no file where nothing can be recorded."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
            self.path.unlink(missing_ok=True)

    async def _wait_for_crash(self, error: BaseException | None) -> None:
        """Wait for the browser to report a crash that the agent blames."""
        is_blamed, deadline = self.mentions_crash(error), self.clock.now() + CRASH_MAX_MS
        while is_blamed and not self.has_crashed and self.clock.now() < deadline:  # noqa: ASYNC110 - a driver has no event
            await asyncio.sleep(TURN_S)

    def _finish(self, error: BaseException | None) -> None:
        """Close, scan and seal; an error of the recorder never hides one of the agent."""
        try:
            self._seal()
        except Exception:
            if error is None:
                raise
            log.exception("%s was not sealed", self.path)

    def _seal(self) -> None:
        if self._journal is None:
            return
        if self.unused_blocks:
            call = "`run.step(...)` without `with` declares nothing"
            log.warning("%s: %s; it was called so %d times", self.path, call, self.unused_blocks)
        self._journal.close()
        self._journal = None
        if isinstance(self._driver.fault, BundleError):
            raise self._driver.fault
        self._scan()
        self.result = seal(self.path)

    def _scan(self) -> None:
        """Look for declared secrets in all that was written, before anybody gets the file."""
        if not self._secrets:
            return
        redactor = Redactor(self._secrets)
        with open_bundle(self.path) as bundle:
            for number, line in enumerate(bundle.lines):
                _refuse(redactor, line, self.path, f"line {number}")
            for id in bundle.blob_ids:
                if not bundle.blob_type(id).startswith("image/"):
                    _refuse(redactor, bundle.blob(id), self.path, f"blob {id}")


class Recorder(_Recording):
    """Records one run of a synchronous Playwright agent into a bundle.

    Use it once, in a `with` block. The end of the block seals the bundle, and `result` describes the file.
    `path`: the bundle to write. `task`: a Task, plain values, or a task file. `sites`: root URLs by name.

    Options, all by keyword:
      secrets       dict of id to value (at least 4 characters); these values never reach the file
      mask          CSS selectors of elements to mask in texts and to paint over in screenshots
      keep_headers  names of headers to keep although their values look secret
      screenshots   "png" or "off"
      a11y          True keeps the accessibility tree of every page that has come to rest
      network       "bodies", "meta" (without bodies) or "off"
      pre_probes    "auto", "on" or "off": whether pages are looked at before the agent begins
      evidence      "task", a file or list of URLs, or a suite: pages to look at after the run
      user          rules that answer `ask`: a `User`, or plain values
      replies       False if the recorder does not see the user's replies; a missing reply then proves nothing
      max_steps     the run ends at the action after this many steps
      is_begun      False: nothing before `begin()` counts as a step of the agent
      in_process    False: the agent calls a driver of its own, not the attached one
      agent, run    the agent (`AgentInfo` or plain values), and a label of this attempt
      traceparent   W3C trace context of the run; default: the variable REPLAYKIT_TRACEPARENT
      durability    "process" or "power": the failure that every commit survives
      force         True replaces an existing file

    Raises UsageError, TaskError, MissingExtra; in the block BundleError, OutputExists, SecretFound.

    Example:
        with replaykit.Recorder("run.zst", task=task) as run:
            page = run.attach(browser.new_page())
            page.goto("http://localhost:8000/orders")
            run.answer("The total is 42.")
    """

    def __enter__(self) -> Recorder:
        self._create()
        self._driver.log.enter()
        self._guards.enter_context(patient(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, BrowserNotSupported | DriverTooOld):
            self._discard()
            self._guards.close()
            return
        try:
            at = self.clock.now()
            self._sync.run(self._sync.settle)
            self._sync.run(self._wait_for_crash, error)
            self._driver.begin(Environment())
            self._driver.feed(self.speech(at))
            self._driver.feed(self.ending(error, at=at))
            self._sync.run(self._sync.finish)
        finally:
            self._finish(error)
            self._guards.close()

    def attach(self, target: _T) -> _T:
        """Record a page, or all pages of a context or browser, with pages that open later; return it.

        Raises NotAttachable, BrowserNotSupported, and UsageError outside of the recorder's block.
        """
        self._require_open("attach")
        self._sync.run(self._sync.attach, target)
        self._is_attached = True
        return target

    def begin(self) -> None:
        """Mark the moment at which the agent takes over the browser (with `is_begun=False`)."""
        self._sync.run(self._sync.ready)
        self._driver.feed(Begin(at=self.clock.now()))
        self._sync.run(self._sync.ready)

    @declares_in_block
    @contextmanager
    def step(
        self, action: Declared | None = None, thought: str | None = None, raw: Any = None
    ) -> Iterator[None]:
        """Declare the action that the agent carries out in this block."""
        self.unused_blocks -= 1
        self.enter(action, thought, raw)
        self._sync.run(self._sync.idle, CLOSING_MAX_S)
        try:
            yield
        except BaseException as error:
            self.leave(named(error))
            raise
        self.leave()

    def _look(self) -> None:
        # In another thread no one can wait for the browser.
        if self._thread == get_ident() and self._sync.has_begun:
            self._driver.feed(Speaking(at=self.clock.now()))
            self._sync.run(self._sync.idle, CLOSING_MAX_S)

    @property
    def has_crashed(self) -> bool:
        """Whether a page of the agent, its browser or the browser's driver has crashed."""
        return self._driver.has_crashed or self._sync.wrapper.has_lost or self._sync.has_lost

    @property
    def _sync(self) -> SyncDriver:
        return cast("SyncDriver", self._driver)

    def _new_driver(self) -> Lifecycle:
        try:
            from replaykit.recorder.browser.sync_driver import SyncDriver
        except ModuleNotFoundError as error:
            raise _missing() from error
        return SyncDriver(**self._driver_options())


class AsyncRecorder(_Recording):
    """Records one run of an asynchronous Playwright agent into a bundle.

    Use it once, in an `async with` block, and await `attach`. Arguments and errors are those of `Recorder`.

    Example:
        async with replaykit.AsyncRecorder("run.zst", task=task) as run:
            page = await run.attach(await browser.new_page())
            await page.goto("http://localhost:8000/orders")
            run.answer("The total is 42.")
    """

    async def __aenter__(self) -> AsyncRecorder:
        self._create()
        self._driver.log.enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop(error)

    async def stop(self, error: BaseException | None = None, exit_code: int | None = None) -> None:
        """End the recording and seal the bundle. The end of the block does the same."""
        if isinstance(error, BrowserNotSupported | DriverTooOld):
            self._discard()
        if self._journal is None:
            return
        try:
            at = self.clock.now()
            await self._async.settle()
            await self._wait_for_crash(error)
            self._driver.begin(Environment())
            self._driver.feed(self.speech(at))
            self._driver.feed(self.ending(error, exit_code, at))
            await self._async.finish()
        finally:
            self._finish(error)

    async def attach(self, target: _A) -> _A:
        """Record a page, or all pages of a context or browser, with pages that open later; return it.

        Raises NotAttachable, BrowserNotSupported, and UsageError outside of the recorder's block.
        """
        self._require_open("attach")
        await self._async.attach(target)
        self._is_attached = True
        return target

    async def begin(self) -> None:
        """Mark the moment at which the agent takes over the browser (with `is_begun=False`)."""
        await self._async.ready()
        self._driver.feed(Begin(at=self.clock.now()))
        await self._async.ready()

    @declares_in_block
    @asynccontextmanager
    async def step(
        self, action: Declared | None = None, thought: str | None = None, raw: Any = None
    ) -> AsyncIterator[None]:
        """Declare the action that the agent carries out in this block."""
        self.unused_blocks -= 1
        self.enter(action, thought, raw)
        await self._async.idle(CLOSING_MAX_S)
        try:
            yield
        except BaseException as error:
            self.leave(named(error))
            raise
        self.leave()

    @property
    def has_crashed(self) -> bool:
        """Whether a page of the agent or its browser has crashed."""
        return self._driver.has_crashed or self._async.wrapper.has_lost

    @property
    def _async(self) -> AsyncDriver:
        return cast("AsyncDriver", self._driver)

    def _new_driver(self) -> Lifecycle:
        try:
            from replaykit.recorder.browser.async_driver import AsyncDriver
        except ModuleNotFoundError as error:
            raise _missing() from error
        # An agent in this process may block it: what waited for us then would wait for the agent.
        return AsyncDriver(**self._driver_options(), holds=not self._settings.in_process)


def _missing() -> MissingExtra:
    return MissingExtra(package="playwright", extra="browser", purpose="recording")


def _refuse(redactor: Redactor, data: bytes, path: Path, place: str) -> None:
    found = redactor.scan(data)
    if found is not None and found.is_declared:
        raise SecretFound(source=str(path), id=found.id, place=place)
