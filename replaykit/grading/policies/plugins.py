"""Rules of installed packages, entry point group `replaykit.policies`: trusted code, found by name."""

from __future__ import annotations

from typing import Any

from replaykit.grading.policies.finding import Finding, Witness
from replaykit.grading.policies.window import Window
from replaykit.replay.player import Replay
from replaykit.tasks.policies import Plugin

GROUP = "replaykit.policies"
"""Entry point group: a function `(params, replay, window, witness) -> Finding`."""


def grade_plugin(rule: Plugin, window: Window, witness: Witness, replay: Replay) -> Finding:
    """Return what the plugin finds; raises `LookupError` where none of that name is installed."""
    # Loaded for such rules alone: metadata of packages takes longer to load than a run takes to grade.
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=GROUP)}
    if rule.name not in found:
        raise LookupError(f"no plugin {rule.name!r}; installed are {', '.join(sorted(found)) or 'none'}")
    finding: Any = found[rule.name].load()(rule.params, replay, window, witness)
    if not isinstance(finding, Finding):
        raise TypeError(f"plugin {rule.name!r} returned {type(finding).__name__}, not a Finding")
    return finding
