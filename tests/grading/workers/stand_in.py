"""Ray as far as our executor asks it, with threads for its workers: for machines on which Ray cannot be installed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any


class Ray(ModuleType):
    """The module: what it was begun with, what it ran, whether it was ended."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.options: dict[str, Any] | None = None
        self.runs: list[Callable[..., Any]] = []
        self._pool = ThreadPoolExecutor(2)

    def is_initialized(self) -> bool:
        return self.options is not None

    def init(self, **options: Any) -> None:
        self.options = options

    def shutdown(self) -> None:
        self.options = None
        self._pool.shutdown()

    def remote(self, fn: Callable[..., Any]) -> SimpleNamespace:
        """Return the remote form of a function: `.remote(...)` begins it, and `.future()` gives its future."""
        self.runs.append(fn)

        def begin(*args: Any, **kwargs: Any) -> SimpleNamespace:
            begun: Future[Any] = self._pool.submit(fn, *args, **kwargs)
            return SimpleNamespace(future=lambda: begun)

        return SimpleNamespace(remote=begin)
