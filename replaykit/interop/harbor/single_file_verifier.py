"""The verifier without an install: replaykit and what it needs in one file that a bare `python3` runs.

It holds compiled packages, which no zip file can be imported from: it unpacks itself into a folder of its own
and goes with it. It runs on the platform and the Python version that it was built on, and refuses others.
"""

from __future__ import annotations

import io
import re
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from replaykit.errors import UsageError
from replaykit.patterns import lazy_pattern

NAME = "replaykit-verifier.pyz"
"""The file, beside `test.sh`."""

DISTRIBUTION = "replaykit-web"

CLIENTS = ("anthropic", "openai")
"""Packages that ask models: taken along where they are installed."""

MEMBER_DATE = (1980, 1, 1, 0, 0, 0)

_REQUIREMENT = lazy_pattern(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_LEFT_OUT = ("__pycache__", "tests", "test")

MAIN = """import os, shutil, sys, sysconfig, tempfile, zipfile

BUILT = {built!r}


def main():
    here = (sys.version_info[:2], sysconfig.get_platform())
    if here != BUILT:
        print(f"error: built for Python and platform {{BUILT}}, this is {{here}}", file=sys.stderr)
        return 3
    folder = tempfile.mkdtemp(prefix="replaykit-")
    try:
        with zipfile.ZipFile(sys.argv[0]) as archive:
            archive.extractall(folder)
        sys.path[:0] = [os.path.join(folder, "packages")]
        sys.dont_write_bytecode = True
        from replaykit.cli.main import run
        return run(sys.argv[1:])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
"""
"""Source of the file: it checks where it is, unpacks itself, runs the command line, takes its folder away."""


def verifier() -> bytes:
    """Return the file, made of the packages installed here. Raises UsageError where one is missing."""
    built = (sys.version_info[:2], sysconfig.get_platform())
    members = dict(_members())
    target = io.BytesIO()
    # A zip file is found from its end, so a line may stand before it.
    target.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "__main__.py", MAIN.format(built=built).encode())
        # Sorted, so that two builds are equal.
        for name, file in sorted(members.items()):
            _add(archive, f"packages/{name}", file.read_bytes())
    return target.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    # One date for all, so that equal packages give equal bytes.
    one = zipfile.ZipInfo(name, MEMBER_DATE)
    one.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(one, data)


def _members() -> Iterator[tuple[str, Path]]:
    package = Path(__file__).parents[2]
    for file in sorted(package.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield f"replaykit/{file.relative_to(package).as_posix()}", file
    for name in sorted(_needed()):
        yield from _files(name)


def _needed() -> set[str]:
    """Return the distributions that are needed, and those that they need."""
    found: set[str] = set()
    left = [*_required(DISTRIBUTION), *(name for name in CLIENTS if _is_there(name))]
    while left:
        name = _plain(left.pop())
        if name not in found and name != _plain(DISTRIBUTION):
            found.add(name)
            left += _required(name)
    return found


def _required(name: str) -> list[str]:
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError as error:
        raise UsageError(what=f"cannot build the verifier: {name} is not installed as a package") from error
    # Requirements of other platforms and versions are not installed, and extras are not requested.
    plain = [line for line in lines if "extra ==" not in line]
    found = [match[1] for line in plain if (match := _REQUIREMENT.match(line))]
    return [one for one in found if _is_there(one)]


def _files(name: str) -> Iterator[tuple[str, Path]]:
    for path in metadata.files(name) or ():
        file = Path(str(path.locate()))
        # Scripts of a package lie outside of its folder, in `bin`.
        inside = ".." not in path.parts and not set(path.parts) & set(_LEFT_OUT)
        if inside and file.suffix != ".pyc" and file.is_file():
            yield path.as_posix(), file


def _is_there(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
