"""`replaykit completion`, and what the shell is offered for values: bundles, tasks, formats, judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from replaykit.errors import TaskError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")


@click.command(epilog="Example: replaykit completion bash")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and values in a shell.

    \b
    bash  eval "$(replaykit completion bash)"     in ~/.bashrc
    zsh   eval "$(replaykit completion zsh)"      in ~/.zshrc
    fish  replaykit completion fish | source      in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click has one for each of SHELLS
    click.echo(kind(ctx.find_root().command, {}, "replaykit", "_REPLAYKIT_COMPLETE").source(), nl=False)


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer files and folders, which the shell knows best."""
    return [_item(incomplete, type="file")]


def tasks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer files, and after `FILE#` the ids of its tasks."""
    file, mark, begun = incomplete.partition("#")
    if not mark:
        return files(ctx, param, incomplete)
    from replaykit.tasks.suite import load_suite

    try:
        found = load_suite(file).tasks
    except TaskError:
        return []
    return [_item(f"{file}#{task.id}") for task in found if task.id.startswith(begun)]


def judges(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the judges that have a name, then files."""
    from replaykit.grading.judges.judge_options import PROTOCOLS

    return _beginning(PROTOCOLS, incomplete) or files(ctx, param, incomplete)


def import_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the formats that can be read."""
    from replaykit.interop.registry import IMPORTERS

    return _beginning(("auto", *IMPORTERS), incomplete)


def export_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the formats that can be written."""
    from replaykit.interop.bundle_export import EXPORTERS

    return _beginning((*EXPORTERS, "parquet", "stwab-submission"), incomplete)


def _beginning(names: tuple[str, ...], begun: str) -> list[CompletionItem]:
    return [_item(name) for name in names if name.startswith(begun)]


def _item(value: str, type: str = "plain") -> CompletionItem:
    from click.shell_completion import (
        CompletionItem,  # for shells that ask: each command names what completes it
    )

    return CompletionItem(value, type=type)
