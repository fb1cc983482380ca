"""Samples of Inspect whose browser is recorded: the example of fixtures, and every way in which a sample ends."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest

import replaykit
from fixtures.sites.shop.server import serve
from tests.blocks import block
from tests.integrations.inspect.conftest import ROOT, Run, logged

EXAMPLE = "fixtures/gallery/inspect_task.py"
JOURNAL = ROOT / "recordings" / "format" / "v1-journal.zst"
PROGRAM = Path(__file__).with_name("ended_samples.py")


@pytest.fixture
def shop() -> Iterator[str]:
    with serve() as served:
        yield served.url


def test_the_page_shows_the_example() -> None:
    shown = block("docs/harnesses.md", "# in the solver").text.partition("\n")[2]
    assert shown.strip() and indent(shown, " " * 12) in (ROOT / EXAMPLE).read_text("utf-8")


@pytest.mark.live
@pytest.mark.thorough  # the next one records samples, tests of the scorers score them
def test_the_commands_record_and_score(run: Run, shop: str, browser_path: Path, tmp_path: Path) -> None:
    for folder in ("gallery", "tasks"):
        shutil.copytree(ROOT / "fixtures" / folder, tmp_path / "fixtures" / folder)
    record, score = block("docs/harnesses.md", "inspect eval").text.splitlines()

    def inspect(line: str) -> subprocess.CompletedProcess[str]:
        arguments = ["-m", "inspect_ai", *shlex.split(line)[1:], "--display", "plain"]
        done = run(*arguments, REPLAYKIT_BROWSER=str(browser_path))
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    inspect(record.replace("http://127.0.0.1:8000", shop))
    (log,) = (tmp_path / "logs").glob("*.eval")
    inspect(score.replace("logs/shop.eval", str(log)))
    _, (sample,) = logged(tmp_path / "again.eval")
    values = {name: score["value"] for name, score in sample["scores"].items()}
    assert [value for name, value in values.items() if name.startswith("recorded_run")] == ["C", "C"]
    assert values["cup"] == 1 and set(values["violations"].values()) == {0}
    with replaykit.open_bundle(tmp_path / "runs" / "order-total.1.zst") as bundle:
        assert bundle.trajectory.answer == "€84.50" and bundle.layout == "sealed"
        assert sample["store"]["RecordedRun:bundle"] == "runs/order-total.1.zst"
        assert sample["store"]["RecordedRun:digest"] == f"sha256:{bundle.digest}"


@pytest.mark.live
def test_a_sample_is_sealed_however_it_ends(run: Run, shop: str, browser_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    variables = {"REPLAYKIT_BROWSER": str(browser_path), "REPLAYKIT_INSPECT_DIR": str(folder)}
    done = run(PROGRAM, folder, shop, JOURNAL, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    endings = {}
    for file in sorted(folder.glob("*.zst")):
        with replaykit.open_bundle(file) as bundle:
            assert bundle.layout == "sealed", file
            end = bundle.ending
            endings[file.name] = (len(bundle.trajectory.steps), end and (end.kind, end.cause))
    del endings["left.1.zst"]  # a journal without an end, which the hook sealed
    assert endings == {
        "a%2Ffinished.1.zst": (1, ("answered", "agent")),
        "cancelled.1.zst": (1, ("stopped", "harness")),
        "limited.1.zst": (1, ("max_steps", "harness")),
        "raising.1.zst": (1, ("crashed", "agent")),
    }
