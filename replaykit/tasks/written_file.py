"""Task and policy files as plain values: their bytes, bounded, and the parsers of YAML, TOML and JSON."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from replaykit.decoders import NEST_MAX, decode_each_key_once, is_nested_deeper
from replaykit.errors import TaskError
from replaykit.file_types import HEAD, MARK, kind_of_bytes
from replaykit.patterns import lazy_pattern

FILE_MAX = 64 * 2**20
"""Bytes of a task file."""

VALUES_MAX = 5_000_000
"""Values in a task file after YAML aliases are expanded: a few lines can claim billions."""


class WrittenFile(Struct, frozen=True, kw_only=True):
    """A task or policy file, read once: standard input and pipes cannot be read again."""

    path: Path
    """Where it is, for errors and for the files that it names."""
    plain: Any
    """Its values."""
    kind: str
    """Kind of its first bytes, in words."""


def read_written(path: str | Path, kind: str = "task file", named_by: Path | None = None) -> WrittenFile:
    """Return what a file holds, `-` for standard input. `named_by` is the file that names it.

    Raises TaskError for a file that is missing, too large, or neither YAML, TOML nor JSON.
    """
    file = Path(path)
    try:
        data = _bytes_of(file)
        text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig").read()
        plain = _PARSERS.get(file.suffix.lower(), _by_start)(text)
    except OSError as error:
        what = "it is a folder: name one file in it" if file.is_dir() else error.strerror
        named = f" that {named_by} names in `policies.file`" if named_by is not None else ""
        reason = f"cannot read the {kind}{named}: {what}"
        raise TaskError(source=file, path="$", reason=reason) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    except (msgspec.DecodeError, ValueError) as error:
        from replaykit.tasks.yaml_text import words_of  # for files that cannot be parsed

        found = kind_of_bytes(data[:HEAD])
        what = (
            f"{words_of(error)}{_json_advice(error, data)}"
            if found in _WRITTEN
            else f"found {found}; a {kind} is YAML, TOML or JSON in UTF-8"
        )
        reason = f"not a {kind}: {what}"
        raise TaskError(source=file, path="$", reason=reason) from error
    if is_nested_deeper(plain, NEST_MAX):
        raise _too_deep(file)
    _refuse_odd_values(plain, file)
    return WrittenFile(path=file, plain=plain, kind=kind_of_bytes(data[:HEAD]))


_PLACE = lazy_pattern(r"\(byte (\d{1,9})\)")


def _json_advice(error: Exception, data: bytes) -> str:
    """Return what to change where JSON breaks off at something that only its relatives have."""
    place = _PLACE.search(str(error))
    at = data.removeprefix(MARK)[int(place[1]) :][:1] if place else b""
    return ": JSON has no comments; remove them, or write YAML" if at in (b"/", b"#") else ""


def _bytes_of(file: Path) -> bytes:
    # Pipes and devices have no size: what is read is bounded.
    if str(file) == "-":
        return _bounded(sys.stdin.buffer, file)
    with file.open("rb") as stream:
        return _bounded(stream, file)


def _bounded(stream: BinaryIO, file: Path) -> bytes:
    data = stream.read(FILE_MAX + 1)
    if len(data) > FILE_MAX:
        raise TaskError(source=file, path="$", reason=f"larger than {FILE_MAX} bytes")
    return data


_WRITTEN = ("a JSON file", "a text file", "a task file", "a policy file", "settings of a judge")
"""Kinds of files that people write: what is wrong with one stands in the words of its parser."""


def _too_deep(file: Path) -> TaskError:
    return TaskError(source=file, path="$", reason=f"nested deeper than {NEST_MAX} levels")


# Parsers are loaded for files only: a bundle holds its task, and they take longer to load than it to grade.
def _yaml(text: str) -> Any:
    from replaykit.tasks.yaml_text import parsed_yaml

    return parsed_yaml(text)


def _toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _json_lines(text: str) -> Any:
    return [decode_each_key_once(line) for line in text.split("\n") if line.strip()]


def _by_start(text: str) -> Any:
    """Read a file whose name says nothing of its form, such as a pipe."""
    return decode_each_key_once(text) if text.lstrip()[:1] in ("{", "[") else _yaml(text)


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".toml": _toml,
    ".json": decode_each_key_once,
    ".jsonl": _json_lines,
}


def _refuse_odd_values(plain: Any, file: Path) -> None:
    seen, stack = 0, [plain]
    while stack:
        value = stack.pop()
        seen += 1
        if seen > VALUES_MAX:
            raise TaskError(source=file, path="$", reason=f"more than {VALUES_MAX} values")
        if isinstance(value, dict):
            stack += [*value, *value.values()]
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, str) and not _is_text(value):
            raise TaskError(
                source=file, path="$", reason=f"{value!r:.80} holds half a character (a surrogate)"
            )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
