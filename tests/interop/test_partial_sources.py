"""Sources of which a part is elsewhere, in another encoding, or never was: each is named, with what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import MalformedSource, UnknownLayout, WideSource
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.unreadable.partial_exports import partial_export
from replaykit.interop.unreadable.wide_text import is_wide
from tests.interop.samples import har, log, rr_page, write

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(("format", "name"), [("har", "b.har"), ("rrweb", "b.json"), ("auto", "b.har")])
def test_a_pointer_beside_a_run_is_named(format: str, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    har(folder) if name.endswith(".har") else write(folder, "stream.json", rr_page())
    write(folder, name, POINTER)
    write(folder, "film.mp4", POINTER)
    done = import_runs(format, [folder], tmp_path / "out")
    assert sorted(one.state for one in done) == ["failed", "imported"]
    (error,) = [str(one.error) for one in done if one.error is not None]
    assert name in error and "git lfs pull" in error


def test_without_a_pointer_nothing_fails(tmp_path: Path) -> None:
    har(tmp_path / "in")
    write(tmp_path / "in", "notes.txt", b"none")
    assert [one.state for one in import_runs("har", [tmp_path / "in"], tmp_path / "out")] == ["imported"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("format", "name", "text"),
    [
        ("har", "net.har", json.dumps(log())),
        ("rrweb", "r.json", json.dumps(rr_page())),
        ("run-jsonl", "run.jsonl", '{"t": "user", "text": "x"}\n'),
        ("table", "t.csv", "run,action\n1,click\n"),
    ],
)
def test_a_file_in_utf_16_is_refused_with_the_way_to_convert_it(
    format: str, name: str, text: str, encoding: str, tmp_path: Path
) -> None:
    path = write(tmp_path, name, text.encode(encoding))
    with pytest.raises((WideSource, UnknownLayout)) as refused:
        import_run(format, path, tmp_path / "x.zst")
    assert "UTF-16" in str(refused.value) and "iconv" in f"{refused.value} {refused.value.hint}"


@given(st.text(st.characters(codec="ascii", min_codepoint=1), min_size=2))
def test_text_in_utf_8_is_not_wide_and_text_in_utf_16_is(text: str) -> None:
    assert not is_wide(text.encode())
    assert all(is_wide(text.encode(name)) for name in ("utf-16", "utf-16-le", "utf-16-be"))


@pytest.mark.parametrize(
    ("plain", "call"),
    [
        ([{"click": {"index": 1}, "interacted_element": None}], "model_actions()"),
        ([[], [{"click": {"index": 1}, "interacted_element": None, "result": None}]], "action_history()"),
    ],
)
def test_a_list_of_what_a_model_asked_for_is_refused_with_what_to_give(
    plain: Any, call: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "actions.json", plain)
    for format in ("auto", "browser-use"):
        with pytest.raises(UnknownLayout) as refused:
            import_run(format, path, tmp_path / "x.zst")
        assert call in str(refused.value) and "save_to_file" in str(refused.value)


@pytest.mark.parametrize("plain", [[], {}, None, [1], [[]], [{"click": 1}], [[{"click": 1}]]])
def test_other_json_is_no_part_of_a_run(plain: Any) -> None:
    assert partial_export(plain) is None


def test_a_har_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    whole = json.dumps(log()).encode()
    with pytest.raises(MalformedSource, match=r"net\.har"):
        import_run("har", write(tmp_path, "net.har", whole[:-9]), tmp_path / "x.zst")
