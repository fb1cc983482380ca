"""Reports under axe-core: no barrier that it knows, on a desk and on a phone, in light and dark, on every screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report, grade_many
from replaykit.report.html.measured_judges import JudgeMeasures
from replaykit.report.html.report_file import HtmlOptions
from replaykit.report.write import write_html_file, write_parting_file, write_report
from tests.live.errands import DRIVERS, needs
from tests.live.watched import RECORDINGS, hostile_run, judged
from tests.report.html.test_measured_judges import attack, calibrated

pytestmark = pytest.mark.live

AXE = DRIVERS / "node_modules" / "axe-core" / "axe.min.js"

# What axe says: rule, how grave, and the first place. Frames without permissions cannot be looked into.
BARRIERS = """async () => (await axe.run(document, { iframes: false })).violations
  .map((one) => `${one.id} (${one.impact}): ${one.nodes[0].html.slice(0, 120)}`)"""

NAMES = ("refund-order--no_consent", "return-window--good", "order-total--good", "update-price--fabricates")

SCREENS = (
    ("report", ""),
    ("report", "#q=nothing of the kind"),
    ("report", "#run={refund}&step=3"),
    ("report", "#run={refund}&step=3&kind=page&tab=network"),
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


@pytest.fixture(params=["desk light", "desk dark", "phone light", "phone dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page on a desk or a phone, in light or dark; axe itself has to be let in past the file's policy."""
    needs(package="axe-core")
    device, theme = request.param.split()
    size = {"desk": (1440, 900), "phone": (390, 844)}[device]
    phone: dict[str, Any] = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        bypass_csp=True,
        **(phone if device == "phone" else {}),
    )
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


def test_axe_finds_no_barrier_on_any_screen(page: Page, reports: Path) -> None:
    ids = {}
    for name, path in (("refund", NAMES[0]), ("window", NAMES[1])):
        with open_bundle(RECORDINGS / f"{path}.zst") as bundle:
            ids[name] = bundle.digest[:12]
    found = {}
    for file, address in SCREENS:
        page.goto("about:blank")
        page.goto(f"{(reports / f'{file}.html').as_uri()}{address.format_map(ids)}")
        expect(page.locator("main")).to_be_visible()
        expect(page.locator(".canvas:not(:has(> *))")).to_have_count(0)
        found[file, address] = page.evaluate(BARRIERS)
    assert not any(found.values()), {screen: said for screen, said in found.items() if said}
