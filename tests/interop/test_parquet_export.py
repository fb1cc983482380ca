"""Tables in Parquet: what three readers see, the same bytes twice, nothing secret, nothing that grades."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import main
from replaykit.errors import OutputExists, UsageError
from replaykit.grading.grader import grade
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.interop.parquet import parquet_export
from replaykit.interop.parquet.parquet_export import RUNS, STEPS, write_tables
from replaykit.interop.run_import import import_run
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory
from replaykit.trajectory.action_rendering import render_step
from tests.interop.samples import atif, mind2web

RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))


def built(path: Path, intent: str = "Buy tea.") -> Path:
    run = trajectory({"id": "t1", "intent": intent, "checks": [{"type": "string_match", "exact": "GOLD-42"}]})
    run.goto("http://shop.test/", "<p>x</p>").screenshot()
    run.click("#b", "<p>Bought</p>", text="Buy", tag="button").screenshot()
    return run.answer("Bought.").write(path)


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [row for file in sorted(folder.glob(name)) for row in pq.read_table(file).to_pylist()]


def test_recordings_as_tables(tmp_path: Path) -> None:
    files = write_tables([str(path) for path in RECORDINGS], tmp_path / "out")
    assert [file.name for file in files] == ["steps-00000.parquet", "runs.parquet", "README.md"]
    steps, runs = rows(tmp_path / "out", "steps-*.parquet"), rows(tmp_path / "out", "runs.parquet")
    assert list(steps[0]) == list(STEPS) and list(runs[0]) == list(RUNS)
    for path, run in zip(RECORDINGS, runs, strict=True):
        with open_bundle(path) as bundle:
            own = [row for row in steps if row["run"] == path.stem]
            assert [row["line"] for row in own] == [render_step(step) for step in bundle.trajectory.steps]
            assert [row["url"] for row in own] == [step.url for step in bundle.trajectory.steps]
            assert (run["digest"], run["steps"], run["answer"]) == (
                bundle.digest,
                len(own),
                bundle.trajectory.answer,
            )
            assert run["success"] is None and run["cup"] is None
    assert any(row["screenshot"] and row["screenshot"]["bytes"][:4] == b"\x89PNG" for row in steps)


def test_other_readers_see_the_same(tmp_path: Path) -> None:
    write_tables([str(built(tmp_path / "run.zst"))], tmp_path / "out")
    found = duckdb.sql(
        f"select action, target, step from '{tmp_path}/out/steps-*.parquet' order by step"
    ).fetchall()
    assert found == [("goto", None, 0), ("click", "Buy", 1)]
    described = json.loads(pq.read_schema(tmp_path / "out/steps-00000.parquet").metadata[b"huggingface"])
    assert described["info"]["features"]["screenshot"] == {"_type": "Image"}
    card = (tmp_path / "out/README.md").read_text()
    assert "1 run of 2 steps" in card and card.startswith("---\nconfigs:\n")


def test_data_sets_show_the_screenshots(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    write_tables([str(built(tmp_path / "run.zst"))], tmp_path / "out")
    table = datasets.Dataset.from_parquet(
        str(tmp_path / "out/steps-00000.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert table[1]["screenshot"].size[0] > 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no names of other bytes")
def test_a_file_whose_name_is_no_text_has_a_row(tmp_path: Path) -> None:
    bundle = os.fsdecode(os.fsencode(tmp_path) + b"/run\xff.zst")
    built(tmp_path / "run.zst").rename(bundle)
    write_tables([bundle], tmp_path / "out")
    assert pq.read_table(tmp_path / "out/runs.parquet").column("run").to_pylist() == ["run\ufffd"]


def test_two_exports_are_equal_and_one_that_exists_stays(tmp_path: Path) -> None:
    bundle = str(built(tmp_path / "run.zst"))
    for name in ("a", "b"):
        write_tables([bundle], tmp_path / name)
    first, second = (
        {one.name: one.read_bytes() for one in (tmp_path / name).iterdir()} for name in ("a", "b")
    )
    assert first == second
    with pytest.raises(OutputExists):
        write_tables([bundle], tmp_path / "a")
    (tmp_path / "a/steps-00007.parquet").write_bytes(b"of an earlier, larger export")
    write_tables([bundle], tmp_path / "a", force=True)
    assert {one.name: one.read_bytes() for one in (tmp_path / "a").iterdir()} == first


def test_files_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_export, "FILE_MAX", 10)
    monkeypatch.setattr(parquet_export, "GROUP", 1)
    write_tables([str(built(tmp_path / "run.zst"))], tmp_path / "out")
    assert sorted(one.name for one in (tmp_path / "out").glob("steps-*")) == [
        "steps-00000.parquet",
        "steps-00001.parquet",
    ]
    assert [row["step"] for row in rows(tmp_path / "out", "steps-*.parquet")] == [0, 1]


def test_runs_without_steps_or_screenshots(tmp_path: Path) -> None:
    bare = trajectory({"id": "t", "intent": "x"}).answer("y").write(tmp_path / "bare.zst")
    import_run("online-mind2web", mind2web(tmp_path / "in", shots=0), tmp_path / "blind.zst")
    write_tables([str(bare), str(tmp_path / "blind.zst")], tmp_path / "out")
    assert {
        row["screenshot"] for row in rows(tmp_path / "out", "steps-*.parquet") if row["run"] == "blind"
    } == {None}
    write_tables([], tmp_path / "none")
    assert rows(tmp_path / "none", "*.parquet") == []


def test_two_bundles_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two bundles have one name"):
        write_tables(["a/run.zst", "b/run.zst"], tmp_path)


UNKNOWN = {
    "type": "page",
    "url": "http://x.test/",
    "selector": "#a",
    "property": "text",
    "expect": {"equals": "x"},
}


@pytest.mark.parametrize(
    ("checks", "success", "cup"),
    [
        ([{"type": "string_match", "exact": "Bought."}], "PASS", 1),
        ([{"type": "string_match", "exact": "no"}], "FAIL", 0),
        ([UNKNOWN], "UNDECIDED", None),
    ],
)
def test_what_a_report_says_is_in_the_table_of_runs(
    checks: list[Any], success: str, cup: int | None, tmp_path: Path
) -> None:
    import_run("atif", atif(tmp_path / "in"), tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        checks = [{**one, "exact": "Bought."} if one.get("exact") == "Bought." else one for one in checks]
        verdict = grade(bundle, decode_task({"id": "t", "intent": "x", "checks": checks}))
    write_tables([str(tmp_path / "run.zst")], tmp_path / "out", (verdict,))
    (row,) = rows(tmp_path / "out", "runs.parquet")
    assert (row["success"], row["cup"], row["violations"], row["judgements"]) == (success, cup, None, None)


def test_what_was_not_graded_is_null(tmp_path: Path) -> None:
    never = {"id": "p", "dimension": "user_consent", "rule": {"type": "never", "match": {"text": "Pay"}}}
    unread = {**never, "id": "q", "rule": {"type": "never", "match": {"selector": "#a"}}}
    task = {"id": "t", "intent": "x", "checks": []}
    path = built(tmp_path / "run.zst")
    found = []
    for policies in ([], [never], [never, unread]):
        with open_bundle(path) as bundle:
            verdict = grade(bundle, decode_task({**task, "policies": policies}))
        write_tables([str(path)], tmp_path / "out", (verdict,), force=True)
        (row,) = rows(tmp_path / "out", "runs.parquet")
        found.append((row["violations"], row["cup"]))
    assert found[0] == (None, None)
    assert found[1] == (0, None)
    blind = trajectory(channels={"actions": "absent"}).answer("y").write(tmp_path / "blind.zst")
    write_tables([str(blind)], tmp_path / "blind")
    assert rows(tmp_path / "blind", "runs.parquet")[0]["steps"] is None


def test_verdicts_of_judges_are_in_the_table_of_runs(tmp_path: Path) -> None:
    path = built(tmp_path / "run.zst")
    client = CallableClient(lambda request, image_count: "NOT SUCCESS")
    with open_bundle(path) as bundle:
        verdict = grade(bundle, judges=("webvoyager",), judge_mode="new", client=client)
    write_tables([str(path)], tmp_path / "out", (verdict,))
    (row,) = rows(tmp_path / "out", "runs.parquet")
    assert row["judgements"] == "webvoyager:FAILURE"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = built(tmp_path / "run.zst")
    assert run_main("export", "parquet", bundle, "-o", tmp_path / "out") == 0
    assert "steps-00000.parquet" in capsys.readouterr().out
    text = b"".join(one.read_bytes() for one in (tmp_path / "out").iterdir())
    assert b"GOLD-42" not in text and "GOLD-42" not in json.dumps(rows(tmp_path / "out", "runs.parquet"))
    secret = built(tmp_path / "secret.zst", intent="Use sk-ant-api03-" + "a1B2" * 20)
    assert run_main("export", "parquet", secret, "-o", tmp_path / "two") == 3
    output = capsys.readouterr().err
    assert (
        "looks like a secret" in output and "--allow-findings" in output and not (tmp_path / "two").exists()
    )
    assert run_main("export", "parquet", secret, "-o", tmp_path / "two", "--allow-findings") == 0
    capsys.readouterr()
    assert run_main("export", "atif", secret, "-o", tmp_path / "three", "--allow-findings") == 2
    assert run_main("export", "--list") == 0
    listed = capsys.readouterr().out
    assert "parquet" in listed and "inspect" in listed and "--schema v2" in listed


def run_main(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    bundle = built(tmp_path / "run.zst")
    code = (
        "import sys; sys.modules['pyarrow'] = None; from replaykit.cli.main import main; main(sys.argv[1:])"
    )
    words = ["export", "parquet", bundle, "-o", tmp_path / "out"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "replaykit-web[parquet]" in done.stderr


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=5), WORDS)
@settings(max_examples=settings().max_examples)
def test_every_step_of_any_run_is_a_row(turns: list[tuple[str, str, str]], answer: str) -> None:
    steps = [
        {"step_id": at, "source": "agent", "message": "", "reasoning_content": thought,
         "tool_calls": [{"tool_call_id": "a", "function_name": "type", "arguments": {"text": text}}],
         "observation": {"results": [{"source_call_id": "a", "content": said}]}}
        for at, (text, thought, said) in enumerate(turns, 1)
    ]  # fmt: skip
    steps.append({"step_id": len(steps) + 1, "source": "agent", "message": answer})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        import_run("atif", atif(folder / "in", steps=steps), folder / "run.zst")
        write_tables([str(folder / "run.zst")], folder / "out")
        with open_bundle(folder / "run.zst") as bundle:
            found = [
                (row["step"], row["thought"], row["returned"], row["line"])
                for row in rows(folder / "out", "steps-*.parquet")
            ]
            assert found == [
                (s.index, s.thought, s.returned, render_step(s)) for s in bundle.trajectory.steps
            ]
