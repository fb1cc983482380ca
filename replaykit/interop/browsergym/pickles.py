"""Pickles of strangers, read without running anything: what they name becomes an inert stub, or is refused.

A pickle is a program. Before it is read its opcodes are looked at: numbers in it may claim memory that the
file does not have. Then only the names below are found; nothing is imported, and stubs do nothing if called.
"""

from __future__ import annotations

import datetime
import io
import pickle
import pickletools
import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

STUBS = ("browsergym", "agentlab", "bgym", "pathlib")
"""Packages whose classes become stubs."""

_ALLOWED: dict[tuple[str, str], Any] = {
    ("datetime", "datetime"): datetime.datetime,
    ("collections", "OrderedDict"): OrderedDict,
}

_ARRAYS = {
    (f"numpy.{core}.multiarray", name)
    for core in ("core", "_core")
    for name in ("_reconstruct", "scalar")
} | {("numpy", "ndarray"), ("numpy", "dtype")}  # fmt: skip

_FAILURES = (
    pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, KeyError, TypeError,
    ValueError, OverflowError, MemoryError, RecursionError, UnicodeError, struct.error,
)  # fmt: skip

_NUMBERS = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "u8": "Q", "u4": "I", "b1": "?"}


class Forbidden(Exception):
    """A pickle names something that is not read."""


class Undecodable(Exception):
    """Bytes are no pickle."""


class Stub:
    """Stands for an object of another package; holds its attributes and does nothing."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def field(self, name: str) -> Any:
        """Return an attribute of the object, None where it has none."""
        state = self.__dict__.get("state")
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict) and name in part:
                return part[name]
        return None


class Array(Stub):
    """Stands for an array, a type of its items, or a function that makes one."""


def read_pickle(data: bytes) -> Any:
    """Return what a pickle holds, foreign objects as stubs. Raises Forbidden, Undecodable."""
    _look(data)
    try:
        return _Reader(io.BytesIO(data)).load()
    except _FAILURES as error:
        raise Undecodable(f"{type(error).__name__}: {error}"[:200]) from error


def _look(data: bytes) -> None:
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in ("EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"):
                raise Forbidden(opcode.name)
            # A place in the memo makes the reader reserve room for all places before it.
            if "PUT" in opcode.name and isinstance(argument, int) and argument > len(data):
                raise Undecodable(f"a memo of {argument} places in {len(data)} bytes")
    except _FAILURES as error:
        raise Undecodable(f"{type(error).__name__}: {error}"[:200]) from error


class _Reader(pickle.Unpickler):
    """Finds nothing but what is allowed."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a stub or one of a few plain classes. Raises Forbidden."""
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        if (module, name) in _ARRAYS:
            return _scalar if name == "scalar" else _fresh(Array)
        if module.partition(".")[0] in STUBS and "." not in name:
            return _fresh(Stub)
        raise Forbidden(f"{module}.{name}"[:200])

    def persistent_load(self, pid: Any) -> NoReturn:
        """Refuse objects outside of the file."""
        raise Forbidden("an object outside of the file")


def _fresh(kind: type[Stub]) -> Callable[..., Stub]:
    # A class of its own each time: a pickle may set attributes of a class.
    return type(kind.__name__, (kind,), {})


def _scalar(kind: Any = None, data: Any = None) -> Any:
    """Return one number of an array's type; None for anything else."""
    code = kind.arguments[0] if isinstance(kind, Array) and kind.arguments else None
    form = _NUMBERS.get(code) if isinstance(code, str) else None
    if form is None or not isinstance(data, bytes | str):
        return None
    raw = data.encode("latin-1") if isinstance(data, str) else data
    return struct.unpack("<" + form, raw)[0]
