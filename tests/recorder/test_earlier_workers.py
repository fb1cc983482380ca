"""Service workers from before the run: visited sites that have one are a gap, all others are not."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.witnesses.earlier_workers import SITES_MAX, UPDATES, EarlierWorkers, site_of
from replaykit.recorder.browser.witnesses.target_census import Census
from replaykit.recorder.session.clock import Clock

SHOP, OTHER = "http://shop.test", "http://other.test"


def tab(census: Census, url: str = "about:blank", actor: str = "agent") -> CdpTab:
    made = CdpTab(0, Clock(wall=lambda: 1.0, ticks=lambda: 0.0), actor=actor, census=census)
    made.seat({"frame": {"id": "M", "loaderId": "L0", "url": url}})
    return made


def lists(page: CdpTab, *scopes: str, **more: Any) -> None:
    found = [{"registrationId": "0", "scopeURL": scope, **more} for scope in scopes]
    for _ in page.translate("ServiceWorker.workerRegistrationUpdated", {"registrations": found}):
        pass


def goes(page: CdpTab, url: str, frame: str = "M", **more: Any) -> None:
    about = {"id": frame, "loaderId": url, "url": url, **more}
    for _ in page.translate("Page.frameNavigated", {"frame": about}):
        pass


def gaps(page: CdpTab) -> list[str]:
    return [gap.why for gap in page.gaps if gap.channel == "network"]


def test_visited_site_with_a_worker_from_before_is_one_gap() -> None:
    page = tab(Census())
    lists(page, f"{SHOP}/app/")
    goes(page, f"{OTHER}/")
    assert gaps(page) == []
    goes(page, f"{SHOP}/elsewhere")
    goes(page, f"{SHOP}/app/")
    assert gaps(page) == [UPDATES]


def test_frame_of_such_a_site_is_a_visit() -> None:
    page = tab(Census())
    lists(page, f"{SHOP}/")
    goes(page, f"{SHOP}/in", "F", parentId="M")
    assert gaps(page) == [UPDATES]


def test_page_that_was_there_when_the_recorder_came_is_a_visit() -> None:
    page = tab(Census(), f"{SHOP}/")
    lists(page, f"{SHOP}/")
    assert gaps(page) == [UPDATES]


def test_worker_that_the_run_registers_is_none_of_them() -> None:
    census = Census()
    page = tab(census)
    lists(page)
    goes(page, f"{SHOP}/")
    lists(page, f"{SHOP}/")
    later = tab(census)
    lists(later, f"{SHOP}/")
    goes(later, f"{SHOP}/")
    assert (gaps(page), gaps(later)) == ([], [])


def test_worker_from_before_stays_one_when_it_changes() -> None:
    census = Census()
    page, later = tab(census), tab(census)
    lists(page, f"{SHOP}/")
    lists(page, f"{SHOP}/")
    lists(later, f"{SHOP}/")
    goes(later, f"{SHOP}/")
    assert gaps(later) == [UPDATES]


@pytest.mark.parametrize("more", [{"isDeleted": True}, {}], ids=["deleted", "of a probe"])
def test_what_is_deleted_or_looked_at_by_a_probe_is_no_gap(more: dict[str, Any]) -> None:
    page = tab(Census(), actor="agent" if more else "probe")
    lists(page, f"{SHOP}/", **more)
    goes(page, f"{SHOP}/")
    assert gaps(page) == []


def test_sites_are_bounded() -> None:
    workers = EarlierWorkers()
    assert not any(workers.visited(f"http://{number}.test/") for number in range(SITES_MAX + 9))
    assert len(workers._visited) == SITES_MAX


@pytest.mark.parametrize(("visits", "is_gap"), [(SITES_MAX, False), (SITES_MAX + 1, True)])
def test_worker_of_a_site_that_may_have_been_visited_is_a_gap(visits: int, is_gap: bool) -> None:
    workers = EarlierWorkers()
    for number in range(visits):
        workers.visited(f"http://{number}.test/")
    assert not workers.listed([], is_first=True)
    assert workers.listed([{"scopeURL": f"{SHOP}/"}], is_first=True) is is_gap
    assert workers.visited(f"{SHOP}/")


@pytest.mark.parametrize(
    ("url", "site"), [(f"blob:{SHOP}/x", SHOP), (f"{SHOP}:8/x?y", f"{SHOP}:8"), ("http://[x", "")]
)
def test_site_of_an_address(url: str, site: str) -> None:
    assert site_of(url) == site
