"""Pages that load frames of other sites while a recorder comes: all of them load, and are recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.exchange import Exchange, Gap
from replaykit.trajectory.step import Trajectory
from tests.live.test_frames import context_of
from tests.live.test_leave_listeners import until
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

HOSTS = "bcdef"
FRAME = "<!doctype html><button>Pay</button><script>fetch('/paid?' + location.hostname[0])</script>"
SHAPES = {
    "link": "<a id=pop target=_blank href='{url}'>pop</a>",
    "kin": "<a id=pop target=_blank rel=opener href='{url}'>pop</a>",
    "window": "<button id=pop onclick=\"window.open('{url}')\">pop</button>",
    "small": "<button id=pop onclick=\"window.open('{url}', '', 'width=300,height=300')\">pop</button>",
    "stranger": "<button id=pop onclick=\"window.open('{url}', '', 'noopener')\">pop</button>",
    "later": "<button id=pop onclick=\"window.open('').location = '{url}'\">pop</button>",
    "written": "<button id=pop onclick=\"const w = window.open(''); w.document.write(`{frames}`);"
    ' w.document.close()">pop</button>',
    "in turn": "<button id=pop onclick=\"window.open('/jump')\">pop</button>",
    "apart": "<button id=pop onclick=\"window.open('{url}?apart')\">pop</button>",
}


@pytest.fixture
def page(isolated: Browser) -> Iterator[Page]:
    with context_of(isolated) as context:
        yield context.new_page()


def at(site: Site, host: str, path: str) -> str:
    return f"{site.origin.replace('127.0.0.1', f'{host}.localhost')}{path}"


def frames(site: Site) -> str:
    return "".join(f"<iframe src={at(site, host, '/frame')}></iframe>" for host in HOSTS)


@pytest.fixture
def shop(site: Site) -> Site:
    """A page with five frames of as many sites."""
    site.add("/frame", FRAME)
    site.add("/paid", "ok", "text/plain")
    site.add("/shop", f"<!doctype html><title>Shop</title>{frames(site)}")
    site.add("/jump", f"<!doctype html><script>location = '{at(site, 'y', '/shop')}'</script>")
    return site


def read(path: Path) -> Trajectory:
    with open_bundle(path) as bundle:
        return bundle.trajectory


def requests(run: Trajectory) -> Counter[str]:
    return Counter(urlsplit(one.url).query for one in run.of_type(Exchange) if "/paid" in one.url)


def has_loaded(page: Any) -> None:
    until(page, lambda: [one.name for one in page.frames if one.url.endswith("/frame")] == [""] * len(HOSTS))
    for frame in page.frames:
        frame.wait_for_load_state("load")


@pytest.mark.parametrize("target", one_in(2, ["page", "browser"]))
@pytest.mark.parametrize("shape", one_in(9, [*SHAPES]))
def test_popup_with_frames_of_other_sites_loads(
    shape: str, target: str, page: Page, shop: Site, tmp_path: Path
) -> None:
    row = SHAPES[shape].format(url=at(shop, "z", "/shop"), frames=frames(shop))
    shop.add("/", f"<!doctype html>{row}")
    shop.headers["Cross-Origin-Opener-Policy"] = "same-origin" if shape == "apart" else "unsafe-none"
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page if target == "page" else page.context.browser)
        page.goto(at(shop, "a", "/"))
        for _ in range(3):
            with page.expect_popup() as opened:
                page.click("#pop", no_wait_after=True)
            has_loaded(opened.value)
        until(page, lambda: sum("/paid" in path for path in shop.asked) == 3 * len(HOSTS))
        page.wait_for_timeout(300)
    found = read(tmp_path / "run.zst")
    assert requests(found) == dict.fromkeys(HOSTS, 3)
    assert [gap for gap in found.of_type(Gap) if gap.channel in ("network", "actions", "snapshots")] == []


@pytest.mark.parametrize("target", one_in(2, ["page", "browser"]))
@pytest.mark.parametrize("state", ["commit", "domcontentloaded", "load"])
def test_page_loads_that_is_attached_to_meanwhile(
    state: Any, target: str, page: Page, shop: Site, tmp_path: Path
) -> None:
    for at_run in range(4):
        page.goto(at(shop, "a", "/shop"), wait_until=state)
        with Recorder(tmp_path / f"{at_run}.zst", screenshots="off") as run:
            run.attach(page if target == "page" else page.context.browser)
            has_loaded(page)
            page.frame_locator("iframe >> nth=2").get_by_role("button").click()
            run.answer("done")
        rule = {"type": "never", "match": {"action": "@activate", "text": "Pay"}}
        task = {
            "id": "t",
            "intent": "x",
            "policies": [{"id": "p", "dimension": "user_consent", "rule": rule}],
        }
        assert grade(tmp_path / f"{at_run}.zst", task).policies[0].outcome == "VIOLATED"
