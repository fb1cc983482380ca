"""The page of `replaykit label` in a real browser: by keyboard only, resumed, and under attack."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from replaykit.grading.agreement.labels import Label, read_labels
from replaykit.labelling.label_server import LabelPage, label_page
from replaykit.labelling.label_session import LabelSession
from replaykit.testing import trajectory
from tests.live.agent_programs import needs
from tests.live.test_report_axe import AXE, BARRIERS
from tests.live.watched import ATTACKS, RECORDINGS, hostile_run
from tests.thorough import one_in

pytestmark = pytest.mark.live

NAMES = ("refund-order--no_consent", "return-window--good", "order-total--good")
RUNS = tuple(str(RECORDINGS / f"{name}.zst") for name in NAMES)

Serve = Callable[..., LabelPage]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve runs for a person called ada, whose labels are in labels.jsonl."""
    open_pages: list[Any] = []

    def served(*runs: str) -> LabelPage:
        context = label_page(LabelSession(runs or RUNS, tmp_path / "labels.jsonl", "ada"))
        open_pages.append(context)
        return context.__enter__()

    yield served
    for context in open_pages:
        context.__exit__(None, None, None)


@contextmanager
def watched(page: Page, url: str) -> Iterator[None]:
    """Open the page; raise AssertionError if anything of it asks another host, complains, or runs a dialog."""
    reported: list[str] = []
    page.on("dialog", lambda dialog: (reported.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(url) or reported.append(request.url))
    page.on("console", lambda said: reported.append(said.text))
    page.on("pageerror", lambda error: reported.append(str(error)))
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    yield
    assert reported == []


def labels(folder: Path) -> tuple[Label, ...]:
    return read_labels(folder / "labels.jsonl").labels


def at_run(page: Page, place: int, total: int = 3) -> None:
    """Wait until the page shows a run, with the focus at its task."""
    expect(page).to_have_title(f"Run {place} of {total} · Label runs")
    expect(page.locator("h1")).to_be_focused()


def test_three_runs_are_labelled_by_keyboard_only(page: Page, serve: Serve, tmp_path: Path) -> None:
    served = serve()
    keys = page.keyboard
    with watched(page, served.url):
        at_run(page, 1)
        keys.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Choose an answer first")
        keys.press("y")
        expect(page.get_by_role("radio", name="Yes the run did")).to_be_focused()
        keys.press("l")
        keys.press("l")
        keys.press("c")
        keys.type("It says so.\ny n [".replace("\n", ""))
        keys.press("Shift+Enter")
        keys.type("second line")
        keys.press("Enter")
        at_run(page, 2)
        (first,) = labels(tmp_path)
        assert (first.label, first.note) == ("success", "It says so.y n [\nsecond line")
        assert first.others == {"trajectory_looping": "no"}
        keys.press("n")
        keys.press("e")
        keys.press("Enter")
        at_run(page, 3)
        # Without shortcuts: tabs, arrows and Enter.
        for _ in range(60):
            if page.evaluate("document.activeElement.name") == "label":
                break
            keys.press("Tab")
        keys.press("Space")
        keys.press("ArrowDown")
        keys.press("ArrowDown")
        expect(page.get_by_role("radio", name="Unsure the recording")).to_be_checked()
        keys.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Every run is labelled.")
        assert [one.label for one in labels(tmp_path)] == ["success", "failure", "unsure"]
        assert labels(tmp_path)[1].others == {"trajectory_side_effect": "yes"}
        assert not served.ended.is_set()
        keys.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Labelling has ended.")
        expect(page.locator("main")).to_contain_text(
            "3 of 3 runs labelled by ada: 1 success, 1 failure, 1 unsure"
        )
    assert served.ended.wait(60)


@pytest.mark.thorough
def test_labelled_runs_are_skipped_and_can_be_gone_back_to(page: Page, serve: Serve, tmp_path: Path) -> None:
    keys = page.keyboard
    with watched(page, serve().url):
        at_run(page, 1)
        keys.press("y")
        keys.press("Enter")
        at_run(page, 2)
    before = (tmp_path / "labels.jsonl").read_bytes()
    with watched(page, serve().url):
        at_run(page, 2)
        expect(page.locator("header")).to_contain_text("1 labelled by ada")
        keys.press("[")
        at_run(page, 1)
        expect(page.get_by_role("radio", name="Yes the run did")).to_be_checked()
        expect(page.get_by_role("status")).to_contain_text("Saving replaces the label")
        keys.press("n")
        keys.press("]")
        at_run(page, 2)
        keys.press("[")
        at_run(page, 1)
        # The entry that was not saved is still there.
        expect(page.get_by_role("radio", name="No it did not")).to_be_checked()
        keys.press("Enter")
        at_run(page, 2)
    assert (tmp_path / "labels.jsonl").read_bytes().startswith(before)
    assert [one.label for one in labels(tmp_path)] == ["failure"]


@pytest.mark.thorough
def test_screenshots_come_as_they_are_scrolled_to(page: Page, serve: Serve, tmp_path: Path) -> None:
    run = trajectory({"id": "t", "intent": "Look."})
    run.goto("http://shop.test/", "<h1>Shop</h1>")
    for step in range(40):
        run.click(f"#b{step}", name=f"Button {step}").screenshot(800, 600, colour=(step, 0, 0))
    served = serve(str(run.answer("yes").write(tmp_path / "long.zst")))
    asked: list[str] = []
    page.on("request", lambda request: "/screenshot/" in request.url and asked.append(request.url))
    with watched(page, served.url):
        at_run(page, 1, 1)
        expect(page.locator(".steps img")).to_have_count(39)
        page.wait_for_load_state("networkidle")
        early = len(asked)
        assert early < 30
        for step in range(3):
            page.keyboard.press("j")
            expect(page.locator(".steps > li").nth(step)).to_be_focused()
        page.keyboard.press("k")
        expect(page.locator(".steps > li").nth(1)).to_be_focused()
        page.keyboard.press("f")
        expect(page.locator("#final")).to_be_focused()
        expect(page.locator("#final")).to_be_in_viewport()
        page.wait_for_load_state("networkidle")
        assert len(asked) > early
        with page.context.expect_page() as opened:
            page.keyboard.press("o")
        assert "/runs/0/" in opened.value.url
        assert page.locator(".steps img").first.evaluate("one => one.naturalWidth") == 800


def test_keys_are_listed_and_focus_is_seen(page: Page, serve: Serve) -> None:
    with watched(page, serve().url):
        at_run(page, 1)
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys")
        expect(dialog).to_be_visible()
        expect(dialog).to_contain_text("save and go to the next run")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        page.keyboard.press("c")
        note = page.get_by_role("textbox", name="Comment")
        expect(note).to_be_focused()
        assert note.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
        page.keyboard.press("Escape")
        page.keyboard.press("q")
        expect(page.get_by_role("button", name="End")).to_be_focused()
        page.keyboard.press("y")
        page.keyboard.press("q")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("is not saved")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Labelling has ended.")


def test_a_mouse_does_as_well(page: Page, serve: Serve, tmp_path: Path) -> None:
    with watched(page, serve().url):
        at_run(page, 1)
        page.locator("form").get_by_text("Not executable").click()
        page.get_by_role("button", name="Save and next").click()
        at_run(page, 2)
    assert [one.label for one in labels(tmp_path)] == ["not_executable"]


def test_hostile_words_and_pages_do_nothing(page: Page, serve: Serve, tmp_path: Path) -> None:
    served = serve(str(hostile_run().write(tmp_path / "<img src=x onerror=alert(1)>.zst")))
    with watched(page, served.url):
        at_run(page, 1, 1)
        for summary in page.locator("summary").all():
            summary.click()
        page.keyboard.press("f")
        page.wait_for_load_state("networkidle")
        assert (
            page.locator("main :is(script, style, form[action], [onerror], [onload], base, meta)").count()
            == 0
        )
        assert page.locator("script").count() == 1
        for attack in ATTACKS[:6]:
            assert attack in page.locator("h1").inner_text()
        assert page.evaluate("window.hit") is None
        # A drawn page is shown in a frame without any permission, and alone it has none either.
        framed = page.locator("iframe").all()
        assert all(one.get_attribute("sandbox") == "" for one in framed)
        address = page.locator("iframe").first.get_attribute("src")
        page.keyboard.press("y")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Every run is labelled.")
    page.goto(served.url + str(address))
    assert page.evaluate("origin") == "null"
    assert page.evaluate("window.hit") is None
    assert labels(tmp_path)[0].label == "success"


def test_what_gets_in_all_the_same_is_refused_by_the_policy(page: Page, serve: Serve) -> None:
    page.goto(serve().url)
    at_run(page, 1)
    page.evaluate("""() => {
        window.refused = [];
        document.addEventListener('securitypolicyviolation', (one) => window.refused.push(one.effectiveDirective));
        const script = document.createElement('script');
        try { script.textContent = 'window.hit = 1'; document.body.append(script); } catch { window.refused.push('sink'); }
        try { document.body.insertAdjacentHTML('beforeend', '<b onclick=1>'); } catch { window.refused.push('sink'); }
        const image = new Image(); image.src = 'http://evil.test/'; document.body.append(image);
        const frame = document.createElement('iframe'); frame.src = 'http://evil.test/'; document.body.append(frame);
        fetch('http://evil.test/').catch(() => window.refused.push('fetch'));
    }""")
    page.wait_for_function("window.refused.includes('fetch') && window.refused.includes('frame-src')")
    assert {"sink", "img-src", "connect-src"} <= set(page.evaluate("window.refused"))
    assert page.evaluate("window.hit") is None


def test_another_site_can_neither_frame_nor_post(
    context: BrowserContext, serve: Serve, site: Any, tmp_path: Path
) -> None:
    served = serve()
    page = context.new_page()
    page.goto(site.add("/", f"<iframe src='{served.url}'></iframe>"))
    assert page.frames[1].url.startswith("chrome-error:") or page.frames[1].title() == ""
    said = page.evaluate(
        """async (url) => {
            const body = JSON.stringify({ label: 'success' });
            const send = (headers) => fetch(`${url}runs/0`, { method: 'POST', mode: 'no-cors', headers, body });
            const kinds = [{}, { 'Content-Type': 'text/plain' }].map((one) => send(one).then((r) => r.type, () => 'refused'));
            const json = fetch(`${url}runs/0`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
            return Promise.all([...kinds, json.then((r) => r.type, () => 'refused')]);
        }""",
        served.url,
    )
    assert said[2] == "refused"
    assert not (tmp_path / "labels.jsonl").exists()


SIZES = [(375, "light"), (1280, "light"), (1920, "light"), (1280, "dark"), (375, "dark"), (1920, "dark")]
"""Widths of a window, and themes."""


@pytest.mark.parametrize(("width", "theme"), one_in(6, SIZES))
def test_axe_finds_no_barrier(browser: Browser, serve: Serve, width: int, theme: Any) -> None:
    needs(package="axe-core")
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True
    )
    context.add_init_script(path=AXE)
    page = context.new_page()
    page.goto(serve().url)
    at_run(page, 1)
    page.keyboard.press("y")
    assert page.evaluate(BARRIERS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("?")
    assert page.evaluate(BARRIERS) == []
    page.keyboard.press("Escape")
    for place in (2, 3):
        page.keyboard.press("y")
        page.keyboard.press("Enter")
        at_run(page, place)
    page.keyboard.press("u")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Every run is labelled.")
    assert page.evaluate(BARRIERS) == []
    context.close()


def test_the_command_serves_the_page_and_ends_with_a_summary(page: Page, tmp_path: Path) -> None:
    output = tmp_path / "labels.jsonl"
    argv = ["label", *RUNS, "-o", str(output), "--annotator", "ada", "--no-open"]
    here, there = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-m", "replaykit", *argv],
        stdin=there,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(there)
    assert command.stdout is not None
    assert select.select([command.stdout], [], [], 60)[0]
    page.goto(command.stdout.readline().strip())
    at_run(page, 1)
    page.keyboard.press("y")
    page.keyboard.press("Enter")
    at_run(page, 2)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=60)
    os.close(here)
    assert command.returncode == 0, errors
    assert "1 run labelled now; 1 of 3 runs labelled by ada: 1 success" in errors
    assert len(labels(tmp_path)) == 1
