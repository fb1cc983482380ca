"""`replaykit doctor` in a real browser: it records a click, and says what is wrong where that fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from replaykit.cli.maintain.doctor import command
from replaykit.errors import DriverTooOld
from replaykit.recorder import trial_recording
from replaykit.recorder.trial_recording import Tried

pytestmark = pytest.mark.live


def asked() -> Result:
    return CliRunner().invoke(command)


def faults(result: Result) -> list[str]:
    return [line for line in result.output.splitlines() if line.startswith("FAULT")]


def test_recording_works(browser_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(browser_path))
    result = asked()
    assert (result.exit_code, faults(result)) == (0, []), result.output
    (line,) = [line for line in result.output.splitlines() if "recording with playwright" in line]
    assert line.startswith("ok    recording with playwright 1.")
    assert line.endswith("one click, and it was recorded")


def test_a_browser_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(broken))
    result = asked()
    (fault,) = faults(result)
    assert result.exit_code == 3
    assert fault.startswith("FAULT recording with playwright 1.") and str(broken) in fault


def test_a_driver_that_is_too_old(browser_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Tried:
        raise DriverTooOld(version="1.44.0")

    monkeypatch.setenv("REPLAYKIT_BROWSER", str(browser_path))
    monkeypatch.setattr(trial_recording, "try_recording", refuse)
    (fault,) = faults(asked())
    assert "1.44.0" in fault and "Install playwright 1.60 or newer" in fault


def test_a_click_that_is_not_received(browser_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(browser_path))
    monkeypatch.setattr(trial_recording, "_PAGE", "<button>There</button>")
    (fault,) = faults(asked())
    assert "chromium" in fault and "['There']" in fault and "REPLAYKIT_BROWSER" in fault
