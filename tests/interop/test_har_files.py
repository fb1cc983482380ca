"""HAR files: public ones, everything that other tools leave out or get wrong, and the way back."""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import CannotExport, MalformedSource
from replaykit.interop.har.har_entries import moment, stamp
from replaykit.interop.har.har_files import har_of
from replaykit.interop.webarena_verified.output_folders import response_of
from replaykit.testing.builder import trajectory
from replaykit.trajectory.exchange import Exchange, Imported
from replaykit.trajectory.scalars import Omitted
from tests.interop.conftest import Importing
from tests.interop.samples import entry, har, log, webarena_verified, write


def exchanges(imported: Importing, path: Path) -> tuple[Exchange, ...]:
    return imported("har", path).trajectory.of_type(Exchange)


def test_an_entry_becomes_an_exchange(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", har(tmp_path))
    first, second = bundle.trajectory.of_type(Exchange)
    assert bundle.header.created == "2026-03-02T09:00:00.250Z" and bundle.header.clock == "source"
    assert (first.t, first.sent, first.received, first.ended) == (0, 3, 11, 12)
    assert (first.method, first.status, first.mime) == ("GET", 200, "text/html")
    assert isinstance(first.body, str) and bundle.blob(first.body) == b"hello"
    assert first.request_headers == (("Authorization", "⟦header⟧"),)
    assert second.status is None
    assert bundle.trajectory.channel("network") == "recorded"
    assert bundle.trajectory.channel("actions") == "absent" and bundle.trajectory.answer is None


def test_redirects_are_entries_of_their_own_and_joined(tmp_path: Path, imported: Importing) -> None:
    moved = entry("http://shop.test/old", 302)
    moved["response"]["redirectURL"] = "/new"
    found = exchanges(
        imported, har(tmp_path, moved, entry("http://shop.test/x"), entry("http://shop.test/new"))
    )
    assert [(one.redirect_from, one.redirect_to) for one in found] == [(None, 2), (None, None), (0, None)]


def body(**content: Any) -> dict[str, Any]:
    one = entry()
    one["response"]["content"] = content
    return one


@pytest.mark.parametrize(
    ("one", "status", "payload"),
    [
        (entry(status=0), None, b"hello"),
        (entry(status=None), None, b"hello"),
        (entry(status="200"), 200, b"hello"),
        (entry(status=200.0), 200, b"hello"),
        (entry(status=200.5), None, b"hello"),
        (entry(status="2OO"), None, b"hello"),
        (body(), 200, None),
        (body(text="aGk=", encoding="base64", mimeType="x/y"), 200, b"hi"),
        (body(text="!!", encoding="base64"), 200, None),
        (body(_file="missing.bin"), 200, None),
        (body(text="", size=-1), 200, b""),
        (entry(response=None), None, None),
        (entry(startedDateTime={}), 200, b"hello"),
        (entry(timings="x"), 200, b"hello"),
    ],
)
def test_what_tools_leave_out_is_absent(
    one: dict[str, Any], status: Any, payload: Any, tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("har", har(tmp_path, one))
    (found,) = bundle.trajectory.of_type(Exchange)
    assert found.status == status
    assert (bundle.blob(found.body) if isinstance(found.body, str) else None) == payload


def test_bodies_beside_the_file_and_inside_of_an_archive(tmp_path: Path, imported: Importing) -> None:
    one = body(_file="a.bin", mimeType="image/png")
    har(tmp_path, one)
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    with zipfile.ZipFile(tmp_path / "x.har.zip", "w") as archive:
        archive.writestr("har.har", json.dumps(log(one)))
        archive.writestr("a.bin", b"\0\1")
    for path in (tmp_path / "net.har", tmp_path / "x.har.zip"):
        bundle = imported("har", path)
        (found,) = bundle.trajectory.of_type(Exchange)
        assert isinstance(found.body, str) and bundle.blob(found.body) == b"\0\1"


def test_a_body_out_of_the_folder_is_not_read(tmp_path: Path, imported: Importing) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (found,) = exchanges(imported, har(tmp_path / "in", body(_file="../secret")))
    assert found.body == Omitted(why="failed")


def test_a_bad_entry_is_passed_over_and_the_channel_partial(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", har(tmp_path, entry(), 5, {"request": {"method": 1}}, None))
    assert len(bundle.trajectory.of_type(Exchange)) == 1
    assert bundle.trajectory.channel("network") == "partial"


def test_web_sockets_are_counted(tmp_path: Path, imported: Importing) -> None:
    messages = [{"type": "send"}, {"type": "receive"}, {"type": "receive"}]
    (found,) = exchanges(imported, har(tmp_path, entry("ws://x.test/", 101, _webSocketMessages=messages)))
    assert (found.resource, found.messages, found.sent_frames) == ("websocket", 2, 1)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path, imported: Importing) -> None:
    path = write(tmp_path, "net.har", b"\xef\xbb\xbf" + json.dumps(log(entry())).encode())
    assert len(exchanges(imported, path)) == 1


@pytest.mark.parametrize("content", [{}, [], {"log": 1}, {"log": {"entries": {}}}, "x", {"log": {}}])
def test_without_a_list_of_entries_it_is_no_har(content: Any, tmp_path: Path, imported: Importing) -> None:
    with pytest.raises(MalformedSource):
        imported("har", write(tmp_path, "net.har", content))


def test_the_way_back_gives_the_same_exchanges(tmp_path: Path, imported: Importing) -> None:
    post = entry("http://shop.test/form", 204)
    post["request"] |= {"method": "POST", "postData": {"mimeType": "application/json", "text": '{"a": 1}'}}
    post["request"]["headers"] = [{"name": "Content-Type", "value": "application/json"}]
    moved = entry("http://shop.test/old", 302, serverIPAddress="::1", _serverPort=80)
    moved["response"]["redirectURL"] = "/form"
    binary = body(text=base64.b64encode(b"\xff\0").decode(), encoding="base64", mimeType="image/png")
    first = imported("har", har(tmp_path, moved, post, binary, entry(status=-1)))
    (tmp_path / "again").mkdir()
    (tmp_path / "again/net.har").write_bytes(har_of(first))
    second = imported("har", tmp_path / "again/net.har")
    assert second.trajectory.of_type(Exchange) == first.trajectory.of_type(Exchange)
    assert {id: second.blob(id) for id in second.blob_ids} == {id: first.blob(id) for id in first.blob_ids}
    assert har_of(second) == har_of(first)


@given(st.datetimes(), st.integers(-14, 14))
def test_times_survive(found: Any, hours: int) -> None:
    from datetime import timedelta, timezone

    aware = found.replace(tzinfo=timezone(timedelta(hours=hours)))
    read = moment(aware.isoformat())
    if read is not None:
        assert moment(stamp(read)) == read.replace(microsecond=read.microsecond // 1000 * 1000)


@pytest.mark.parametrize(("name", "count"), [("har-fulfill", 5), ("har-redirect", 3)])
def test_public_files(
    name: str, count: int, public: Callable[[str], Path], imported: Importing, tmp_path: Path
) -> None:
    bundle = imported("har", public(f"har/{name}.har"))
    found = bundle.trajectory.of_type(Exchange)
    assert len(found) == count
    (tmp_path / "x.har").write_bytes(har_of(bundle))
    again = imported("har", tmp_path / "x.har").trajectory.of_type(Exchange)
    assert [(one.url, one.status, one.body) for one in again] == [
        (one.url, one.status, one.body) for one in found
    ]
    if name == "har-redirect":
        assert [one.redirect_to for one in found] == [1, 2, None]


def test_an_output_folder_of_webarena_verified(tmp_path: Path, imported: Importing) -> None:
    path = webarena_verified(tmp_path)
    run = imported("webarena-verified", path).trajectory
    assert run.answer == (path / "agent_response.json").read_text()
    (result,) = run.of_type(Imported)
    assert (result.kind, result.value) == ("outcome", {"task_id": 107, "score": 0.0})
    assert run.channel("network") == "recorded" and run.channel("actions") == "absent"


def test_the_public_run_of_webarena_verified(public: Callable[[str], Path], imported: Importing) -> None:
    run = imported("webarena-verified", public("har/webarena-verified-107")).trajectory
    assert len(run.of_type(Exchange)) == 359
    assert json.loads(run.answer or "")["task_type"] == "NAVIGATE"


def test_an_answer_of_another_shape_is_not_guessed_into_a_response(tmp_path: Path) -> None:
    from replaykit.bundle.reader import open_bundle

    said = json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [1]})
    for text in (said, said.replace("task_type", "performed_operation")):
        with open_bundle(trajectory().answer(text).write(tmp_path / f"{len(text)}.zst")) as bundle:
            assert json.loads(response_of(bundle)) == json.loads(text)
    with open_bundle(trajectory().answer("42").write(tmp_path / "b.zst")) as bundle:
        with pytest.raises(CannotExport, match="not a JSON object"):
            response_of(bundle)
        response = json.loads(response_of(bundle, "RETRIEVE", "SUCCESS"))
        assert response["retrieved_data"] == ["42"] and response["task_type"] == "RETRIEVE"
