"""The words that say how strictly, by whose rules, and by what of its results a task is graded.

Loads nothing, so that a command line that offers them is up at once.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["strict", "compat"]
"""Strict, or bit for bit as the benchmark grades."""

Dialect: TypeAlias = Literal[
    "native", "webarena", "webarena-lite", "webarena-verified", "vwa", "stwab", "stwebagentbench", "miniwob"
]
"""Whose rules checks follow; `stwab` and `stwebagentbench` are one."""

Composition: TypeAlias = Literal["rules_first", "and", "or"]
"""How checks and judge make one result."""
