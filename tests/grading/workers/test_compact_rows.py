"""Rows whose evidence stays on disk: every report of them is that of whole rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.cli.main import run
from replaykit.errors import NondeterministicVerdict
from replaykit.grading.engine import compact_report_of, grades_in, report_of
from replaykit.grading.gate import GateOptions
from replaykit.grading.gate_kinds import KINDS
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.verdict import Judgement, JudgeOutcome, Verdict
from replaykit.grading.workers.compact_rows import CompactRows
from replaykit.grading.workers.shards import Shards
from replaykit.grading.workers.stored_verdicts import Row
from replaykit.report.json_report import as_json, as_jsonl
from replaykit.testing import trajectory

RECORDINGS = sorted((Path(__file__).parents[3] / "recordings" / "conformance").glob("*.zst"))

Make = Callable[[list[Row]], tuple[CompactRows, list[Row]]]


@pytest.fixture
def made(tmp_path: Path) -> Any:
    """Make rows lean once they are written."""
    with Shards(tmp_path / "rows", remembers=True) as shards:

        def make(rows: list[Row]) -> tuple[CompactRows, list[Row]]:
            shards.write(rows)
            compact = CompactRows(shards)
            return compact, [compact.compact(row) for row in rows]

        yield make


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    bad = tmp_path_factory.mktemp("bad") / "bad.zst"
    bad.write_bytes(b"no bundle")
    return list(grades_in(None, [*RECORDINGS[:12], bad], GradeOptions()))


@pytest.mark.parametrize("kinds", [(), KINDS, ("side_effect",), ("undecided", "error")])
def test_every_report_of_compact_rows_is_that_of_whole_ones(made: Make, whole: list[Row], kinds: Any) -> None:
    rows = [*whole, *(replace(row, source=f"copy-{n}.zst") for n, row in enumerate(whole[:2]))]
    compact, kept = made(rows)
    gate = GateOptions(fail_on=tuple(kinds))
    expected = report_of(rows, gate=gate)
    short, full = compact_report_of(kept, compact, gate=gate)
    assert (short.summary, short.gate) == (expected.summary, expected.gate)
    assert (short.names, short.duplicates) == (expected.names, expected.duplicates)
    assert as_json(full) == as_json(expected)
    assert as_jsonl(full) == as_jsonl(expected)
    assert tuple(full.verdicts) == expected.verdicts
    assert tuple(full.verdicts[1:3]) == expected.verdicts[1:3]
    assert full.verdicts[-1] == expected.verdicts[-1]


def judged(place: int, **said: Any) -> Row:
    judgement = Judgement(
        judge="rubric", outcome=JudgeOutcome.SUCCESS, votes=("SUCCESS", "FAILURE"), reason="verdict",
        fingerprint="sha256:f", stages=({"reply": "long " * 100},), images={"n": 3}, origins={"synthetic": 1},
        grounding=({"step": 1},), detail=None, claims=({"id": "c"},), side_effects=({"event": 3},),
        members=({"judge": "a", "outcome": "SUCCESS", "reason": "verdict", "fingerprint": "x"},
                 {"judge": "b", "outcome": "FAILURE", "reason": "verdict", "fingerprint": "y"}),
        criteria=({"id": "1", "reason": "unread"},), process={"score": 0.5, "upper": 1.0, "n_blocked": 1},
        unsupported=("1",), basis="sha256:b", **said,
    )  # fmt: skip
    digest = f"sha256:{place}"
    verdict = Verdict(task_id="t", trajectory=digest, suite=None, judgements=(judgement,))
    return Row(trajectory=digest, grader="sha256:g", source=f"{place}.zst", verdict=verdict)


def test_what_a_summary_says_of_judges_needs_no_stages(made: Make) -> None:
    rows = [judged(place) for place in range(3)]
    compact, kept = made(rows)
    expected = report_of(rows)
    short, full = compact_report_of(kept, compact)
    assert short.summary == expected.summary
    assert as_json(full) == as_json(expected)
    assert kept[0].verdict.judgements is kept[2].verdict.judgements
    assert kept[0].verdict.judgements[0].stages == ()


def test_two_verdicts_that_differ_in_evidence_alone_are_noticed(made: Make) -> None:
    row = judged(1)
    (judgement,) = row.verdict.judgements
    other = replace(row.verdict, judgements=(replace(judgement, stages=()),))
    compact, kept = made([row, replace(row, source="copy.zst", verdict=other)])
    with pytest.raises(NondeterministicVerdict):
        compact_report_of(kept, compact)


FORMATS = ["json", "jsonl", "csv", "xml", "md", "txt", "html"]


def test_files_do_not_depend_on_resuming(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = {"intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}
    runs = tmp_path / "runs"
    runs.mkdir()
    for n, said in enumerate(["tin", "clay", "tin"]):
        trajectory({**task, "id": f"t{n}"}).goto("http://a.test/").answer(said).write(runs / f"{n}.zst")
    (runs / "bad.zst").write_bytes(b"no bundle")
    said = []
    for name, more in (("plain", []), ("kept", ["--resume"]), ("again", ["--resume"])):
        folder = tmp_path / name
        folder.mkdir()
        outputs = [word for form in FORMATS for word in ("-o", str(folder / f"report.{form}"))]
        words = [*outputs, *(word for option in more for word in (option, str(tmp_path / "rows")))]
        assert run(["grade", str(runs), *words, "--timings", str(folder / "timings.jsonl")]) == 1
        said.append(capsys.readouterr())
    assert said[0] == said[1] == said[2]
    for form in FORMATS:
        file = f"report.{form}"
        plain = (tmp_path / "plain" / file).read_bytes()
        assert plain == (tmp_path / "kept" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
    lines = (tmp_path / "again" / "timings.jsonl").read_text().splitlines()
    assert sorted(Path(json.loads(line)["source"]).name for line in lines) == [
        "0.zst",
        "1.zst",
        "2.zst",
        "bad.zst",
    ]
