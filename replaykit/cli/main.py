"""The command `replaykit`: finds the command asked for, loads only that, and turns errors into exit codes."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TextIO

import click

from replaykit.cli.command_groups import (
    COMMANDS,
    EXIT_CODES,
    add_exit_codes,
    name_variables,
    refuse_misspelt_variables,
    write_commands,
)
from replaykit.cli.command_options import refuse_replaced_inputs
from replaykit.cli.console import ENDING, harmless, near_file
from replaykit.errors import ReplaykitError

SWITCHES = {
    "quiet": (["-q", "--quiet"], "Print only results and errors."),
    "verbose": (["-v", "--verbose"], "Print more detail."),
    "debug": (["--debug"], "Show a traceback with every error."),
}
"""Switches that may stand before a command's name, or after it."""

CUT_OFF = 141
"""Exit code of a program whose output pipe was closed (`| head`): no one has read whether a gate failed."""

GARBAGE = 100_000
"""Objects made between two searches for garbage: loading makes many, drops few, and a search takes 10 ms."""


class LazyGroup(click.Group):
    """A group whose `--help` imports no command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command that was asked for."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        command.name = cmd_name
        command.short_help = COMMANDS[cmd_name][1]
        if EXIT_CODES not in (command.epilog or ""):  # loaded again in the same process
            add_exit_codes(command)
            _take_switches(command)
            name_variables(command, f"REPLAYKIT_{cmd_name.replace('-', '_').upper()}")
            command.callback = _knowing_variables(command, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was asked for; suggest the nearest name for an unknown one."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from difflib import get_close_matches  # loaded here: only a typing mistake pays for it

            for name in get_close_matches(args[0], COMMANDS, n=1):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {name!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        write_commands(formatter)


@click.command(
    cls=LazyGroup,
    epilog=f"{EXIT_CODES}\n\nExample: replaykit demo",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(*SWITCHES["quiet"][0], is_flag=True, help=SWITCHES["quiet"][1])
@click.option(*SWITCHES["verbose"][0], is_flag=True, help=SWITCHES["verbose"][1])
@click.option(*SWITCHES["debug"][0], is_flag=True, help=SWITCHES["debug"][1])
@click.version_option(package_name="replaykit-web", prog_name="replaykit")
@click.pass_context
def cli(ctx: click.Context, quiet: bool, verbose: bool, debug: bool) -> None:
    """Record a web agent's run once into one file, then grade it forever, offline."""
    ctx.obj = {"quiet": quiet, "verbose": verbose, "debug": debug}


def _knowing_variables(command: click.Command, name: str) -> Callable[..., Any]:
    """Return what a command calls, which first refuses misspelt variables and outputs that are inputs."""
    callback = command.callback or _group

    def called(*arguments: Any, **options: Any) -> Any:
        refuse_misspelt_variables(command, name, os.environ)
        refuse_replaced_inputs(command, options)
        return callback(*arguments, **options)

    return called


def _group() -> None:
    """Do nothing: a group of commands leaves the work to the one that was asked for."""


def _take_switches(command: click.Command) -> None:
    """Let a command, and those below it, take the switches of the program as well."""
    for below in getattr(command, "commands", {}).values():
        _take_switches(below)
    for names, words in SWITCHES.values():
        command.params.append(
            click.Option(names, is_flag=True, hidden=True, expose_value=False, callback=_switch, help=words)
        )


def _switch(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    if is_set and param.name:
        ctx.find_root().obj[param.name] = True


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its documented code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(GARBAGE)
    _install_handlers()
    _open_closed_outputs()
    try:
        code = run(arguments)
    # Any exception that reaches this line is a defect. Python itself would exit with 1, the code of a failed
    # gate.
    except Exception:  # noqa: BLE001  # a defect may be of any class: it is printed, and has its own exit code
        import traceback

        _report(traceback.print_exc)
        code = 3
    gc.freeze()  # what is left goes with the process: Python need not search it for garbage first
    sys.exit(code)


def _install_handlers() -> None:
    """Let whatever asks the program to end do so as Ctrl-C does: nothing half done is left behind."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not callable(signal.getsignal(signal.SIGINT)):  # ignored, as in a background job of a script
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _open_closed_outputs() -> None:
    """Let a program write that was started without stdout or stderr (`>&-`): its exit code says enough."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    try:
        code = cli.main(
            args=list(arguments), prog_name="replaykit", standalone_mode=False, auto_envvar_prefix="REPLAYKIT"
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except ReplaykitError as error:
        _report(_complain, error.message, error, arguments)
        return error.exit_code
    except click.UsageError as error:
        _report(_show_usage, error)
        return 2
    except click.ClickException as error:
        _report(error.show)
        return 3
    except (click.Abort, KeyboardInterrupt):
        _report(click.echo, "interrupted", err=True)
        return 130
    except OSError as error:
        _drop_output(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return CUT_OFF
        _report(
            _complain, f"{error.filename or 'input or output'}: {error.strerror or error}", error, arguments
        )
        return 3
    except MemoryError:
        _report(click.echo, "error: there is not enough memory for this", err=True)
        return 3
    except SystemExit as done:
        return _ended(done)


def _ended(done: SystemExit) -> int:
    """Return the exit code of what ended the program: click, or code that was loaded."""
    import traceback

    frames = list(traceback.walk_tb(done.__traceback__))
    if frames and str(frames[-1][0].f_globals.get("__name__")).startswith("click."):
        return CUT_OFF if done.code == 1 else 0  # with 0 after a completion, with 1 where the reader has gone
    _report(
        click.echo, f"error: code that was loaded ended the program, with sys.exit({done.code!r})", err=True
    )
    return 3


def _show_usage(error: click.UsageError) -> None:
    error.show()
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return
    source = error.ctx.get_parameter_source(error.param.name or "")
    if source is click.core.ParameterSource.ENVIRONMENT:
        click.echo(f"It is the value of the variable {error.param.envvar}.", err=True)


def _report(show: Callable[..., None], *arguments: Any, **options: Any) -> None:
    """Print an error; its exit code stays where the reader of the message has gone (`2>&1 | head -1`)."""
    try:
        show(*arguments, **options)
    except OSError:
        _drop_output(sys.stderr)


def _drop_output(stream: TextIO) -> None:
    """Give up what an output does not take: the interpreter would complain once more at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complain(message: str, error: Exception, arguments: Sequence[str]) -> None:
    if "--debug" in arguments:
        import traceback

        traceback.print_exception(error)
    message += near_file(error)
    lines = harmless(message).splitlines() or [""]
    click.echo(click.style("error: ", fg="red", bold=True) + lines[0], err=True)
    for line in lines[1:]:
        click.echo(f"  {line}", err=True)
