"""A person at a window: real keys and a real mouse on a virtual screen, and nothing that speaks to the browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.trajectory.exchange import Gap, Navigation
from tests.live.agent_programs import WAIT_S, action_of, held, needs, until_begun

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
BANDS = """<!doctype html><title>Ready</title>
<style>html, body, form { height: 100%; margin: 0 } form > * { display: block; height: 33vh; width: 100%; font-size: 3rem }
label { border: 1px solid } input[type=checkbox] { zoom: 3 }</style>
<form action=/done><input name=who aria-label=Name oninput="document.title = value">
<label><input type=checkbox name=gift onchange="document.title = 'Gift'"> As a gift</label>
<button>Order</button></form>"""
"""Three bands over the whole page: no need to know where anything is."""

DONE = "<!doctype html><title>Thank you</title><p>Thank you."


class Person:
    """Hands on the keyboard and the mouse, eyes on the window's title."""

    def __init__(self, display: str) -> None:
        self._environ = {**os.environ, "DISPLAY": display}
        self._window = ""

    def sees(self, title: str) -> None:
        """Wait for a window with this title."""
        deadline = monotonic() + WAIT_S
        while not (found := self._do("search", "--onlyvisible", "--name", f"^{title}\\b")):
            assert monotonic() < deadline, f"no window says {title}"
            sleep(0.05)
        self._window = found.split()[0]

    def clicks(self, x: int, y: int) -> None:
        """Click at a place of the window, pixels."""
        self._do("mousemove", "--window", self._window, str(x), str(y), "click", "1")

    def types(self, text: str) -> None:
        """Type into whatever has the focus."""
        self._do("type", "--delay", "30", text)

    def presses(self, key: str) -> None:
        """Press a key or a chord."""
        self._do("key", key)

    def _do(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments],
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        return done.stdout


@pytest.fixture
def display() -> Iterator[str]:
    """A screen of its own."""
    needs("Xvfb", "xdotool")
    read, write = os.pipe()
    argv = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with subprocess.Popen(argv, pass_fds=[write], stderr=subprocess.DEVNULL) as screen:
        os.close(write)
        with os.fdopen(read) as output:
            number = output.readline().strip()
        yield f":{number}"
        screen.terminate()


def test_a_person_s_actions_in_a_window(browser_path: Path, display: str, site: Site, tmp_path: Path) -> None:
    url, out = site.add("/", BANDS), tmp_path / "run.zst"
    site.add("/done", DONE)
    argv = [sys.executable, "-m", "replaykit", "record", url, "-o", str(out), "--browser", str(browser_path)]
    environ = {**os.environ, "DISPLAY": display, "PYTHONPATH": str(ROOT)}
    person = Person(display)
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(argv, env=environ, **pipes) as recorder:
        try:
            until_begun(out, url)
            person.sees("Ready")
            person.clicks(600, 230)
            person.types("Ann")
            person.sees("Ann")
            person.clicks(600, 420)
            person.sees("Gift")
            person.clicks(600, 620)
            person.sees("Thank you")
            # A document that is closed before it was looked at may have listened for that.
            until_begun(out, f"{site.origin}/done?who=Ann&gift=on")
            person.presses("ctrl+w")
            said = recorder.communicate(timeout=WAIT_S)[1]
        finally:
            recorder.send_signal(signal.SIGINT)  # where the person did not come to the end
    assert recorder.returncode == 0, said
    trajectory = held(out)
    assert [action_of(step) for step in trajectory.steps] == [
        ("click", "textbox", "Name", ""),
        ("type", "textbox", "Name", "Ann"),
        ("check", "checkbox", "As a gift", ""),
        ("click", "button", "Order", ""),
    ]
    assert trajectory.of_type(Gap) == ()
    assert [one.url for one in trajectory.of_type(Navigation)][-1] == f"{site.origin}/done?who=Ann&gift=on"
    assert trajectory.ending is not None
    assert (trajectory.ending.kind, trajectory.ending.cause) == ("stopped", "person")
