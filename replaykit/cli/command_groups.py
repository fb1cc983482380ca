"""How help is laid out: commands and options under headings, and an example at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

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
        "policies": ("replaykit.cli.grade.policies", "Try policies on recorded runs."),
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


def _in_capitals(name: str) -> str:
    return name.replace("-", "_").upper()


def _write(formatter: click.HelpFormatter, title: str, rows: list[tuple[str, str]]) -> None:
    with formatter.section(title):
        formatter.write_dl(rows)
