"""The kinds of results that a gate may fail on."""

from __future__ import annotations

KINDS = ("check", "policy", "judge", "undecided", "error")
"""As `--fail-on` names them."""
