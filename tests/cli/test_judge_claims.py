"""`claims` on the command line: planned, recorded, graded from the tape, shown in every report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, seal
from replaykit.cli.main import run as run_cli
from replaykit.grading.judges.clients.client import ClientAnswer
from replaykit.grading.judges.clients.transports import Transports
from replaykit.grading.model_request import ModelReply
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Ending

from ..blocks import block

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "judges.md"
GOOD = ROOT / "recordings" / "conformance" / "refund-order--good.zst"
ANSWER = "The total of order 1004, €75.20, is refunded."
REFUND = {"kind": "request_sent", "method": "POST", "url": "/orders/1004/refund"}
SAID = {
    "needs": {
        "asks": False,
        "items": [
            {
                "id": "n1",
                "quote": "Refund Tom O'Neil's order of 11 February in full",
                "key": True,
                "all": [REFUND, {"kind": "text_visible", "text": "placed 2026-02-11"}],
            }
        ],
    },
    "claims": {
        "items": [
            {
                "id": "c1",
                "quote": ANSWER,
                "key": True,
                "all": [REFUND, {"kind": "value", "label": "Total", "value": "€75.20"}],
            }
        ]
    },
}


class ByHand:
    """Says what was written down by hand, and says so."""

    def __init__(self, **options: Any) -> None:
        pass

    def ask(self, request: Any, images: Any) -> ClientAnswer:
        text = json.dumps(SAID[request.stage])
        return ClientAnswer(
            reply=ModelReply(text=text, stop_reason="end_turn", model="by hand", origin="synthetic")
        )

    def close(self) -> None:
        pass


@pytest.fixture
def forged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shipped recording whose answer names another amount, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    for name in ("ask", "close"):
        monkeypatch.setattr(Transports, name, getattr(ByHand, name))
    with open_bundle(GOOD) as bundle:
        events = [_changed(event) for event in bundle.trajectory.events]
        blobs = [(id, bundle.blob_type(id), bundle.blob(id)) for id in bundle.blob_ids]
        task = {**(bundle.header.task or {}), "checks": [], "policies": []}
        header = replace(bundle.header, task=task, witnesses=())
    with Journal.create("run.zst") as journal:
        journal.commit([header])
        journal.commit(events, blobs)
    seal("run.zst")
    return tmp_path / "run.zst"


def _changed(event: Any) -> Any:
    if isinstance(event, Message) and event.kind == "answer":
        return replace(event, text=ANSWER)
    return replace(event, answer=ANSWER) if isinstance(event, Ending) else event


def test_the_page_shows_what_is_contradicted(forged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["judge", "run", "run.zst", "--judge", "claims"]) == 0
    assert "claims  FAILURE  contradicted" in capsys.readouterr().out
    run_cli(["grade", "run.zst", "--judge", "claims"])
    out = capsys.readouterr().out
    shown = [
        line
        for line in block(PAGE, "$ replaykit judge run run.zst --judge claims").text.splitlines()
        if line[:1] != "$"
    ]
    assert "\n".join(shown) in out


def test_it_is_planned_and_graded_again_to_the_same_bytes(
    forged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["judge", "plan", "run.zst", "--judge", "claims"]) == 0
    assert " claims " in capsys.readouterr().out
    run_cli(["judge", "run", "run.zst", "--judge", "claims"])
    reports = []
    for name in ("a.json", "b.json"):
        run_cli(["grade", "run.zst", "--judge", "claims", "-o", name])
        reports.append(Path(name).read_bytes())
    assert reports[0] == reports[1]
    (verdict,) = json.loads(reports[0])["verdicts"]
    (judgement,) = verdict["judgements"]
    assert [one["finding"] for one in judgement["claims"]] == ["SUPPORTED", "CONTRADICTED"]
    assert judgement["side_effects"] == []
    assert judgement["origins"] == {"synthetic": 2}


def test_the_report_in_html_shows_the_claims(forged: Path) -> None:
    run_cli(["judge", "run", "run.zst", "--judge", "claims"])
    run_cli(["grade", "run.zst", "--judge", "claims", "-o", "out.html"])
    page = Path("out.html").read_text()
    assert "claim_rows(judgement, jump)" in page


def test_one_changed_word_in_a_prompt_is_a_miss_that_names_the_nearest(forged: Path, capsys: Any) -> None:
    run_cli(["judge", "run", "run.zst", "--judge", "claims"])
    Path("needs.txt").write_text("The job:\n{{task}}\n")
    Path("ours.yaml").write_text("protocol: claims\nprompts: {needs.user: needs.txt}\n")
    capsys.readouterr()
    assert run_cli(["grade", "run.zst", "--judge", "ours.yaml"]) == 3
    out = capsys.readouterr().out
    assert "ERROR judge claims" in out
    assert "nearest" in out


def test_a_tape_is_used(forged: Path, capsys: Any) -> None:
    run_cli(["judge", "run", "run.zst", "--judge", "claims"])
    capsys.readouterr()
    run_cli(["verify", "run.zst"])
    assert "2 replies" in capsys.readouterr().out
