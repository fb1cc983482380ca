"""Runs as rows of tables: written by the packages that publish them, one row a step and one row a run."""

from __future__ import annotations

import csv
import json
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import InteropError, MissingExtra, UsageError
from replaykit.interop.imported_run import Options
from replaykit.interop.parquet.parquet_export import write_tables
from replaykit.interop.run_import import import_runs
from replaykit.interop.table.table_columns import check_columns
from replaykit.trajectory.action import (
    Answer,
    Click,
    Element,
    Fill,
    Goto,
    KeyboardType,
    MouseClick,
    SelectOption,
    Type,
    Unknown,
)
from replaykit.trajectory.exchange import Imported, Rest
from replaykit.trajectory.observation import Observation
from tests.blocks import block
from tests.interop.conftest import Importing
from tests.interop.samples import png, table_rows, write
from tests.interop.test_every_importer import outcome
from tests.interop.test_parquet_export import RECORDINGS, built, run_main

SHOT = {"bytes": png(7), "path": "seven.png"}


def bundles(path: Path, out: Path, **options: Any) -> dict[str, Bundle]:
    """Import every run under a path: name to bundle."""
    found = {}
    for one in import_runs("table", [path], out, options=Options(**options)):
        assert one.error is None, one.error
        with open_bundle(one.path) as bundle:
            found[Path(one.path).stem] = bundle
            _ = bundle.trajectory
    return found


def step_rows(*runs: str) -> list[dict[str, Any]]:
    rows = []
    for run in runs:
        same = {"run": run, "goal": f"Buy {run}."}
        rows += [
            {
                **same,
                "step": 0,
                "url": "http://a.test/",
                "action": "goto('http://a.test/')",
                "image_after": SHOT,
            },
            {**same, "step": 1, "url": "http://a.test/", "action": f"click('{run}')", "image_after": SHOT},
            {**same, "step": 2, "url": "http://a.test/2", "action": "stop [Bought.]", "image_after": SHOT},
        ]
    return rows


def run_rows(*runs: str) -> list[dict[str, Any]]:
    return [
        {
            "episode_id": run,
            "goal": f"Buy {run}.",
            "actions": ["goto('http://a.test/')", f"click('{run}')", "stop [Bought.]"],
            "thoughts": ["Open.", "Click.", "Done."],
            "images": [SHOT] * 4,
        }
        for run in runs
    ]


def check_run(bundle: Bundle, run: str) -> None:
    trajectory = bundle.trajectory
    assert [step.action for step in trajectory.steps] == [
        Goto(url="http://a.test/"), Click(element=Element(ref=run)), Answer(text="Bought."),
    ]  # fmt: skip
    assert trajectory.answer == "Bought." and trajectory.header.task is not None
    assert trajectory.header.task["intent"] == f"Buy {run}."
    after = [one for one in trajectory.of_type(Observation) if one.role == "after"]
    assert [one.of for one in after] == [0, 1, 2] and all(one.screenshot for one in after)
    assert trajectory.channel("screenshots") == "recorded"


def as_pyarrow(rows: list[dict[str, Any]], folder: Path) -> Path:
    """Two files of one table: the second run lies in both."""
    folder.mkdir()
    middle = len(rows) - 2
    for at, part in enumerate((rows[:middle], rows[middle:])):
        name = f"train-{at:05}-of-00002.parquet"
        pq.write_table(pa.Table.from_pylist(part), folder / name, row_group_size=2)
    return folder


def as_duckdb(rows: list[dict[str, Any]], folder: Path) -> Path:
    folder.mkdir()
    kept = pa.Table.from_pylist(rows)  # DuckDB finds it by this name
    duckdb.sql("select * from kept").write_parquet(str(folder / "rows.parquet"))
    assert kept.num_rows == len(rows)
    return folder


def as_feather(rows: list[dict[str, Any]], folder: Path) -> Path:
    folder.mkdir()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(str(folder / "rows.arrow"), table.schema) as writer:
        for batch in table.to_batches(max_chunksize=2):
            writer.write_batch(batch)
    return folder


def encoded(value: Any) -> Any:
    """Screenshots as data URIs, for formats that hold texts."""
    if value == SHOT:
        from base64 import b64encode

        return "data:image/png;base64," + b64encode(png(7)).decode()
    return [encoded(part) for part in value] if isinstance(value, list) else value


def as_lines(rows: list[dict[str, Any]], folder: Path) -> Path:
    plain = [{key: encoded(cell) for key, cell in row.items()} for row in rows]
    write(folder, "rows.jsonl", "\ufeff" + "".join(json.dumps(row) + "\r\n" for row in plain))
    return folder


def as_list(rows: list[dict[str, Any]], folder: Path) -> Path:
    plain = [{key: encoded(cell) for key, cell in row.items()} for row in rows]
    write(folder, "rows.json", plain)
    return folder


def as_sheet(rows: list[dict[str, Any]], folder: Path) -> Path:
    folder.mkdir()
    with (folder / "rows.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            cells = {key: encoded(cell) for key, cell in row.items()}
            writer.writerow({k: json.dumps(c) if isinstance(c, list) else c for k, c in cells.items()})
    return folder


def saved_by_datasets(name: str) -> Callable[[list[dict[str, Any]], Path], Path]:
    def make(rows: list[dict[str, Any]], folder: Path) -> Path:
        with warnings.catch_warnings():
            # Its pickler warns of types of pyarrow that it hashes by their names.
            warnings.simplefilter("ignore")
            return save(rows, folder)

    def save(rows: list[dict[str, Any]], folder: Path) -> Path:
        datasets = pytest.importorskip("datasets", reason="datasets is not installed")
        table = datasets.table.InMemoryTable(pa.Table.from_pylist(rows))
        features = datasets.Features.from_arrow_schema(table.schema)
        image = datasets.Image(decode=False)
        for column, kind in (("image_after", image), ("images", datasets.List(image))):
            features.update({column: kind} if column in features else {})
        info = datasets.DatasetInfo(features=features)
        # Given, as its own is made by a pickler that fails on some releases of pyarrow.
        found = datasets.Dataset(table, info=info, fingerprint="rows")
        folder.mkdir()
        if name == "disk":
            found.save_to_disk(folder / "set", num_shards=2)
        else:
            getattr(found, f"to_{name}")(folder / f"set.{name}")
        return folder

    return make


MAKERS: dict[str, Callable[[list[dict[str, Any]], Path], Path]] = {
    "pyarrow": as_pyarrow,
    "duckdb": as_duckdb,
    "arrow-file": as_feather,
    "lines": as_lines,
    "list": as_list,
    "sheet": as_sheet,
    "datasets-disk": saved_by_datasets("disk"),
    "datasets-parquet": saved_by_datasets("parquet"),
}


@pytest.mark.parametrize("rows", [step_rows, run_rows])
@pytest.mark.parametrize("maker", MAKERS)
def test_rows_are_runs(maker: str, rows: Callable[..., list[dict[str, Any]]], tmp_path: Path) -> None:
    path = MAKERS[maker](rows("tea", "mug", "pot"), tmp_path / "in")
    found = bundles(path, tmp_path / "out")
    assert list(found) == ["tea", "mug", "pot"]
    for run, bundle in found.items():
        check_run(bundle, run)
    # A second process that takes other rows first reads the same ones.
    again = import_runs("table", [path], tmp_path / "two", jobs=2)
    assert [one.digest for one in again] == [bundle.digest for bundle in found.values()]


def test_rows_of_a_run_may_stand_anywhere(tmp_path: Path) -> None:
    rows = step_rows("tea", "mug")
    random.Random(3).shuffle(rows)
    for name, maker in (("a", as_lines), ("b", as_duckdb)):
        for run, bundle in bundles(maker(rows, tmp_path / name), tmp_path / f"out{name}").items():
            check_run(bundle, run)


def test_our_own_tables_come_back(tmp_path: Path) -> None:
    write_tables([str(path) for path in RECORDINGS], tmp_path / "set")
    found = bundles(tmp_path / "set", tmp_path / "out")
    # A recording without a step has no row, and a table of steps cannot hold it.
    assert len(found) == sum(len(open_bundle(path).trajectory.steps) > 0 for path in RECORDINGS)
    for path in RECORDINGS:
        with open_bundle(path) as bundle:
            run, back = bundle.trajectory, found[path.stem].trajectory if path.stem in found else None
        if back is None:
            continue
        assert [bare(step.action) for step in back.steps] == [bare(step.action) for step in run.steps]
        assert [step.thought for step in back.steps] == [step.thought for step in run.steps]
        assert back.answer == run.answer and back.ending is not None and run.ending is not None
        assert (back.ending.kind, back.ending.validity) == (run.ending.kind, run.ending.validity)
        task, own = back.header.task or {}, run.header.task or {}
        assert (task.get("intent"), task.get("id")) == (own.get("intent"), own.get("id"))
    again = tmp_path / "again"
    write_tables([str(tmp_path / "out" / f"{name}.zst") for name in found], again)
    first, second = (pq.read_table(folder / "steps-00000.parquet") for folder in (tmp_path / "set", again))
    for column in ("run", "step", "action", "thought", "line", "screenshot", "url"):
        assert first[column].to_pylist() == second[column].to_pylist(), column


def bare(action: Any) -> Any:
    """An action without what no table holds: places in snapshots, bodies of files."""
    plain = msgspec.to_builtins(action)
    for key in ("element", "to"):
        if isinstance(plain.get(key), dict):
            plain[key].pop("node", None)
    for file in plain.get("files", ()):
        file.pop("body", None)
    return plain


ACTIONS: list[tuple[dict[str, Any], Any]] = [
    ({"action": "CLICK", "target": "Buy"}, Click(element=Element(text="Buy"))),
    ({"action": '{"op": "TYPE", "value": "tea"}', "target": {"tag": "input", "name": "Q"}},
     Fill(element=Element(tag="input", name="Q"), value="tea")),
    ({"action": "select", "target": "Size", "value": "Large"},
     SelectOption(element=Element(text="Size"), values=(), labels=("Large",))),
    ({"action": "click", "x": 30, "y": "41"}, MouseClick(point=(30, 41))),
    ({"action": {"action_type": "click", "coordinate": [3, 4]}}, MouseClick(point=(3, 4))),
    ({"action": {"click": {"x": 3, "y": 4}}}, MouseClick(point=(3, 4))),
    ({"action": {"type": "function", "function": {"name": "goto", "arguments": '{"url": "http://a.test/"}'}}},
     Goto(url="http://a.test/")),
    ({"action": "goto", "value": "http://a.test/"}, Goto(url="http://a.test/")),
    ({"action": '<button id="s"> Search -> CLICK'}, Click(element=Element(tag="button", attributes={"id": "s"}, name="Search"))),
    ({"action": 'Type "tea"'}, KeyboardType(value="tea")),
    ({"action": "dance", "target": "Floor"}, Unknown(name="dance", raw='{"element":"Floor"}')),
    ({"action": {"what": 1, "x": 2}}, Unknown(name="action", raw='{"what":1,"x":2}')),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "action"), ACTIONS)
def test_cells_are_actions(cells: dict[str, Any], action: Any, tmp_path: Path, imported: Importing) -> None:
    path = write(tmp_path, "one.jsonl", json.dumps({"run": "r", "step": 1, "goal": "x", **cells}))
    (step,) = imported("table", path).trajectory.steps
    assert step.action == action


def test_a_cell_with_several_actions_is_several_steps(tmp_path: Path, imported: Importing) -> None:
    calls = [{"name": "click", "arguments": {"x": 1, "y": 2}}, {"name": "type", "arguments": {"text": "a"}}]
    row = {"run": "r", "step": 1, "goal": "x", "tool_calls": calls, "tool_output": "ok", "thought": "Both."}
    run = imported("table", write(tmp_path, "one.jsonl", json.dumps(row))).trajectory
    assert [step.action for step in run.steps] == [MouseClick(point=(1, 2)), KeyboardType(value="a")]
    assert [step.returned for step in run.steps] == [None, "ok"] and {step.turn for step in run.steps} == {0}


def test_objects_of_a_list_are_steps(tmp_path: Path, imported: Importing) -> None:
    steps = [{"num": "2", "action": "stop [x]"}, {"num": "1", "action": "click('a')", "cost": 3}]
    row = {"id": 9, "query": "Find x.", "trajectory": steps, "reward": 0.5, "expected_answer": "GOLD"}
    bundle = imported("table", write(tmp_path, "runs.json", [row]))
    run = bundle.trajectory
    assert [step.action for step in run.steps] == [Click(element=Element(ref="a")), Answer(text="x")]
    assert [(one.name, one.value) for one in run.of_type(Imported)] == [("reward", 0.5)]
    kept = {key: value for one in run.of_type(Rest) for key, value in one.value.items()}
    assert kept == {"id": 9, "expected_answer": "GOLD", "cost": 3}


def test_a_format_named_by_the_user_is_used(tmp_path: Path) -> None:
    row = {"id": "x1", "instruction": "Do it.", "actions": ["CLICK [12]", "scroll [down]"]}
    path = write(tmp_path, "list.json", [row])
    found = bundles(path, tmp_path / "out")["list-0"].trajectory
    assert found.steps[0].action == Click(element=Element(ref="12")) and len(found.steps) == 2
    # `auto` wants more than one column with a usual name beside the actions.
    (done,) = import_runs("auto", [path], tmp_path / "auto")
    assert isinstance(done.error, InteropError) and "JSON of another layout" in str(done.error)


def test_columns_are_named_in_a_file(tmp_path: Path) -> None:
    rows = [
        {"ep": 1, "todo": "Buy.", "did": "click('a')", "pic": SHOT, "image_2": SHOT, "answer": "GOLD"},
        {"ep": 1, "todo": "Buy.", "did": "stop [x]", "pic": SHOT, "image_2": SHOT, "answer": "GOLD"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    said = write(tmp_path, "columns.yaml", block("docs/interop.md", "# field: column").text)
    words = ("import", "table", tmp_path / "rows.parquet", "-o", tmp_path / "out", "--columns", said)
    assert run_main(*words) == 0
    with open_bundle(tmp_path / "out" / "rows-1.zst") as bundle:
        run = bundle.trajectory
        assert all(step.before is not None and step.before.screenshot for step in run.steps)
        assert run.answer == "x" and bundle.header.source is not None
        assert bundle.header.source.options["columns"]["run"] == "ep"
        # The second column of images is in no field, and said to be left out.
        assert bundle.header.source.extra["left_out"] == {"image_2 (bytes)": 2}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"rum": "x"}, "no field 'rum'; did you mean run?"),
        ({"run": 3}, "run is 3; expected the name of a column"),
        ([], "expected field: column"),
    ],
)
def test_a_file_of_columns_is_checked(said: Any, words: str) -> None:
    with pytest.raises(UsageError) as found:
        check_columns(said)
    assert words in str(found.value)


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    path = as_lines(step_rows("tea"), tmp_path / "in")
    with pytest.raises(UsageError, match=r"has no column 'deed'; it has run, goal, step, url, action"):
        import_runs("table", [path], tmp_path / "out", options=Options(columns={"action": "deed"}))


def test_rows_that_name_no_run(tmp_path: Path) -> None:
    rows = [{"step": at, "action": f"click('{at}')", "url": "http://a.test/"} for at in range(3)]
    one = as_lines(rows, tmp_path / "one")
    assert len(bundles(one, tmp_path / "out")["rows"].trajectory.steps) == 3
    two = as_lines([*rows, *rows], tmp_path / "two")
    with pytest.raises(UsageError, match="no column shows which rows belong to one run"):
        import_runs("table", [two], tmp_path / "out2")
    asked = bundles(two, tmp_path / "out3", columns={"run": "@file"})
    assert len(asked["rows"].trajectory.steps) == 6


def test_screenshots_of_no_known_side_belong_to_no_step(tmp_path: Path) -> None:
    rows = [{"run": "r", "goal": "x", "step": at, "action": "noop()", "screenshot": SHOT} for at in range(2)]
    (done,) = import_runs("table", [as_duckdb(rows, tmp_path / "in")], tmp_path / "out")
    assert any("before or after the action" in line for line in done.warnings)
    with open_bundle(done.path) as bundle:
        roles = [one.role for one in bundle.trajectory.of_type(Observation)]
        assert roles == ["unaligned"] * 2 and bundle.trajectory.channel("screenshots") == "absent"


def test_screenshots_are_found_by_their_paths(tmp_path: Path, imported: Importing) -> None:
    write(tmp_path, "in/shots/a.png", png(1))
    names = ["shots/a.png", r"C:\runs\shots\a.png", "/home/me/in/shots/a.png", "shots/none.png"]
    rows = [
        {"run": "r", "goal": "x", "step": at, "action": "noop()", "screenshot_before": name}
        for at, name in enumerate(names)
    ]
    run = imported("table", as_lines(rows, tmp_path / "in")).trajectory
    assert [bool(step.before and step.before.screenshot) for step in run.steps] == [True, True, True, False]


def test_names_of_classes_stand_for_their_numbers(tmp_path: Path, imported: Importing) -> None:
    rows = [{"run": "r", "goal": "x", "step": 0, "action": 1, "target": "Buy"}]
    kinds = {"action": {"_type": "ClassLabel", "names": ["TYPE", "CLICK"]}}
    metadata = json.dumps({"info": {"features": kinds}})
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, tmp_path / "rows.parquet")
    (step,) = imported("table", tmp_path / "rows.parquet").trajectory.steps
    assert step.action == Click(element=Element(text="Buy"))


def test_a_step_that_is_missing_is_not_known(tmp_path: Path, imported: Importing) -> None:
    rows = [{"run": "r", "goal": "x", "step": at, "action": "noop()"} for at in (0, 1, 3)]
    assert imported("table", as_lines(rows, tmp_path / "in")).trajectory.channel("actions") == "partial"


def test_lines_that_are_no_rows_are_kept(tmp_path: Path, imported: Importing) -> None:
    lines = [json.dumps(row) for row in table_rows()]
    bundle = imported("table", write(tmp_path, "a.jsonl", "\n".join([lines[0], "{torn", *lines[1:]])))
    assert len(bundle.trajectory.steps) == 4


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_duckdb(step_rows("tea"), tmp_path / "in")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (done,) = import_runs("table", [path], tmp_path / "out")
    assert isinstance(done.error, MissingExtra) and done.error.fields["extra"] == "parquet"


@pytest.mark.parametrize("maker", ["pyarrow", "arrow-file", "sheet", "list"])
def test_damaged_tables_give_only_errors_of_ours(maker: str, tmp_path: Path) -> None:
    path = MAKERS[maker](step_rows("tea"), tmp_path / "in")
    file = sorted(path.iterdir())[-1]
    whole, chance = file.read_bytes(), random.Random(maker)
    for turn in range(60):
        changed = bytearray(whole if turn % 3 else whole[: chance.randrange(len(whole))])
        for _ in range(turn % 4):
            if changed:
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        file.write_bytes(changed)
        try:
            outcome("table", path, tmp_path / "run.zst")
        except UsageError as error:
            assert "--columns" in str(error)


def test_a_pointer_of_git_lfs_is_named(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 5\n"
    for name in ("a.parquet", "a.jsonl", "a.csv"):
        (done,) = import_runs("table", [write(tmp_path, name, pointer)], tmp_path / "out")
        assert isinstance(done.error, InteropError) and "git lfs pull" in str(done.error)


def test_the_example_of_the_page(tmp_path: Path) -> None:
    bundle = built(tmp_path / "run.zst")
    assert run_main("export", "parquet", bundle, "-o", tmp_path / "set") == 0
    assert run_main("import", "auto", tmp_path / "set", "-o", tmp_path / "out") == 0
    with open_bundle(bundle) as first, open_bundle(tmp_path / "out" / "run.zst") as second:
        assert second.trajectory.answer == first.trajectory.answer


@pytest.mark.parametrize(("place", "state"), [(0, "recorded"), (1, "partial"), (2, "recorded")])
def test_a_row_without_an_action_between_others_may_lack_one(
    place: int, state: str, tmp_path: Path, imported: Importing
) -> None:
    actions: list[Any] = ["click('a')", "stop [done]"]
    actions.insert(place, None)
    rows = [
        {"episode_id": "e", "step": at, "action": action, "url": "http://x.test/"}
        for at, action in enumerate(actions)
    ]
    path = write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows)).encode())
    assert imported("table", path).trajectory.channel("actions") == state


LOG = [
    {"action": "goto", "args": {"url": "http://a.test/"}},
    {"action": "click", "args": {"selector": "#go"}},
    {"action": "type", "args": {"selector": "#q", "text": "tea"}},
    {"action": "browse_interactive", "args": {"browser_actions": "click('a5')"}},
]


@pytest.mark.parametrize("column", ["args", "params", "action_input"])
def test_arguments_of_a_named_call_may_stand_in_a_column(column: str, tmp_path: Path) -> None:
    rows = [{"run": "a", "action": row["action"], column: row["args"]} for row in LOG]
    (run,) = bundles(write(tmp_path, "log.json", rows), tmp_path / "out").values()
    first, second, third, last = [step.action for step in run.trajectory.steps]
    assert first == Goto(url="http://a.test/") and second == Click(element=Element(ref="#go"))
    assert isinstance(third, Type) and third.value == "tea"
    assert isinstance(last, Unknown) and "click('a5')" in last.raw
    assert run.trajectory.steps[1].raw == {"action": "click", "arguments": {"selector": "#go"}}


@pytest.mark.parametrize("operation", ["type", "TYPE", "select", "UPLOAD"])
def test_an_operation_whose_value_is_not_known_enters_no_empty_text(operation: str, tmp_path: Path) -> None:
    rows = [{"run": "a", "action": operation, "element": "Name", "content": "tea"}]
    (run,) = bundles(write(tmp_path, "log.json", rows), tmp_path / "out").values()
    assert isinstance(run.trajectory.steps[0].action, Unknown)


def test_an_empty_text_that_is_stated_is_one(tmp_path: Path) -> None:
    rows = [{"run": "a", "action": "TYPE", "element": "Name", "value": ""}]
    (run,) = bundles(write(tmp_path, "log.json", rows), tmp_path / "out").values()
    assert run.trajectory.steps[0].action == Fill(element=Element(text="Name"), value="")
