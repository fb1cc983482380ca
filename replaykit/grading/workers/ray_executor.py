"""Ray as an executor: its tasks behind the interface of `concurrent.futures`. Extra: `ray`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from replaykit.errors import MissingExtra


class RayExecutor(Executor):
    """Runs calls as Ray tasks; connects to the cluster, or starts a local one. Raises MissingExtra.

    `options`: those of `ray.init`. Shutting down ends the connection only where this object made it.
    """

    def __init__(self, **options: Any) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra(package="ray", extra="ray", purpose="grading on Ray") from None
        self._ray = ray
        self._is_own = not ray.is_initialized()
        if self._is_own:
            ray.init(**options)
        self._remote: dict[Callable[..., Any], Any] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin a call as a Ray task."""
        if fn not in self._remote:
            self._remote[fn] = self._ray.remote(fn)
        future: Future[Any] = self._remote[fn].remote(*args, **kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the connection, if this object made it."""
        if self._is_own:
            self._ray.shutdown()
