"""Files of strangers: the same run in another notation is the same run, and what is missing is not made up."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.interop.run_import import ImportResult, import_runs
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.observation import Observation
from tests.interop.samples import SAMPLES, mind2web, mind2web_second, unpacked, write
from tests.thorough import one_in

LINES = (".jsonl", ".trace", ".network", ".ndjson")
JSON = (".json", ".har")

SIBLINGS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    **{format: (format, make) for format, make in SAMPLES.items()},
    "online-mind2web-v2": ("online-mind2web", mind2web_second),
}
LAYOUT = pytest.mark.parametrize("layout", sorted(SIBLINGS))


class ResultEntry(NamedTuple):
    """Facts of a bundle about a run."""

    actions: list[Any]
    thoughts: list[str | None]
    urls: list[str | None]
    answer: Any
    shots: int
    exchanges: list[tuple[str, int | None]]
    times: list[int | None]


def result_of(path: str | Path) -> ResultEntry:
    assert verify(path).findings == ()
    with open_bundle(path) as bundle:
        run = bundle.trajectory
        looks = [*run.of_type(Observation), *(step.before for step in run.steps if step.before is not None)]
        return ResultEntry(
            [without_places(msgspec.to_builtins(step.action)) for step in run.steps],
            [step.thought for step in run.steps],
            [step.url or (step.before.url if step.before else None) for step in run.steps],
            in_json(run.answer),
            sum(bool(look.screenshot) for look in looks),
            [(one.url, one.status) for one in run.of_type(Exchange)],
            [step.t for step in run.steps],
        )


def without_places(action: dict[str, Any]) -> dict[str, Any]:
    """An action without its place in a snapshot, whose attributes may be in another order."""
    for key in ("element", "to"):
        action.get(key, {}).pop("node", None)
    return action


def in_json(answer: str | None) -> Any:
    """Return the JSON value of an answer."""
    try:
        plain = json.loads(answer or "")
    except ValueError:
        return answer
    if not isinstance(plain, dict):
        return answer
    return {key: part for key, part in plain.items() if part is not None and key != "zzz"}


def changed(path: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Change every file of a sample, members of archives too."""
    for file in [file for file in sorted(path.rglob("*")) if file.is_file()] if path.is_dir() else [path]:
        if file.suffix in (".zip", ".eval"):
            members = {name: change(name, data) for name, data in unpacked(file).items()}
            with zipfile.ZipFile(file, "w") as archive:
                for name, data in members.items():
                    archive.writestr(zipfile.ZipInfo(name), data)
        else:
            file.write_bytes(change(file.name, file.read_bytes()))


def in_values(change: Callable[[Any], Any]) -> Callable[[str, bytes], bytes]:
    """Change the JSON values of files; other files stay."""

    def of_file(name: str, data: bytes) -> bytes:
        if name.endswith(JSON):
            return json.dumps(change(json.loads(data))).encode()
        if name.endswith(LINES):
            lines = [json.dumps(change(json.loads(line))) for line in data.splitlines()]
            return "".join(line + "\n" for line in lines).encode()
        return data

    return of_file


def everywhere(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Apply a change to every value from the inside out."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            # Text that the agent itself wrote is no notation of the tool.
            return change({key: part if key in OWN_WORDS else walk(part) for key, part in value.items()})
        return change([walk(part) for part in value] if isinstance(value, list) else value)

    return walk


OWN_WORDS = ("arguments", "actionArgs", "args")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def marked(name: str, data: bytes) -> bytes:
    """As tools on Windows write text."""
    if not name.endswith((*JSON, *LINES, ".md", ".txt", ".log", ".csv")):
        return data
    return b"\xef\xbb\xbf" + data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


NOTATIONS: dict[str, Callable[[str, bytes], bytes]] = {
    "marks and line ends of Windows": marked,
    "keys in another order": in_values(
        everywhere(lambda one: dict(reversed(one.items())) if isinstance(one, dict) else one)
    ),
    "whole numbers as fractions": in_values(
        everywhere(lambda one: float(one) if is_number(one) and abs(one) < 2**53 else one)
    ),
    "numbers as texts": in_values(everywhere(lambda one: repr(one) if is_number(one) else one)),
    "further keys": in_values(
        everywhere(
            lambda one: (
                {**one, "zz": None, "zzz": {"": [1e300, 10**40, "\ud83d\ude00", "\udc00"]}}
                if isinstance(one, dict)
                else one
            )
        )
    ),
    "a null in the place of a key that is missing": in_values(
        everywhere(lambda one: {**one, "metadata": one.get("metadata")} if isinstance(one, dict) else one)
    ),
    "text in escapes": lambda name, data: (
        json.dumps(json.loads(data), indent="\t").encode() if name.endswith(JSON) else data
    ),
}

NEVER = {
    # Writers of these are programs in JavaScript, and places of nodes in snapshots are numbers.
    ("playwright-trace", "numbers as texts"), ("playwright-trace", "whole numbers as fractions"),
    ("rrweb", "numbers as texts"),
}  # fmt: skip


def result(layout: str, path: Path, target: Path) -> ImportResult:
    (done,) = import_runs(SIBLINGS[layout][0], [path], target)
    return done


@pytest.mark.parametrize(
    ("layout", "notation"),
    one_in(4, [pair for pair in product(sorted(SIBLINGS), NOTATIONS) if pair not in NEVER]),
)
def test_another_notation_is_the_same_run(layout: str, notation: str, tmp_path: Path) -> None:
    make = SIBLINGS[layout][1]
    plain = result(layout, make(tmp_path / "plain"), tmp_path / "a")
    path = make(tmp_path / "odd")
    changed(path if path.is_dir() else path.parent, NOTATIONS[notation])
    done = result(layout, path, tmp_path / "b")
    assert done.error is None, done.error
    assert result_of(done.path) == result_of(plain.path)


@LAYOUT
def test_names_of_any_language_are_names(layout: str, tmp_path: Path) -> None:
    make = SIBLINGS[layout][1]
    path = make(tmp_path / "in")
    folder = tmp_path / "Läufe 実行 (1) [x]#%20"
    shutil.move(tmp_path / "in", folder)
    moved = folder / path.relative_to(tmp_path / "in")
    plain = result(layout, make(tmp_path / "in"), tmp_path / "a")
    done = result(layout, moved, tmp_path / "b")
    assert done.error is None, done.error
    assert result_of(done.path) == result_of(plain.path)


def shortened(value: Any) -> Any:
    """Leave out the last item of the longest list of objects."""
    lists = [one for one in lists_in(value) if len(one) > 1 and isinstance(one[-1], dict)]
    if lists:
        max(lists, key=len).pop()
    return value


def lists_in(value: Any) -> list[list[Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [value] if isinstance(value, list) else []
    return own + [found for part in inner for found in lists_in(part)]


def without_the_last(name: str, data: bytes) -> bytes:
    if name.endswith(JSON):
        return json.dumps(shortened(json.loads(data))).encode()
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:-1]) if name.endswith(LINES) and len(lines) > 1 else data


def _is_unreported(one: dict[str, Any], whole: dict[str, Any]) -> bool:
    return bool(one["type"] == "unknown" != whole["type"])


@LAYOUT
def test_a_run_without_its_last_step_is_its_beginning(layout: str, tmp_path: Path) -> None:
    make = SIBLINGS[layout][1]
    plain = result_of(result(layout, make(tmp_path / "plain"), tmp_path / "a").path)
    path = make(tmp_path / "odd")
    changed(path if path.is_dir() else path.parent, without_the_last)
    done = result(layout, path, tmp_path / "b")
    assert done.error is None, done.error
    found = result_of(done.path)
    # An action that nothing reports any more was perhaps not carried out.
    while found.actions and _is_unreported(found.actions[-1], plain.actions[len(found.actions) - 1]):
        del found.actions[-1]
    count = len(found.actions)
    # The source of the last step may be cut short itself: half a scroll.
    assert found.actions[: count - 1] == plain.actions[: max(0, count - 1)]
    assert [one["type"] for one in found.actions] == [one["type"] for one in plain.actions[:count]]
    # Another answer than that of the whole run would be made up.
    assert found.answer in (None, plain.answer)


def test_a_null_among_thoughts_moves_no_other(tmp_path: Path) -> None:
    path = mind2web(tmp_path, thoughts=[None, "Then."])
    assert result_of(result("online-mind2web", path, tmp_path / "a").path).thoughts == [None, "Then."]
    path = mind2web(tmp_path, action_history=[None, "<a> Mugs -> CLICK"])
    found = result_of(result("online-mind2web", path, tmp_path / "b").path)
    assert [action["type"] for action in found.actions] == ["unknown", "click"]
    assert found.thoughts == ["First.", "Then."] and found.shots == 3


ZONES = (
    "2026-03-02T09:00:00",
    "2026-03-02T09:00:00Z",
    "2026-03-02T10:00:00+01:00",
    "2026-03-02 09:00:00.000",
)


@pytest.mark.parametrize("zone", ZONES)
def test_times_count_from_the_first_in_any_zone(zone: str, tmp_path: Path) -> None:
    same = {"run": "r", "goal": "x", "action": "noop()"}
    times = [zone.replace("00:00", f"00:0{at}", 1) for at in range(3)]
    rows = [{**same, "step": at, "timestamp": time} for at, time in enumerate(times)]
    path = write(tmp_path, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert result_of(result("table", path, tmp_path / "a").path).times == [0, 1000, 2000]


def test_ids_that_occur_twice_lose_no_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        mind2web(tmp_path / "in" / name)
    done = import_runs("online-mind2web", [tmp_path / "in"], tmp_path / "out")
    assert [one.state for one in done] == ["imported"] * 2 and len({one.path for one in done}) == 2
