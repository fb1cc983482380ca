"""Options of commands, declared as their help shows them: `--limit N`, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

import click

from replaykit.errors import UsageError

PATH = click.Path(path_type=Path)
"""A file or folder, there or not."""

FOLDER = click.Path(file_okay=False, path_type=Path)
"""No file; it need not be there."""

COUNT = click.IntRange(min=1)
"""A number of things."""

WRITTEN = ("-o", "--timings", "--salvage", "--reward-dir", "--resume")
"""Options that name what a command writes."""

EMPTY = ("--fail-on", "--label")
"""Options whose empty value means something: no condition, and no name."""


class GivenOption(click.Option):
    """An option that refuses an empty value, which a shell gives for a variable that is not set.

    One that names an output refuses `-`: a file of that name would be written.
    """

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """Return the value and where it is from. Raises BadParameter for an empty text that was typed."""
        given = opts.get(self.name or "")
        texts = given if isinstance(given, list | tuple) else (given,)
        if "" in texts and not {*self.opts} & {*EMPTY}:
            raise click.BadParameter("it is empty: name one, or leave the option out", ctx=ctx, param=self)
        if "-" in texts and {*self.opts} & {*WRITTEN}:
            raise click.BadParameter("it stands for standard output: name a file", ctx=ctx, param=self)
        return super().consume_value(ctx, opts)


Command = TypeVar("Command", bound=Callable[..., Any])


def option(
    shown: str, words: str, *, name: str | None = None, choices: Sequence[str] = (), **more: Any
) -> Callable[[Command], Command]:
    """Return an option by its names and the word for its value; one without value, type or default is a flag.

    `shown`: such as `-o --output FILE`. `words`: its help. `name`: of the parameter that takes it. `choices`:
    the values that it takes. A default is shown in the help. `more`: as in `click.option`.
    """
    names = [part for part in shown.split(" ") if part.startswith("-")]
    value = shown.removeprefix(" ".join(names)).strip() or None
    if choices:
        more["type"] = click.Choice(choices)
    if value is None and not more.keys() & {"type", "default"}:
        more["is_flag"] = True
    more.setdefault("show_default", "default" in more)
    return click.option(*names, *filter(None, [name]), cls=GivenOption, metavar=value, help=words, **more)


def refuse_replaced_inputs(command: click.Command, given: Mapping[str, Any]) -> None:
    """Raise UsageError where the file that a command writes is one that it is given to read."""
    writes = {one.name for one in command.params if {*one.opts} & {*WRITTEN}}
    words = {one.name for one in command.params if one.metavar in ("TEXT", "NAME")}
    outputs = {place: path for name in writes for path, place in _files(given.get(name or ""))}
    for name, value in given.items():
        for path, place in _files(value) if name not in writes | words else ():
            if place in outputs:
                reason = f"the output {outputs[place]} would replace {path}, which {command.name} reads"
                raise UsageError(what=f"{reason}: name another file")


def _files(value: Any) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the files that a value names, with device and number; a task file may have `#ID`."""
    for one in value if isinstance(value, tuple | list) else (value,):
        if isinstance(one, str | Path) and str(one):
            for path in dict.fromkeys((str(one), str(one).partition("#")[0])):
                with suppress(OSError, ValueError):  # a text may be too long for a path, or hold a NUL
                    found = Path(path).stat()
                    if S_ISREG(found.st_mode):
                        yield path, (found.st_dev, found.st_ino)
