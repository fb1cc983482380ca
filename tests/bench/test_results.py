"""The file of results: kept whole, merged by benchmark, free of what belongs to one machine; the command of each."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.figures.figure import Figure, Spread, added, cpu, joined, least, middle, of_actions
from bench.figures.reporting import command, options, report, table
from bench.figures.results import Host, Result, Results, encoded, keep, read, this_host
from bench.figures.whole_runs import keep_runs, of_runs

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "docs" / "benchmarks" / "results.json"
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), max_size=12)
NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)
FIGURES = st.builds(
    Figure,
    name=WORDS,
    value=NUMBERS,
    unit=WORDS,
    goal=st.none() | NUMBERS,
    peer=WORDS,
    peer_value=NUMBERS,
    most=st.none() | NUMBERS,
    at=st.none() | NUMBERS,
    spread=st.none() | st.builds(Spread, NUMBERS, NUMBERS, NUMBERS),
    runs=st.none() | st.builds(Spread, NUMBERS, NUMBERS, NUMBERS),
)
HOSTS = st.builds(Host, cpu=WORDS, cores=st.integers(0, 512), python=WORDS)
RESULTS = st.builds(
    Result,
    command=WORDS,
    date=WORDS,
    host=HOSTS,
    figures=st.lists(FIGURES, max_size=3).map(tuple),
    load=st.none() | NUMBERS,
    runs=st.integers(1, 9),
)
DAY = "2026-01-02"
NAMES = st.sampled_from(["record", "grade", "scaling.steps"])


def result(value: float) -> Result:
    return Result("python -m bench.x", DAY, Host(cores=2), (Figure("a", value, "ms"),))


@given(st.dictionaries(NAMES, RESULTS))
def test_what_is_kept_is_what_is_read(found: dict[str, Result]) -> None:
    results = Results(benchmarks=found)
    text = encoded(results)
    assert text.endswith(b"}\n")
    assert msgspec.json.decode(text, type=Results) == results


def test_a_missing_file_has_no_results(tmp_path: Path) -> None:
    assert read(tmp_path / "results.json") == Results()


@given(st.lists(st.tuples(NAMES, RESULTS), max_size=6))
def test_a_benchmark_replaces_its_own_figures_only(runs: list[tuple[str, Result]]) -> None:
    results = Results()
    for name, one in runs:
        before = results
        results = results.merged(name, one)
        assert results.benchmarks[name] is one
        assert all(
            results.benchmarks[other] is before.benchmarks[other]
            for other in before.benchmarks
            if other != name
        )
    assert list(results.benchmarks) == sorted(dict(runs))


def test_others_keep_their_date_and_machine(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    keep(path, "grade", result(1 / 3))
    keep(path, "record", result(2))
    keep(path, "record", result(3))
    kept = read(path)
    assert kept.benchmarks["grade"] == result(0.33333)
    assert kept.benchmarks["record"] == result(3)
    assert [one.name for one in path.parent.iterdir()] == ["results.json"]


def test_a_report_prints_keeps_and_judges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given_words = options("x", rounds=3).parse_args(["--json", str(tmp_path / "r.json")])
    assert given_words.rounds == 3
    good = Figure("a", 1, "ms", None, "b", 2, 0.5)
    assert report("x", [good], given_words) == 0
    assert report("x.part", [Figure("a", 1.1, "ms", None, "b", 2, 0.5)], given_words) == 1
    assert "missed: a" in capsys.readouterr().out
    kept = read(tmp_path / "r.json").benchmarks
    assert kept["x"].figures == (good,)
    assert kept["x"].host == this_host()
    assert set(kept) == {"x", "x.part"}


RATIOS = st.lists(st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)), min_size=2, max_size=5)


@given(RATIOS, st.floats(0.1, 9))
def test_of_several_runs_the_one_in_the_middle_is_kept(found: list[tuple[float, float]], size: float) -> None:
    """A figure is kept as one run found it: the value of one run and the ratio of another prove nothing."""
    runs = [
        Result(
            "", DAY, Host(), (Figure("a", ours, "ms", peer="b", peer_value=theirs), Figure("c", ours, "B"))
        )
        for ours, theirs in found
    ]
    kept = of_runs(runs)
    ratio, value = kept.figures
    ratios, values = sorted(ours / theirs for ours, theirs in found), sorted(ours for ours, _ in found)
    middle = (len(found) - 1) // 2
    assert kept.runs == len(found)
    assert (ratio.ratio, value.value) == (ratios[middle], values[middle])
    assert (ratio.value, ratio.peer_value) in found
    assert ratio.runs == Spread.of(ratios)
    assert value.runs == Spread.of(values)


@given(RESULTS)
def test_one_run_stays_as_it_is(found: Result) -> None:
    assert of_runs([found]) is found


def test_points_of_a_curve_are_compared_each_by_its_own_runs() -> None:
    runs = [
        Result("", DAY, Host(), tuple(Figure("a", value * at, "ms", at=at) for at in (1, 2)))
        for value in (3, 1, 2)
    ]
    assert [(one.at, one.value) for one in of_runs(runs).figures] == [(1, 2), (2, 4)]


def test_a_figure_beside_several_others_stays_several() -> None:
    runs = [
        Result("", DAY, Host(), tuple(Figure("a", 1, "us", peer=name, peer_value=value) for name in "bc"))
        for value in (1, 2, 4)
    ]
    assert [(one.peer, one.ratio) for one in of_runs(runs).figures] == [("b", 0.5), ("c", 0.5)]


def test_all_parts_of_a_benchmark_are_kept_of_all_runs(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "ab"]
    for file, value in zip(files, (2, 1), strict=True):
        keep(file, "x.part", result(value))
        keep(file, "x.other", result(-value))
    keep_runs(tmp_path / "all", files)
    kept = read(tmp_path / "all").benchmarks
    assert {name: one.figures[0].value for name, one in kept.items()} == {"x.part": 1, "x.other": -2}
    assert {one.runs for one in kept.values()} == {2}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], "python -m bench.scaling"),
        (["--json", "/tmp/r.json", "--only", "steps"], "python -m bench.scaling --only steps"),
        (["--json=/tmp/r.json", "--corpus", "/home/me/bundles"], "python -m bench.scaling --corpus bundles"),
    ],
)
def test_the_command_names_no_file_of_this_machine(words: list[str], found: str) -> None:
    assert command("scaling.steps", words) == found


def test_the_shipped_file_says_nothing_about_a_place() -> None:
    text = SHIPPED.read_text("utf-8")
    assert not re.search(r"\"/|/(?:home|work|tmp|root|Users)/|localhost", text)
    assert encoded(read(SHIPPED)).decode() == text


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=9), st.floats(0, 1e3))
def test_a_spread_lies_around_its_median(rounds: list[float], factor: float) -> None:
    found = Spread.of(rounds)
    assert found.low == min(rounds) <= found.median <= max(rounds) == found.high
    assert found.times(factor).low <= found.times(factor).median <= found.times(factor).high


def test_cpu_times_count_by_their_least_and_others_by_their_middle() -> None:
    ours, theirs = Spread.of([0.2, 0.1, 0.4]), Spread.of([0.5, 0.7])
    found = least("a", ours, 1000, "ms", peer="b", theirs=theirs)
    assert (found.value, found.peer_value, found.ratio) == (100, 500, 0.2)
    assert found.spread == Spread(200, 100, 400)
    assert middle("a", [1, 2, 9], "ms", None, "b", [4, 8]).ratio == 2 / 6


def test_actions_are_compared_with_the_same_action_of_the_same_round() -> None:
    ours, plain = [[5.0, 50.0], [7.0, 70.0]], [[4.0, 40.0], [4.0, 40.0]]
    more = added(ours, plain)
    assert more == [[1, 10], [3, 30]]
    found = of_actions("a", more, "ms", None, "b", plain)
    assert (found.value, found.spread) == (6.5, Spread(6.5, 5.5, 16.5))
    assert joined([ours, plain]) == [[5, 50, 4, 40], [7, 70, 4, 40]]


def test_works_take_turns_three_times_at_least() -> None:
    calls: list[str] = []
    found = cpu(lambda: calls.append("a"), lambda: calls.append("b"), seconds=0)
    assert calls == ["a", "b"] * 3
    assert len(found) == 2


@given(st.lists(FIGURES, max_size=4))
def test_the_table_has_a_line_for_each_figure(found: list[Figure]) -> None:
    text = table(found)
    assert text.startswith("figure") and ("missed: " in text) == any(one.fails for one in found)
    assert all(one.ratio is None for one in found if not one.peer_value)
