"""The HTML report in a real browser: what it shows, how it is used, and that nothing in it ever runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, expect

from fixtures.agents.pairs import load_pairs
from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.verdict import Judgement, JudgeOutcome, Report
from replaykit.report.html.measured_judges import JudgeMeasures
from replaykit.report.html.report_file import HtmlOptions
from replaykit.report.report_output import write_html_file, write_report
from replaykit.tasks.policy_rules import DIMENSIONS
from replaykit.testing import Builder, trajectory
from tests.live.watched import ATTACKS, CONTRAST, RECORDINGS, Watched, hostile_run, judged, readable_anywhere
from tests.report.html.test_measured_judges import attack, calibrated
from tests.thorough import one_in

pytestmark = pytest.mark.live

Shown = Callable[..., Watched]


@pytest.fixture
def shown(context: BrowserContext, tmp_path: Path) -> Shown:
    """Write a report of bundles and open it."""

    def opened(
        *sources: Path, report: Report | None = None, address: str = "", label: str | None = None
    ) -> Watched:
        file = tmp_path / "report.html"
        write_report(report or grade_many(sources, label=label), file, sources=sources)
        return Watched(context, file, address)

    return opened


@pytest.fixture
def violation(shown: Shown) -> Watched:
    """One shipped run that breaks a policy at its last step."""
    return shown(RECORDINGS / "refund-order--no_consent.zst")


@pytest.fixture
def shipped(shown: Shown) -> Watched:
    """All shipped runs on the shop."""
    names = sorted(pair.name for pair in load_pairs() if pair.record and pair.site == "shop")
    return shown(*(RECORDINGS / f"{name}.zst" for name in names), label="shipped recordings")


@pytest.fixture
def judged_runs(shown: Shown, tmp_path: Path) -> Watched:
    """Thirty runs of 1 to 291 steps with a policy of each dimension, judged as the checks say in two of three."""
    paths = [run_of(n).write(tmp_path / f"run-{n:02}.zst") for n in range(30)]
    verdicts = grade_many(paths).verdicts
    said = [JudgeOutcome.SUCCESS if n % 6 in (0, 2, 3) else JudgeOutcome.FAILURE for n in range(30)]
    judged = [
        replace(
            one,
            judgements=(Judgement(judge="webvoyager", outcome=outcome, reason="verdict", fingerprint=""),),
        )
        for one, outcome in zip(verdicts, said, strict=True)
    ]
    return shown(*paths, report=build_report(judged))


def run_of(number: int) -> Builder:
    """A run whose checks pass where its number is even."""
    policies = [
        {
            "id": name,
            "dimension": name,
            "rule": {"type": "url_boundary", "deny": ["/"]},
            "description": "Do not.",
        }
        for name in DIMENSIONS
    ]
    checks = [{"type": "string_match", "must_include": ["yes"]}]
    run = trajectory({"id": f"t{number:02}", "intent": "Say yes.", "checks": checks, "policies": policies})
    run.goto("http://shop.test/", "<h1>Shop</h1>")
    for step in range(10 * number):
        run.click(f"#b{step}", name=f"Button {step}")
    return run.answer("no" if number % 2 else "yes")


def digest(name: str) -> str:
    """The beginning of a shipped run's digest: its address in a report."""
    with open_bundle(RECORDINGS / f"{name}.zst") as bundle:
        return bundle.digest[:12]


def test_hostile_words_do_nothing_anywhere(shown: Shown, tmp_path: Path) -> None:
    path = hostile_run().write(tmp_path / "<img src=x onerror=alert(1)>'\".zst")
    watched = shown(path, report=judged(path))
    page = watched.page
    tags = (
        "script:not([type]), script[type='application/json'], script[type$='deflate'], script[type$='base64']"
    )
    scripts = page.locator("script").count()
    assert page.locator(tags).count() == scripts
    for tab in page.get_by_role("tab").all():
        tab.click()
        for summary in page.locator("#panel details:not([open]) > summary").all():
            summary.click()
        watched.is_inert()
    for kind in ("Screenshot", "Page"):
        page.get_by_role("button", name=kind, exact=True).click()
        for action in page.locator("button.action").all():
            action.click()
            expect(page.locator(".canvas > *")).to_be_visible()
            watched.is_inert()
    page.locator("a.brand").click()
    page.evaluate("history.pushState(null, '', '#q=' + encodeURIComponent('<img src=x onerror=alert(1)>'))")
    page.reload()
    watched.is_inert()
    assert page.locator("script").count() == scripts
    assert (
        page.locator(
            "#app script, #app style, #app form[action], #app a[href^='javascript'], #app [onerror]"
        ).count()
        == 0
    )
    assert "evil.test" in page.content()


def test_what_gets_in_all_the_same_is_refused_by_the_policy(shown: Shown, tmp_path: Path) -> None:
    watched = shown(trajectory().goto("http://shop.test/", "<p>x</p>").answer("y").write(tmp_path / "a.zst"))
    page = watched.page
    page.evaluate("""() => {
        window.refused = [];
        document.addEventListener('securitypolicyviolation', (event) => window.refused.push(event.effectiveDirective));
        const script = document.createElement('script');
        try { script.textContent = 'window.hit = 1'; document.body.append(script); } catch { window.refused.push('sink'); }
        try { document.body.insertAdjacentHTML('beforeend', '<img src=http://evil.test/>'); } catch { window.refused.push('sink'); }
        const image = new Image(); image.src = 'http://evil.test/'; document.body.append(image);
        const link = document.createElement('a');
        try { link.setAttribute('onclick', 'window.hit = 2'); link.click(); } catch { window.refused.push('sink'); }
        fetch('http://evil.test/').catch(() => window.refused.push('fetch'));
        const frame = document.createElement('iframe'); frame.src = 'http://evil.test/'; document.body.append(frame);
    }""")
    page.wait_for_function("window.refused.includes('fetch') && window.refused.includes('frame-src')")
    refused = set(page.evaluate("window.refused"))
    assert {"sink", "img-src", "connect-src", "frame-src"} <= refused
    assert page.evaluate("window.hit") is None
    assert watched.requests == [] or all("evil.test" in url for url in watched.requests)


@pytest.mark.thorough
def test_a_theme_that_was_chosen_stays_chosen(violation: Watched) -> None:
    page, root = violation.page, violation.page.locator(":root")
    assert root.get_attribute("data-theme") is None
    page.get_by_role("button", name="Theme").click()
    chosen = root.get_attribute("data-theme")
    page.reload()
    expect(root).to_have_attribute("data-theme", str(chosen))
    page.keyboard.press("t")
    page.reload()
    expect(root).to_have_attribute("data-theme", {"dark": "light", "light": "dark"}[str(chosen)])


@pytest.mark.thorough
def test_a_browser_that_keeps_nothing_changes_themes_all_the_same(violation: Watched) -> None:
    page, root = violation.page, violation.page.locator(":root")
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})"
    )
    page.reload()
    page.get_by_role("button", name="Theme").click()
    expect(root).to_have_attribute("data-theme", re.compile("dark|light"))
    violation.is_inert()


def test_a_drawn_page_has_no_permission_at_all(violation: Watched) -> None:
    page = violation.page
    page.get_by_role("button", name="Page", exact=True).click()
    frame = page.locator(".canvas iframe")
    expect(frame).to_have_attribute("sandbox", "")
    inner = page.frame_locator(".canvas iframe")
    expect(inner.get_by_text("Tom O'Neil").first).to_be_visible()
    assert inner.locator("script, a, form, img, link, iframe").count() == 0
    violation.is_inert()


def test_a_step_shows_its_screenshot_with_what_was_acted_on(violation: Watched) -> None:
    page = violation.page
    page.keyboard.press("n")
    expect(page.locator(".step-list [aria-current=step]")).to_contain_text("Confirm refund")
    screenshot, target, point = (page.locator(f".canvas {name}") for name in ("img", ".target", ".point"))
    expect(screenshot).to_be_visible()
    whole, box, spot = screenshot.bounding_box(), target.bounding_box(), point.bounding_box()
    assert whole is not None
    assert box is not None
    assert spot is not None
    scale = whole["width"] / 1280
    # Box and point of the recording: 681, 428, 145, 39; 753, 446; a border of 2 px around the box.
    assert box["x"] - whole["x"] == pytest.approx(681 * scale - 2, abs=1.5)
    assert box["width"] == pytest.approx(145 * scale + 4, abs=1.5)
    assert spot["x"] + spot["width"] / 2 - whole["x"] == pytest.approx(753 * scale, abs=1.5)
    assert spot["y"] + spot["height"] / 2 - whole["y"] == pytest.approx(446 * scale, abs=1.5)
    assert screenshot.evaluate("image => image.naturalWidth") == 1280


def test_the_target_is_marked_on_the_drawn_page_too(violation: Watched) -> None:
    page = violation.page
    page.keyboard.press("n")
    page.keyboard.press("v")
    button = page.frame_locator(".canvas iframe").get_by_text("Confirm refund")
    place = button.evaluate("node => [node.getBoundingClientRect().x, node.getBoundingClientRect().y]")
    page.wait_for_function("document.querySelector('.sheet').style.getPropertyValue('--scale') !== ''")
    frame, target = (page.locator(f".canvas {name}").bounding_box() for name in ("iframe", ".target"))
    wide = float(page.locator(".canvas iframe").get_attribute("width") or 0)
    assert frame is not None
    assert target is not None
    # The page is drawn at its own width and shrunk to the sheet.
    for axis, at in zip("xy", place, strict=True):
        assert target[axis] == pytest.approx(frame[axis] + at * frame["width"] / wide - 2, abs=1.5)


@pytest.mark.thorough
def test_keys_walk_steps_violations_and_runs(shipped: Watched) -> None:
    page = shipped.page
    page.keyboard.press("/")
    page.keyboard.type("note-triage")
    expect(page.locator(".rows .row")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    current = page.locator(".step-list [aria-current=step] .number")
    expect(current).to_have_text("0")
    for key, step in (("j", "1"), ("j", "2"), ("k", "1"), ("n", "5"), ("n", "0"), ("p", "5"), ("p", "0")):
        page.keyboard.press(key)
        expect(current).to_have_text(step)
    page.keyboard.press("/")
    page.keyboard.type("confirm")
    page.keyboard.press("Enter")
    expect(current).to_have_text("5")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator(".table")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next, previous violation")


@pytest.mark.thorough
def test_an_address_leads_back_to_what_was_shown(shipped: Watched) -> None:
    page = shipped.page
    page.get_by_role("link", name="refund-order--no_consent").click()
    expect(page.get_by_role("heading", name="refund-order--no_consent")).to_be_visible()
    page.keyboard.press("n")
    page.get_by_role("tab", name="Network").click()
    page.keyboard.press("b")
    address = page.evaluate("location.hash")
    shipped.open(address)
    expect(page.get_by_role("heading", name="refund-order--no_consent")).to_be_visible()
    expect(page.locator(".step-list [aria-current=step] .number")).to_have_text("3")
    expect(page.get_by_role("tab", name="Network")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("button", name="After", exact=True)).to_have_attribute("aria-pressed", "true")
    page.go_back()
    shipped.open("#success=FAIL&sort=-steps")
    expect(page.locator(".count")).to_have_text("4 of 16 runs")
    steps = page.locator(".rows .cell.steps").all_inner_texts()
    assert steps == sorted(steps, key=int, reverse=True)


@pytest.mark.thorough
def test_the_film_strip_is_whole_before_it_is_printed(shown: Shown, tmp_path: Path) -> None:
    """A browser prints as soon as it is asked to: what is loaded for the paper alone comes too late."""
    run = trajectory().goto("http://shop.test/", "<h1>Shop</h1>")
    for shade in range(40):  # far more than a screen is wide
        run = run.click("#a").screenshot(2, 2, (shade, 0, 0))
    page = shown(run.answer("done").write(tmp_path / "run.zst")).page
    expect(page.locator(".film img")).not_to_have_count(0)
    expect(page.locator(".film img:not([src])")).to_have_count(0)


def test_evidence_leads_to_its_step(violation: Watched) -> None:
    page = violation.page
    page.locator(".result", has_text="ask-before-refund").get_by_role("button", name="step 3").click()
    expect(page.locator(".step-list [aria-current=step] .number")).to_have_text("3")
    expect(page.locator(".film [aria-current=step]")).to_contain_text("3")
    page.get_by_role("slider", name="Step").fill("0")
    expect(page.locator(".step-list [aria-current=step] .number")).to_have_text("0")


@pytest.mark.thorough
def test_a_step_that_a_judge_cites_shows_what_changed(shown: Shown, tmp_path: Path) -> None:
    built = (
        trajectory()
        .goto("http://s.test/", "<p>Open")
        .click("#b", "<p>Paid <b>&lt;img src=x&gt;")
        .answer("ok")
    )
    path = built.write(tmp_path / "run.zst")
    criterion = {
        "id": "c1", "statement": "It is paid.", "kind": "outcome", "verdict": "YES", "reason": "", "steps": [1],
    }  # fmt: skip
    judge = Judgement(
        judge="rubric", outcome=JudgeOutcome.SUCCESS, reason="", fingerprint="", criteria=(criterion,)
    )
    (verdict,) = grade_many([path]).verdicts
    page = shown(path, report=build_report([replace(verdict, judgements=(judge,))])).page
    page.get_by_role("tab", name="Judge").click()
    page.locator(".criterion").get_by_role("button", name="step 1").click()
    page.get_by_role("tab", name="Step").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("- Open\n+ Paid <img src=x>")


@pytest.mark.thorough
def test_the_judge_s_transcript_shows_what_it_saw(shown: Shown) -> None:
    watched = shown(RECORDINGS / "return-window--good.zst")
    page = watched.page
    expect(page.get_by_role("tabpanel")).to_contain_text("1 synthetic reply")
    page.get_by_role("tab", name="Judge").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("1 synthetic reply")
    expect(page.locator(".turn.replied")).to_contain_text("SUCCESS")
    expect(page.locator(".turn.asked")).to_contain_text("within how many days")
    screenshot = page.locator(".turn.asked img")
    screenshot.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.turn.asked img').naturalWidth === 1280")
    page.locator(".turn.asked .thumb").click()
    expect(page.get_by_role("dialog", name="Screenshot")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Screenshot")).to_be_hidden()


def test_a_verdict_reads_as_sentences_with_the_judge_s_own_words(shown: Shown) -> None:
    names = ("return-window--good", "refund-order--no_consent", "order-total--wrong_target")
    paths = [RECORDINGS / f"{name}.zst" for name in names]
    watched = shown(*paths, report=grade_many(paths, GradeOptions(judges=("webvoyager",))))
    page = watched.page
    watched.open(f"#run={digest(names[0])}")
    own = "Nothing in the screenshots contradicts it."
    sentence = page.locator("#panel .sentence")
    expect(sentence).to_contain_text(
        'The run passes its check. The judge webvoyager says success: "The instruction'
    )
    page.get_by_role("tab", name="Judge").click()
    expect(page.locator("#panel .why")).to_have_text("The reply of the model ends in this verdict.")
    expect(page.locator("#panel .quote")).to_contain_text(own)
    watched.open(f"#run={digest(names[1])}")
    expect(sentence).to_contain_text("The judge webvoyager gives no verdict: the tape holds no reply")
    # An absence that is proven is no warning.
    proven = page.locator(".result.good").filter(has_text="stay-out-of-admin").get_by_text("are proven")
    expect(proven).to_have_class("reason")
    watched.open(f"#run={digest(names[2])}")
    expect(sentence).to_contain_text(
        "The check string_match[0] fails: the value found is not the expected one."
    )


@pytest.mark.parametrize("width", one_in(2, [375, 1280]))
@pytest.mark.thorough
def test_no_word_is_broken_into_a_tiny_column(shown: Shown, width: int) -> None:
    name = "mail-offer--mails_everybody"
    watched = shown(RECORDINGS / f"{name}.zst", address=f"#run={digest(name)}")
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    notes = page.locator(".result .names small")
    expect(notes.filter(has_text="Hierarchy adherence")).to_be_visible()
    assert min(notes.evaluate_all("all => all.map((one) => one.clientWidth || one.offsetWidth)")) >= 140


def test_the_table_says_whether_a_policy_applied(shown: Shown, tmp_path: Path) -> None:
    rules: dict[str, dict[str, Any]] = {
        "dormant": {"type": "never", "match": {"action": "click", "text": "Pay"}},
        "ok": {"type": "url_boundary", "deny": ["/admin"]},
    }
    paths = []
    for name, rule in rules.items():
        policy = {"id": "p", "dimension": "user_consent", "rule": rule}
        built = trajectory({"id": f"t-{name}", "intent": "x", "policies": [policy]}).proven()
        built.goto("http://s.test/", "<button id=b>Look</button>").click("#b", name="Look").answer("done")
        paths.append(built.write(tmp_path / f"{name}.zst"))
    page = shown(*paths).page
    expect(page.locator(".rows .cell.policies")).to_have_text(["dormant", "ok"])


@pytest.mark.thorough
def test_filters_narrow_the_table_and_the_charts_filter(shipped: Watched) -> None:
    page = shipped.page
    expect(page.locator(".count")).to_have_text("16 of 16 runs")
    page.get_by_role("button", name="Fail 4").click()
    expect(page.locator(".rows .row")).to_have_count(4)
    page.get_by_role("button", name="All 16").click()
    page.get_by_role("button", name="User consent").click()
    expect(page.locator(".count")).to_have_text("3 of 16 runs")
    page.get_by_label("Violated dimension").select_option(label="Any policies")
    page.get_by_role("columnheader", name="Time").get_by_role("link").click()
    times = page.locator(".rows .cell.ms").all_inner_texts()
    lengths = [float(time.split()[0]) / (1000 if time.endswith("ms") else 1) for time in times]
    assert len(lengths) == 16 and lengths == sorted(lengths)


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 1,000 verdicts, of which one has its bundle."""
    path = RECORDINGS / "order-total--good.zst"
    verdict = grade_many([path]).verdicts[0]
    many = [replace(verdict, task_id=f"task-{n:04}", trajectory=f"sha256:{n:064x}") for n in range(999)]
    file = tmp_path_factory.mktemp("thousand") / "report.html"
    write_report(build_report([*many, verdict]), file, sources=[path])
    return file


def test_a_thousand_runs_cost_the_rows_on_the_screen(context: BrowserContext, thousand: Path) -> None:
    watched = Watched(context, thousand)
    page = watched.page
    expect(page.locator(".count")).to_have_text("1000 of 1000 runs")
    assert page.locator(".rows .row").count() < 80
    page.locator("main").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    expect(page.get_by_role("link", name="order-total--good")).to_be_visible()
    assert page.locator(".rows .row").count() < 80
    rows = page.locator(".rows .row").evaluate_all(
        "rows => rows.map((row) => Number(row.getAttribute('aria-rowindex')))"
    )
    assert rows == list(range(rows[0], 1002))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".rows .row")).to_have_count(1000)
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".rows .row")).not_to_have_count(1000)
    watched.is_inert()


@pytest.mark.thorough
def test_a_run_without_its_bundle_shows_its_verdict(context: BrowserContext, thousand: Path) -> None:
    watched = Watched(context, thousand, f"#run={0:012x}")
    # Ids that begin alike are written out: the short one leads nowhere.
    expect(watched.page.locator(".table")).to_be_visible()
    watched.open(f"#run={0:064x}")
    expect(watched.page.locator(".canvas")).to_contain_text("The bundle was not given")
    expect(watched.page.locator("#panel")).to_contain_text("string_match")
    watched.is_inert()


@pytest.mark.parametrize("name", one_in(2, ["refund-order--no_consent", ""]))
@pytest.mark.thorough
def test_a_phone_shows_it_without_scrolling_sideways(shipped: Watched, name: str) -> None:
    page = shipped.page
    page.set_viewport_size({"width": 360, "height": 740})
    shipped.open(name and f"#run={digest(name)}&step=3")
    expect(page.get_by_role("heading", name=name or "shipped recordings")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    widest = page.locator("#stage").evaluate("node => node.scrollWidth")
    assert widest <= 360


@pytest.mark.parametrize("width", one_in(3, [360, 1024, 1440]))
@pytest.mark.thorough
def test_charts_stay_in_their_cards(judged_runs: Watched, width: int) -> None:
    page = judged_runs.page
    page.set_viewport_size({"width": width, "height": 900})
    expect(page.locator(".card")).to_have_count(4)
    outside = page.evaluate("""() => [...document.querySelectorAll('.card')].flatMap((card) => {
        const { left, right } = card.getBoundingClientRect();
        return [...card.querySelectorAll('*')]
          .filter((node) => { const box = node.getBoundingClientRect(); return box.left < left || box.right > right; })
          .map((node) => `${node.className}: ${node.textContent.slice(0, 30)}`);
    })""")
    assert outside == []
    cut = "nodes => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)"
    assert page.locator(".metric > .value, .risk > .name, .column > span").evaluate_all(cut) == []


@pytest.mark.thorough
def test_where_judge_and_checks_part_is_one_click_away(judged_runs: Watched) -> None:
    page = judged_runs.page
    card = page.locator(".card", has_text="Judges")
    expect(card).to_contain_text("20 of 30 agree, 66.7 %")
    expect(card).to_contain_text("kappa 0.33")
    card.get_by_title("Checks pass, judge failure.").click()
    expect(page.locator(".count")).to_have_text("5 of 30 runs")
    assert "agree=PASS+FAILURE" in page.evaluate("location.hash")
    page.keyboard.press("/")
    page.keyboard.type("nothing of the kind")
    expect(page.locator(".none")).to_have_text("No run matches.")
    expect(page.locator(".table")).to_be_hidden()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".count")).to_have_text("30 of 30 runs")
    expect(page.get_by_role("button", name="Show all")).to_be_hidden()


@pytest.mark.thorough
def test_the_way_back_leads_to_the_row_that_was_left(context: BrowserContext, thousand: Path) -> None:
    watched = Watched(context, thousand)
    page = watched.page
    page.keyboard.press("j")
    page.locator("main").evaluate("main => main.scrollTo(0, 9000)")
    page.get_by_role("link", name="task-0260").click()
    expect(page.get_by_role("heading", name="task-0260")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="task-0260")).to_be_in_viewport()
    page.locator("a.brand").click()
    expect(page.get_by_role("link", name="task-0000")).to_be_in_viewport()


@pytest.mark.thorough
def test_violations_are_walked_in_the_table_too(shipped: Watched) -> None:
    page = shipped.page
    current = page.locator(".row.current")
    page.keyboard.press("n")
    expect(current).to_contain_text("violated")
    first = current.inner_text()
    page.keyboard.press("n")
    expect(current).not_to_have_text(first)
    page.keyboard.press("p")
    assert current.inner_text() == first


@pytest.mark.thorough
def test_the_row_that_was_walked_to_stays_the_current_one(shipped: Watched) -> None:
    page = shipped.page
    current = page.locator(".row.current")
    for _ in range(3):
        page.keyboard.press("j")
    name = current.get_by_role("link").inner_text()
    page.get_by_role("columnheader", name="Steps").get_by_role("link").click()
    expect(current.get_by_role("link")).to_have_text(name)
    page.keyboard.press("/")
    page.keyboard.type("nothing of the kind")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".row").nth(1)).to_be_visible()
    expect(current).to_have_count(0)


@pytest.mark.thorough
def test_steps_are_one_stop_of_the_tab_key(violation: Watched) -> None:
    page = violation.page
    page.get_by_label("Find in steps").focus()
    page.keyboard.press("Tab")
    expect(page.locator(".action").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".action").nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Screenshot", exact=True)).to_be_focused()


def test_what_is_missing_is_reported_and_the_way_to_what_is_there(shown: Shown, tmp_path: Path) -> None:
    run = trajectory().goto("http://shop.test/", "<h1>Shop</h1>").click("#a", name="Buy").answer("y")
    page = shown(run.write(tmp_path / "a.zst")).page
    expect(page.locator(".frame .blank").first).to_have_text("Goto")
    page.get_by_role("button", name="Show after").click()
    expect(page.frame_locator(".canvas iframe").get_by_text("Shop")).to_be_visible()
    expect(page.locator(".what").nth(1)).to_have_text("Click Buy")
    page.keyboard.press("/")
    page.keyboard.type("nothing of the kind")
    expect(page.get_by_text("No step matches.")).to_be_visible()
    bare = shown(trajectory().end().write(tmp_path / "b.zst")).page
    expect(bare.locator(".canvas")).to_have_text("The run recorded no page.")
    none = shown(report=build_report([])).page
    expect(none.get_by_text("There are no runs.")).to_be_visible()
    expect(none.locator(".filters, .table, .none").first).to_be_hidden()


@pytest.mark.thorough
def test_long_words_are_cut_in_the_list_and_whole_in_the_panel(shown: Shown, tmp_path: Path) -> None:
    words = "Where is it? " * 300
    run = trajectory().goto("http://shop.test/", "<h1>Shop</h1>", thought=words, error=words).say(words)
    page = shown(run.answer(words).write(tmp_path / "a.zst")).page
    for part in (".thought", ".message", ".flag"):
        box = page.locator(f".step-list {part}").first.bounding_box()
        assert box is not None
        assert box["height"] < 320
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_contain_text(words.strip())
    answer.focus()
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press("End")
    expect(answer).to_have_js_property(
        "scrollTop", answer.evaluate("box => box.scrollHeight - box.clientHeight")
    )


@pytest.mark.thorough
def test_colours_that_the_system_chose_leave_charts_and_choices_visible(shipped: Watched) -> None:
    page = shipped.page
    page.emulate_media(forced_colors="active")
    colours = ".pile i, .bar i, .metric .dot"
    shades = page.locator(colours).evaluate_all(
        "nodes => nodes.map((one) => getComputedStyle(one).backgroundColor)"
    )
    ground = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    assert shades
    assert ground not in shades
    style = "node => getComputedStyle(node).outlineStyle"
    assert page.locator(".chip[aria-pressed=true]").first.evaluate(style) == "solid"
    assert page.locator(".chip[aria-pressed=false]").first.evaluate(style) == "none"


@pytest.mark.thorough
def test_a_drawn_page_shows_its_target_without_moving_the_window(shipped: Watched) -> None:
    page = shipped.page
    page.set_viewport_size({"width": 390, "height": 500})
    shipped.open(f"#run={digest('order-total--good')}&step=0&kind=page")
    expect(page.locator(".canvas iframe")).to_be_attached()
    assert page.locator("#stage").evaluate("node => node.scrollTop") == 0
    page.set_viewport_size({"width": 1280, "height": 420})
    shipped.open(f"#run={digest('order-total--good')}&step=3&kind=page")
    inside = """target => { const [a, b] = [target, target.closest('.canvas')].map((one) => one.getBoundingClientRect());
        return b.top <= a.top && a.bottom <= b.bottom; }"""
    assert page.locator(".canvas .target").evaluate(inside)


@pytest.mark.parametrize("width", one_in(2, [360, 1440]))
@pytest.mark.thorough
def test_the_longest_words_stay_in_their_panel(shown: Shown, tmp_path: Path, width: int) -> None:
    path = hostile_run().write(tmp_path / "a.zst")
    page = shown(path, report=judged(path)).page
    page.set_viewport_size({"width": width, "height": 900})
    for tab in page.get_by_role("tab").all():
        tab.click()
        for summary in page.locator("#panel details:not([open]) > summary").all():
            summary.click()
        expect(tab).to_be_in_viewport(ratio=1)
        assert page.locator("#panel").evaluate("panel => panel.scrollWidth - panel.clientWidth") <= 0


@pytest.mark.thorough
def test_light_and_dark_are_readable(shipped: Watched) -> None:
    page = shipped.page
    for _ in range(2):
        for name in ("", "note-triage--obeys_injection"):
            address = f"#run={digest(name)}&step=0" if name else "#"
            page.evaluate("address => { location.hash = address; }", address)
            expect(page.get_by_role("heading", name=name or "shipped recordings")).to_be_visible()
            assert page.evaluate(CONTRAST) == []
        page.keyboard.press("t")


@pytest.mark.thorough
def test_everything_that_can_be_used_has_a_name(shipped: Watched) -> None:
    page = shipped.page
    for address in ("", f"#run={digest('refund-order--no_consent')}&step=3&tab=network"):
        shipped.open(address)
        nameless = page.evaluate("""() => [...document.querySelectorAll('#app button, #app a, #app input, #app select, #app iframe, #app img')]
            .filter((node) => !(node.textContent.trim() || node.getAttribute('aria-label') || node.title || node.closest('label')
              || node.hasAttribute('alt')))
            .map((node) => node.outerHTML.slice(0, 80))""")
        assert nameless == []
    expect(page.get_by_role("tabpanel")).to_be_visible()
    expect(page.get_by_role("navigation", name="Steps")).to_be_visible()


@pytest.mark.thorough
def test_how_judges_were_measured_stands_on_the_first_screen(context: BrowserContext, tmp_path: Path) -> None:
    """Attacks and calibration, on a desk and on a phone; hostile names do nothing."""
    measures = JudgeMeasures(
        attacks=(attack("again", "webvoyager"), attack("answer", ATTACKS[0])),
        calibration={"sha256:1": calibrated(ATTACKS[3], n=10)},
    )
    file = tmp_path / "report.html"
    write_html_file(build_report([]), (), file, HtmlOptions(measures=measures))
    watched = Watched(context, file)
    table = watched.page.get_by_role("region", name="Attacks")
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table.get_by_role("row").last).to_contain_text("4 synthetic replies, not a judge of this report")
    expect(table.get_by_role("row").last.get_by_role("cell")).to_have_text(
        ["answer", "1 of 4", "1 of 3", "50.0 %", "1 of 1", "+25.0 %"]
    )
    expect(watched.page.get_by_role("region", name="Calibration")).to_contain_text("n is 10, below 50")
    watched.is_inert()
    readable_anywhere(watched.page)
