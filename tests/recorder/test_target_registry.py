"""Pages that the browser has reported, whether they are recorded or not."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.browser.target_registry import FoundPage, TargetRegistry
from replaykit.recorder.session.clock import Clock

LINKED = {"openerId": "A", "canAccessOpener": False}


def reported(about: dict[str, Any], urls: list[str], *, is_closed: bool = True) -> FoundPage:
    """Return a page that was created, went to these addresses, and is gone."""
    registry = TargetRegistry(Clock())
    page = {"targetId": "N", "type": "page", "url": "", **about}
    found = registry.receive("Target.targetCreated", {"targetInfo": page})
    for url in urls:
        registry.receive("Target.targetInfoChanged", {"targetInfo": {**page, "url": url}})
    if is_closed:
        registry.receive("Target.targetDestroyed", {"targetId": "N"})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("about", "urls", "is_closed", "is_empty"),
    [
        (LINKED, [], True, True),
        (LINKED, [""], True, True),
        (LINKED, ["http://x.test/"], True, False),
        (LINKED, ["about:blank"], True, False),
        (LINKED, [], False, False),
        ({**LINKED, "canAccessOpener": True}, [], True, False),
        ({"openerId": "A"}, [], True, False),
        ({"canAccessOpener": False}, [], True, False),
    ],
)
def test_only_a_tab_of_a_link_that_went_nowhere_had_no_document(
    about: dict[str, Any], urls: list[str], is_closed: bool, is_empty: bool
) -> None:
    assert reported(about, urls, is_closed=is_closed).is_empty == is_empty
