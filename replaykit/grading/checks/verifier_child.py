"""Code that runs inside the child process of a verifier: the standard library only, no network but loopback.

Run as `python verifier_child.py FILE FUNCTION SERVER_URL`; writes one JSON object to standard output.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

MESSAGE_MAX = 1000
"""Characters of a message that are handed on."""

MEMORY_MAX = 1 << 30
"""Bytes of address space."""

_ALONE = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
_REACHING = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
_NAMING = ("socket.getaddrinfo", "socket.gethostbyname")


class Guard:
    """Refuses other processes and other hosts, and remembers what it refused: a verifier may catch it."""

    def __init__(self) -> None:
        self.refused: str | None = None

    def check_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise PermissionError for what a verifier may not do."""
        if event in _ALONE:
            self._refuse(f"start a process ({event})")
        elif event in _REACHING and not _is_loopback(arguments[1]):
            self._refuse(f"reach {arguments[1]!r}")
        elif event in _NAMING and not _is_loopback((arguments[0],)):
            self._refuse(f"look up {arguments[0]!r}")

    def _refuse(self, what: str) -> None:
        self.refused = what[:MESSAGE_MAX]
        raise PermissionError(f"a verifier may not {what}")


def main(file: str, function: str, url: str) -> None:
    """Run a verifier and print what it returned, or why it returned nothing."""
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)  # what it prints is no one's answer
        _limit()
        # An audit hook stays for good: a verifier cannot remove it.
        sys.addaudithook((guard := Guard()).check_event)
        result = _run(file, function, url)
        json.dump(result if guard.refused is None else {"error": f"it tried to {guard.refused}"}, out)


def _run(file: str, function: str, url: str) -> dict[str, Any]:
    try:
        return _verdict(getattr(_loaded(file), function)(url))
    except BaseException as error:  # noqa: BLE001  # sys.exit and the like are no verdict either
        return {"error": f"{type(error).__name__}: {error}"[:MESSAGE_MAX]}


def _loaded(file: str) -> Any:
    sys.path.insert(0, str(Path(file).parent))
    spec = importlib.util.spec_from_file_location("verifier", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {Path(file).name}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _verdict(found: object) -> dict[str, Any]:
    passed, message = found if isinstance(found, tuple) and len(found) == 2 else (found, "")
    if isinstance(found, dict):
        passed, message = found.get("passed"), found.get("message", "")
    if not isinstance(passed, bool):
        return {
            "error": f"it returned {type(found).__name__}, not a bool, (bool, message) or {{passed: bool}}"
        }
    return {"passed": passed, "message": str(message)[:MESSAGE_MAX]}


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return False
    host = address[0].decode("ascii", "replace") if isinstance(address[0], bytes) else address[0]
    return host in ("localhost", "::1") or (isinstance(host, str) and host.startswith("127."))


def _limit() -> None:
    try:
        import resource
    except ImportError:  # no such limits on Windows
        return
    with contextlib.suppress(OSError, ValueError):  # macOS may refuse it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))


if __name__ == "__main__":
    main(*sys.argv[1:])
