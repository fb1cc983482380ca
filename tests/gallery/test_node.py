"""The examples on Node: Playwright's MCP server and Stagehand, each in the browser that replaykit records."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from fixtures.sites.shop.server import Site
from replaykit.bundle.reader import open_bundle
from tests.blocks import ROOT
from tests.gallery.conftest import Example, left_out, section

pytestmark = pytest.mark.live

PACKAGES = ROOT / "tests" / "gallery" / "node"
EXAMPLES = [("Playwright MCP", "playwright_mcp.mjs", "mcp"), ("Stagehand", "stagehand.mjs", "stagehand")]


@pytest.fixture
def opened(shop: Site, browser_path: Path, tmp_path: Path) -> Example:
    """The packages of `package-lock.json`, beside the replaykit that runs the tests."""
    if not (PACKAGES / "node_modules" / ".package-lock.json").exists():
        left_out(f"{PACKAGES}/node_modules is missing: sh .ci/ecosystem gallery node installs it")
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "node_modules").symlink_to(PACKAGES / "node_modules")
    return Example(Path(sys.executable), tmp_path, shop.url, browser_path)


@pytest.mark.parametrize(("title", "script", "run"), EXAMPLES)
def test_the_run_is_recorded_and_graded(title: str, script: str, run: str, opened: Example) -> None:
    opened.shows(title)
    with open_bundle(opened.folder / f"{run}.zst") as bundle:
        assert [step.action.__struct_config__.tag for step in bundle.trajectory.steps] == ["click", "click"]


@pytest.mark.parametrize(("title", "script", "run"), EXAMPLES)
def test_an_element_that_is_not_there_crashes_the_agent_and_fails_the_run(
    title: str, script: str, run: str, opened: Example
) -> None:
    agent = opened.folder / "fixtures" / "gallery" / script
    agent.write_text(agent.read_text("utf-8").replace('"1007"', '"9999"'), "utf-8")
    done = opened.run(section(title)[0])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "crashed" in done.stdout and "the agent ended without an answer" in done.stdout
    said = {"mcp": 'no link "9999" on the page', "stagehand": "Failed to perform act: No action found"}
    assert said[run] in done.stderr


def test_the_lock_has_hashes_and_names_no_index() -> None:
    lock = json.loads((PACKAGES / "package-lock.json").read_text("utf-8"))["packages"]
    packages = [about for place, about in lock.items() if place]
    assert packages and all(about["integrity"].startswith("sha512-") for about in packages)
    assert not [about for about in packages if "resolved" in about]
