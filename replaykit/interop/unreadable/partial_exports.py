"""Exports that hold a part of a run only, and the advice for each.

Own module: recognises results of other tools' functions, apart from the search for layouts.
"""

from __future__ import annotations

from typing import Any

_ELEMENT = "interacted_element"
"""Stands beside each action in lists that browser-use makes of a history."""


def partial_export(plain: Any) -> str | None:
    """Return what a JSON value is, if it is a part of a run that no layout reads; else None."""
    rows = plain if isinstance(plain, list) else []
    first = next((one for row in rows for one in (row if isinstance(row, list) else [row])), None)
    if not isinstance(first, dict) or _ELEMENT not in first:
        return None
    call = "action_history()" if isinstance(rows[0], list) else "model_actions()"
    return (
        f"the result of browser-use's {call}, which does not show what became of each action; give the whole"
        " history instead: `history.save_to_file(PATH)`"
    )
