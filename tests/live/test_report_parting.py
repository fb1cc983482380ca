"""Two runs in one file, in a real browser: their steps side by side, and that nothing of it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from replaykit.bundle.reader import open_bundle
from replaykit.report.report_output import write_parting_file
from replaykit.testing import Builder, trajectory
from tests.live.watched import ALL, RECORDINGS, Watched, hostile_run, readable_anywhere

pytestmark = pytest.mark.live

Parted = Callable[[Path, Path, tuple[str, str]], Watched]


@pytest.fixture
def parted(context: BrowserContext, tmp_path: Path) -> Parted:
    """Write what lies between two bundles and open it."""

    def opened(before: Path, after: Path, names: tuple[str, str]) -> Watched:
        file = tmp_path / "parted.html"
        with open_bundle(before) as one, open_bundle(after) as other:
            write_parting_file(one, other, names, file)
        return Watched(context, file)

    return opened


@pytest.fixture
def shop(parted: Parted) -> Watched:
    """Two recorded runs of one task: the later one looks where it should not first."""
    paths = [RECORDINGS / f"order-total--{name}.zst" for name in ("good", "wanders_off")]
    return parted(*paths, ("May", "June"))


@pytest.fixture
def long(parted: Parted, tmp_path: Path) -> Watched:
    """Two made runs of fourteen steps that differ in the tenth, and in their answer."""

    def walk(tenth: str, answer: str) -> Builder:
        run = trajectory().goto("http://shop.test/", "<h1>Shop</h1>").screenshot(40, 30)
        for n in range(12):
            run.click(f"#b{n}", "<h1>Shop</h1>", name=tenth if n == 8 else f"Button {n}")
        return run.answer(answer)

    paths = [
        walk("Buy", "done").write(tmp_path / "a.zst"),
        walk("Sell", "not done").write(tmp_path / "b.zst"),
    ]
    return parted(*paths, ("May", "June"))


def test_hostile_words_do_nothing_between_two_runs(parted: Parted, tmp_path: Path) -> None:
    path = hostile_run().write(tmp_path / "one.zst")
    other = hostile_run().say(ALL + "again").click(ALL, "<p>x", name=ALL).answer(ALL + "!")
    other = other.write(tmp_path / "other.zst")
    watched = parted(path, other, (ALL, f'"><svg onload=alert(2)>{ALL}'))
    page = watched.page
    expect(page.locator(".pairing")).not_to_have_count(0)
    for wanted in ("", "#look=page", "#look=page&when=after", "#when=after"):
        watched.open(wanted)
        for fold in page.locator(".fold button").all():
            fold.click()
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        for row in page.locator(".pairing").all():
            row.scroll_into_view_if_needed()
            expect(row.locator(".side-view").first).to_be_visible()
        watched.is_inert()
    assert page.locator("#app script, #app style, #app form[action], #app [onerror]").count() == 0
    for link in {one.get_attribute("href") for one in page.locator("#main a").all()}:
        watched.open(str(link))
        expect(page.locator("#panel")).to_be_visible()
        watched.is_inert()
    page.evaluate(
        "location.hash = '#kind=<img src=x onerror=alert(1)>&row=<svg onload=alert(2)>&look=<b>&q=<i>'"
    )
    expect(page.locator(".none")).to_be_visible()
    watched.is_inert()


def test_a_step_of_one_run_stands_beside_that_of_the_other(shop: Watched) -> None:
    page = shop.page
    expect(page.get_by_role("heading", level=1)).to_have_text("May → June")
    expect(page.locator(".notices")).to_contain_text("The runs part at the first step")
    rows = page.locator(".pairing")
    assert [str(row.get_attribute("class")).split()[1] for row in rows.all()] == [
        "new", "differs", "same", "same", "same", "same",
    ]  # fmt: skip
    alone, differs = rows.nth(0), rows.nth(1)
    expect(alone).to_contain_text("May has no such step")
    expect(alone.locator(".shot img")).to_have_count(1)
    expect(differs.locator(".fact mark")).to_have_text("admin/payroll")
    expect(differs.locator(".shot img")).to_have_count(2)
    captions = differs.locator("figcaption").all_inner_texts()
    assert [words.split(" · ")[0] for words in captions] == ["May", "June"]
    assert differs.locator("img").evaluate_all("images => images.every((one) => one.naturalWidth > 100)")
    # June left its page before a screenshot was taken: a target is drawn only on one of the same document.
    expect(differs.locator(".target")).to_have_count(1)
    expect(differs.locator(".thought")).to_have_count(2)
    expect(rows.nth(2).locator(".side-view")).to_have_count(0)
    rows.nth(2).locator("summary").click()
    expect(rows.nth(2).locator(".shot img")).to_have_count(2)
    shop.is_inert()


@pytest.mark.thorough
def test_a_row_leads_into_either_run_and_back(shop: Watched) -> None:
    page = shop.page
    page.locator(".pairing.differs").get_by_title("This step of June").click()
    expect(page.get_by_role("heading", name="June")).to_be_visible()
    expect(page.locator(".action[aria-current]")).to_contain_text("Orders")
    expect(page.get_by_role("tab", name="Verdict")).to_have_count(0)
    expect(page.get_by_role("tab", selected=True)).to_have_text("Step")
    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="May")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(".pairing")).to_have_count(6)
    shop.is_inert()


@pytest.mark.thorough
def test_what_the_page_looked_like_is_chosen_for_all_rows(shop: Watched) -> None:
    page = shop.page
    differs = page.locator(".pairing.differs")
    page.get_by_role("button", name="After").click()
    expect(differs.locator("figcaption").first).to_contain_text("Orders")
    page.keyboard.press("v")
    expect(differs.locator("iframe")).to_have_count(2)
    assert "look=page" in page.evaluate("location.hash")
    shop.open(page.evaluate("location.hash"))
    expect(page.get_by_role("button", name="Page", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(differs.locator("iframe")).to_have_count(2)
    page.keyboard.press("b")
    expect(page.get_by_role("button", name="Before")).to_have_attribute("aria-pressed", "true")
    shop.is_inert()


@pytest.mark.thorough
def test_steps_alike_are_folded_until_asked(long: Watched) -> None:
    page = long.page
    rows, folds = page.locator(".pairing"), page.locator(".fold")
    expect(page.locator(".notices")).to_contain_text("part after 9 steps")
    assert folds.all_inner_texts() == ["8 steps alike"]
    before = rows.count()
    folds.get_by_role("button").click()
    expect(rows).to_have_count(before + 8)
    expect(rows.locator("summary").first).to_be_focused()
    page.get_by_role("button", name="Replaced 1").click()
    expect(rows).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("sell")
    expect(rows).to_have_count(1)
    page.keyboard.type(" nothing of the kind")
    expect(page.locator(".none")).to_be_visible()
    page.locator("a.brand").click()
    expect(folds).to_have_count(1)


@pytest.mark.thorough
def test_keys_walk_the_rows_and_the_differences(long: Watched) -> None:
    page = long.page
    current = page.locator(".pairing.current")
    for key, words in (("n", "Buy"), ("n", "not done"), ("n", "Buy"), ("p", "not done"), ("k", "Button 11")):
        page.keyboard.press(key)
        expect(current).to_contain_text(words)
    assert page.evaluate("location.hash") == "#row=12"
    long.open("#row=3")
    expect(current).to_contain_text("Button 2")
    expect(page.locator(".fold")).to_have_count(0)
    expect(current.locator(".side-view").first).to_be_visible()


@pytest.mark.thorough
def test_the_same_recording_twice_is_reported(parted: Parted) -> None:
    path = RECORDINGS / "order-total--good.zst"
    page = parted(path, path, ("one", "other")).page
    expect(page.locator(".notices")).to_contain_text("The same recording")
    expect(page.locator(".fold")).to_contain_text("4 steps alike")


@pytest.mark.thorough
def test_two_runs_fit_a_phone_and_are_readable_in_light_and_dark(shop: Watched) -> None:
    page = shop.page
    readable_anywhere(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".pairing .shot img")).to_have_count(3)
