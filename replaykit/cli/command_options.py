"""Options of commands, declared as their help shows them: `--limit N`, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

PATH = click.Path(path_type=Path)
"""A file or folder, there or not."""

FOLDER = click.Path(file_okay=False, path_type=Path)
"""No file; it need not be there."""

COUNT = click.IntRange(min=1)
"""A number of things."""

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
    return click.option(*names, *filter(None, [name]), metavar=value, help=words, **more)
