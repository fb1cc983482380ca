"""How help is laid out: commands and options under headings, and an example at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from replaykit.errors import UsageError

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Record": {
        "init": ("replaykit.cli.record.init", "Write a first task, policy file and agent."),
        "record": ("replaykit.cli.record.record", "Record an agent's run into one bundle."),
        "rerun": ("replaykit.cli.record.rerun", "Re-execute a recorded run on a live site."),
        "seal": ("replaykit.cli.record.seal", "Finish the bundle of a recorder that crashed."),
    },
    "Grade": {
        "demo": ("replaykit.cli.grade.demo", "Grade the shipped recordings, and record one run."),
        "grade": ("replaykit.cli.grade.grade", "Grade bundles offline: checks, policies, judges."),
        "diff": ("replaykit.cli.grade.diff", "Compare two reports, or two recorded runs."),
        "tasks": ("replaykit.cli.grade.tasks", "Check, count and sample task files."),
        "policies": ("replaykit.cli.grade.policies", "Check policy files; try policies on runs."),
        "separates": ("replaykit.cli.grade.separates", "Find rules that never distinguish runs."),
    },
    "Judge": {
        "judge": ("replaykit.cli.judge.judge", "Ask models about recorded runs; keep the replies."),
        "label": ("replaykit.cli.judge.label", "Label runs by hand, without seeing verdicts."),
        "agree": ("replaykit.cli.judge.agree", "Compare labels with judges, checks or labels."),
        "pack": ("replaykit.cli.judge.pack", "Write a bundle that contains its tape."),
    },
    "Inspect": {
        "show": ("replaykit.cli.inspect.show", "List the steps, ending and probes of a bundle."),
        "view": ("replaykit.cli.inspect.view", "Write runs and verdicts as one HTML page."),
        "explain": ("replaykit.cli.inspect.explain", "Explain the reasons that a report names."),
        "verify": ("replaykit.cli.inspect.verify", "Check that a bundle is intact and can be graded."),
        "extract": ("replaykit.cli.inspect.extract", "Unpack a bundle into plain files."),
        "mcp": ("replaykit.cli.inspect.mcp", "Serve recorded runs to coding agents (MCP)."),
    },
    "Exchange": {
        "import": ("replaykit.cli.exchange.import_", "Convert runs of other tools to bundles."),
        "export": ("replaykit.cli.exchange.export", "Convert bundles to formats of other tools."),
        "harbor": ("replaykit.cli.exchange.harbor", "Verify Harbor trials; generate Harbor tasks."),
        "serve": ("replaykit.cli.exchange.serve", "Serve the recorded HTTP replies of a run."),
    },
    "Maintain": {
        "doctor": ("replaykit.cli.maintain.doctor", "Check the installation, and whether it records."),
        "install-browser": ("replaykit.cli.maintain.install_browser", "Find a browser, or install one."),
        "completion": ("replaykit.cli.maintain.completion", "Print a script that completes commands."),
        "redact": ("replaykit.cli.maintain.redact", "Remove secrets from a bundle."),
    },
}
"""Heading to its commands. A module's `command` is loaded only when it is asked for."""

COMMANDS = {name: found for group in GROUPS.values() for name, found in group.items()}
"""Command to (module, one line of help)."""

_PREFIX = "REPLAYKIT_"
"""How the variables of options begin."""

EXIT_CODES = """\b
Exit codes: 0 all gates passed, 1 a gate failed, 2 wrong usage,
3 undecided, or the work could not be done, 4 nothing matched,
130 interrupted, 141 output pipe closed."""


class SectionedCommand(click.Command):
    """A command whose help shows its options under headings.

    `sections` maps a heading to names of parameters; other options follow under "Options".
    """

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every section, then the options without a section."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        records = {one.name: one.get_help_record(ctx) for one in options}
        shown = {name: record for name, record in records.items() if record is not None}
        for title, names in self.sections.items():
            _write(formatter, title, [shown.pop(name) for name in names])
        _write(formatter, "Options", list(shown.values()))


def write_commands(formatter: click.HelpFormatter) -> None:
    """List every command under the heading of its group."""
    width = max(map(len, COMMANDS))
    for title, group in GROUPS.items():
        # Padded to one width: click aligns the columns of each section on their own.
        _write(formatter, title, [(name.ljust(width), words) for name, (_, words) in group.items()])


def add_exit_codes(command: click.Command) -> None:
    """Put the exit codes before the example of a command, and of those below it."""
    for below in getattr(command, "commands", {}).values():
        add_exit_codes(below)
    command.epilog = f"{EXIT_CODES}\n\n{command.epilog or ''}"


def name_variables(command: click.Command, prefix: str) -> None:
    """Give every option an environment variable with the name that a person types: `--task` is `..._TASK`."""
    for name, below in getattr(command, "commands", {}).items():
        name_variables(below, f"{prefix}_{_in_capitals(name)}")
    for option in command.params:
        if isinstance(option, click.Option):
            option.envvar = f"{prefix}_{_in_capitals(max(option.opts, key=len).lstrip('-'))}"
            option.allow_from_autoenv = False  # by the name of its parameter as well, which no page lists


def refuse_misspelt_variables(command: click.Command, name: str, environ: Iterable[str]) -> None:
    """Raise UsageError for a variable that is meant for an option of this command and belongs to none."""
    prefix = f"{_PREFIX}{_in_capitals(name)}_"
    known = sorted(_variables(command))
    ends = tuple(one.removeprefix(prefix[:-1]) for one in known)
    others = tuple(f"{_PREFIX}{_in_capitals(other)}_" for other in COMMANDS if other != name)
    for variable in sorted({*environ} - {*known} - _GIVEN):
        if variable.startswith(prefix):
            raise UsageError(what=_misspelt(variable, name, known))
        is_own = variable.startswith(_PREFIX) and not variable.startswith(others)
        is_short = variable.replace(_PREFIX, prefix, 1) in known
        if is_own and (is_short or (variable.endswith(ends) and _near(variable, known, _ALIKE))):
            raise UsageError(what=_misspelt(variable, name, known))


def _variables(command: click.Command) -> Iterator[str]:
    for below in getattr(command, "commands", {}).values():
        yield from _variables(below)
    yield from (str(one.envvar) for one in command.params if isinstance(one, click.Option) and one.envvar)


def _misspelt(variable: str, command: str, known: Sequence[str]) -> str:
    own = f"{_PREFIX}{_in_capitals(command)}_"
    prefixed = variable.replace(_PREFIX, own, 1)
    near = _near(variable, known, 0.6, own) if variable.startswith(own) else _near(variable, known, _ALIKE)
    near = [prefixed] if prefixed in known else near
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"the variable {variable} belongs to no option of `replaykit {command}`; {hint}"


def _near(variable: str, known: Sequence[str], least: float, prefix: str = _PREFIX) -> list[str]:
    """Return the known variable that is most alike in what follows the prefix, if one is."""
    from difflib import get_close_matches  # for what is wrong only

    plain = {one.removeprefix(prefix): one for one in known}
    return [plain[one] for one in get_close_matches(variable.removeprefix(prefix), plain, 1, least)]


_ALIKE = 0.85
"""So alike is a variable whose command is misspelt; people have variables of their own as well."""

_GIVEN = frozenset(
    f"{_PREFIX}{name}" for name in ("BROWSER", "CDP_URL", "EVENTS", "REPLIES", "TASK", "TRACEPARENT")
)
"""Variables of every command, and those that a recorded agent is given: it may run commands itself."""


def _in_capitals(name: str) -> str:
    return name.replace("-", "_").upper()


def _write(formatter: click.HelpFormatter, title: str, rows: list[tuple[str, str]]) -> None:
    with formatter.section(title):
        formatter.write_dl(rows)
