"""Evidence for checks that are written after the recording: more can be decided, and nothing wrongly."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from playwright import sync_api

from bench.evidence import measure
from fixtures.agents.pairs import TASKS, load_pairs
from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import cli
from replaykit.errors import UsageError
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task, decode_task
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Probe, Trajectory
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("browser_path")]

FIRST = "<!doctype html><title>Shop</title><input id=name>"
CART = "<!doctype html><title>Cart</title><p id=said>1 mug</p>"
HELP = "<!doctype html><title>Help</title><p id=said>Ask us</p>"


@pytest.fixture
def root(site: Site) -> str:
    """The root of a small shop."""
    site.add("/", FIRST)
    site.add("/cart", CART)
    site.add("/help", HELP)
    site.add("/favicon.ico", "", "image/x-icon")
    return site.origin


def task(name: str, path: str, sites: tuple[str, ...] = ("shop",)) -> Task:
    check = {"type": "page", "url": f"__SHOP__{path}", "selector": "#said", "expect": {"not_empty": True}}
    return decode_task({"id": name, "intent": "Buy.", "sites": list(sites), "checks": [check]})


def record(path: Path, browser: Browser, root: str, **options: Any) -> Trajectory:
    context = browser.new_context()
    try:
        with Recorder(path, sites={"shop": root}, **options) as run:
            page = run.attach(context.new_page())
            page.goto(root + "/")
            page.fill("#name", "Ann")
    finally:
        context.close()
    with open_bundle(path) as bundle:
        return bundle.trajectory


def asked(trajectory: Trajectory, phase: str = "post") -> list[str | None]:
    return [probe.requested for probe in trajectory.of_type(Probe) if probe.phase == phase]


def test_the_page_of_a_check_is_visited_although_the_browser_made_the_agent_s_page(
    tmp_path: Path, browser: Browser, root: str
) -> None:
    page = browser.new_page()
    with Recorder(tmp_path / "a.zst", sites={"shop": root}, task=task("own", "/cart")) as run:
        run.attach(page)
        page.goto(root + "/")
        run.answer("done")
    with pytest.raises(sync_api.Error, match="new_context"):
        page.context.new_page()  # as before the recording
    page.close()
    with open_bundle(tmp_path / "a.zst") as bundle:
        assert [(one.phase, one.error) for one in bundle.trajectory.of_type(Probe)] == [
            ("pre", None),
            ("post", None),
        ]


@pytest.mark.parametrize("name", one_in(2, ["close-account--good", "refund-order--wrong_target"]))
@pytest.mark.usefixtures("lent")
@pytest.mark.thorough
def test_checks_written_afterwards_are_never_decided_wrongly(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.evidence.sync_playwright", sync_api.sync_playwright)
    suite = list(load_suite(TASKS / "shop.yaml").tasks)
    pairs = [pair for pair in load_pairs() if pair.name == name]
    counts = {mode: measure(pairs, suite, mode) for mode in ("none", "suite")}
    assert [wrong for _, wrong in counts.values()] == [[], []]
    undecided = {mode: found["other page", "UNDECIDED"] for mode, (found, _) in counts.items()}
    assert undecided["none"] > 0
    assert undecided["suite"] == 0
    assert all(found["answer", "UNDECIDED"] == 0 for found, _ in counts.values())


def test_pages_of_the_suite_are_probed_and_are_none_of_the_agent_s(
    tmp_path: Path, browser: Browser, root: str
) -> None:
    own, other = task("own", "/cart"), task("near-by", "/help")
    elsewhere = task("elsewhere", "/help?x=1", sites=("shop", "wiki"))
    trajectory = record(tmp_path / "a.zst", browser, root, task=own, evidence=[own, other, elsewhere])
    assert asked(trajectory) == [f"{root}/cart", f"{root}/help"]
    assert asked(trajectory, "pre") == [f"{root}/cart"]
    assert trajectory.header.options["evidence"] == "suite"
    with open_bundle(tmp_path / "a.zst") as bundle:
        assert not [line for line in bundle.lines if b"near-by" in line or b"wiki" in line]
    visited = [one for one in trajectory.of_type(Exchange) if one.url == f"{root}/help"]
    assert {one.actor for one in visited} == {"probe"}
    assert not [one for one in trajectory.of_type(Navigation) if "help" in one.url]
    tabs = [tab.url for seen in trajectory.of_type(Observation) for tab in seen.tabs]
    assert not [url for url in tabs if "help" in url]
    (helping,) = [probe for probe in trajectory.of_type(Probe) if probe.requested == f"{root}/help"]
    assert [read.value for read in helping.reads] == ["Ask us"]


def test_a_list_of_urls_is_looked_at_even_without_a_task(tmp_path: Path, browser: Browser, root: str) -> None:
    trajectory = record(
        tmp_path / "a.zst", browser, root, evidence=["__SHOP__/help", f"{root}/cart"], pre_probes="on"
    )
    assert asked(trajectory) == asked(trajectory, "pre") == [f"{root}/help", f"{root}/cart"]
    assert trajectory.header.options["evidence"] == "urls"
    assert all(isinstance(probe.snapshot, str) for probe in trajectory.of_type(Probe))
    assert trajectory.channel("probes") == "recorded"


def test_a_site_without_a_root_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no root for __WIKI__, there are __SHOP__"):
        Recorder(tmp_path / "a.zst", sites={"shop": "http://shop.test"}, evidence=["__WIKI__/x"])
    assert not (tmp_path / "a.zst").exists()


AGENT = """
import json, os, sys
seen = {name: text for name, text in os.environ.items() if "evidence" in name.lower() or "urls.txt" in text}
with open(os.environ["REPLAYKIT_EVENTS"], "a") as file:
    file.write(json.dumps({"type": "answer", "text": json.dumps(seen)}) + "\\n")
"""


def test_an_agent_receives_no_list_of_evidence_pages(
    tmp_path: Path, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "urls.txt").write_text("# after the run\n\n__SHOP__/help\n")
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.setenv("REPLAYKIT_RECORD_EVIDENCE", str(tmp_path / "urls.txt"))
    out = tmp_path / "a.zst"
    command = [
        "record",
        "--site",
        f"shop={root}",
        "-o",
        str(out),
        "--",
        sys.executable,
        str(tmp_path / "agent.py"),
    ]
    with ThreadPoolExecutor(1) as apart:
        done = apart.submit(
            lambda: CliRunner().invoke(
                cli, command, auto_envvar_prefix="REPLAYKIT", standalone_mode=False, catch_exceptions=False
            )
        ).result()
    assert done.exit_code == 0, done.output
    with open_bundle(out) as bundle:
        assert asked(bundle.trajectory) == [f"{root}/help"]
        assert bundle.trajectory.answer == "{}"
