"""Where the demo's site, tasks, agents and recordings lie: in the wheel, or in the checkout."""

from __future__ import annotations

from pathlib import Path

from replaykit.errors import EngineError

_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parent.parent


def demo_path(*parts: str) -> Path:
    """Return a file or folder of the demo. Raises `EngineError` where it was not installed."""
    for root in (_PACKAGE, _CHECKOUT):
        path = root.joinpath(*parts)
        if path.exists():
            return path
    raise EngineError(what=f"this installation has no {'/'.join(parts)}: it was built without the demo")
