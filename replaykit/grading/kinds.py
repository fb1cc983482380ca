"""The kinds of results that a gate may fail on."""

from __future__ import annotations

KINDS = ("success", "check", "policy", "judge", "undecided", "error")
"""As `--fail-on` names them; `success` is the run's own outcome, of checks and judges together."""

DEFAULT = ("success", "check", "policy")
"""What a gate fails on unless told otherwise."""
