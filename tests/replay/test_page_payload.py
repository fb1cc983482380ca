"""Data that a browser gets about a recorded page."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import Unsupported
from replaykit.replay.dom import Dom
from replaykit.replay.offline_page import page_payload as blueprints
from replaykit.replay.offline_page.page_payload import STAND_IN, VIEWPORT, blueprint, blueprint_of
from replaykit.replay.page_cache import Doms
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.snapshot.codec import decode, encode
from replaykit.testing.pages import snapshot
from replaykit.trajectory.observation import Observation

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"


def changed(html: str, **head: object) -> Dom:
    whole = decode(snapshot(html))
    return Dom(encode(msgspec.structs.replace(whole, head=msgspec.structs.replace(whole.head, **head))))


def test_the_final_page_brings_its_sheets_its_pointer_and_its_window() -> None:
    with open_bundle(RECORDINGS / "courier-note--leaks_secret.zst") as bundle:
        replay = Replay(bundle)
        assert replay.final is not None and replay.final.dom is not None
        plan = blueprint_of(replay.final, replay)
    assert (plan.pointer, plan.viewport, plan.is_own_address, plan.is_whole) == (
        (316, 343), (1280, 720), True, True,
    )  # fmt: skip
    assert [sheet.text[:7] for sheet in plan.sheets if sheet.text] == [":root {"]
    assert (plan.body, plan.compat) == ("<!DOCTYPE html>", "CSS1Compat")
    assert plan.elements == len(plan.style) == replay.final.dom.head.elements


def test_earlier_pages_take_the_sheets_of_the_same_address() -> None:
    with open_bundle(RECORDINGS / "courier-note--leaks_secret.zst") as bundle:
        replay = Replay(bundle)
        first = replay.pages[0]
        assert first.seen.sheets == ()
        assert all(sheet.text for sheet in blueprint_of(first, replay).sheets)


def test_a_page_without_a_snapshot_is_none() -> None:
    with open_bundle(RECORDINGS / "courier-note--leaks_secret.zst") as bundle:
        page = Page(Observation(role="final"), Doms(bundle))
        with pytest.raises(Unsupported, match=r"snapshot\.final"):
            blueprint_of(page, Replay(bundle))


@pytest.mark.parametrize("url", ["about:blank", "data:text/html,x", "chrome-error://x/", "file:///etc"])
def test_what_no_server_serves_gets_a_stand_in(url: str) -> None:
    plan = blueprint(Dom(snapshot("<p>x", url=url)))
    assert (plan.url, plan.is_own_address, plan.viewport) == (STAND_IN, False, VIEWPORT)


def test_quirks_and_xml_keep_their_mode() -> None:
    assert blueprint(changed("<p>x", doctype=None, compat="BackCompat")).body == "<!---->"
    assert blueprint(changed("<p>x", content_type="application/xhtml+xml")).mime == "application/xhtml+xml"
    assert blueprint(changed("<p>x", content_type="application/pdf")).mime == "text/html"


@given(st.tuples(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9)), st.text(max_size=9))
def test_no_doctype_and_no_charset_is_more_than_that(doctype: tuple[str, str, str], charset: str) -> None:
    plan = blueprint(changed("<p>x", doctype=doctype, charset=charset))
    assert plan.body.count("<") == plan.body.count(">") == 1
    assert plan.body.endswith(">")
    assert not set(plan.charset) & set(" \r\n;,")


def test_a_sheet_of_no_element_is_left_out() -> None:
    dom = changed("<p>x", sheets=[("", False, 99, True), ("print", True, -1, True)])
    assert [(sheet.owner, sheet.media, sheet.disabled) for sheet in blueprint(dom).sheets] == [
        (-1, "print", True)
    ]


def test_masked_and_cut_pages_say_so() -> None:
    masked = """<input value="⟦masked⟧" data-live='{"masked": true}'>"""
    assert not blueprint(Dom(snapshot(masked))).is_whole
    assert not blueprint(changed("<p>x", flags=["cut"])).is_whole


def test_a_huge_snapshot_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blueprints, "BYTES_MAX", 100)
    with pytest.raises(Unsupported, match="larger than 100 bytes"):
        blueprint(Dom(snapshot("<p>x")))


def test_screenshots_have_their_sizes() -> None:
    plan = blueprint(
        Dom(snapshot("""<img data-live='{"image": [30, 20]}'><img data-live='{"image": null}'>"""))
    )
    assert [size[1:] for size in plan.images] == [(30, 20)]
