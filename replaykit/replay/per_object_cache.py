"""Values computed from an object that never changes, made once and kept with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, TypeVar

_Made = TypeVar("_Made")


class Memo:
    """Something that functions are asked about again and again."""

    def memo(self, make: Callable[[Self], _Made]) -> _Made:
        """Return the result of a function of this object, computed once; it must not refer to this object."""
        if make not in self._memos:
            self._memos[make] = make(self)
        found: _Made = self._memos[make]
        return found

    @cached_property
    def _memos(self) -> dict[object, Any]:
        return {}
