"""Which document a recorded page becomes, and what happens where there is none."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, seal
from replaykit.report.html.imported_html import markup_outline
from replaykit.report.html.observations import looks
from replaykit.report.html.page_documents import PageKey, draw, page_document, page_key
from replaykit.report.html.page_sketch import Sketch
from replaykit.testing import trajectory
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.scalars import Omitted


class Tags(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.words = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.words += data


def bundle_with(path: Path, media_type: str, data: bytes) -> Path:
    builder = trajectory()
    events = [Observation(role="start", url="http://x.test/", snapshot=blob_id(data), page=0, t=1)]
    with_page = builder.build()
    journal = Journal.create(path)
    journal.commit([with_page.header])
    journal.commit(events, [(blob_id(data), media_type, data)])
    journal.close()
    seal(path)
    return path


def drawn(path: Path) -> Sketch | None:
    with open_bundle(path) as bundle:
        (key,) = looks(bundle.trajectory).pages.values()
        return draw(bundle, key, ())


def test_html_text_of_an_importer_is_shown_as_plain_text(tmp_path: Path) -> None:
    page = b"<html><head><title>t</title></head><body onload=x()><script>alert(1)</script><h1>Mugs</h1><a href=//evil>go</a>"
    found = drawn(bundle_with(tmp_path / "a.zst", "text/html", page))
    assert found is not None
    assert found.html == "<article><div><div><h1>Mugs</h1><span>go</span></div></div></article>"


@pytest.mark.parametrize("data", [b"", b"no snapshot", b"{}\n[]\n[]\n[]\n"])
def test_a_page_that_cannot_be_read_is_none(tmp_path: Path, data: bytes) -> None:
    assert drawn(bundle_with(tmp_path / "a.zst", "application/x-replaykit-dom", data)) is None
    assert drawn(bundle_with(tmp_path / "b.zst", "image/png", data + b"x")) is None


def test_a_page_that_was_not_kept_has_no_key() -> None:
    assert page_key(None, ()) is None
    assert page_key(Omitted(why="cap"), ()) is None


def test_a_page_with_other_frames_is_another_page() -> None:
    alone, framed = PageKey("a" * 64, ()), PageKey("a" * 64, (Frame(snapshot="b" * 64),))
    assert alone.name != framed.name
    assert framed.name == PageKey("a" * 64, (Frame(snapshot="b" * 64),)).name


def test_a_document_carries_a_policy_that_allows_nothing() -> None:
    made = page_document(Sketch(html="<p>x</p>", width=1, height=1, boxes={}))
    policies = [
        dict(attributes)["content"]
        for tag, attributes in Tags(made).seen
        if tag == "meta" and "content" in dict(attributes)
    ]
    assert len(policies) == 1
    assert (policies[0] or "").startswith("default-src 'none'; style-src-elem 'sha256-")


PIECES = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<a href=javascript:x>",
        "<svg onload=x>",
        "<input value='",
        "'>",
        "word",
        "&lt;b&gt;",
        "<b",
        ">",
        "<td>",
        "</div>",
        "<plaintext>",
        "<![CDATA[",
        "\0",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=20))
def test_no_html_text_gets_a_tag_or_an_attribute_of_its_own_through(pieces: list[str]) -> None:
    made = markup_outline("".join(pieces).encode("utf-8", "replace")).html
    read = Tags(made)
    assert {tag for tag, _ in read.seen} <= {"article", "p", "div", "span", "b", "td", "br"}
    assert {tuple(attributes) for _, attributes in read.seen} <= {(), (("class", "control field"),)}
    assert made.count("<") == made.count(">")
