"""Forged runs, every fifth of them: no success; the honest controls beside them are not blamed."""

from __future__ import annotations

from collections import Counter

import pytest

from bench import forged

Table = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def found() -> tuple[Table, Table]:
    return forged.measured(every=5)


def test_no_forged_run_succeeds(found: tuple[Table, Table]) -> None:
    lies, _ = found
    assert sum(one.total() for one in lies.values()) > 300
    assert not {kind: one for kind, one in lies.items() if one["SUCCESS"]}
    assert not {kind: one for kind, one in lies.items() if one["ERROR"]}


def test_honest_runs_are_not_blamed_and_most_succeed(found: tuple[Table, Table]) -> None:
    total: Counter[str] = Counter()
    for one in found[1].values():
        total.update(one)
    assert total["FAILURE"] <= 0.1 * total.total()
    assert total["SUCCESS"] > 0.5 * total.total()
    assert not total["ERROR"]


def test_the_page_shows_tables_that_the_command_made(found: tuple[Table, Table]) -> None:
    _, _, rest = forged.PAGE.read_text().partition(forged.BEGIN)
    shown = rest.partition(forged.END)[0]
    lies, honest = found
    kinds = [*lies, *honest]
    assert all(f"| {kind} |" in shown for kind in kinds)
    # The controls are judged whole, so their rows are the page's.
    assert all(row in shown for row in forged.rows(honest))
