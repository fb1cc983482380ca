"""The forms of `replaykit record`: an agent in this process, a command, another's browser, a person.

Each opens the start pages before the agent begins, records, and returns what was recorded. An agent that
fails is a result; only a recorder that fails raises.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.browser import (
    FEATURES_OFF,
    NET_LOG,
    NO_SANDBOX,
    UNISOLATED,
    UNSEEN,
    Browser,
    find_browser,
    launch,
)
from replaykit.errors import AgentError, MissingExtra, RecorderError
from replaykit.recorder.agent_command import AgentCommand, refuse_named, without_secrets
from replaykit.recorder.agent_entry import load_agent, warn_of_returned
from replaykit.recorder.agent_limits import alarm, exited, failing, interrupts, within
from replaykit.recorder.agent_traceback import place_of, trace_of
from replaykit.recorder.browser.witnesses.net_log import FLAG
from replaykit.recorder.proxy.proxied_browser import Proxied
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.recorder.settings import all_secrets, as_settings, as_sites
from replaykit.tasks.task import AgentTask, Task, agent_view

if TYPE_CHECKING:
    from playwright.async_api import Browser as Connected
    from playwright.async_api import BrowserContext, Page

SitesGiven = Mapping[str, str | Sequence[str]]
"""Site name to its root, or roots of which the first is the active one."""


PARTING_S = 3.0
"""Longest wait for the end of a connection; a page behind a dialog can hold it up."""


log = logging.getLogger("replaykit.recorder")


class BrowserChoice(Struct, frozen=True, kw_only=True):
    """The browser to start, and how."""

    path: str | None = None
    """Path of the program; default: see `replaykit.find_browser`."""
    channel: str | None = None
    """Channel of the browser: `chromium chrome chrome-beta msedge`."""
    headed: bool = False
    """Whether it has a window."""
    viewport: tuple[int, int] = (1280, 720)
    """Width and height in CSS px."""


class Recorded(Struct, frozen=True, kw_only=True):
    """Result of a recording."""

    path: Path
    """Path of the sealed bundle."""
    digest: str
    """Digest of the bundle's content, 64 hex digits."""
    kind: str
    """How the run ended."""
    cause: str
    """Who ended it."""
    answer: str | None = None
    """The agent's answer."""
    exit_code: int | None = None
    """Exit code of the command."""
    error: str | None = None
    """Error with which the agent crashed."""
    place: str | None = None
    """Place of that error: `file:line, in function` of the agent's own code in this process."""
    trace: str | None = None
    """Traceback of that error."""
    notices: tuple[str, ...] = ()
    """Warnings for the user."""


def record_agent(
    agent: str | Callable[..., Any],
    task: Task | None,
    out: str | Path,
    /,
    *,
    sites: SitesGiven | None = None,
    browser: BrowserChoice | None = None,
    max_time: float | None = None,
    **options: Any,
) -> Recorded:
    """Record `fn(page, task, run)`, sync or async, in this process; its `task` is the agent's view.

    `max_time` in seconds. Other options: `replaykit.recorder.settings.Settings`, of which the keyword `agent`
    says who the agent is.
    """
    agent_call = load_agent(agent) if isinstance(agent, str) else agent
    run_it = _agent_async if inspect.iscoroutinefunction(agent_call) else _agent_sync
    agent_task, choice = _view(task, sites), browser or BrowserChoice()
    return run_it(agent_call, agent_task, out, choice, max_time, _all(options, task, sites))


PLAYWRIGHT_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding",
    "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin",
    "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch",
    "msForceBrowserSignIn", "msEdgeUpdateLaunchServicesPreferredVersion",
)  # fmt: skip
"""Features of Chromium that Playwright 1.65 turns off."""

APART = {"in_process": False}
"""Settings of a recording whose agent has a driver of its own."""


def record_command(
    argv: Sequence[str],
    task: Task | None,
    out: str | Path,
    *,
    sites: SitesGiven | None = None,
    browser: BrowserChoice | None = None,
    max_time: float | None = None,
    environ: Mapping[str, str] | None = None,
    pass_env: Sequence[str] = (),
    harness_events: str | Path | None = None,
    **options: Any,
) -> Recorded:
    """Record a command's agent in a browser that is started for it.

    The command finds the browser by `REPLAYKIT_CDP_URL`, its task in `REPLAYKIT_TASK`, and reads or writes
    `REPLAYKIT_EVENTS` and `REPLAYKIT_REPLIES`. It inherits this process's environment, except variables that
    hold a declared secret and are not named in `pass_env`; `environ` is added unchanged.
    `harness_events`: a file that the command does not know, in which the harness around it appends the
    user's replies and how the run ended. Raises UsageError where the command's words name that file.
    """
    harness = None if harness_events is None else Path(harness_events)
    if harness is not None:
        refuse_named(argv, harness)
        options.setdefault("replies", True)
    given = _all(options, task, sites) | APART
    if shutil.which(argv[0], path=(environ or os.environ).get("PATH")) is None:
        raise AgentError(entry=argv[0], reason="there is no such program")
    secrets = all_secrets(as_settings(options), task).values()
    inherited, hidden = without_secrets(os.environ, secrets, pass_env)
    if harness is not None:
        places = (str(harness.resolve()), str(harness))
        inherited, _ = without_secrets(inherited, places, ("PATH", "HOME", "PWD", *pass_env))
    choice = browser or BrowserChoice()
    with _launched(choice, has_pipe=True) as running, Proxied(running) as proxied:
        work = _command(
            argv, {**inherited, **(environ or {})}, _view(task, sites), out, proxied, max_time, given, harness
        )
        recorded = asyncio.run(work)
    return replace(recorded, notices=(*recorded.notices, *map(_withheld, hidden)))


def record_cdp(
    url: str, task: Task | None, out: str | Path, *, sites: SitesGiven | None = None, **options: Any
) -> Recorded:
    """Record a browser that somebody else started, until it closes or Ctrl-C comes."""
    return asyncio.run(_watch(url, (), out, _all(options, task, sites) | APART))


def record_person(
    url: str,
    task: Task | None,
    out: str | Path,
    *,
    sites: SitesGiven | None = None,
    browser: BrowserChoice | None = None,
    **options: Any,
) -> Recorded:
    """Record what a person does in a browser with a window, until its last page closes or Ctrl-C comes."""
    given = _all(options, task, sites) | APART
    with _launched(replace(browser or BrowserChoice(), headed=True)) as running:
        return asyncio.run(_watch(running.endpoint, (url,), out, given, running))


def _view(task: Task | None, sites: SitesGiven | None) -> AgentTask:
    return agent_view(task, as_sites(sites)) if task else AgentTask(id="", intent="")


def _all(options: dict[str, Any], task: Task | None, sites: SitesGiven | None) -> dict[str, Any]:
    if importlib.util.find_spec("playwright") is None:
        raise MissingExtra(package="playwright", extra="browser", purpose="recording")
    # Without a scripted user no one answers, and no reply means nothing.
    given = {"replies": options.get("user") is not None, **options}
    return {**given, "task": task, "sites": sites, "is_begun": False}


def _launched(choice: BrowserChoice, *, has_pipe: bool = False) -> Browser:
    return launch(
        choice.path,
        channel=choice.channel,
        headed=choice.headed,
        viewport=choice.viewport,
        has_pipe=has_pipe,
    )


# An agent in this process


def _agent_sync(
    agent_call: Callable[..., Any],
    agent_task: AgentTask,
    out: str | Path,
    choice: BrowserChoice,
    max_time: float | None,
    options: dict[str, Any],
) -> Recorded:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright, _private_folder() as folder:
        options_of_browser = _launch_options(choice, folder)
        try:
            browser = playwright.chromium.launch(**options_of_browser)
        except Error as error:
            raise _not_started(options_of_browser, error) from error
        try:
            context = browser.new_context(viewport=_size(choice))
            pages = [context.new_page() for _ in agent_task.start_urls or ("",)]
            with Recorder(out, **options) as run:
                run.read_net_log(folder / NET_LOG)
                run.attach(context)
                for page, url in zip(pages, agent_task.start_urls, strict=False):
                    try:
                        page.goto(url)
                    except Error as error:
                        _warn_unopened(url, error)
                run.begin()
                with failing(run), alarm(run, max_time):
                    warn_of_returned(agent_call(pages[0], agent_task, run), run)
        finally:
            browser.close()
    return _recorded(run, _root_notice())


def _agent_async(
    agent_call: Callable[..., Awaitable[Any]],
    agent_task: AgentTask,
    out: str | Path,
    choice: BrowserChoice,
    max_time: float | None,
    options: dict[str, Any],
) -> Recorded:
    from playwright.async_api import Error, async_playwright

    async def record(folder: Path) -> AsyncRecorder:
        async with async_playwright() as playwright:
            options_of_browser = _launch_options(choice, folder)
            try:
                browser = await playwright.chromium.launch(**options_of_browser)
            except Error as error:
                raise _not_started(options_of_browser, error) from error
            try:
                context = await browser.new_context(viewport=_size(choice))
                await context.new_page()
                async with AsyncRecorder(out, **options) as run:
                    run.read_net_log(folder / NET_LOG)
                    await run.attach(context)
                    pages = await _open_pages(context, agent_task.start_urls or ("about:blank",))
                    await run.begin()
                    await _finished(agent_call(pages[0], agent_task, run), run, max_time)
            finally:
                await browser.close()
        return run

    with _private_folder() as folder:
        run = asyncio.run(record(folder))
    return _recorded(run, _root_notice())


async def _finished(agent: Awaitable[Any], run: AsyncRecorder, max_time: float | None) -> None:
    acting = asyncio.ensure_future(_ended(agent, run))
    run.on_limit(lambda: _cancel(acting))
    with failing(run), interrupts(acting.cancel):
        async with within(max_time):
            await acting


async def _ended(agent: Awaitable[Any], run: AsyncRecorder) -> None:
    try:
        warn_of_returned(await agent, run)
    except SystemExit as error:  # would end the loop, and the recording with it
        exited(run, error)


def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()


@contextmanager
def _private_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="replaykit-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _launch_options(choice: BrowserChoice, folder: Path) -> dict[str, Any]:
    return {
        "executable_path": str(find_browser(choice.path, choice.channel)),
        "headless": not choice.headed,
        # Ctrl-C ends the agent; the browser is still looked at then.
        "handle_sigint": False,
        "chromium_sandbox": not _root_notice(),
        "args": ["--disable-quic", "--disable-auto-reload", f"{FLAG}={folder / NET_LOG}", _features_off()],
    }


def _features_off() -> str:
    # The last option wins, so it must repeat what Playwright turns off.
    return FEATURES_OFF + ",".join((*PLAYWRIGHT_OFF, UNISOLATED, *UNSEEN))


def _not_started(options: Mapping[str, Any], error: Exception) -> RecorderError:
    why = str(error).splitlines()[0]
    return RecorderError(
        what=f"browser {options['executable_path']} did not start: {why}; --browser PATH names another"
    )


def _size(choice: BrowserChoice) -> Any:
    return {"width": choice.viewport[0], "height": choice.viewport[1]}


# An agent elsewhere


def _withheld(name: str) -> str:
    return f"the command did not inherit {name}, which holds a declared secret; --pass-env {name} lets it"


async def _command(
    argv: Sequence[str],
    environ: Mapping[str, str],
    agent_task: AgentTask,
    out: str | Path,
    proxied: Proxied,
    max_time: float | None,
    options: dict[str, Any],
    harness: Path | None = None,
) -> Recorded:
    command = AgentCommand(argv, environ, proxied.take_events)
    with tempfile.TemporaryDirectory(prefix="replaykit-") as folder:
        async with (
            _connected(proxied.own_endpoint) as browser,
            AsyncRecorder(out, **options) as run,
        ):
            run.on_limit(command.stop)
            run.read_net_log(proxied.net_log)
            proxied.follow(run)
            await run.attach(browser)
            await _open_pages(browser.contexts[0], agent_task.start_urls)
            await run.begin()
            with interrupts(command.stop), proxied.watched():
                ended = await command.run(run, proxied.endpoint, agent_task, Path(folder), max_time, harness)
            if ended.is_late or ended.is_stopped:
                run.end(*(("timeout", "harness") if ended.is_late else ("stopped", "person")))
            await run.stop(exit_code=ended.exit_code)
    notices = (proxied.notice, *ended.warnings)
    return _recorded(run, tuple(filter(None, notices)), exit_code=ended.exit_code)


async def _watch(
    endpoint: str,
    urls: Sequence[str],
    out: str | Path,
    options: dict[str, Any],
    running: Browser | None = None,
) -> Recorded:
    over = asyncio.Event()
    async with _connected(endpoint) as browser, AsyncRecorder(out, **options) as run:
        if running is not None:
            run.read_net_log(running.net_log)
        await run.attach(browser)
        await _open_pages(browser.contexts[0], urls)
        await run.begin()
        _when_closed(browser, over.set, or_its_pages=running is not None)
        run.end("stopped", "person")
        with interrupts(over.set):
            await over.wait()
    notice = running.notice if running else None
    return _recorded(run, (notice,) if notice else ())


@asynccontextmanager
async def _connected(endpoint: str) -> AsyncIterator[Connected]:
    """Connect and yield the browser; leaving ends the connection, not the browser."""
    from playwright.async_api import Error, async_playwright

    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.connect_over_cdp(endpoint, no_defaults=True)
        except Error as error:
            raise RecorderError(
                what=f"cannot connect to {endpoint}: {error.message.splitlines()[0]}"
            ) from error
        for context in browser.contexts:
            _stay_out(context)
        browser.on("context", _stay_out)
        try:
            yield browser
        finally:
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(browser.close(), PARTING_S)


async def _open_pages(context: BrowserContext, urls: Sequence[str]) -> list[Page]:
    """Open every URL in a tab, blank ones first."""
    from playwright.async_api import Error

    blank = [page for page in context.pages if page.url == "about:blank"]
    pages = []
    for url in urls:
        page = blank.pop(0) if blank else await context.new_page()
        try:
            await page.goto(url)
        except Error as error:
            _warn_unopened(url, error)
        pages.append(page)
    return pages


def _warn_unopened(url: str, error: Exception) -> None:
    # The agent begins all the same: what it makes of a site that is down is part of its run.
    log.warning("%s could not be opened: %s", url, str(error).splitlines()[0])


def _when_closed(browser: Connected, call: Callable[[], None], *, or_its_pages: bool) -> None:
    """Call back once the browser is gone, or the last page of its first context."""
    browser.on("disconnected", lambda _: call())
    context = browser.contexts[0]

    def closed(_: object) -> None:
        if all(page.is_closed() for page in context.pages):
            call()

    def watch(page: Page) -> None:
        page.on("close", closed)

    if or_its_pages:
        for page in context.pages:
            watch(page)
        context.on("page", watch)


def _stay_out(context: BrowserContext) -> None:
    # Without a listener of ours, this second client would dismiss the agent's dialogs.
    context.on("dialog", lambda dialog: None)


def _recorded(
    run: Recorder | AsyncRecorder, notices: tuple[str, ...], exit_code: int | None = None
) -> Recorded:
    result, ended = run.result, run.ended
    assert result is not None  # a recording that could not be sealed has raised
    return Recorded(
        path=run.path,
        digest=result.digest,
        kind=ended.kind if ended else "unknown",
        cause=ended.cause if ended else "recorder",
        answer=ended.answer if ended else None,
        exit_code=exit_code,
        error=f"{ended.error.name}: {ended.error.message}" if ended and ended.error else None,
        place=place_of(run.failure),
        trace=trace_of(run.failure),
        notices=notices,
    )


def _root_notice() -> tuple[str, ...]:
    return (NO_SANDBOX,) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
