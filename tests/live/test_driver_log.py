"""Commands of the agent of this process to Playwright, logged apart from the recorder's own calls."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from msgspec import structs

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.command import Command
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Exchange, Gap, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Trajectory
from tests.live.flags import LEAN
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route

pytestmark = [pytest.mark.live, pytest.mark.one_page]

SHOP = "<!doctype html><title>Shop</title><button id=buy>Buy</button><input id=name><a href=/other id=other>Other</a>"


@pytest.fixture
def start(site: Site) -> str:
    site.add("/favicon.ico", "", "image/x-icon")
    site.add("/other", "<!doctype html><title>Other</title>")
    site.add("/sent", '{"done":true}', "application/json")
    return site.add("/", SHOP)


def read(path: Path) -> Trajectory:
    with open_bundle(path) as bundle:
        return bundle.trajectory


def names(run: Trajectory) -> list[str]:
    return [one.name for one in run.of_type(Command)]


def proof(run: Trajectory) -> Proof:
    (one,) = [one for one in run.of_type(Proof) if one.witness == "commands"]
    return one


def gaps(run: Trajectory) -> set[str]:
    return {gap.why for gap in run.of_type(Gap)}


@pytest.fixture
def page(context: BrowserContext, start: str) -> Page:
    made = context.new_page()
    made.goto(start)
    return made


def test_commands_of_the_agent_and_none_of_the_recorder(page: Page, start: str, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.click("#buy")
        page.fill("#name", "Ann's secret")
        page.keyboard.press("Enter")
        page.keyboard.press("Shift+Q")
        page.mouse.move(30, 40)
        page.evaluate("1 + 1")
        page.goto(f"{start}other")
        page.title()
    found = read(tmp_path / "run.zst")
    logged = [one for one in found.of_type(Command) if one.kind in ("input", "navigate")]
    assert [one.name for one in logged] == [
        "Frame.click", "Frame.fill", "Page.keyboardPress", "Page.keyboardPress", "Page.mouseMove", "Frame.goto",
    ]  # fmt: skip
    assert [(one.selector, one.key, one.point, one.size, one.url) for one in logged] == [
        ("#buy", None, None, None, None),
        ("#name", None, None, 12, None),
        (None, "Enter", None, None, None),
        (None, None, None, None, None),
        (None, None, (30, 40), None, None),
        (None, None, None, None, f"{start}other"),
    ]
    assert {one.page for one in logged} == {0}
    assert names(found).count("Frame.evaluateExpression") == 1
    assert "commands" in found.header.witnesses
    assert (proof(found).closed, proof(found).counts["input"]) == (True, 5)


def test_log_ends_with_the_recording(page: Page, tmp_path: Path) -> None:
    connection = page._impl_obj._connection
    before = dict(vars(connection))
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        assert vars(connection).keys() - before.keys()
    assert vars(connection).keys() == before.keys()


def _new_page(page: Page) -> Page:
    return page.context.new_page()


def _page_of_a_new_context(page: Page) -> Page:
    assert page.context.browser is not None
    return page.context.browser.new_context().new_page()


def _new_page_of_the_browser(page: Page) -> Page:
    assert page.context.browser is not None
    return page.context.browser.new_page()


@pytest.mark.parametrize("make", one_in(3, [_new_page, _page_of_a_new_context, _new_page_of_the_browser]))
def test_pages_that_the_agent_makes_are_recorded(page: Page, start: str, tmp_path: Path, make: Any) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        other = make(page)
        other.goto(f"{start}other")
        other.evaluate("document.body.innerHTML = '<button id=b>B</button>'")
        other.click("#b")
        other.close()
    found = read(tmp_path / "run.zst")
    assert [(tag_of(step.action), step.page) for step in found.steps if tag_of(step.action) == "click"] == [
        ("click", 1)
    ]
    assert [one.url for one in found.of_type(Navigation) if one.page == 1][-1] == f"{start}other"
    assert gaps(found) == set()
    assert proof(found).closed


def test_a_page_that_was_there_and_is_not_recorded_is_reported_as_missing(
    page: Page, start: str, tmp_path: Path
) -> None:
    other = page.context.new_page()
    other.goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        other.click("#buy")
    found = read(tmp_path / "run.zst")
    assert {gap.channel for gap in found.of_type(Gap) if gap.why == "target.unrecorded"} == {
        "actions",
        "urls",
        "network",
    }
    assert (proof(found).closed, proof(found).lacks) == (False, ("target.unrecorded",))


def test_an_untouched_page_is_not_missed(page: Page, start: str, tmp_path: Path) -> None:
    page.context.new_page().goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.click("#buy")
    assert "target.unrecorded" not in gaps(read(tmp_path / "run.zst"))


def sent(page: Page, start: str, **options: Any) -> Any:
    return page.request.post(f"{start}sent?a=1", **options)


def test_requests_of_the_driver_are_exchanges(page: Page, start: str, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.click("#buy")
        assert sent(page, start, data={"size": "L"}).json() == {"done": True}
        sent(page, start, form={"size": "L"})
        sent(
            page,
            start,
            multipart={"size": "L", "f": {"name": "n.txt", "mimeType": "text/plain", "buffer": b"words"}},
        )
        page.context.request.get(f"{start}sent", params={"q": "a b"})
        page.request.get(f"{start}other")
    with open_bundle(tmp_path / "run.zst") as bundle:
        asked = [one for one in bundle.trajectory.of_type(Exchange) if one.initiator == "driver"]
        assert [(one.method, one.url.removeprefix(start), one.status, one.page) for one in asked] == [
            ("POST", "sent?a=1", 200, None),
            ("POST", "sent?a=1", 200, None),
            ("POST", "sent?a=1", 200, None),
            ("GET", "sent?q=a+b", 200, None),
            ("GET", "other", 200, None),
        ]
        bodies = [bundle.blob(one.post) for one in asked[:3] if isinstance(one.post, str)]
        assert (json.loads(bodies[0]), bodies[1]) == ({"size": "L"}, b"size=L")
        assert b'name="f"; filename="n.txt"' in bodies[2] and b"words" in bodies[2]
        assert bundle.blob(str(asked[0].body)) == b'{"done":true}'
        assert [getattr(one.body, "why", None) for one in asked[1:]] == ["unread"] * 4
        assert {one.actor for one in asked} == {"agent"}


@pytest.mark.parametrize("way", one_in(2, ["page", "context", "own", "own-with-base"]))
def test_every_client_of_the_driver_is_followed(
    page: Page, playwright: Playwright, start: str, tmp_path: Path, way: str
) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        client = {
            "page": lambda: page.request,
            "context": lambda: page.context.request,
            "own": playwright.request.new_context,
            "own-with-base": lambda: playwright.request.new_context(base_url=start),
        }[way]()
        client.post("/sent" if way == "own-with-base" else f"{start}sent", data="words")
        client.delete(f"{start}sent")
    found = read(tmp_path / "run.zst")
    asked = [(one.method, one.url, one.actor) for one in found.of_type(Exchange) if one.initiator == "driver"]
    assert asked == [("POST", f"{start}sent", "agent"), ("DELETE", f"{start}sent", "agent")]


def test_a_client_of_its_own_is_followed_beside_an_async_recorder(
    browser_path: Path, start: str, tmp_path: Path
) -> None:
    from playwright.async_api import async_playwright

    async def act() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox", LEAN]
            )
            page = await browser.new_page()
            async with AsyncRecorder(tmp_path / "run.zst") as run:
                await run.attach(page)
                client = await playwright.request.new_context()
                await client.post(f"{start}sent", data="words")
            await browser.close()

    with ThreadPoolExecutor(1) as pool:  # there is a loop in this thread
        pool.submit(asyncio.run, act()).result()
    found = read(tmp_path / "run.zst")
    assert [(one.method, one.url) for one in found.of_type(Exchange) if one.initiator == "driver"] == [
        ("POST", f"{start}sent")
    ]


def test_a_request_beside_the_browser_leaves_no_trace(page: Page, start: str, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        urlopen(f"{start}sent", data=b"words").read()  # out of reach: SECURITY.md says so
    found = read(tmp_path / "run.zst")
    assert [one.url for one in found.of_type(Exchange) if one.url.endswith("/sent")] == []


def test_answers_of_the_agent_are_distinguished_from_those_of_the_site(
    page: Page, start: str, tmp_path: Path
) -> None:
    def answer(route: Route) -> None:
        route.fulfill(json={"done": False})

    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.evaluate("(url) => fetch(url)", f"{start}sent?real")
        page.route("**/sent?forged", answer)
        page.evaluate("(url) => fetch(url)", f"{start}sent?forged")
        page.evaluate("(url) => fetch(url)", f"{start}sent?real2")
    found = {one.url.rpartition("?")[2]: one.source for one in read(tmp_path / "run.zst").of_type(Exchange)}
    assert found == {"real": None, "forged": "agent", "real2": None}


def test_a_document_that_the_agent_writes_is_its_own(page: Page, start: str, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.set_content("<h1>Order placed</h1><button id=b>B</button>")
        page.click("#b")
        run.say("say", "look")
        page.goto(f"{start}other")
    looks = read(tmp_path / "run.zst").of_type(Observation)
    assert {one.source for one in looks if one.url == start and one.of is not None} == {"agent"}
    assert [one.source for one in looks if one.role == "final"] == [None]


def test_another_browser_is_reported_as_missing(
    browser: Browser, page: Page, browser_path: Path, tmp_path: Path
) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        browser.browser_type.launch(executable_path=browser_path, args=["--no-sandbox", LEAN]).close()
    found = read(tmp_path / "run.zst")
    assert "target.unrecorded" in gaps(found)
    assert proof(found).lacks == ("target.unrecorded",)


@pytest.mark.thorough
def test_runs_side_by_side_log_their_own_agents(browser_path: Path, start: str, tmp_path: Path) -> None:
    from playwright.async_api import Browser as AsyncBrowser
    from playwright.async_api import async_playwright

    async def one(browser: AsyncBrowser, number: int) -> None:
        context = await browser.new_context()
        page = await context.new_page()
        async with AsyncRecorder(tmp_path / f"{number}.zst") as run:
            await run.attach(context)
            await page.goto(f"{start}?{number}")
            await page.click("#buy")
            await page.request.get(f"{start}sent?{number}")
            other = await context.new_page()
            await other.goto(f"{start}other?{number}")

    async def all_of_them() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox", LEAN]
            )
            await asyncio.gather(*(one(browser, number) for number in range(3)))
            await browser.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(all_of_them())).result()
    for number in range(3):
        found = read(tmp_path / f"{number}.zst")
        urls = [structs.asdict(event)["url"] for event in (*found.of_type(Command), *found.of_type(Exchange))]
        assert {url.rpartition("?")[2] for url in urls if url is not None} == {str(number)}
        assert names(found).count("Frame.click") == 1
        assert gaps(found) == set()
        assert proof(found).closed
