"""Every screen of a report at three widths, in light, dark and print.

axe-core finds no barrier, nothing is wider than its page, and paper shows everything, in light colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report, grade_many
from replaykit.report.html.measured_judges import JudgeMeasures
from replaykit.report.html.report_file import HtmlOptions
from replaykit.report.report_output import write_html_file, write_parting_file, write_report
from tests.live.agent_programs import DRIVERS, needs
from tests.live.watched import CONTRAST, RECORDINGS, hostile_run, judged
from tests.report.html.test_measured_judges import attack, calibrated
from tests.thorough import one_in

pytestmark = pytest.mark.live

AXE = DRIVERS / "node_modules" / "axe-core" / "axe.min.js"

# Findings of axe: rule, impact, and the first place. Frames without permissions cannot be read.
BARRIERS = """async (rules) => (await axe.run(document, { iframes: false, ...(rules && { runOnly: rules }) })).violations
  .map((one) => `${one.id} (${one.impact}): ${one.nodes[0].html.slice(0, 120)}`)"""

COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that a theme can break; all others have been asked of the same page in the light one."""

NAMES = (
    "refund-order--no_consent",
    "return-window--good",
    "order-total--good",
    "update-price--fabricates",
    "mail-offer--mails_everybody",
)

SCREENS = (
    ("report", ""),
    ("report", "#q=nothing of the kind"),
    ("report", "#run={refund}&step=3"),
    ("report", "#run={refund}&step=3&kind=page&tab=network"),
    ("report", "#run={refund}&step=3&tab=step"),
    ("report", "#run={fails}"),
    ("report", "#run={window}&tab=judge"),
    ("report", "#run={window}&tab=run&step=end"),
    ("hostile", ""),
    ("empty", ""),
    ("changes", ""),
    ("changes", "#run={refund}&graded=before"),
    ("sides", "#row=3"),
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of reports: of runs, of attacks, of nothing, of two gradings, of two runs."""
    folder = tmp_path_factory.mktemp("reports")
    paths = [RECORDINGS / f"{name}.zst" for name in NAMES]
    report = grade_many(paths)
    measured = HtmlOptions(
        measures=JudgeMeasures(
            attacks=(attack("again"), attack()), calibration={"sha256:1": calibrated(n=10)}
        )
    )
    write_html_file(report, paths, folder / "report.html", measured)
    attacks = hostile_run().write(folder / "<img src=x onerror=alert(1)>.zst")
    write_report(judged(attacks), folder / "hostile.html", sources=[attacks])
    write_report(build_report([]), folder / "empty.html")
    earlier = build_report([judged(attacks).verdicts[0], *report.verdicts[1:]], label="May")
    write_html_file(report, [*paths, attacks], folder / "changes.html", HtmlOptions(before=earlier))
    with open_bundle(paths[0]) as one, open_bundle(RECORDINGS / "refund-order--good.zst") as other:
        write_parting_file(one, other, ("May", "June"), folder / "sides.html")
    return folder


# Boxes that hold more than they show: on paper nobody scrolls.
CUT = """() => [...document.querySelectorAll('#app *')]
  .filter((one) => one.checkVisibility() && !one.closest('.unseen, iframe, select, input, .caption'))
  .filter((one) => getComputedStyle(one).overflowX !== 'visible' || getComputedStyle(one).overflowY !== 'visible')
  .filter((one) => one.scrollWidth > one.clientWidth + 2 || one.scrollHeight > one.clientHeight + 2)
  .map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`)"""

# Screenshots that came, of those that the page shows.
MISSING = """[...document.images].filter((one) => one.checkVisibility() && !one.naturalWidth).length"""


# Left edges of the columns of the table of runs, and of the cells of its first row.
COLUMNS = """() => ['columnheader', 'cell'].map((role) =>
  [...document.querySelector(`.table [role=${role}]`).parentElement.children]
    .filter((one) => one.checkVisibility()).map((one) => Math.round(one.getBoundingClientRect().left)))"""


def opened(browser: Browser, width: int, theme: Any, **more: Any) -> BrowserContext:
    """Return a context of a width and theme; axe itself has to be let in past the file's policy."""
    phone: dict[str, Any] = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    size: ViewportSize = {"width": width, "height": 900}
    given = phone if width < 400 else {}
    return browser.new_context(viewport=size, color_scheme=theme, bypass_csp=True, **given, **more)


@contextmanager
def with_axe(browser: Browser, width: int, theme: str) -> Iterator[Page]:
    """A page with axe in it."""
    needs(package="axe-core")
    context = opened(browser, width, theme)
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


def screens(page: Page, folder: Path) -> Iterator[tuple[str, str]]:
    """Open one screen after the other and yield its file and address."""
    ids = {}
    for name, path in (("refund", NAMES[0]), ("window", NAMES[1]), ("fails", NAMES[4])):
        with open_bundle(RECORDINGS / f"{path}.zst") as bundle:
            ids[name] = bundle.digest[:12]
    for file, address in SCREENS:
        page.goto("about:blank")
        page.goto(f"{(folder / f'{file}.html').as_uri()}{address.format_map(ids)}")
        expect(page.locator("main")).to_be_visible()
        expect(page.locator(".canvas:not(:has(> *))")).to_have_count(0)
        yield file, address


SIZES = [(375, "light"), (1280, "light"), (1920, "light"), (1280, "dark"), (375, "dark"), (1920, "dark")]
"""Widths of a window, and themes."""


@pytest.mark.parametrize(("width", "theme"), one_in(6, SIZES))
def test_no_screen_has_a_barrier_or_is_wider_than_its_page(
    browser: Browser, reports: Path, width: int, theme: str
) -> None:
    found: dict[tuple[str, str], Any] = {}
    with with_axe(browser, width, theme) as page:
        for screen in screens(page, reports):
            found[screen] = page.evaluate(BARRIERS, COLOURS if theme == "dark" else None)
            wide = page.evaluate(
                "[document.documentElement.scrollWidth, document.querySelector('main').scrollWidth]"
            )
            if max(wide) > page.evaluate("innerWidth"):
                found[screen].append(f"{wide} px wide")
    assert not any(found.values()), {screen: said for screen, said in found.items() if said}


@pytest.mark.parametrize("theme", one_in(2, ["system", "chosen"]))
@pytest.mark.thorough
def test_paper_shows_everything_in_light_colours(browser: Browser, reports: Path, theme: str) -> None:
    # The width of A4 in CSS px, less usual margins.
    context = opened(browser, 718, "dark")
    if theme == "chosen":
        context.add_init_script(
            "document.addEventListener('DOMContentLoaded', () => { document.documentElement.dataset.theme = 'dark'; })"
        )
    page = context.new_page()
    found: dict[tuple[str, str], Any] = {}
    for screen in screens(page, reports):
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.wait_for_function(f"{MISSING} === 0")
        found[screen] = [*page.evaluate(CONTRAST), *page.evaluate(CUT)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        found[screen] += [f"{wide} px wide"] if wide > 718 else []
        found[screen] += [f"printed on {ground}"] if ground != "rgb(255, 255, 255)" else []
        if screen == ("report", ""):
            heads, cells = page.evaluate(COLUMNS)
            assert len(heads) == 7
            assert heads == cells
        page.emulate_media(media="screen")
    context.close()
    assert not any(found.values()), {screen: said for screen, said in found.items() if said}
