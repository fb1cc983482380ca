"""The kinds of results that a gate may fail on."""

from __future__ import annotations

KINDS = ("success", "check", "policy", "judge", "side_effect", "undecided", "error")
"""As `--fail-on` names them; `success` is the run's own outcome, of checks and judges together; `side_effect`
is a state-changing request that no passing check explains."""

SIDE_EFFECT = "S1"
"""Code of the finding that is a side effect."""

DEFAULT = ("success", "check", "policy")
"""Kinds of results on which a gate fails by default."""
