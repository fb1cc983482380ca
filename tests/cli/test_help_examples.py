"""The example at the end of each command's help does what it says, in a folder that holds the files it names."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.cli.command_groups import COMMANDS
from replaykit.cli.main import cli
from replaykit.grading.judges.clients.client import CallableClient
from tests.interop.samples import png

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "recordings" / "conformance" / "return-window--good.zst"
ROOT_URL = "http://127.0.0.1:8000"

AGENT = """from fixtures.agents.good import good as run
"""
TASK = {"web_name": "Shop", "id": "Shop--1", "ques": "Find the mug.", "web": "http://shop.test/"}
CRITERION = {"id": "c1", "statement": "The order is shown.", "asked": "the", "proof": ["page"]}


class OnPaper(CallableClient):
    """Answers in the place of a model; of a rubric it gives the criteria."""

    def __init__(self, **options: object) -> None:
        super().__init__(lambda request, images: SAYS[request.judge])

    def close(self) -> None:
        """Nothing is open."""


SAYS = {
    "webvoyager": "SUCCESS",
    "rubric": json.dumps({"criteria": [CRITERION], "validity": "valid"}),
}
"""Judge to its reply."""

LIVE = {"record", "rerun"}
"""Commands whose example starts a browser."""

TYPED = {"label": "y\nthe page says so\n"}
"""Input that a person types into a command."""

LEAVES = {
    "agree": [], "init": ["my-agent/agent.py"], "demo": ["replaykit-demo/report.html"], "export": ["run-trace.zip"], "extract": ["run/manifest.json"],
    "grade": ["report.json"], "harbor generate": ["tasks/"],
    "harbor verify": ["verifier/reward.txt"], "import": ["runs/"], "judge rubric": ["rubrics/"],
    "judge run": ["runs/first.replies.jsonl"], "label": ["labels.jsonl"], "pack": ["run.packed.zst"],
    "redact": ["clean.zst"], "view": ["report.html"],
}  # fmt: skip
"""Files that an example writes."""


def example(path: str) -> list[str]:
    """The words of a command's example, after the program's name."""
    text = CliRunner().invoke(cli, [*path.split(), "--help"], terminal_width=200).output
    found = re.search(r"^  Example: replaykit (.*)\Z", text.rstrip(), flags=re.M)
    assert found is not None, text
    return shlex.split(found[1])


def paths() -> Iterator[str]:
    """Every command, and those of the groups after their group."""
    for name in sorted(COMMANDS):
        yield name
        command = cli.get_command(click.Context(cli), name)
        yield from (f"{name} {one}" for one in sorted(getattr(command, "commands", {})))


OFFLINE = [path for path in paths() if path not in LIVE | {"mcp", "serve"}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with the files that examples name, where a model on paper answers and no browser is found."""
    for name in ("run.zst", "runs/first.zst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(RECORDED, tmp_path / name)
        shutil.copy(RECORDED.with_suffix(".replies.jsonl"), (tmp_path / name).with_suffix(".replies.jsonl"))
    for name in ("suite.yaml", "policies.yaml"):
        shutil.copy(ROOT / "fixtures" / "tasks" / "shop.yaml", tmp_path / name)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "WebVoyager_data.jsonl").write_text(json.dumps(TASK) + "\n")
    (tmp_path / "tests").mkdir()
    truth = {"id": "Shop--1", "task": "Find the mug.", "reference_answer": "tin"}
    (tmp_path / "tests" / "ground_truth.json").write_text(json.dumps(truth))
    (tmp_path / "agent" / "shots").mkdir(parents=True)
    (tmp_path / "agent" / "answer.txt").write_text("The tin mug.")
    (tmp_path / "agent" / "shots" / "shot-1.png").write_bytes(png(1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(tmp_path / "no-browser"))
    monkeypatch.setenv("SHOP_PASSWORD", "correct horse")
    monkeypatch.setattr("replaykit.grading.judges.clients.transports.Transports", OnPaper)
    return tmp_path


def prepare(path: str) -> None:
    """Make what an example takes from commands before it."""
    assert ok("grade", "runs", "-o", "report.json")
    shutil.copy("report.json", "before.json")
    shutil.copy("report.json", "after.json")
    if path == "judge run":
        Path("runs/first.replies.jsonl").unlink()
    if path == "agree":
        with open_bundle("runs/first.zst") as bundle:
            label = {
                "trajectory": bundle.digest,
                "label": "success",
                "annotator": "ada",
                "at": "2026-01-01T00:00:00Z",
            }
        Path("labels.jsonl").write_text(json.dumps(label) + "\n")
    if path == "import":
        assert ok("export", "webvoyager", "run.zst", "-o", "results/Shop--1")
        shutil.rmtree("runs")


def ok(*words: str) -> bool:
    return call([*words]).exit_code == 0


def call(words: list[str], typed: str = "") -> Result:
    return CliRunner().invoke(cli, words, input=typed, auto_envvar_prefix="REPLAYKIT", prog_name="replaykit")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", OFFLINE)
def test_the_example_of_a_command_works(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(path)
    words = example(path)
    assert words[: len(path.split())] == path.split()
    if path == "install-browser":
        monkeypatch.setenv("REPLAYKIT_BROWSER", sys.executable)
    found = call(words, TYPED.get(path, ""))
    assert found.exit_code == 0, f"{words}\n{found.output}\n{found.exception!r}"
    assert all(Path(name).exists() for name in LEAVES.get(path, ()))


def test_the_example_of_mcp_serves_until_its_input_ends(folder: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    argv = [sys.executable, "-m", "replaykit", *example("mcp")]
    done = subprocess.run(
        argv, cwd=folder, input=json.dumps(message) + "\n", capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "replaykit"


def test_the_example_of_serve_answers_and_stops(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "replaykit", *example("serve")], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        root = server.stdout.readline().strip()
        with urllib.request.urlopen(f"{root}/help", timeout=30) as page:
            assert page.status == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0


@pytest.mark.live
@pytest.mark.thorough  # other tests record and rerun by the same commands
def test_the_examples_of_record_and_rerun_work(folder: Path, browser_path: Path) -> None:
    environ = {"REPLAYKIT_BROWSER": str(browser_path), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    with serve() as shop:
        suite = folder / "suite.yaml"
        suite.write_text(suite.read_text().replace("http://shop.test", shop.url))
        for path in ("record", "rerun"):
            words = [word.replace(ROOT_URL, shop.url) for word in example(path)]
            done = subprocess.run(
                [sys.executable, "-m", "replaykit", *words, "--force"],
                cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "again.zst").exists()
