"""Outcome of a recorded step on a live page."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Became = Literal["done", "skipped", "missing", "changed", "failed", "refused", "not_reached"]
"""`done`; `skipped`: nothing to do; `missing`, `changed`: its target; `failed`: the action; `refused`: not
attempted; `not_reached`: the walk had ended before."""


class StepOutcome(Struct, frozen=True, kw_only=True):
    """Outcome of one step on the live page."""

    step: int
    """Index of the recorded step."""
    state: Became
    """`done`; `skipped`: nothing to do; else why the walk ended here."""
    why: str | None = None
    """In words, unless it is done as recorded."""
    before: str | None = None
    """The target as recorded, or its place."""
    after: str | None = None
    """The target as it is now."""
