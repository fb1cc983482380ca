"""Finding a browser by the documented order, and starting one that leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replaykit.browser import NO_SANDBOX, find_browser, launch
from replaykit.errors import NoBrowser, RecorderError


def program(folder: Path, name: str, text: str = "exit 0") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """An environment with nothing installed."""
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}


def test_order_of_places(tmp_path: Path, machine: dict[str, str]) -> None:
    named = program(tmp_path / "named", "browser")
    by_environment = program(tmp_path / "environment", "browser")
    chrome = program(tmp_path / "bin", "google-chrome")
    chromium = program(tmp_path / "bin", "chromium")
    own = program(tmp_path / "own" / "chromium-1200" / "chrome-linux", "chrome")
    machine |= {"REPLAYKIT_BROWSER": str(by_environment), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "own")}

    assert find_browser(named, "chrome", machine) == named
    assert find_browser(None, "chrome", machine) == by_environment
    del machine["REPLAYKIT_BROWSER"]
    assert find_browser(None, "chrome", machine) == chrome
    assert find_browser(None, None, machine) == own
    own.unlink()
    assert find_browser(None, None, machine) == chromium
    chromium.unlink()
    assert find_browser(None, None, machine) == chrome


def test_newest_build_of_playwright_wins(tmp_path: Path, machine: dict[str, str]) -> None:
    program(tmp_path / "own" / "chromium-999" / "chrome-linux", "chrome")
    newest = program(tmp_path / "own" / "chromium-1200" / "chrome-linux64", "chrome")
    assert find_browser(None, None, machine | {"PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "own")}) == newest


@pytest.mark.parametrize(
    ("path", "channel", "variable", "tried"),
    [
        ("/nowhere/browser", None, None, "/nowhere/browser"),
        (None, None, "/nowhere/else", "/nowhere/else"),
        (None, "chrome", None, "google-chrome"),
        (None, "netscape", None, "netscape"),
        (None, None, None, "PATH"),
    ],
)
def test_what_is_named_must_exist(
    path: str | None, channel: str | None, variable: str | None, tried: str, machine: dict[str, str]
) -> None:
    if variable:
        machine["REPLAYKIT_BROWSER"] = variable
    if sys.platform == "darwin" and tried == "PATH":
        pytest.skip("a browser may be installed in /Applications")
    with pytest.raises(NoBrowser, match=tried) as caught:
        find_browser(path, channel, machine)
    assert "install-browser" in caught.value.message


def test_program_that_ends_at_once_is_an_error_with_its_last_output(tmp_path: Path) -> None:
    broken = program(tmp_path, "broken", "echo first; echo no display >&2; exit 7")
    with pytest.raises(RecorderError, match=r"exit code 7\): no display"):
        launch(broken)


@pytest.mark.live
def test_launched_browser_answers_and_leaves_nothing() -> None:
    with launch() as browser:
        assert browser.is_running
        assert browser.endpoint.startswith("http://127.0.0.1:")
        assert browser.version.partition("/")[0] in ("Chrome", "HeadlessChrome")
        assert (browser.notice == NO_SANDBOX) == (os.geteuid() == 0)
        (profile,) = (Path(part) for part in arguments(browser) if part.startswith("--user-data-dir="))
        folder = Path(str(profile).partition("=")[2])
        assert folder.is_dir()
    assert not browser.is_running
    assert not folder.exists()
    browser.close()


def arguments(browser: object) -> list[str]:
    process = browser._started.process  # type: ignore[attr-defined]  # the command line is what the test is about
    return [str(part) for part in process.args]


ORPHAN = """
import sys, threading
from replaykit.browser import launch

def start():
    browser = launch()
    print(browser._started.process.pid, *browser._started.process.args, flush=True)

# The thread that started it ends at once: that must not end the browser.
thread = threading.Thread(target=start)
thread.start()
thread.join()
sys.stdin.read()
"""


@pytest.mark.live
def test_browser_does_not_outlive_a_process_that_was_killed() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", ORPHAN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    with child:
        assert child.stdout is not None
        pid, *words = child.stdout.readline().decode().split()
        (profile,) = (word.partition("=")[2] for word in words if word.startswith("--user-data-dir="))
        assert group_lives(int(pid))
        os.killpg(child.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while group_lives(int(pid)) or Path(profile).exists():
        assert time.monotonic() < deadline, "the browser is still there"
        time.sleep(0.05)


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


NOISE = "[1:2:1124/0:ERROR:dbus/bus.cc:405] Failed to connect to the bus: No such file"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            [NOISE, "[1:1:1124/0:ERROR:x11.cc:257] Missing X server or $DISPLAY", NOISE],
            "Missing X server or $DISPLAY",
        ),
        (["it is broken", "the end"], "the end"),
        ([], "it printed nothing"),
    ],
)
def test_a_browser_that_does_not_start_is_reported_with_its_fault(
    log: list[str], said: str, tmp_path: Path
) -> None:
    program = tmp_path / "browser"
    lines = "".join(f"echo '{line}' >&2\n" for line in log)
    program.write_text(f"#!/bin/sh\n{lines}exit 1\n")
    program.chmod(0o755)
    with pytest.raises(RecorderError) as caught, launch(program):
        pass
    assert str(caught.value).endswith(f"did not start (exit code 1): {said}")
