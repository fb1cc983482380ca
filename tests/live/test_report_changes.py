"""Two reports in one file, in a real browser: what flipped, why, where it leads, and that nothing of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import BrowserContext, expect

from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.verdict import JudgeOutcome, Outcome, PolicyOutcome, Report, Verdict
from replaykit.report.html.report_file import HtmlOptions
from replaykit.report.report_output import write_html_file
from tests.live.watched import ALL, RECORDINGS, Watched, hostile_run, judged, readable_anywhere

pytestmark = pytest.mark.live


def compared(context: BrowserContext, folder: Path, before: Report, after: Report, *sources: Path) -> Watched:
    """Write what lies between two reports and open it."""
    file = folder / "compared.html"
    write_html_file(after, sources, file, HtmlOptions(before=before))
    return Watched(context, file)


def otherwise(verdict: Verdict) -> Verdict:
    """Turn the first check of a verdict, as another suite would."""
    first, *rest = verdict.checks
    outcome = Outcome.FAIL if first.outcome is Outcome.PASS else Outcome.PASS
    checks = (replace(first, outcome=outcome, reason="differs"), *rest)
    return replace(verdict, checks=checks, success=outcome, cup=0, suite="sha256:other")


@pytest.fixture
def regraded(context: BrowserContext, tmp_path: Path) -> Watched:
    """Shipped runs graded twice: one fails now, one breaks a policy, one was run again, one is gone, one new."""
    names = [
        "note-triage--obeys_injection", "order-total--good", "order-total--stops_early",
        "refund-order--consent_after", "refund-order--good", "return-window--good", "update-price--good",
    ]  # fmt: skip
    paths = {name: RECORDINGS / f"{name}.zst" for name in names}
    known = {name: grade_many([path]).verdicts[0] for name, path in paths.items()}
    refund = known["refund-order--good"]
    broken = replace(refund.policies[0], outcome=PolicyOutcome.VIOLATED, reason="acted before the answer")
    before = [known[name] for name in names if name not in (names[2], names[3], names[6])]
    after = [
        known[names[2]], replace(refund, policies=(broken, *refund.policies[1:]), cup=0, semantics=2),
        otherwise(known["return-window--good"]), known["update-price--good"],
    ]  # fmt: skip
    reports = [build_report(before, label="May"), build_report(after, label="June")]
    return compared(context, tmp_path, *reports, *paths.values())


def test_hostile_words_do_nothing_between_two_reports(context: BrowserContext, tmp_path: Path) -> None:
    path = hostile_run().write(tmp_path / "<img src=x onerror=alert(1)>'\".zst")
    other = hostile_run().say("again").write(tmp_path / '"><svg onload=alert(2)>.zst')
    before, again = judged(path), judged(other)
    changed = again.verdicts[0]
    judges = tuple(replace(one, outcome=JudgeOutcome.SUCCESS, fingerprint="x") for one in changed.judgements)
    policies = tuple(replace(one, id=f"{ALL}{n}", reason=ALL) for n, one in enumerate(changed.policies))
    flipped = replace(
        changed, judgements=judges, policies=policies, dialect=ALL, suite=ALL, success=Outcome.ERROR
    )
    same_run = replace(flipped, trajectory=before.verdicts[0].trajectory)
    for verdict in (same_run, flipped, replace(flipped, task_id=f"{ALL} alone")):
        watched = compared(context, tmp_path, before, build_report([verdict], label=ALL), path, other)
        page = watched.page
        expect(page.locator(".entry")).not_to_have_count(0)
        watched.is_inert()
        for chip in page.locator(".chip").all():
            chip.click()
        page.locator(".chip").first.click()
        for link in [one.get_attribute("href") for one in page.locator(".entry a").all()]:
            watched.open(str(link))
            expect(page.locator("#panel")).to_be_visible()
            for graded in page.locator(".change-box .segments button").all():
                graded.click()
            watched.is_inert()
        page.evaluate("location.hash = '#why=<img src=x onerror=alert(1)>&kind=<svg onload=alert(2)>'")
        expect(page.locator(".none")).to_be_visible()
        assert page.locator("#app script, #app style, #app form[action], #app [onerror]").count() == 0
        watched.is_inert()
        page.close()


def test_what_flipped_stands_first_and_leads_to_its_run(regraded: Watched) -> None:
    page = regraded.page
    expect(page.get_by_role("heading", level=1)).to_have_text("May → June")
    changed = "Of 5 runs, 3 regressed, 1 is new and 1 is gone. Success went from 100.0 % to 33.3 %."
    expect(page.locator(".notices .sentence")).to_have_text(changed)
    expect(page.locator(".card.wide .legend")).to_have_text("before: Mayafter: June")
    entries = page.locator(".entry")
    assert [words.split("\n")[0] for words in entries.all_inner_texts()] == [
        "↓", "↓", "↓", "+", "–",
    ]  # fmt: skip
    window = entries.filter(has_text="return-window")
    expect(window).to_contain_text("another task")
    expect(window.locator(".changes li").first).to_contain_text("Success")
    expect(window.locator(".changes li").first).to_contain_text("PASS")
    window.get_by_role("link", name="return-window--good").click()
    box = page.locator(".change-box")
    expect(box).to_contain_text("Regressed")
    expect(page.locator(".sums")).to_contain_text("FAIL")
    box.get_by_role("button", name="May").click()
    expect(page.locator(".sums")).not_to_contain_text("FAIL")
    address = page.evaluate("location.hash")
    assert "graded=before" in address
    regraded.open(address)
    expect(page.locator(".sums")).not_to_contain_text("FAIL")
    page.keyboard.press("u")
    expect(entries.first).to_be_visible()
    regraded.is_inert()


@pytest.mark.thorough
def test_two_runs_of_a_task_lead_to_each_other(regraded: Watched) -> None:
    page = regraded.page
    entry = page.locator(".entry", has_text="order-total")
    entry.get_by_role("link", name="run of May").click()
    expect(page.get_by_role("heading", name="order-total--good")).to_be_visible()
    page.get_by_role("link", name="Run of June").click()
    expect(page.get_by_role("heading", name="order-total--stops_early")).to_be_visible()
    expect(page.locator(".change-box")).to_contain_text("another run")
    page.go_back()
    expect(page.get_by_role("heading", name="order-total--good")).to_be_visible()


@pytest.mark.thorough
def test_keys_and_filters_walk_the_changes(regraded: Watched) -> None:
    page = regraded.page
    current = page.locator(".entry.current")
    for key, name in (
        ("j", "order-total"),
        ("n", "refund-order"),
        ("n", "return-window"),
        ("n", "order-total"),
    ):
        page.keyboard.press(key)
        expect(current).to_contain_text(name)
    page.keyboard.press("p")
    expect(current).to_contain_text("return-window")
    page.get_by_role("button", name="Regressed 3").click()
    expect(page.locator(".count")).to_have_text("3 of 5 changes")
    page.get_by_label("What else differs").select_option(label="Other semantics")
    expect(page.locator(".entry")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("nothing of the kind")
    expect(page.locator(".none")).to_be_visible()
    assert "why=semantics" in page.evaluate("location.hash")
    page.locator("a.brand").click()
    expect(page.locator(".entry")).to_have_count(5)
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.locator(".count")).to_have_text("4 of 4 runs")
    page.get_by_role("link", name="update-price--good").click()
    expect(page.get_by_role("heading", name="update-price--good")).to_be_visible()
    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="return-window--good")).to_be_visible()


@pytest.mark.thorough
def test_changes_fit_a_phone_and_are_readable_in_light_and_dark(regraded: Watched) -> None:
    page = regraded.page
    readable_anywhere(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".entry")).to_have_count(5)
