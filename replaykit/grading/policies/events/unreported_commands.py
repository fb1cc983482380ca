"""Commands of the agent on which no page reports: files, hovering, answers to dialogs, tools of pages.

Own module: it reads only commands and steps, and none of the pages that `possible_actions` follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.grading.policies.events.agent_script_times import SLACK_MS
from replaykit.trajectory.action import ActionBase, Click, FileInfo, HandleDialog, Hover, UploadFile
from replaykit.trajectory.command import Command
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.step import Trajectory

LATE_MAX_MS = 60_000
"""A page reports the files that were given to it at most so long after."""

_CHOOSING = ("setInputFiles", "DOM.setFileInputFiles")
_RESTING = ("hover",)
_TOOLS = ("webmcpCallTool", "WebMCP.invokeTool")
_ANSWERING = ("Page.handleJavaScriptDialog", "accept", "dismiss")


def unreported_commands(run: Trajectory) -> dict[int, ActionBase]:
    """Return what commands may have done that no step reports, by the identity of the command.

    A file field that a page made and put nowhere sends its events to no one else. No event shows over which
    element a pointer rests, nor who answered a dialog.
    """
    given = [one for one in run.of_type(Command) if not one.refused]
    commands = [one for one in given if one.kind == "input"]
    # A page offers tools to agents (WebMCP): they may do what any of its controls does.
    tools = ((one, Click()) for one in given if _is(one, _TOOLS))
    found = (*_uploads(run, commands), *_hovers(run, commands), *_answers(run, commands), *tools)
    return {id(command): action for command, action in found}


def _uploads(run: Trajectory, commands: list[Command]) -> Iterator[tuple[Command, ActionBase]]:
    reported = [step.t or 0 for step in run.steps for one in step.actions if isinstance(one, UploadFile)]
    for command in commands:
        if not _is(command, _CHOOSING):
            continue
        lags = ((at, at - (command.t or 0)) for at in reported)
        found = next((at for at, lag in lags if -2 * SLACK_MS <= lag <= LATE_MAX_MS), None)
        if found is None:
            # Which files those were is unknown.
            yield command, UploadFile(files=(FileInfo(name=MASKED),))
        else:
            reported.remove(found)


def _hovers(run: Trajectory, commands: list[Command]) -> Iterator[tuple[Command, ActionBase]]:
    # A harness that declares its steps reports each.
    is_reported = any(isinstance(one, Hover) for step in run.steps for one in step.actions)
    yield from ((one, Hover()) for one in commands if _is(one, _RESTING) and not is_reported)


def _answers(run: Trajectory, commands: list[Command]) -> Iterator[tuple[Command, ActionBase]]:
    # Drivers also dismiss by themselves what the agent does not listen for.
    if not any(isinstance(one, HandleDialog) for step in run.steps for one in step.actions):
        yield from ((one, HandleDialog(text=MASKED)) for one in commands if _is(one, _ANSWERING))


def _is(command: Command, methods: tuple[str, ...]) -> bool:
    return command.name in methods or command.name.rpartition(".")[2] in methods
