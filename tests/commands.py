"""Commands of replaykit, in this process, or in others that need not load it: forks of one that has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from replaykit.cli.main import run

SERVER = """
import importlib, json, os, pkgutil, sys
import replaykit.bundle, replaykit.cli, replaykit.grading, replaykit.report, replaykit.tasks
from replaykit.cli.main import main

for part in (replaykit.bundle, replaykit.cli, replaykit.grading, replaykit.report, replaykit.tasks):
    for module in pkgutil.walk_packages(part.__path__, part.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["environ"])
        for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        main(asked["arguments"])
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

NEW = ("PYTHON", "LC_", "LANG", "TZ")
"""Prefixes of variables that Python reads as it starts."""


def run_here(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run a command in this process; return its code, output and errors."""
    code = run([str(part) for part in arguments])
    said = capfd.readouterr()
    return code, said.out, said.err


Done = subprocess.CompletedProcess[str]


class Commands:
    """Runs commands, one after the other."""

    def __init__(self, server: subprocess.Popen[str], folder: Path) -> None:
        self._server = server
        self._said = folder / "out", folder / "err"

    def run(self, *arguments: str | Path, cwd: Path | None = None, **environ: str) -> Done:
        """Run a command, whose variables are these and ours."""
        words, variables = list(map(str, arguments)), {**os.environ, **environ}
        if any(name.startswith(NEW) for name in environ):
            argv = [sys.executable, "-m", "replaykit", *words]
            return subprocess.run(
                argv,
                cwd=cwd,
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        return self._forked(words, str(cwd or Path.cwd()), variables)

    def _forked(self, words: list[str], cwd: str, environ: dict[str, str]) -> Done:
        asked, output = self._server.stdin, self._server.stdout
        assert asked is not None and output is not None
        for path in self._said:
            path.unlink(missing_ok=True)
        out, err = map(str, self._said)
        order = {"arguments": words, "cwd": cwd, "environ": environ, "out": out, "err": err}
        asked.write(json.dumps(order) + "\n")
        asked.flush()
        code = int(output.readline())
        return subprocess.CompletedProcess(words, code, *(path.read_text("utf-8") for path in self._said))


@contextmanager
def commands() -> Iterator[Commands]:
    """Start the process from which commands come."""
    argv, pipe = [sys.executable, "-c", SERVER], subprocess.PIPE
    with TemporaryDirectory() as folder, subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as server:
        yield Commands(server, Path(folder))
        server.communicate()
