"""Who reads recorded pages."""

from __future__ import annotations

from typing import Literal, TypeAlias

Tier: TypeAlias = Literal["static", "auto", "chromium"]
"""`static`: no browser is started; `auto`: an offline Chromium answers what static reading cannot;
`chromium`: it answers every locator that no live value answers."""
