"""Service workers that the run installs: one that the browser looked up is a gap, all others are not."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.witnesses.own_workers import LOOKUPS, OwnWorkers, count_of
from replaykit.recorder.browser.witnesses.target_census import Census
from replaykit.recorder.session.clock import Clock

SHOP, OTHER = "http://shop.test", "http://other.test"


def tab(census: Census) -> CdpTab:
    return CdpTab(0, Clock(wall=lambda: 1.0, ticks=lambda: 0.0), census=census)


def receive(page: CdpTab, scopes: list[str], **versions: str) -> None:
    registrations = [{"registrationId": "0", "scopeURL": scope} for scope in scopes]
    found = [{"scriptURL": f"http://{name}.test/w.js", "status": status} for name, status in versions.items()]
    events: dict[str, dict[str, Any]] = {
        "ServiceWorker.workerRegistrationUpdated": {"registrations": registrations},
        "ServiceWorker.workerVersionUpdated": {"versions": found},
    }
    for method, params in events.items():
        assert list(page.translate(method, params)) == []


@pytest.mark.parametrize(
    ("versions", "is_active"),
    [({"shop": "installing"}, False), ({"shop": "activated"}, True), ({"other": "activated"}, False)],
    ids=str,
)
def test_worker_counts_once_it_is_active(versions: dict[str, str], is_active: bool) -> None:
    census = Census()
    page = tab(census)
    receive(page, [], other="activated")
    receive(page, [f"{SHOP}/"], **versions)
    assert (census.own_workers.is_active, census.own_workers.is_due) == (is_active, is_active)
    assert (census.workers.is_own(f"{SHOP}/x"), census.workers.is_own(OTHER)) == (True, False)


def counted(before: int | None, after: int | None, *, is_found: bool = True) -> OwnWorkers:
    workers = OwnWorkers()
    workers.is_active = True
    for count, note in ((before, workers.began), (after, workers.ended)):
        if count is not None:
            note(count)
    if is_found:
        workers.found()
    return workers


def test_recorder_looks_a_worker_up_once() -> None:
    workers = counted(0, 1)
    assert workers.is_due
    workers.asked()
    assert not workers.is_due


@pytest.mark.parametrize(("before", "after"), [(0, 1), (7, 8)])
def test_browser_that_looked_up_nothing_else_leaves_no_gap(before: int, after: int) -> None:
    assert not counted(before, after).may_be_updated
    assert not OwnWorkers().may_be_updated


@pytest.mark.parametrize(("before", "after"), [(0, 2), (0, 0), (7, 7), (None, 1), (0, None), (None, None)])
def test_count_that_is_higher_or_unknown_is_a_gap(before: int | None, after: int | None) -> None:
    assert counted(before, after).may_be_updated


def test_browser_in_which_the_recorder_found_no_worker_is_a_gap() -> None:
    assert counted(0, 1, is_found=False).may_be_updated


def test_only_the_first_count_is_the_one_from_before() -> None:
    workers = counted(0, 3)
    workers.began(2)
    assert workers.may_be_updated


def test_count_is_that_of_one_name() -> None:
    rows = [{"name": LOOKUPS, "count": 3}, {"name": f"{LOOKUPS}.More", "count": 5}]
    assert (count_of({"histograms": rows}), count_of({"histograms": []})) == (3, 0)
