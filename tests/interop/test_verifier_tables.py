"""Rows of CUAVerifierBench, as Parquet and as JSON: the run, what judges said of it, what people said."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.errors import InteropError
from replaykit.interop.run_import import import_run, import_runs
from replaykit.trajectory.action import (
    Element,
    Fill,
    Goto,
    MouseClick,
    MouseMove,
    Press,
    Scroll,
    ToolCall,
    Type,
    Wait,
    tag_of,
)
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import cua_annotation, cua_row, cua_tables, fara_log, png, write


def labels(bundle: Any) -> dict[str, Any]:
    return {one.name: one.value for one in bundle.trajectory.of_type(Imported)}


def test_a_row_is_a_run(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("cuaverifierbench", cua_tables(tmp_path, [cua_row()], [cua_annotation("Judge1")]))
    run = bundle.trajectory
    assert [step.action for step in run.steps] == [
        Goto(url="https://shop.test/mugs"),
        Type(element=Element(point=(30, 42)), value="tin mug", submit=True),
        ToolCall(name="terminate", arguments={"status": "success"}),
    ]
    assert [step.thought for step in run.steps][:2] == ["I open the shop.", "I search."]
    assert [step.url for step in run.steps] == ["http://x.test/0", "http://x.test/1", "http://x.test/2"]
    assert [step.t for step in run.steps] == [500, 1500, 2500]
    assert (
        run.answer == "The tin mug costs 9.50." and run.ending is not None and run.ending.kind == "answered"
    )
    assert [(one.role, one.of) for one in run.of_type(Observation)] == [
        ("start", None), ("after", 0), ("after", 1), ("after", 2),
    ]  # fmt: skip
    assert run.channel("screenshots") == "recorded" and run.header.task is not None
    assert run.header.task["id"] == "Shop--31" and run.header.task["start_urls"] == ["http://x.test/start"]
    assert bundle.header.source.alignment == "order"
    assert list(bundle.header.source.files) == [
        "annotations/internal-00000-of-00001.parquet", "trajectories/internal-00000-of-00001.parquet#0",
    ]  # fmt: skip


ACTIONS: list[tuple[dict[str, Any], Any]] = [
    ({"action": "visit_url", "url": "http://a.test/"}, Goto(url="http://a.test/")),
    ({"action": "visit_url", "url": "tin mugs"}, Goto(url="https://www.bing.com/search?q=tin+mugs&FORM=QBLH")),
    ({"action": "web_search", "query": "a&b"}, Goto(url="https://www.bing.com/search?q=a%26b&FORM=QBLH")),
    ({"action": "left_click", "coordinate": [1, 2]}, MouseClick(point=(1, 2))),
    ({"action": "mouse_move", "coordinate": [1, 2]}, MouseMove(point=(1, 2))),
    ({"action": "scroll", "pixels": 500}, Scroll(dy=-1, amount="up")),
    ({"action": "scroll", "pixels": -500}, Scroll(dy=1, amount="down")),
    ({"action": "key", "keys": ["Control", "a"]}, Press(key="Control+a")),
    ({"action": "wait", "time": 2}, Wait(ms=2000)),
    ({"action": "type", "coordinate": [1, 2], "text": "x", "press_enter": False, "delete_existing_text": True},
     Fill(element=Element(point=(1, 2)), value="x")),
    ({"action": "pause_and_memorize_fact", "fact": "f"}, ToolCall(name="pause_and_memorize_fact", arguments={"fact": "f"})),
]  # fmt: skip


@pytest.mark.parametrize(("said", "action"), ACTIONS)
def test_actions_of_fara(said: dict[str, Any], action: Any, tmp_path: Path, imported: Importing) -> None:
    row = cua_row(web_surfer_log=fara_log(said))
    (step,) = imported("cuaverifierbench", cua_tables(tmp_path, [row], [])).trajectory.steps
    assert step.action == action


@pytest.mark.parametrize(
    "said", [{"action": "sing"}, {"action": "scroll"}, {"action": "type", "text": "x"}, {"pixels": 3}]
)
def test_what_is_unknown_stays_unknown_by_its_name(
    said: dict[str, Any], tmp_path: Path, imported: Importing
) -> None:
    row = cua_row(web_surfer_log=fara_log(said))
    (step,) = imported("cuaverifierbench", cua_tables(tmp_path, [row], [])).trajectory.steps
    assert tag_of(step.action) in (said.get("action", "computer_use"), "keyboard_type")


def test_older_logs_say_thought_and_action_as_text(tmp_path: Path, imported: Importing) -> None:
    text = ("Thought #1: I open it.\nAction #1: executing tool 'visit_url' with arguments "
            '{"action": "visit_url", "url": "http://a.test/"}')  # fmt: skip
    line = json.dumps({"timestamp": "2026-03-02T09:00:01", "type": "OtherEvent", "message": text})
    run = imported("cuaverifierbench", cua_tables(tmp_path, [cua_row(web_surfer_log=line)], [])).trajectory
    assert run.steps[0].action == Goto(url="http://a.test/") and run.steps[0].thought == "I open it."


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (["Correct", "Correct", "Incorrect"], "success"),
        (["Incorrect"], "failure"),
        (["Correct", "Incorrect"], "unsure"),
    ],
)
def test_the_label_is_that_of_the_majority(
    outcomes: list[str], expected: str, tmp_path: Path, imported: Importing
) -> None:
    annotations = [cua_annotation(f"Judge{at}", outcome) for at, outcome in enumerate(outcomes)]
    annotations.append(cua_annotation("Judge9", "Incorrect", task_id="Other--1"))
    found = labels(imported("cuaverifierbench", cua_tables(tmp_path, [cua_row()], annotations)))
    assert found["majority"]["outcome"] == expected and "Judge9" not in found
    assert found["Judge0"]["outcome_comment"] == "Judge0 saw the price."
    assert found["uv"] == {"uv_rubric_score": 0.875, "uv_outcome_success": 1}
    assert found["human"]["final_human_outcome_label"] == 1


def test_annotations_of_another_split_are_of_other_runs(tmp_path: Path, imported: Importing) -> None:
    cua_tables(tmp_path, [], [cua_annotation("Judge1")], "fara7b_om2w_browserbase")
    path = cua_tables(tmp_path, [cua_row()], [], "internal")
    assert "majority" not in labels(imported("cuaverifierbench", path))


@pytest.mark.parametrize(
    ("changes", "answer", "kind"),
    [
        ({"final_answer": "<no_answer>"}, None, "unknown"),
        ({"final_answer": "<no_answer>", "is_aborted": True}, None, "stopped"),
        ({"final_answer": None}, None, "unknown"),
        ({"final_answer": ""}, "", "answered"),
    ],
)
def test_answers_and_endings(
    changes: dict[str, Any], answer: str | None, kind: str, tmp_path: Path, imported: Importing
) -> None:
    run = imported("cuaverifierbench", cua_tables(tmp_path, [cua_row(**changes)], [])).trajectory
    assert run.answer == answer and run.ending is not None and run.ending.kind == kind


def test_screenshots_of_another_number_hang_on_the_run(tmp_path: Path, imported: Importing) -> None:
    shots = [{"bytes": png(at), "path": None} for at in range(2)]
    run = imported("cuaverifierbench", cua_tables(tmp_path, [cua_row(screenshots=shots)], [])).trajectory
    assert [one.role for one in run.of_type(Observation)][:2] == ["unaligned", "unaligned"]
    assert run.channel("screenshots") == "partial"


CELLS = [
    {"bytes": b64encode(png(1)).decode(), "path": "a.png"},
    "data:image/png;base64," + b64encode(png(1)).decode(),
    b64encode(png(1)).decode(),
    "shots/1.png",
    {"path": "shots/1.png"},
]


@pytest.mark.parametrize("ending", ["jsonl", "json"])
@pytest.mark.parametrize("cell", CELLS)
def test_rows_in_json(cell: Any, ending: str, tmp_path: Path, imported: Importing) -> None:
    rows = [cua_row(screenshots=[cell], task_id=f"Shop--{at}") for at in range(2)]
    text = "".join(json.dumps(row) + "\n" for row in rows) if ending == "jsonl" else json.dumps(rows)
    write(tmp_path, f"trajectories.{ending}", text)
    write(tmp_path, "shots/1.png", png(1))
    write(tmp_path, "annotations.jsonl", json.dumps(cua_annotation("Judge1", task_id="Shop--1")) + "\n")
    done = import_runs("cuaverifierbench", [tmp_path], tmp_path / "out")
    assert [Path(one.path).name for one in done] == ["trajectories-Shop--0.zst", "trajectories-Shop--1.zst"]
    with open_bundle(done[1].path) as bundle:
        assert bundle.blob_ids and labels(bundle)["majority"]["outcome"] == "success"
        assert bundle.trajectory.answer == "The tin mug costs 9.50."


def test_many_rows_of_many_files(tmp_path: Path) -> None:
    for split in ("internal", "other"):
        rows = [cua_row(task_id=f"T--{at}", screenshots=[]) for at in range(3)]
        path = cua_tables(tmp_path, rows, [cua_annotation("Judge1", task_id="T--2")], split)
    done = import_runs("cuaverifierbench", [path], tmp_path / "out")
    assert [Path(one.path).stem for one in done] == [
        f"{s}-T--{at}" for s in ("internal", "other") for at in range(3)
    ]
    assert {one.state for one in done} == {"imported"}


def test_a_log_with_a_broken_line_and_a_flaw_in_a_row(tmp_path: Path) -> None:
    log = fara_log({"action": "visit_url", "url": "http://a.test/", "thoughts": "t"}, text='{"action": \n')
    path = cua_tables(tmp_path, [cua_row(web_surfer_log=log, init_url=None)], [cua_annotation("Judge1")])
    (path / "annotations/internal-00000-of-00001.parquet").write_bytes(b"PAR1 cut")
    done = import_run("cuaverifierbench", path, tmp_path / "run.zst")
    flaws = [line for line in done.warnings if not line.startswith("left out")]
    assert len(flaws) == 2 and any("no entry of the log" in line for line in flaws)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.trajectory.channel("actions") == "partial" and len(bundle.trajectory.steps) == 1


def test_a_cut_table_is_refused_by_its_name(tmp_path: Path) -> None:
    path = cua_tables(tmp_path, [cua_row()], [])
    file = path / "trajectories/internal-00000-of-00001.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:200] + b"\0" * 400 + whole[600:])
    with pytest.raises(
        InteropError, match=r"internal-00000-of-00001\.parquet is no Parquet file that can be read"
    ):
        import_run("cuaverifierbench", path, tmp_path / "run.zst")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    path = cua_tables(tmp_path, [cua_row()], [])
    code = ("import sys; sys.modules['pyarrow'] = None; from replaykit.interop.run_import import import_runs\n"
            "print(import_runs('auto', [sys.argv[1]], sys.argv[2])[0].error)")  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code, path, tmp_path / "out"], capture_output=True, text=True, check=True
    )
    assert "replaykit-web[parquet]" in done.stdout or "pyarrow" in done.stdout


ODD = st.sampled_from([None, "", "x", 0, -1, 1e308, True, float("nan")])


@settings(max_examples=40)
@given(
    row=st.dictionaries(st.sampled_from(sorted(cua_row())), ODD, max_size=3),
    annotation=st.dictionaries(st.sampled_from(sorted(cua_annotation("x"))), ODD, max_size=3),
    lines=st.lists(
        st.sampled_from(["", "{}", "[]", '{"action": 5}', '{"action": "type", "arguments": []}', "\u2028x"]),
        max_size=3,
    ),
)
def test_odd_cells_are_reported_or_read(
    row: dict[str, Any], annotation: dict[str, Any], lines: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        changed = {"web_surfer_log": "\n".join(lines), **row}
        path = cua_tables(Path(name), [cua_row(**changed)], [cua_annotation("Judge1", **annotation)])
        for one in import_runs("cuaverifierbench", [path], Path(name) / "out"):
            if one.error is not None:
                assert isinstance(one.error, InteropError)
            else:
                assert verify(one.path).findings == ()


def test_a_table_of_other_columns_is_none(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([{"task_id": "x"}]), tmp_path / "x.parquet")
    (done,) = import_runs("cuaverifierbench", [tmp_path], tmp_path / "out")
    assert "expected trajectories/*.parquet" in str(done.error)


TABLES = Path(__file__).parent / "cuaverifierbench"
"""Written by datasets 5.2 with the features of the published builder; logs as Fara's handler writes them."""


def test_tables_that_datasets_wrote(tmp_path: Path) -> None:
    done = import_runs("auto", [TABLES], tmp_path / "out")
    assert [(Path(one.path).stem, one.state) for one in done] == [
        ("internal-shop--1", "imported"), ("internal-empty--2", "imported"),
    ]  # fmt: skip
    with open_bundle(done[0].path) as bundle:
        run = bundle.trajectory
        assert [type(step.action) for step in run.steps] == [Goto, ToolCall] and run.answer == "4 EUR"
        assert run.channel("screenshots") == run.channel("actions") == "recorded"
        said = [(one.kind, one.name) for one in run.of_type(Imported)]
        assert said == [
            ("judgement", "uv"), ("judgement", "verifier"), ("label", "human"), ("label", "Judge1"), ("label", "majority"),
        ]  # fmt: skip


def test_a_row_without_a_log_proves_nothing(tmp_path: Path) -> None:
    done = import_runs("cuaverifierbench", [TABLES], tmp_path / "out")
    assert [line for one in done for line in one.warnings if "without a log" in line] == [
        "trajectories/internal-00000-of-00001.parquet row 1 is without a log: what was done is not known"
    ]
    with open_bundle(done[1].path) as bundle:
        assert bundle.trajectory.channel("actions") == "partial" and bundle.trajectory.answer is None
