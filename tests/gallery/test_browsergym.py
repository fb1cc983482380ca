"""The examples of docs/gallery.md with BrowserGym: in one environment with replaykit, and in one without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import replaykit
from tests.blocks import ROOT, block
from tests.gallery.conftest import Example, installed, own_build, section

LOOP = ROOT / "fixtures" / "gallery" / "browsergym_loop.py"
ACTIONS = ["click", "click", "send_msg_to_user"]


def declared(path: Path) -> list[tuple[str, str]]:
    """Name and origin of each action that the agent declared."""
    with replaykit.open_bundle(path) as bundle:
        steps = [step for step in bundle.trajectory.steps if step.raw]
        assert all(step.thought for step in steps)
        return [(str(step.raw).partition("(")[0], step.origin) for step in steps]


def test_the_page_on_harnesses_shows_the_loop() -> None:
    shown = block("docs/harnesses.md", "# loop.py").text.partition("    observation, _ = env.reset()")
    assert all(shown) and "".join(shown[1:]) in LOOP.read_text("utf-8")


@pytest.mark.live
def test_the_loop_records_and_grades(
    example: Callable[[str], Example], browser_path: Path, tmp_path: Path
) -> None:
    opened = example("browsergym")
    builds = own_build(opened.python, browser_path, tmp_path / "builds")
    opened.shows("BrowserGym", PLAYWRIGHT_BROWSERS_PATH=builds)
    found = declared(tmp_path / "order.zst")
    assert found == list(zip(ACTIONS, ["both", "both", "declared"], strict=True))


@pytest.mark.live
def test_a_wrong_address_leaves_no_bundle(
    example: Callable[[str], Example], browser_path: Path, tmp_path: Path
) -> None:
    opened = example("browsergym")
    builds = own_build(opened.python, browser_path, tmp_path / "builds")
    command = section("BrowserGym")[0].replace("http://127.0.0.1:8000", "http://127.0.0.1:1")
    failed = opened.run(command, PLAYWRIGHT_BROWSERS_PATH=builds)
    assert failed.returncode == 1
    assert "http://127.0.0.1:1" in failed.stderr
    assert not (tmp_path / "order.zst").exists()


@pytest.mark.live
def test_an_agent_with_an_older_playwright_is_recorded_from_outside(
    example: Callable[[str], Example], browser_path: Path, tmp_path: Path
) -> None:
    opened = example("browsergym")
    agent = installed("browsergym-alone")
    (tmp_path / "agent-env").symlink_to(agent.parent.parent)
    builds = own_build(agent, browser_path, tmp_path / "builds")
    opened.shows("BrowserGym apart", PLAYWRIGHT_BROWSERS_PATH=builds)
    assert [name for name, _ in declared(tmp_path / "order.zst")] == ACTIONS
