"""docs/benchmarks.md and its plots are what the command makes from the results, and the text around stays."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.__main__ import NAMES, QUICK
from bench.figures.figure import Figure, Spread
from bench.figures.millions import arithmetic
from bench.figures.page import PAGE, PLOTS, RESULTS, curve_table, page, plots, table, write
from bench.figures.ratio_page import HIGH, LEFT, LOW, RIGHT, place, ratio_page
from bench.figures.results import Host, Result, Results, read
from tests.bench.test_results import RESULTS as ANY

SVG = "{http://www.w3.org/2000/svg}"
DAY = "2026-01-02"


def result(*figures: Figure) -> Result:
    return Result("python -m bench.x --runs 2", DAY, Host(cpu="A", cores=2, python="3.11"), figures, 1.25)


def test_the_page_and_its_plots_are_what_the_results_give(update_goldens: bool) -> None:
    if update_goldens:
        write(read(RESULTS))
    found = read(RESULTS)
    text = PAGE.read_text("utf-8")
    assert page(text, found) == text
    assert {one.name: one.read_text("utf-8") for one in PLOTS.glob("*.svg")} == plots(found)


def test_every_benchmark_has_its_place_on_the_page() -> None:
    marked = set(re.findall(r"<!-- figures of (\w+)", PAGE.read_text("utf-8")))
    assert marked == {*NAMES, "millions"}
    assert {name.split(".")[0] for name in read(RESULTS).benchmarks} <= set(NAMES)


def test_only_what_lies_between_marks_is_written() -> None:
    text = "Before.\n\n<!-- figures of x: b -->\nold\n<!-- end of figures -->\n\nAfter.\n"
    figures = (Figure("a", 1, "ms"), Figure("b", 2, "ms", None, "c", 4, 0.6))
    assert page(text, Results(benchmarks={"x": result(*figures)})) == (
        "Before.\n\n<!-- figures of x: b -->\n\n"
        "| figure | measured | compared with | ratio | at most |\n| --- | ---: | ---: | ---: | ---: |\n"
        "| b | 2 ms | c, 4 | 0.50 | 0.60 |\n\n"
        "`python -m bench.x --runs 2`, 2026-01-02. Machine: A, 2 processors, Python 3.11. Load: 1.25.\n\n"
        "<!-- end of figures -->\n\nAfter.\n"
    )
    assert "Not measured yet." in page(text, Results())
    several = Results(benchmarks={"x": replace(result(*figures), runs=3)})
    assert "`python -m bench.x --runs 2`, the middle one of 3 runs, 2026-01-02." in page(text, several)
    assert page(page(text, Results()), Results()) == page(text, Results())


def test_a_table_has_the_columns_that_its_figures_need() -> None:
    rows = table([Figure("a", 0.5, "ms/bundle", 1, spread=Spread(0.6, 0.5, 0.7)), Figure("b", 2, "MB")])
    assert rows.splitlines()[0] == "| figure | measured | per second | rounds | goal |"
    assert rows.splitlines()[2:] == [
        "| a | 0.5 ms/bundle | 2,000 | 0.5 to 0.7 | 1 |",
        "| b | 2 MB |  |  |  |",
    ]


def test_curves_are_columns() -> None:
    figures = [Figure("a", 1, "ms", at=5), Figure("a", 2, "ms", at=1000), Figure("file", 3, "KB", at=5)]
    assert curve_table(figures, "steps") == (
        "| steps | a, ms | file, KB |\n| --- | ---: | ---: |\n| 5 | 1 | 3 |\n| 1,000 | 2 |  |\n"
    )


@given(st.dictionaries(st.sampled_from(["record", "grade"]), ANY))
def test_the_page_of_ratios_is_drawn_whatever_was_measured(found: dict[str, Result]) -> None:
    results = Results(benchmarks=found)
    text = ratio_page(results)
    assert text == ratio_page(results)
    assert "prefers-color-scheme:dark" in text
    root = ElementTree.fromstring(text)
    figures = [figure for one in found.values() for figure in one.figures]
    marks = [one for one in root.findall(f"{SVG}rect") if "x" in one.attrib]
    assert len(marks) == sum(figure.ratio is not None for figure in figures)
    for mark in marks:
        start, width = float(mark.attrib["x"]), float(mark.attrib["width"])
        assert LEFT - 0.1 <= start <= start + width <= RIGHT + 0.2
        assert float(mark.attrib["y"]) + float(mark.attrib["height"]) <= float(root.attrib["height"])
    assert sum("goal" in one.attrib.get("class", "") for one in root.findall(f"{SVG}line")) == sum(
        figure.most is not None for figure in figures
    )


@given(st.floats(-10, 1e6), st.floats(-10, 1e6))
def test_a_greater_ratio_is_never_further_left(one: float, other: float) -> None:
    assert (place(one) <= place(other)) or one > other
    assert place(LOW) == LEFT and place(HIGH) == pytest.approx(RIGHT)


def test_what_is_measured_quickly_is_a_benchmark_with_such_options() -> None:
    assert QUICK.keys() < {*NAMES}
    for name, words in QUICK.items():
        source = Path("bench", f"{name}.py").read_text()
        for option in re.findall(r"--(\w+)", words):
            assert re.search(rf'\b{option}=|"--{option}"|main\("{name}"', source), (name, option)


def test_ten_million_bundles_are_ten_million_times_one() -> None:
    costs = {
        "processor time, all processes": 4.6, "processor time, first process": 1.0, "requests for a bundle": 1.0,
        "read of a bundle": 7.0, "row of a verdict": 3000.0, "of which for each bundle": 1.5,
    }  # fmt: skip
    rows = arithmetic(result(*(Figure(name, value, "") for name, value in costs.items()))).splitlines()
    assert rows[2:] == [
        "| processor time of workers | 3.6 ms | 10 core-hours |",
        "| processor time of the first process | 1 ms | 2.78 hours |",
        "| requests | 1 | 10 million |",
        "| read from storage | 7 KB | 70 GB |",
        "| memory of the first process | 1.5 KB | 15 GB; of one call |",
        "| rows | 3,000 B | 30 GB |",
        "| 100 workers, 30 ms a request | 33.6 ms | 0.933 hours; 3 calls, each with a part |",
        "| 1,000 workers, 30 ms a request | 33.6 ms | 0.0933 hours; 30 calls, each with a part |",
    ]
