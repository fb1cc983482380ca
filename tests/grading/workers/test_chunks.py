"""Chunks: every item once, in sizes that keep all workers busy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.workers.chunks import CHUNK_MAX, FIRST, Chunks
from replaykit.grading.workers.worker_messages import WorkItem


@given(
    count=st.integers(0, 600),
    workers=st.integers(1, 9),
    cost=st.floats(0, 2),
    is_counted=st.booleans(),
)
def test_every_item_comes_once_and_in_order(count: int, workers: int, cost: float, is_counted: bool) -> None:
    items = [WorkItem(source=str(n)) for n in range(count)]
    chunks = Chunks(iter(items), seconds=0.5, workers=workers, count=count if is_counted else None)
    found: list[WorkItem] = []
    while chunk := chunks.next():
        assert len(chunk) <= CHUNK_MAX
        found += chunk
        chunks.learn(len(chunk), cost * len(chunk))
    assert found == items


def test_sizes_follow_what_a_bundle_costs() -> None:
    chunks = Chunks((WorkItem(source=str(n)) for n in range(9999)), seconds=0.5, workers=2, count=None)
    first = chunks.next()
    chunks.learn(len(first), 0.01 * len(first))
    assert (len(first), len(chunks.next())) == (FIRST, 50)


def test_near_the_end_chunks_are_small() -> None:
    chunks = Chunks((WorkItem(source=str(n)) for n in range(16)), seconds=0.5, workers=2, count=16)
    assert [len(chunks.next()) for _ in range(6)] == [2, 2, 2, 2, 1, 1]


def test_near_the_end_a_chunk_is_still_worth_its_message() -> None:
    chunks = Chunks((WorkItem(source=str(n)) for n in range(48)), seconds=0.5, workers=2, count=48)
    first = chunks.next()
    chunks.learn(len(first), 0.0005 * len(first))
    assert [len(chunks.next()) for _ in range(5)] == [10, 10, 10, 10, 2]


def test_what_is_given_back_comes_next() -> None:
    chunks = Chunks([WorkItem(source="a"), WorkItem(source="b")], seconds=0.5, workers=1, count=2)
    first = chunks.next()
    chunks.again(first)
    assert chunks.next() == first
