"""Live values against snapshots: what agrees, what differs, and how the command says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import cli
from replaykit.errors import NoBrowser
from replaykit.replay.offline_page import fidelity as part
from replaykit.replay.offline_page.fidelity import fidelity
from replaykit.testing import trajectory
from replaykit.trajectory.observation import Read

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"
PAGE = "<h1>One  two</h1><input id='i' value='v'>"


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> Any:
        raise NoBrowser(tried="none")

    monkeypatch.setattr(part, "shared", start)


def run(folder: Path, *reads: Read) -> Path:
    made = trajectory().goto("http://shop.test/", PAGE).final(PAGE, reads=reads).answer("x")
    folder.mkdir(exist_ok=True)
    return made.write(folder / "run.zst")


def text(value: str, locator: str = "h1 @text") -> Read:
    return Read(locator=locator, kind="string", value=value)


def test_a_shipped_recording_agrees_with_its_live_values() -> None:
    with open_bundle(RECORDINGS / "refund-order--good.zst") as bundle:
        found = fidelity(bundle)
    assert (found.browser, found.disagreements, found.is_faithful) == (None, (), True)
    assert (found.reads, found.elements, found.unsupported) == (12, 0, 0)


def test_what_differs_is_reported_with_both_answers(tmp_path: Path) -> None:
    reads = (
        text("One two"), text("Three"), text("v", "#i @value"), text("One \n two"),
        text("One two", "document.querySelector('h1').innerText"), text("0", "document.images.length"),
    )  # fmt: skip
    with open_bundle(run(tmp_path, *reads)) as bundle:
        found = fidelity(bundle)
    assert (found.reads, found.unsupported, found.is_faithful) == (6, 1, False)
    first, second = found.disagreements
    assert (first.question, first.live, first.static, first.chromium) == (
        "h1 @text", "string: Three", "string: One two", None,
    )  # fmt: skip
    assert (first.is_blank, second.is_blank, second.role) == (False, True, "final")


def test_the_command_prints_what_differs_and_fails(tmp_path: Path) -> None:
    path = run(tmp_path, text("Three"))
    done = CliRunner().invoke(cli, ["verify", "--fidelity", str(path)])
    assert done.exit_code == 3
    assert (
        "fidelity (no browser: nothing was drawn, see `replaykit doctor`): 1 page, 1 live value, 0 elements, 1 disagreement"
        in done.output
    )
    assert "live: string: Three\n    static: string: One two\n" in done.output
    plain = CliRunner().invoke(cli, ["verify", str(path)])
    assert (plain.exit_code, "fidelity" in plain.output) == (0, False)
    result = CliRunner().invoke(cli, ["verify", "--fidelity", "--json", str(path)])
    assert json.loads(result.output)["fidelity"]["disagreements"][0]["question"] == "h1 @text"
    agreeing = CliRunner().invoke(cli, ["verify", "--fidelity", str(run(tmp_path / "b", text("One two")))])
    assert agreeing.exit_code == 0, agreeing.output
