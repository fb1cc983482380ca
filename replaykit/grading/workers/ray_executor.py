"""Ray as an executor: its tasks behind the interface of `concurrent.futures`. Extra: `ray`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from replaykit.errors import MissingExtra


class RayExecutor(Executor):
    """Runs calls as Ray tasks, for `grade_many` and `iter_grades`.

    `options`: arguments of `ray.init`. It connects to the cluster, or starts a local one. Shutting down ends
    the connection only if this object opened it. Raises MissingExtra.
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
        """Start a call as a Ray task, and return its future."""
        if fn not in self._remote:
            self._remote[fn] = self._ray.remote(fn)
        future: Future[Any] = self._remote[fn].remote(*args, **kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the connection if this object opened it."""
        if self._is_own:
            self._ray.shutdown()
