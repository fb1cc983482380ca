"""A command whose agent is recorded: its process, its environment, what it says while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from replaykit.errors import AgentError, UsageError
from replaykit.recorder.agent_events_file import AgentEvents
from replaykit.recorder.live_run import LiveRun
from replaykit.tasks.task import AgentTask

TAIL_S = 0.05
"""How often the events file is read."""

OPTIONS = "REPLAYKIT_RECORD_"
"""Prefix of the variables that give options of a recording."""

GRACE_S = 3.0
"""A command that is asked to end gets so long before it is killed."""


class CommandEnd(Struct, frozen=True, kw_only=True):
    """How a command ended."""

    exit_code: int
    """Negative: killed by that signal."""
    is_late: bool = False
    """Its time was over."""
    is_stopped: bool = False
    """A person stopped it."""
    warnings: tuple[str, ...] = ()
    """Lines of its events file, or of the harness's, that could not be understood."""


class AgentCommand:
    """One command, run once."""

    def __init__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        listening: Callable[[AgentEvents], None] = lambda events: None,
    ) -> None:
        """`listening` is given the events of the agent, before the command starts."""
        self._listen = listening
        self._argv = list(argv)
        self._environ = dict(environ)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Let the command end now."""
        self._stopped.set()

    async def run(
        self,
        run: LiveRun,
        endpoint: str,
        agent_task: AgentTask,
        folder: Path,
        max_s: float | None,
        harness: Path | None = None,
    ) -> CommandEnd:
        """Start it, receive its events, and return when it has ended. Raises AgentError when it cannot start.

        `harness`: the file in which the harness around the command writes what the user replies.
        """
        events, replies = folder / "events.jsonl", folder / "replies.jsonl"
        self._environ |= {
            "REPLAYKIT_CDP_URL": endpoint,
            "REPLAYKIT_TASK": msgspec.json.encode(agent_task).decode(),
            "REPLAYKIT_EVENTS": str(events),
            "REPLAYKIT_REPLIES": str(replies),
        }
        agent_events = AgentEvents(events, replies, run, harness)
        self._listen(agent_events)
        process = await self._start()
        following = asyncio.ensure_future(_follow(agent_events))
        try:
            is_over = await self._wait(process, max_s)
        finally:
            await _end(process)
            following.cancel()
            agent_events.receive(is_last=True)
        return CommandEnd(
            exit_code=process.returncode or 0,
            is_late=not is_over and not self._stopped.is_set(),
            is_stopped=self._stopped.is_set(),
            warnings=tuple(agent_events.warnings),
        )

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(*self._argv, env=self._environ)
        except OSError as error:
            raise AgentError(entry=self._argv[0], reason=error.strerror or str(error)) from error

    async def _wait(self, process: asyncio.subprocess.Process, max_s: float | None) -> bool:
        """Return whether the process ended by itself, before its time was over or somebody stopped it."""
        ended = asyncio.ensure_future(process.wait())
        stopped = asyncio.ensure_future(self._stopped.wait())
        done, waiting = await asyncio.wait(
            (ended, stopped), timeout=max_s, return_when=asyncio.FIRST_COMPLETED
        )
        for task in waiting:
            task.cancel()
        return ended in done


def refuse_named(argv: Sequence[str], harness: Path) -> None:
    """Raise UsageError where a command's words name the file of its user's replies."""
    names = {str(harness), str(harness.resolve())}
    if any(name in word for word in argv for name in names):
        raise UsageError(
            what=f"--harness-events {harness}: the command's own words name that file, so the agent could"
            " write its user's replies; let another program write it"
        )


def without_secrets(
    environ: Mapping[str, str], secrets: Iterable[str], granted: Iterable[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return an environment without variables that hold a secret, and the names of those left out.

    `granted` variables stay, whatever they hold. Options of this program that came by a variable go without
    a word: one may name the file of the task, which the agent does not know.
    """
    values, kept = tuple(secrets), frozenset(granted)
    environ = {name: text for name, text in environ.items() if name in kept or not name.startswith(OPTIONS)}
    hidden = sorted(
        name for name, text in environ.items() if name not in kept and any(value in text for value in values)
    )
    return {name: text for name, text in environ.items() if name not in hidden}, tuple(hidden)


async def _follow(agent_events: AgentEvents) -> None:
    while True:
        agent_events.receive()
        await asyncio.sleep(TAIL_S)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), GRACE_S)
        except TimeoutError:
            process.kill()
            await process.wait()
