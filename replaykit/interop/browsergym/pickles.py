"""Untrusted pickles, read without running anything: what they name becomes an inert stub, or is refused.

A pickle is a program. Before it is read its opcodes are looked at: numbers in it may claim memory that the
file does not have. Nothing is imported, and stubs do nothing if called: classes of any package become one.
Names of Python's own library are refused, except data: a file of steps has no use for `os.system`.
"""

from __future__ import annotations

import datetime
import io
import math
import pickle
import pickletools
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

DATA = {
    "builtins": (
        "bytearray", "complex", "dict", "float", "int", "list", "object", "str", "tuple",
    ),
    "collections": ("Counter", "UserDict", "UserList", "defaultdict", "deque"),
    "copyreg": ("_reconstructor",),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "pathlib": ("Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"),
    "types": ("SimpleNamespace",),
    "uuid": ("UUID",),
}  # fmt: skip
"""Names of Python's library that become stubs."""

REMOVED = frozenset({
    "aifc", "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt", "distutils", "imghdr",
    "imp", "lib2to3", "mailcap", "msilib", "nis", "nntplib", "nt", "ossaudiodev", "pipes", "posix", "smtpd",
    "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib",
})  # fmt: skip
"""Modules of Python's library that not every release and system has: refused by all of them."""

DEPTH_MAX = 200
"""Levels of lists and dicts; one that holds itself has no end."""

PARTS_MAX = 2_000_000
"""Lists and dicts of a step: one that is named many times counts each time."""

NUMBERS_MAX = 64
"""Numbers of an array that are read; larger arrays are images."""

_ALLOWED: dict[tuple[str, str], Any] = {
    ("datetime", "datetime"): datetime.datetime,
    ("datetime", "date"): datetime.date,
    ("datetime", "timedelta"): datetime.timedelta,
    ("datetime", "timezone"): datetime.timezone,
    ("collections", "OrderedDict"): OrderedDict,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "set"): set,
}

OLD = {"__builtin__": "builtins", "copy_reg": "copyreg", "exceptions": "builtins"}
"""Names of older pickles for modules of Python's library."""

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
    """Stands for an object of another package; holds its attributes and parts and does nothing."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__dict__.setdefault("items", {})[key] = value

    def append(self, value: Any) -> None:
        """Take a part of a list."""
        self.__dict__.setdefault("parts", []).append(value)

    def add(self, value: Any) -> None:
        """Take a part of a set."""
        self.append(value)

    def plain(self) -> Any:
        """Return what the object holds: its parts, else its items and attributes as a dict.

        An object without either is known by what it was made of: a path by its names.
        """
        parts = self.__dict__.get("parts")
        if parts is not None:
            return parts
        state, items = self.__dict__.get("state"), self.__dict__.get("items", {})
        dicts = [part for part in (state if isinstance(state, tuple) else (state,)) if isinstance(part, dict)]
        held = {key: value for part in (*dicts, items) for key, value in part.items()}
        # Classes without state, such as enums, keep their value in the arguments.
        return held or list(self.__dict__.get("arguments", ()))


class Array(Stub):
    """Stands for an array, a type of its items, or a function that makes one."""

    def plain(self) -> Any:
        """Return the numbers of a small array; itself where they are not known."""
        state = self.__dict__.get("state")
        if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[4], bytes):
            return self
        kind, data = state[2], state[4]
        form = _form(kind)
        if (
            form is None
            or len(data) > NUMBERS_MAX * struct.calcsize(form)
            or len(data) % struct.calcsize(form)
        ):
            return self
        return [number for (number,) in struct.iter_unpack(form, data)]


def read_pickle(data: bytes) -> Any:
    """Return what a pickle holds, foreign objects as stubs. Raises Forbidden, Undecodable."""
    # Checked before `load`, which may already use up the memory.
    _look(data)
    try:
        return _Reader(io.BytesIO(data)).load()
    except _FAILURES as error:
        raise Undecodable(f"{type(error).__name__}: {error}"[:200]) from error


def _look(data: bytes) -> None:
    try:
        for opcode, argument, _ in pickletools.genops(data):
            # These name objects outside of the file, whatever they are here.
            if opcode.name in ("EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"):
                raise Forbidden(opcode.name)
            # A place in the memo makes the reader reserve room for all places before it.
            if "PUT" in opcode.name and isinstance(argument, int) and argument > len(data):
                raise Undecodable(f"a memo of {argument} places in {len(data)} bytes")
    except _FAILURES as error:
        raise Undecodable(f"{type(error).__name__}: {error}"[:200]) from error


def plain_values(value: Any, lost: Callable[[str], None]) -> Any:
    """Return what a pickle held as JSON values; `lost` receives the path of each value that JSON cannot hold.

    Raises Undecodable where it is nested more than DEPTH_MAX deep, such as in itself, or has too many parts.
    """
    return _Plain(lost).of(value, "", 0)


class _Plain:
    """Turns what a pickle held into values of JSON."""

    def __init__(self, lost: Callable[[str], None]) -> None:
        self._lost = lost
        self._parts = 0

    def of(self, value: Any, path: str, depth: int) -> Any:
        """Return a value of JSON; None if invalid."""
        if isinstance(value, Stub):
            value = value.plain()
        if value is None or isinstance(value, str | bool | int):
            return value
        if isinstance(value, float):
            # JSON has neither NaN nor infinity.
            return value if math.isfinite(value) else None
        if isinstance(value, datetime.date):
            return value.isoformat()
        self._count(depth)
        if isinstance(value, dict):
            return {str(key): self.of(part, _inner(path, str(key)), depth + 1) for key, part in value.items()}
        if isinstance(value, set | frozenset):
            # Sets have no order, and two imports must write the same bytes.
            value = sorted(value, key=repr)
        if isinstance(value, list | tuple):
            return [self.of(part, f"{path}[]", depth + 1) for part in value]
        self._lost(path)
        return None

    def _count(self, depth: int) -> None:
        self._parts += 1
        if depth > DEPTH_MAX:
            raise Undecodable(f"nested more than {DEPTH_MAX} deep")
        if self._parts > PARTS_MAX:
            raise Undecodable(f"more than {PARTS_MAX} lists and dicts")


def _inner(path: str, key: str) -> str:
    return f"{path}.{key[:64]}" if path else key[:64]


class _Reader(pickle.Unpickler):
    """Finds only allowed classes."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a stub or one of a few plain classes. Raises Forbidden."""
        # Python 2 wrote other module names, and the rules know the new ones.
        module = OLD.get(module, module)
        if (module, name) in _ALLOWED:
            return _ALLOWED[module, name]
        if (module, name) in _ARRAYS:
            return _scalar if name == "scalar" else _fresh(Array)
        if _is_data(module, name):
            return _fresh(Stub)
        raise Forbidden(f"{module}.{name}"[:200])

    def persistent_load(self, pid: Any) -> NoReturn:
        """Refuse objects outside of the file."""
        raise Forbidden("an object outside of the file")


def _fresh(kind: type[Stub]) -> Callable[..., Stub]:
    # A class of its own each time: a pickle may set attributes of a class.
    return type(kind.__name__, (kind,), {})


def _is_data(module: str, name: str) -> bool:
    """Whether a name may stand for a class of data: one of another package, or of the few of Python's own."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names or package in REMOVED:
        return name in DATA.get("pathlib" if package == "pathlib" else module, ())
    # Dotted names reach attributes, and those lead to Python's inside.
    return not name.startswith("__") and ".__" not in name


def _scalar(kind: Any = None, data: Any = None) -> Any:
    """Return one number of an array's type; None for anything else."""
    form = _form(kind)
    if form is None or not isinstance(data, bytes | str):
        return None
    # Python 2 wrote bytes as text, one character a byte.
    raw = data.encode("latin-1") if isinstance(data, str) else data
    return struct.unpack(form, raw)[0]


def _form(kind: Any) -> str | None:
    """Return how one number of an array's type is packed; None for types that are not read."""
    arguments = kind.__dict__.get("arguments") if isinstance(kind, Array) else None
    form = _NUMBERS.get(arguments[0]) if arguments and isinstance(arguments[0], str) else None
    return None if form is None else "<" + form
