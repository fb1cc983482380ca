"""`replaykit init`: files that validate, record and grade as they were written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import run
from replaykit.demo.starter_files import write_starter
from replaykit.errors import OutputExists, UsageError
from replaykit.grading.grader import grade
from replaykit.tasks.suite import load_suite
from replaykit.testing import trajectory

WRITTEN = [
    "tasks.yaml",
    "policies.yaml",
    "agent.py",
    ".schema/suite.schema.json",
    ".schema/policies.schema.json",
]


def test_the_files_are_written_and_are_valid(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deep" / "mine"
    assert run(["init", str(folder), "--url", "http://shop.test/"]) == 0
    said = capfd.readouterr()
    assert said.out.splitlines() == [str(folder / name) for name in WRITTEN]
    assert "replaykit record --task tasks.yaml#read-title" in said.err
    assert load_suite(folder / "tasks.yaml").sites == {"site": ("http://shop.test",)}
    assert run(["tasks", "validate", str(folder / "tasks.yaml")]) == 0
    assert "0 errors, 0 notes" in capfd.readouterr().out


@pytest.mark.parametrize("name", ["tasks.yaml", "policies.yaml"])
def test_the_first_line_names_a_schema_that_is_there(name: str, tmp_path: Path) -> None:
    write_starter(tmp_path, "https://shop.test")
    first = (tmp_path / name).read_text().splitlines()[0]
    mark, _, place = first.partition("$schema=")
    assert mark == "# yaml-language-server: "
    assert json.loads((tmp_path / place).read_text())["$id"].startswith("urn:replaykit:")


def test_what_is_there_is_kept_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("mine")
    with pytest.raises(OutputExists, match=r"agent\.py"):
        write_starter(tmp_path, "https://shop.test")
    assert [path.name for path in tmp_path.iterdir()] == ["agent.py"]
    write_starter(tmp_path, "https://shop.test", force=True)
    assert "def run" in (tmp_path / "agent.py").read_text()


@pytest.mark.parametrize(
    "url", ["shop.test", "ftp://shop.test", "http://", 'http://a"b', "http://a b", "http://a{x}"]
)
def test_what_is_no_address_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"such as https://example\.com"):
        write_starter(tmp_path, url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("url", "answer", "outcome"), [
    ("http://shop.test/", "Shop", "PASS"), ("http://other.test/", "Shop", "FAIL"), ("http://shop.test/", "I do not know", "FAIL"),
])  # fmt: skip
def test_the_checks_distinguish_runs(url: str, answer: str, outcome: str, tmp_path: Path) -> None:
    write_starter(tmp_path, "http://shop.test")
    task = load_suite(tmp_path / "tasks.yaml").tasks[0]
    built = trajectory(task).goto(url, "<title>Shop</title><h1>Shop</h1>").proven("net").answer(answer)
    with open_bundle(built.write(tmp_path / "run.zst")) as bundle:
        verdict = grade(bundle, sites={"site": ("http://shop.test",)})
    assert verdict.success == outcome
    assert [one.outcome for one in verdict.policies] == [
        "OK" if "shop.test" in url else "VIOLATED", "DORMANT",
    ]  # fmt: skip


class _Page(BaseHTTPRequestHandler):
    """A site that knows nothing of us."""

    def do_GET(self) -> None:
        """Answer every address with one page."""
        body = b"<!doctype html><title>A stranger's site</title><p>Nothing to see."
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.mark.live
def test_what_was_written_records_and_passes(tmp_path: Path, browser_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write_starter(tmp_path, f"http://127.0.0.1:{server.server_port}")
    root = Path(__file__).resolve().parents[2]
    environ = {**os.environ, "REPLAYKIT_BROWSER": str(browser_path), "PYTHONPATH": str(root)}
    try:
        for words in ("record --task tasks.yaml#read-title --agent agent:run -o run.zst", "grade run.zst"):
            done = subprocess.run(
                [sys.executable, "-m", "replaykit", *words.split()],
                cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
    finally:
        server.shutdown()
        server.server_close()
    assert "PASS 3/3" in done.stdout
