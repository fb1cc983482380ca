"""Whose run was judged, and where."""

from __future__ import annotations

from msgspec import Struct


class JudgedRun(Struct, frozen=True, kw_only=True, gc=False):
    """Whose run a judge judged, and where: what a calibration has to have in common with it."""

    agent: str | None = None
    """Name of the agent, else its model, as the harness said; null = unknown."""
    sites: tuple[str, ...] = ()
    """Names of the task's sites, else the hosts that it begins on."""
