"""Objects that a recorder can be attached to, and who may act: Playwright, a harness, another process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from fixtures.agents.pairs import Pair, load_pairs
from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import BrowserChoice, record_command
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.exchange import Gap, TabChange
from replaykit.trajectory.observation import Observation
from tests.live.agent_programs import ANSWER, SHOP_TASK, TASK, action_of, apart, held, prove, saved
from tests.live.drivers import shop_task
from tests.thorough import one_in

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "fixtures" / "agents" / "cdp_agent.py"


class Opened:
    """The shop on a fresh page."""

    def __init__(self, page: Page, shop: Any) -> None:
        self.page = page
        self.context = page.context
        self.url: str = shop.url
        self._shop = shop

    @property
    def browser(self) -> Browser:
        assert self.context.browser is not None
        return self.context.browser

    def saved(self) -> None:
        saved(self._shop.state.as_json())


@pytest.fixture
def opened(page: Page) -> Iterator[Opened]:
    with serve() as shop:
        page.set_default_timeout(60_000)
        page.goto(shop.url)
        yield Opened(page, shop)


@pytest.mark.parametrize("what", one_in(3, ["page", "context", "browser"]))
@pytest.mark.thorough
def test_shop_task_with_the_recorder_attached_to(what: str, opened: Opened, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst", task=TASK, sites={"shop": opened.url}) as run:
        assert run.attach(getattr(opened, what)) is getattr(opened, what)
        shop_task.act(opened.page, None, run)
    opened.saved()
    prove(tmp_path / "run.zst")


def test_shop_task_whose_recorder_came_late(opened: Opened, tmp_path: Path) -> None:
    page = opened.page
    other = opened.context.new_page()
    other.goto(f"{opened.url}/help")
    page.bring_to_front()
    page.get_by_role("link", name="Orders").click()
    page.get_by_label("Search").press_sequentially(shop_task.SEARCH)
    page.get_by_label("Search").press("Enter")
    page.wait_for_url("**/orders?q=**")
    with Recorder(tmp_path / "run.zst", task=TASK, sites={"shop": opened.url}) as run:
        run.attach(opened.context)
        shop_task.from_order(page, run)
    opened.saved()
    trajectory = prove(tmp_path / "run.zst", SHOP_TASK[3:])
    tabs = [tab for tab in trajectory.of_type(TabChange) if tab.state == "opened"]
    assert sorted(tab.url or "" for tab in tabs) == [
        f"{opened.url}/help",
        f"{opened.url}/orders?q=Ines&status=",
    ]
    looks = [one for one in trajectory.of_type(Observation) if one.role == "start"]
    assert sorted(look.page for look in looks) == [0, 1]


class Desk:
    """An environment as harnesses build them: elements have numbers, actions are texts, and one loop does both."""

    def __init__(self, page: Page, run: Recorder) -> None:
        self.page = page
        self.run = run
        self.answers: list[str] = []

    def observe(self) -> str:
        """Number the controls of the page, and list them."""
        self.page.wait_for_load_state()
        return str(
            self.page.evaluate(
                """() => [...document.querySelectorAll("a, button, input, select, #total")].map((e, n) => {
                  e.setAttribute("bid", `a${n}`);
                  return `[a${n}] ${(e.labels?.[0] ?? e).textContent.trim()}`;
                }).join("\\n")"""
            )
        )

    def step(self, action: str, thought: str) -> str:
        """Do what the text says; return the page."""
        with self.run.step(action, thought=thought):
            eval(action, {"__builtins__": {}}, self._verbs())
        return self.observe()

    def _verbs(self) -> dict[str, Callable[..., Any]]:
        def on(bid: str) -> Any:
            return self.page.locator(f"[bid={bid}]")

        return {
            "click": lambda bid: on(bid).click(),
            "fill": lambda bid, value: on(bid).fill(value),
            "press": lambda bid, key: on(bid).press(key),
            "check": lambda bid: on(bid).check(),
            "select_option": lambda bid, value: on(bid).select_option(value),
            "noop": self.page.wait_for_timeout,
            "scroll": self.page.mouse.wheel,
            "send_msg_to_user": self.answers.append,
        }


def clerk(text: str) -> Callable[[str], str]:
    """Return what finds the number of a control on the described page."""

    def bid(name: str) -> str:
        lines = [line for line in text.splitlines() if line.partition("] ")[2].startswith(name)]
        return lines[0][1:].partition("]")[0]

    return bid


def test_task_by_a_harness_that_declares_its_steps(opened: Opened, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst", task=TASK, sites={"shop": opened.url}) as run:
        run.attach(opened.page)
        desk = Desk(opened.page, run)
        said = desk.observe()
        said = desk.step(f"click('{clerk(said)('Orders')}')", "The orders first.")
        said = desk.step(f"fill('{clerk(said)('Search')}', 'Ines')", "Hers.")
        said = desk.step(f"press('{clerk(said)('Search')}', 'Enter')", "Search.")
        said = desk.step("noop(50)", "Is it there?")
        said = desk.step(f"click('{clerk(said)('1010')}')", "This one.")
        total = clerk(said)("€")
        said = desk.step(f"send_msg_to_user('{desk.page.locator(f'[bid={total}]').inner_text()}')", "Tell.")
        said = desk.step(f"click('{clerk(said)('Settings')}')", "Now the settings.")
        said = desk.step(f"fill('{clerk(said)('Contact email')}', 'desk@harbour.test')", "The address.")
        said = desk.step(f"select_option('{clerk(said)('Language')}', 'fi')", "Suomi.")
        said = desk.step(f"check('{clerk(said)('Send the weekly')}')", "The digest.")
        said = desk.step(f"click('{clerk(said)('Save settings')}')", "Save.")
        run.answer(desk.answers[-1])
    opened.saved()
    trajectory = held(tmp_path / "run.zst")
    seen = [step for step in trajectory.steps if step.origin == "both"]
    expected = [("fill" if tag == "type" else tag, *rest) for tag, *rest in SHOP_TASK]
    assert [action_of(step) for step in seen] == expected
    assert [step.raw for step in trajectory.steps if step.origin == "declared"] == [
        "noop(50)",
        f"send_msg_to_user('{ANSWER}')",
    ]
    assert all(step.thought and step.action.element.ref for step in seen if step.action.element)
    assert trajectory.of_type(Gap) == ()
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert grade(bundle).success == "PASS"


def test_an_action_that_fails_is_a_declared_step_with_its_error(opened: Opened, tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(opened.page)
        desk = Desk(opened.page, run)
        desk.observe()
        opened.page.set_default_timeout(200)
        with pytest.raises(Exception, match="Timeout"):
            desk.step("click('a999')", "There is no such control.")
    (step,) = held(tmp_path / "run.zst").steps
    assert (step.origin, step.seen, step.error and step.error.name) == ("declared", False, "TimeoutError")


def pair(task: str, agent: str) -> Pair:
    return next(one for one in load_pairs() if (one.site, one.task, one.agent) == ("crm", task, agent))


@pytest.mark.parametrize(
    ("task", "agent"),
    one_in(
        5,
        [
            ("mail-ready", "good"),  # a window, and a question
            ("book-visit", "good"),  # a frame of another site
            ("import-leads", "good"),  # an upload
            ("rename-tag", "good"),  # the browser's own dialog
            ("id-on-file", "leaks_id"),  # what must not be done
        ],
    ),
)
@pytest.mark.thorough
def test_the_crm_s_agents_from_another_process(
    task: str, agent: str, browser_path: Path, tmp_path: Path
) -> None:
    one, out = pair(task, agent), tmp_path / "run.zst"
    with one.serve() as site:
        recorded = apart(
            lambda: record_command(
                [sys.executable, str(AGENT), one.entry.removeprefix("fixtures.agents.")],
                one.load_task(),
                out,
                sites=one.roots(site),
                user=one.load_user(),
                browser=BrowserChoice(path=str(browser_path)),
                max_time=60,
            )
        )
        one.prove(site.state.as_json())
    assert (recorded.kind, recorded.exit_code) == ("answered", 0)
    assert verify(out).findings == ()
    with open_bundle(out) as bundle:
        verdict, gaps = grade(bundle), bundle.trajectory.of_type(Gap)
    assert verdict.completion is not None
    assert verdict.completion.outcome == one.completion
    assert [p.id for p in verdict.policies if p.outcome == "VIOLATED"] == list(one.violated)
    # Nobody can hold a window back until its recorder is there: what may have been missed is not guessed.
    late = one.task == "mail-ready" and {gap.channel for gap in gaps} == {"actions"}
    unsure = [p.id for p in verdict.policies if p.outcome in ("UNDECIDED", "ERROR")]
    assert late or unsure == list(one.undecided)
