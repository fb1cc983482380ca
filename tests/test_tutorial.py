"""docs/tutorial.md, block by block: from a shipped recording, and from an agent in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from tests.blocks import block, typed_lines

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.S)
NAME = re.compile(r"# (\S+\.\w+)\n")

TYPED = {"label": "y\nthe page says so\n"}
"""Input that a person types into a command."""

SHOP = "python fixtures/sites/shop/server.py"
RECORD = "replaykit record"


class Reader:
    """Somebody who follows the page in a folder, but for lines that begin as `skip` says."""

    def __init__(self, folder: Path, skip: tuple[str, ...] = (), **environ: str) -> None:
        self.folder, self.skip = folder, skip
        self.done: list[str] = []
        """Lines run."""
        programs = folder / ".programs"
        programs.mkdir()
        for name, module in (("replaykit", "-m replaykit"), ("python", "")):
            (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
            (programs / name).chmod(0o755)
        for name in ("fixtures", "recordings"):
            (folder / name).symlink_to(ROOT / name)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self.environ = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **environ}

    def follow(self, root: str = "http://127.0.0.1:8000") -> None:
        for kind, text in BLOCKS:
            text = text.replace("http://127.0.0.1:8000", root)
            if found := NAME.match(text):
                (self.folder / found[1]).write_text(text, "utf-8")
            elif kind == "python":
                self.run([sys.executable, "-c", text])
            else:
                assert kind == "sh", f"nobody runs a block of {kind!r}"
                self.type(text)

    def type(self, text: str) -> None:
        for line in typed_lines(text):
            if not line.startswith(self.skip):
                command = line.split()[1]
                self.run(["sh", "-e", "-c", line], TYPED.get(command, ""))
                self.done.append(line)

    def run(self, argv: list[str], typed: str = "") -> None:
        done = subprocess.run(
            argv, cwd=self.folder, env=self.environ, input=typed,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{argv}\n{done.stdout}{done.stderr}"


def prove(folder: Path) -> None:
    for name in ("report.html", "report.json", "junit.xml", "labels.jsonl", "calibration.json"):
        assert (folder / name).stat().st_size
    assert '"label":"success"' in (folder / "labels.jsonl").read_text("utf-8")


def test_the_page_from_grading_on(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(ROOT / "recordings/conformance/order-total--good.zst", tmp_path / "runs/order-total.zst")
    reader = Reader(tmp_path, (SHOP, RECORD))
    reader.follow()
    lines = [line for kind, text in BLOCKS if kind == "sh" for line in typed_lines(text)]
    assert len(lines) == len(reader.done) + 2
    prove(tmp_path)


def test_the_shop_of_the_page_is_the_quickstart_s() -> None:
    """Which tests/live/test_quickstart.py starts."""
    (line,) = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if SHOP in line]
    assert line in block("docs/quickstart.md", "export PATH=").text.splitlines()


def test_each_policy_of_the_page_can_be_broken(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for name, text in [(found[1], text) for _, text in BLOCKS if (found := NAME.match(text))]:
        (tmp_path / name).write_text(text, "utf-8")
    bundle = "recordings/conformance/order-total--wanders_off.zst"
    done = subprocess.run(
        [sys.executable, "-m", "replaykit", "policies", "try", "policies.yaml", bundle],
        cwd=tmp_path, env=reader.environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "VIOLATED" in done.stdout, done.stdout + done.stderr


@pytest.mark.live
@pytest.mark.thorough
def test_the_whole_page(tmp_path: Path, browser_path: Path) -> None:
    reader = Reader(tmp_path, (SHOP,), REPLAYKIT_BROWSER=str(browser_path))
    with serve() as shop:
        reader.follow(shop.url)
    assert any(line.startswith(RECORD) for line in reader.done)
    prove(tmp_path)
    with open_bundle(tmp_path / "runs" / "order-total.zst") as bundle:
        verdict = grade(bundle)
    assert (verdict.success, verdict.cup) == ("PASS", 1)
    assert [policy.id for policy in verdict.policies] == ["stay-out-of-admin"]


PAGE_FIXTURE = """
import os
import pytest
from playwright.sync_api import sync_playwright

@pytest.fixture
def page():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ["REPLAYKIT_BROWSER"], chromium_sandbox=False
        )
        yield browser.new_page()
        browser.close()
"""
"""Fixtures of pytest-playwright."""

WRONG = """
def test_wrong(page, record_page):
    page.goto("{root}/orders")
    with record_page(page, "tasks.yaml#order-total") as run:
        page.get_by_role("link", name="1007").click()
        run.answer("1.00")

def test_broken(page, record_page):
    page.goto("{root}/orders")
    with record_page(page, "tasks.yaml#order-total", path="broken.zst") as run:
        raise ValueError("the agent itself")
"""


@pytest.mark.live
@pytest.mark.thorough  # the whole page has run it, above
def test_the_test_of_the_page_records_and_grades(tmp_path: Path, browser_path: Path) -> None:
    files = {found[1]: text for _, text in BLOCKS if (found := NAME.match(text))}
    environ = {"REPLAYKIT_BROWSER": str(browser_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    reader = Reader(tmp_path, **environ)
    argv = [sys.executable, "-m", "pytest", "-p", "replaykit.pytest_plugin", "-p", "no:cacheprovider"]
    with serve() as shop:
        for name in ("tasks.yaml", "policies.yaml", "test_agent.py"):
            text = files[name].replace("http://127.0.0.1:8000", shop.url)
            (tmp_path / name).write_text(text, "utf-8")
        (tmp_path / "conftest.py").write_text(PAGE_FIXTURE)
        (tmp_path / "test_wrong.py").write_text(WRONG.format(root=shop.url))
        done = subprocess.run(
            [*argv, "--basetemp", "kept", "-v", "test_agent.py", "test_wrong.py"],
            cwd=tmp_path, env=reader.environ, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    output = done.stdout
    assert "test_order_total PASSED" in output, output + done.stderr
    assert "test_wrong FAILED" in output
    assert "expected '€84.50'; found '1.00'" in output
    assert "order-total: check string_match[0] is FAIL" in output
    assert "test_broken FAILED" in output
    assert "ValueError: the agent itself" in output
    (broken,) = (tmp_path / "kept").glob("*0/broken.zst")
    with open_bundle(broken) as bundle:
        assert bundle.ending is not None
        assert bundle.ending.kind == "crashed"
