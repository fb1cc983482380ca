from __future__ import annotations

from threading import Thread

import pytest

from replaykit.errors import SnapshotInvalid
from replaykit.replay.dom import Dom
from replaykit.replay.page_cache import Doms, Kept
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.testing.pages import snapshot

FIRST, SECOND = snapshot("<p>first</p>"), snapshot("<p>second</p>")


class Contents(dict[str, bytes]):
    """Blobs, and which of them were read."""

    def __init__(self, **blobs: bytes) -> None:
        super().__init__(blobs)
        self.asked: list[str] = []

    def blob(self, id: str) -> bytes:
        self.asked.append(id)
        return self[id]

    def blob_type(self, id: str) -> str:
        return MEDIA_TYPE


def test_a_page_is_read_and_parsed_once() -> None:
    contents = Contents(a=FIRST)
    doms = Doms(contents, Kept())
    assert doms.get("a") is doms.get("a")
    assert contents.asked == ["a"]


def test_another_bundle_reads_its_own_bytes_and_shares_the_page() -> None:
    kept, other = Kept(), Contents(a=FIRST)
    dom = Doms(Contents(a=FIRST), kept).get("a")
    assert Doms(other, kept).get("a") is dom
    assert other.asked == ["a"]
    assert Doms(Contents(a=SECOND), kept).get("a").text == "second"


def test_the_page_used_longest_ago_goes_first() -> None:
    doms = Doms(contents := Contents(a=FIRST, b=SECOND, c=snapshot("<p>third")), Kept(2 * len(SECOND) + 20))
    first = doms.get("a")
    doms.get("b")
    assert doms.get("a") is first
    doms.get("c")
    assert doms.get("a") is first
    doms.get("b")
    assert contents.asked == ["a", "b", "c", "b"]


def test_one_page_is_kept_whatever_its_size() -> None:
    doms = Doms(contents := Contents(a=FIRST), Kept(limit=1))
    assert doms.get("a").text == doms.get("a").text == "first"
    assert contents.asked == ["a"]


def test_threads_share_no_page() -> None:
    kept, found = Kept(), list[Dom]()
    for _ in range(2):
        thread = Thread(target=lambda: found.append(kept.page(FIRST)))
        thread.start()
        thread.join()
    assert found[0] is not found[1]


def test_what_is_no_snapshot_is_not_kept() -> None:
    doms = Doms(Contents(a=b"noise"), Kept())
    for _ in range(2):
        with pytest.raises(SnapshotInvalid):
            doms.get("a")
