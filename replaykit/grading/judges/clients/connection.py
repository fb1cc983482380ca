"""Common parts of calls to models: a client that is made late, their deadline, their provenance."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import urlsplit

from replaykit.grading.judges.clients.client import Images
from replaykit.grading.judges.clients.failures import failure
from replaykit.grading.model_request import ImagePart, ReplyFailure

DEADLINE_S = 300.0
"""Seconds of one call, its retries and their waiting included: a server may ask for an hour."""

CALL = "replaykit judge call"
"""Name of the thread of one call; after the deadline it lives until the SDK gives up."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Connection:
    """The client of an SDK: one that was given, or one made when it is first needed.

    `make` imports the SDK and returns its client, or why it is missing.
    """

    def __init__(self, given: Any, package: str, extra: str, make: Callable[[], Any]) -> None:
        self.client = given
        """None before it is made."""
        self._package = package
        self._extra = extra
        self._make = make
        self._lock = threading.Lock()
        self._is_ours = given is None

    def unready(self) -> ReplyFailure | None:
        """Create the client on first use; return the reason if that fails."""
        with self._lock:
            made = self._made() if self.client is None else self.client
            if isinstance(made, ReplyFailure):
                return made
            self.client = made
        return None

    def close(self) -> None:
        """Close the connections of a client that was made here."""
        if self._is_ours and self.client is not None:
            self.client.close()

    def _made(self) -> Any:
        try:
            return self._make()
        except ImportError:
            hint = f"install it with: pip install 'replaykit-web[{self._extra}]'"
            words = f"the package {self._package} is not installed: {hint}"
            return ReplyFailure(kind="missing_sdk", message=words)


def sdk_client(sdk: Any, client_type: Any, base_url: str, key: object, deadline: float) -> Any:
    """Return a client of an SDK whose replies are bounded in size and time; a failure stays one."""
    from replaykit.grading.judges.clients.bounded_body import HEADERS, Bounded

    if isinstance(key, ReplyFailure):
        return key
    http = sdk.DefaultHttpxClient(
        base_url=base_url, headers=HEADERS, event_hooks={"response": [Bounded(deadline)]}
    )
    return client_type(base_url=base_url, api_key=key, http_client=http, timeout=deadline)


def missing_key(base_url: str, remedy: str) -> ReplyFailure:
    """Return the failure of a request for which there is no credential."""
    words = (
        f"no credential for {base_url}: {remedy}, point --judge-base-url at a local server, "
        "or grade with --judge-mode none from the tape"
    )
    return ReplyFailure(kind="missing_key", message=words)


def timely(call: Callable[[], Any], deadline: float) -> Any:
    """Return what a call returns, a failure where it raises, or `deadline` where it takes more seconds."""
    done: list[Any] = []

    def work() -> None:
        try:
            done.append(call())
        except Exception as error:  # noqa: BLE001  # whatever a client raises is a failure with a name
            done.append(failure(error))

    # A daemon: one that waits for a server's retry-after must not keep the process alive.
    thread = threading.Thread(target=work, daemon=True, name=CALL)
    thread.start()
    thread.join(deadline)
    if done:
        return done[0]
    words = f"no reply within {deadline:g} s, retries included"
    return ReplyFailure(kind="deadline", message=words, retryable=True)


def in_base64(part: ImagePart, images: Images) -> str:
    """Return a screenshot as requests carry it."""
    return base64.b64encode(images[part.sha256]).decode()


def is_loopback(url: str) -> bool:
    """Return whether a server runs on this machine: it needs no key."""
    return urlsplit(url).hostname in _LOOPBACK


def provenance(package: str, url: str, reply: Any, at: datetime, latency_ms: int | None) -> dict[str, Any]:
    """Return when and how a reply was obtained: package and version, host, ids; never credentials."""
    try:
        sdk = f"{package} {version(package)}"
    except PackageNotFoundError:
        sdk = None
    fields = {
        "message_id": getattr(reply, "id", None),
        "request_id": getattr(reply, "_request_id", None),
        "recorded_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "latency_ms": latency_ms,
        "sdk": sdk,
        "base_host": urlsplit(url).hostname,
    }
    return {name: value for name, value in fields.items() if isinstance(value, str | int)}
