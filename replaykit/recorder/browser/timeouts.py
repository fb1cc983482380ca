"""How long a recording waits for the browser at most, s."""

from __future__ import annotations

CLOSING_MAX_S = 1.5
"""Longest wait for last looks before a page, context or browser is closed."""

BEGIN_MAX_S = 130.0
"""Longest wait for what comes before the agent's first action: first looks, probes (at most 120 s)."""

SETTLING_MAX_S = 1.5
"""Longest wait for tabs and frames that are being armed when the agent has ended."""

ENDING_MAX_S = 180.0
"""Longest wait for the end of a recording: last looks, probes (at most 120 s), seal."""
