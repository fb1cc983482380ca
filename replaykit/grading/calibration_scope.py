"""Whose run was judged, and where."""

from __future__ import annotations

from msgspec import Struct


class JudgedRun(Struct, frozen=True, kw_only=True, gc=False):
    """Agent and sites of a judged run, which a calibration must cover."""

    agent: str | None = None
    """Name of the agent, otherwise its model, as the harness reported it; null = unknown."""
    sites: tuple[str, ...] = ()
    """Names of the task's sites, otherwise the hosts of its start pages."""
