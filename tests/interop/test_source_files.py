"""Sources: bounded, inside of their root, archives without extraction."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import MalformedSource, SourceLimitExceeded, UnsafeSource
from replaykit.interop.source_files import Archive, Folder, SourceLimits, numbered
from replaykit.interop.untrusted_json import JsonFault, decode_json

LIMITS = SourceLimits(members=20, member=1000, source=2000, line=100)


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = archive(tmp_path / "bomb.zip", bomb=b"\0" * 10_000_000)
    source = Archive("x", bomb, LIMITS)
    with pytest.raises(SourceLimitExceeded, match="bomb is 10000000 bytes; expected at most 1000"):
        source.read("bomb")
    source.close()


def test_a_bomb_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "x.zip", bomb=b"\0" * 100_000).read_bytes())
    directory = data.rfind(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (500).to_bytes(4, "little")
    (tmp_path / "x.zip").write_bytes(data)
    source = Archive("x", tmp_path / "x.zip", LIMITS)
    with pytest.raises((MalformedSource, SourceLimitExceeded)):
        source.read("bomb")
    source.close()


def test_many_small_members_are_too_much_together(tmp_path: Path) -> None:
    file = archive(tmp_path / "x.zip", **{f"m{number}": bytes([number]) * 900 for number in range(5)})
    source = Archive("x", file, LIMITS)
    with pytest.raises(SourceLimitExceeded, match="expected at most 2000"):
        for name in source.names():
            source.read(name)
    source.close()


def test_too_many_members(tmp_path: Path) -> None:
    file = archive(tmp_path / "x.zip", **{f"m{number}": b"" for number in range(30)})
    with pytest.raises(SourceLimitExceeded, match="30 members; expected at most 20"):
        Archive("x", file, LIMITS)


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06", b"hello", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(MalformedSource):
        Archive("x", tmp_path / "x.zip", LIMITS)


def test_an_encrypted_or_odd_member(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("a", b"x" * 50)
    source = Archive("x", tmp_path / "x.zip", LIMITS)
    with pytest.raises(MalformedSource, match="compressed by method 12"):
        source.read("a")
    source.close()


def test_names_that_climb_out_are_only_names(tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as writer:
        writer.writestr("../../evil", b"x")
    source = Archive("x", file, LIMITS)
    assert source.read("../../evil") == b"x"
    source.close()
    assert not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", "a\0b"])
def test_a_folder_is_not_left(name: str, tmp_path: Path) -> None:
    folder = Folder("x", tmp_path, LIMITS)
    assert name not in folder
    with pytest.raises(UnsafeSource, match="a path out of the source"):
        folder.read(name)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MalformedSource, match="no regular file"):
        Folder("x", tmp_path, LIMITS).read("pipe")


def test_a_line_has_a_limit(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"1\n\n" + b"2" * 200)
    lines = Folder("x", tmp_path, LIMITS).lines("x.jsonl")
    assert next(lines) == (1, 1)
    with pytest.raises(SourceLimitExceeded, match=r"x\.jsonl line 3 is 200 bytes"):
        next(lines)


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=20))  # fmt: skip
def test_json_is_read_as_it_is(value: Any) -> None:
    assert decode_json(json.dumps(value).encode()) == value
    assert decode_json(b"\xef\xbb\xbf" + json.dumps(value).encode()) == value


@given(st.binary())
def test_any_bytes_are_a_value_or_a_fault(data: bytes) -> None:
    try:
        decode_json(data)
    except JsonFault as error:
        assert str(error) and error.expected


def test_nesting_is_bounded() -> None:
    assert decode_json(b"[" * 400 + b"]" * 400)
    for depth in (401, 100_000):
        with pytest.raises(JsonFault):
            decode_json(b"[" * depth + b"]" * depth)
    assert decode_json(b'{"a": NaN}') == {"a": None}
    assert decode_json(b'{"a": ' + b"9" * 5000 + b', "b": 1}') == {"a": "9" * 5000, "b": 1}


def test_numbers_and_texts_that_no_file_can_hold() -> None:
    assert decode_json(b"[1e999, -1e999, Infinity, 1e-999]") == [None, None, None, 0.0]
    assert decode_json(b'{"\\ud800": "a\\udc00b \\ud83d\\ude00 NaN"}') == {
        "\ufffd": "a\ufffdb \U0001f600 NaN"
    }


@pytest.mark.parametrize(
    ("data", "found", "expected"),
    [
        ('{"a": 1}'.encode("utf-16"), "in UTF-16", "JSON in UTF-8"),
        (b"\xff{}", "not UTF-8", "JSON in UTF-8"),
        (b" \n", "empty", "JSON"),
        (b'{"a": 1', "not JSON (Expecting ',' delimiter: line 1 column 8 (char 7))", "JSON"),
    ],
)
def test_what_is_no_json_is_named(data: bytes, found: str, expected: str) -> None:
    with pytest.raises(JsonFault) as fault:
        decode_json(data)
    assert (str(fault.value), fault.value.expected) == (found, expected)


def test_a_value_of_too_many_parts_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replaykit.interop.untrusted_json.CONTAINERS_MAX", 10)
    assert decode_json(b"[" + b"{}," * 8 + b"{}]") == [{}] * 9
    with pytest.raises(JsonFault, match="more objects and lists than can be kept"):
        decode_json(b"[" + b"{}," * 9 + b"{}]")


@given(st.text(st.characters(categories=["Cs", "Ll"])))
def test_any_text_of_python_can_be_kept(text: str) -> None:
    decode_json(json.dumps([text]).encode())[0].encode("utf-8")


def test_a_link_to_itself_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    source = Folder("x", tmp_path, LIMITS)
    assert source.names() == ["a"] and "a" not in source
    with pytest.raises(MalformedSource, match="a is unreadable"):
        source.read("a")


@pytest.mark.parametrize("name", ["y" * 70_000, "a\ud800", "a/" * 3000])
def test_a_name_that_no_file_system_takes_is_not_there(name: str, tmp_path: Path) -> None:
    assert name not in Folder("x", tmp_path, LIMITS)


def test_lines_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n" * 9)
    assert len(list(Folder("x", tmp_path, SourceLimits(lines=9)).lines("a"))) == 9
    with pytest.raises(SourceLimitExceeded, match="a is 9 lines; expected at most 8"):
        list(Folder("x", tmp_path, SourceLimits(lines=8)).lines("a"))


def test_numbers_in_names() -> None:
    assert [numbered(name) for name in ("a/step_012.png", "3x4.png", "x.png", "7")] == [12, 3, -1, 7]


BLANKS = st.sampled_from(["", " ", "\t", "\n", " \r\n"])


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"b" :2,"b":3}',
        '{"a" : 1, "a":2}',
        '{"a\\\\":1,"b":1,"b":2}',
        '{"":[{"b":{"\\u0062":1,"b":2}}]}',
        '{"a": NaN, "b": 1, "b": 2}',
    ],
)
def test_a_repeated_key_is_seen_in_every_notation(text: str) -> None:
    with pytest.raises(JsonFault, match="twice, and two values"):
        decode_json(text.encode())


@given(st.dictionaries(st.text(), st.text(), min_size=1), st.data())
def test_blanks_hide_no_repeated_key(fields: dict[str, str], data: st.DataObject) -> None:
    rows = [*fields.items(), data.draw(st.sampled_from(sorted(fields.items())))]
    text = ",".join(f"{json.dumps(key)}{data.draw(BLANKS)}:{json.dumps(value)}" for key, value in rows)
    assert decode_json(f"{{{text}}}".encode()) == fields
    with pytest.raises(JsonFault, match="twice, and two values"):
        decode_json(f"{{{text}, {json.dumps(rows[-1][0])} : 1}}".encode())
