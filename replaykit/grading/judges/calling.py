"""What calls to models have in common: their deadline, their provenance, servers that need no key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import urlsplit

from replaykit.grading.judges.failures import failure
from replaykit.grading.request import ReplyFailure

DEADLINE_S = 300.0
"""Seconds of one call, its retries and their waiting included: a server may ask for an hour."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def timely(call: Callable[[], Any], deadline: float) -> Any:
    """Return what a call returns, a failure where it raises, or `deadline` where it takes more seconds."""
    done: list[Any] = []

    def work() -> None:
        try:
            done.append(call())
        except Exception as error:  # noqa: BLE001  # clients raise four families of errors, and their HTTP layer's
            done.append(failure(error))

    # A daemon: one that waits for a server's retry-after must not keep the process alive.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(deadline)
    if done:
        return done[0]
    words = f"no reply within {deadline:g} s, retries included"
    return ReplyFailure(kind="deadline", message=words, retryable=True)


def is_loopback(url: str) -> bool:
    """Return whether a server runs on this machine: it needs no key."""
    return urlsplit(url).hostname in _LOOPBACK


def provenance(package: str, url: str, reply: Any, at: datetime, latency_ms: int | None) -> dict[str, Any]:
    """Return when and how a reply was obtained: package and version, host, ids; never credentials."""
    try:
        sdk = f"{package} {version(package)}"
    except PackageNotFoundError:
        sdk = None
    said = {
        "message_id": getattr(reply, "id", None),
        "request_id": getattr(reply, "_request_id", None),
        "recorded_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "latency_ms": latency_ms,
        "sdk": sdk,
        "base_host": urlsplit(url).hostname,
    }
    return {name: value for name, value in said.items() if isinstance(value, str | int)}
