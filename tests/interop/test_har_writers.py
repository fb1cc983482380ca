"""HAR files in the shapes of their writers: what one leaves out proves nothing, what it holds decides."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import Bundle
from replaykit.errors import MalformedSource
from replaykit.grading.grader import grade
from replaykit.interop.har.har_gaps import plain_url
from replaykit.interop.run_import import import_run
from replaykit.tasks.task import decode_task
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted
from tests.interop.conftest import Importing
from tests.interop.samples import write

PAY = "http://shop.test/pay"
JSON = "application/json"
WIRE = {"Host": "shop.test", "Content-Type": JSON}
BODY = '{"amount": 5, "note": "QX-7781"}'


def pairs(headers: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": str(value)} for name, value in headers.items()]


def sent(method: str = "POST", url: str = PAY, headers: Any = None, **rest: Any) -> Any:
    """Return an entry of a request, answered with 200."""
    named = WIRE if headers is None else headers
    request = {"method": method, "url": url, "httpVersion": "HTTP/1.1", "cookies": [], "queryString": []}
    request |= {
        "headers": pairs(named) if isinstance(named, dict) else named,
        "headersSize": -1,
        "bodySize": -1,
    }
    response = {"status": 200, "statusText": "OK", "headers": [], "redirectURL": "", "bodySize": 2}
    response |= {"content": {"size": 2, "mimeType": JSON, "text": "{}"}}
    entry = {"startedDateTime": "2026-03-02T09:00:01.000Z", "time": 1, "cache": {}, "timings": {}}
    return {**entry, "request": {**request, **rest}, "response": response}


def answered(one: Any, **response: Any) -> Any:
    return {**one, "response": {**one["response"], **response}}


def saved(folder: Path, *entries: Any, creator: str = "Playwright", **rest: Any) -> Path:
    log = {"version": "1.2", "creator": {"name": creator, "version": "1"}, "pages": [], **rest}
    return write(folder, "net.har", {"log": {**log, "entries": list(entries)}})


def only(bundle: Bundle) -> Exchange:
    (found,) = bundle.trajectory.of_type(Exchange)
    return found


def outcome(
    bundle: Bundle, *, method: str = "POST", url: str = PAY, forbids: bool = False, **rest: Any
) -> str:
    """Return the verdict of a check that a request was made, or was not."""
    expected = {"url": url, "http_method": method, **rest}
    check = {"type": "network", "expected": expected, "should_not_exist": forbids}
    result = grade(bundle, decode_task({"id": "t", "intent": "x", "checks": [check]}))
    return str(result.checks[0].outcome)


#: A body that was sent, and how a writer gives it without its text.
LEFT_OUT = {
    "Playwright, content omitted": {"bodySize": 32, "postData": {"mimeType": JSON, "text": "", "params": []}},
    "Playwright, minimal": {"postData": {"mimeType": JSON, "text": "", "params": []}},
    "Playwright, bytes without a type": {
        "bodySize": 9, "postData": {"mimeType": "application/octet-stream", "text": "", "params": []},
    },
    "Chrome, a body it could not read": {"bodySize": 0, "headers": pairs({**WIRE, "Content-Length": 32})},
    "Chrome, headers from before sending": {"bodySize": 0, "headers": pairs({"Content-Type": JSON})},
    "Chrome, HTTP/2": {"bodySize": 0, "headers": pairs({":authority": "shop.test", "content-length": 32})},
    "Firefox, the body not included": {
        "bodySize": 4, "headers": pairs({"Host": "shop.test", "Transfer-Encoding": "chunked"}),
        "postData": {"mimeType": JSON, "params": [], "text": '{"am', "comment": "not included"},
    },
    "Firefox, the end cut off": {
        "bodySize": 4, "headers": pairs({**WIRE, "Content-Length": 32}),
        "postData": {"mimeType": JSON, "params": [], "text": '{"am'},
    },
    "Safari, no size": {},
    "chrome-har, fields of JSON": {"postData": {"mimeType": JSON, "params": pairs({"amount": 5})}},
    "mitmproxy, a streamed body": {
        "bodySize": 0, "headers": pairs({**WIRE, "content-length": 32}),
        "postData": {"mimeType": JSON, "text": None, "params": []},
    },
    "a chunked upload": {"bodySize": 0, "headers": pairs({"Host": "x", "Transfer-Encoding": "chunked"})},
    "bytes given as text": {
        "bodySize": 6, "postData": {"mimeType": JSON, "text": '{"a": "\ufffd"}', "params": []},
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", LEFT_OUT)
def test_a_body_that_was_left_out_is_unknown(shape: str, tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", saved(tmp_path, sent(**LEFT_OUT[shape])))
    assert isinstance(only(bundle).post, Omitted)
    assert outcome(bundle, post_data={"amount": 5}) == "UNDECIDED"
    assert outcome(bundle, post_data={"amount": 5}, forbids=True) == "UNDECIDED"
    assert outcome(bundle) == "PASS"
    assert outcome(bundle, method="DELETE", forbids=True) == "PASS"


#: A request without a body, as writers give it.
EMPTY = {
    "Playwright, HTTP/1": {"bodySize": 0, "headers": pairs({"Host": "shop.test"})},
    "Playwright, HTTP/2": {"bodySize": 0, "headers": pairs({":authority": "x", "content-length": 0})},
    "Playwright, minimal": {"headers": pairs({"Host": "shop.test", "Content-Length": 0})},
    "mitmproxy": {
        "bodySize": 0, "headers": pairs({"content-length": 0}),
        "postData": {"mimeType": "", "text": "", "params": []},
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", EMPTY)
def test_a_request_without_a_body_stays_decided(shape: str, tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", saved(tmp_path, sent(**EMPTY[shape])))
    assert not isinstance(only(bundle).post, Omitted)
    assert outcome(bundle, post_data={"amount": 5}) == "FAIL"


#: A body that is there, as writers give it.
WHOLE = {
    "Chrome": {"bodySize": 32, "postData": {"mimeType": JSON, "text": BODY}},
    "Firefox, characters as size": {
        "bodySize": 10, "postData": {"mimeType": JSON, "text": '{"a": "é"}', "params": []},
    },
    "base64": {"bodySize": 2, "postData": {"mimeType": JSON, "text": "e30=", "encoding": "base64"}},
    "a form by its fields": {
        "bodySize": 99,
        "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "", "params": pairs({"a": 1})},
    },
    "unpacked by a proxy": {
        "bodySize": 60, "headers": pairs({**WIRE, "Content-Encoding": "gzip", "Content-Length": 60}),
        "postData": {"mimeType": JSON, "text": BODY},
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", WHOLE)
def test_a_body_that_is_there_decides(shape: str, tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", saved(tmp_path, sent(**WHOLE[shape])))
    found = only(bundle)
    assert isinstance(found.post, str) and found.post_size is None
    assert outcome(bundle, post_data={"amount": 6}) == "FAIL"


def test_fields_beside_a_file_are_read_and_the_file_is_not(tmp_path: Path, imported: Importing) -> None:
    text = (
        "--b\r\nContent-Disposition: form-data; name=amount\r\n\r\n5\r\n--b\r\n"
        + "\ufffd" * 9
        + "\r\n--b--\r\n"
    )
    data = {"mimeType": "multipart/form-data; boundary=b", "text": text, "params": []}
    bundle = imported("har", saved(tmp_path, sent(bodySize=len(text), postData=data)))
    found = only(bundle)
    assert isinstance(found.post, str) and (found.post_size or 0) > len(bundle.blob(found.post))


#: What a response's body is: without text or with less of it, and known to be empty.
RESPONSES = [
    ({"content": {"size": 9, "mimeType": JSON}}, "off"),
    ({"content": {"size": 0, "mimeType": JSON}, "headers": pairs({"Content-Length": 9})}, "off"),
    ({"content": {"size": 0, "mimeType": JSON, "text": ""}, "headers": pairs({"Content-Length": 9})}, "cap"),
    ({"content": {"size": 900, "mimeType": JSON, "text": '{"a": '}}, "cap"),
    (
        {
            "content": {"size": 0, "mimeType": JSON, "text": ""},
            "headers": pairs({"Transfer-Encoding": "chunked"}),
        },
        "off",
    ),
    ({"content": {"size": 0, "mimeType": JSON, "text": ""}}, ""),
    ({"content": {"size": 0, "mimeType": JSON}, "bodySize": 0}, None),
    ({"content": {"size": 5, "mimeType": JSON, "text": "{}"}}, ""),
]


@pytest.mark.parametrize(("response", "why"), RESPONSES)
def test_bodies_of_responses(response: Any, why: str | None, tmp_path: Path, imported: Importing) -> None:
    found = only(imported("har", saved(tmp_path, answered(sent(**WHOLE["Chrome"]), **response)))).body
    assert (found.why if isinstance(found, Omitted) else found if found is None else "") == why


def socket(**rest: Any) -> Any:
    one = answered(
        sent("GET", "wss://shop.test/chat", {}), status=101, content={"size": -1, "mimeType": "x-unknown"}
    )
    return {**one, "_resourceType": "websocket", **rest}


def test_messages_that_were_not_kept_are_unknown(tmp_path: Path, imported: Importing) -> None:
    found = only(imported("har", saved(tmp_path, socket())))
    assert isinstance(found.post, Omitted) and isinstance(found.body, Omitted)


def test_a_socket_that_never_opened_sent_none(tmp_path: Path, imported: Importing) -> None:
    one = answered(socket(), status=-1, _failureText="Error during WebSocket handshake")
    found = only(imported("har", saved(tmp_path, one)))
    assert found.post is None and found.sent_frames == 0


def test_a_socket_without_messages_sent_none(tmp_path: Path, imported: Importing) -> None:
    found = only(imported("har", saved(tmp_path, socket(_webSocketMessages=[]), creator="WebInspector")))
    assert found.post is None and found.sent_frames == 0


def test_messages_beside_the_file_are_read(tmp_path: Path, imported: Importing) -> None:
    one = socket()
    one["response"]["content"]["_file"] = "chat.jsonl"
    lines = [
        {"type": "send", "time": 1, "opcode": 1, "data": "QX-7781"},
        {"type": "receive", "opcode": 1, "data": "ok"},
    ]
    write(tmp_path, "chat.jsonl", "\n".join(map(json.dumps, lines)).encode())
    bundle = imported("har", saved(tmp_path, one))
    found = only(bundle)
    assert (found.sent_frames, found.messages) == (1, 1)
    assert isinstance(found.post, str) and b"QX-7781" in bundle.blob(found.post)


#: Files of which requests are missing, as they show it.
GAPS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "failed requests are dropped": ([sent("GET")], {"creator": "chrome-har"}),
    "failed and open ones are dropped": ([sent("GET")], {"creator": "WebKit Web Inspector"}),
    "open ones are dropped": ([sent("GET")], {"creator": "mitmproxy"}),
    "sessions that were not done are dropped": ([sent("GET")], {"creator": "Fiddler"}),
    "failed requests and preflights are dropped": ([sent("GET")], {"creator": "Selenium Wire HAR dump"}),
    "a filter kept a page out": (
        [sent("GET", "http://shop.test/a")],
        {"creator": "WebInspector", "pages": [
            {"id": "page_1", "title": "http://shop.test/a#top"}, {"id": "page_2", "title": "http://shop.test/b"},
        ]},
    ),
    "an entry names no host": ([sent("GET"), sent(url="/pay")], {}),
    "an entry names no scheme": ([sent("GET"), sent(url="localhost:8000/pay")], {}),
    "a redirect leads out of it, without its header": (
        [answered(sent("GET", "http://shop.test/a"), status=302, redirectURL="/done")], {},
    ),
    "earlier pages were cleared": ([sent("GET")], {"creator": "WebInspector", "pages": [{"id": "page_3"}]}),
    "it begins on a page": ([sent("GET", headers={"Referer": "http://shop.test/cart"})], {}),
    "it begins with a script of a page": (
        [{**sent("GET"), "_initiator": {"type": "script", "stack": {"callFrames": []}}}], {"creator": "WebInspector"},
    ),
    "it begins with what no person opens": ([sent("GET", headers={"Sec-Fetch-Dest": "empty"})], {"creator": "Firefox"}),
    "it holds what was saved": ([sent("GET")], {"creator": "Insomnia REST Client"}),
    "a redirect leads out of it": (
        [answered(sent("GET"), status=302, headers=pairs({"Location": "/done?x=1"}))], {},
    ),
    "a tunnel was passed on": ([sent("GET"), sent("CONNECT", "bank.test:443", {})], {"creator": "Charles Proxy"}),
}  # fmt: skip


@pytest.mark.parametrize("shape", GAPS)
def test_a_file_that_shows_a_gap_proves_no_absence(shape: str, tmp_path: Path, imported: Importing) -> None:
    entries, rest = GAPS[shape]
    bundle = imported("har", saved(tmp_path, *entries, **rest))
    assert bundle.trajectory.channel("network") == "partial"
    assert outcome(bundle, forbids=True) == "UNDECIDED"
    assert outcome(bundle) == "UNDECIDED"


#: Files that are whole, although something in them resembles a gap.
NO_GAPS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "the first page of a tab": ([sent("GET")], {"creator": "WebInspector", "pages": [{"id": "page_1"}]}),
    "a page after the first": (
        [sent("GET", "http://shop.test/"), sent("GET", headers={"Referer": "http://shop.test/"})], {},
    ),
    "a page before its script": (
        [
            {**sent("GET", "http://shop.test/", headers={"Sec-Fetch-Dest": "document"}), "_initiator": {"type": "other"}},
            {**sent("GET", headers={"Sec-Fetch-Dest": "empty"}), "_initiator": {"type": "script"}},
        ],
        {"creator": "WebInspector"},
    ),
    "a redirect that is followed": (
        [
            answered(sent("GET", "http://shop.test/a"), status=302, headers=pairs({"Location": "HTTP://SHOP.test:80/b%20c#x"})),
            sent("GET", "http://shop.test/b%20c"),
        ],
        {},
    ),
    "a redirect to another program": ([answered(sent("GET"), status=302, headers=pairs({"Location": "mailto:a@b.test"}))], {}),
    "a tunnel that was opened": ([sent("CONNECT", "shop.test:443", {}), sent("GET", "https://shop.test/")], {"creator": "Charles Proxy"}),
    "pages with their URLs, or with words": (
        [sent("GET", "http://shop.test/a%20b?x=1")],
        {"pages": [{"id": "1", "title": "http://SHOP.test:80/a b?x=1#top".replace(" ", "%20")}, {"id": "2", "title": "https:// is a scheme"},
                   {"id": "3", "title": ""}, {"id": "4"}, None]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", NO_GAPS)
def test_a_whole_file_stays_decided(shape: str, tmp_path: Path, imported: Importing) -> None:
    entries, rest = NO_GAPS[shape]
    bundle = imported("har", saved(tmp_path, *entries, **rest))
    assert bundle.trajectory.channel("network") == "recorded"
    assert outcome(bundle, forbids=True) == "PASS"


TWICE = [
    ('"status": 200', '"status": 200, "status": 500'),
    ('"method": "POST"', '"method" : "POST", "method" : "GET"'),
    ('"startedDateTime"', '"request": {"method": "GET", "url": "http://shop.test/"}, "startedDateTime"'),
    ('"entries"', '"entries": [], "entries"'),
    ('"size": 2', '"size": 2, "size": 2.0'),
    ('"status": 200', '"status": NaN, "status": 200'),
]


@pytest.mark.parametrize(("one", "two"), TWICE)
def test_a_key_with_two_values_is_refused(one: str, two: str, tmp_path: Path) -> None:
    file = saved(tmp_path, sent())
    text = file.read_text()
    assert one in text
    file.write_text(text.replace(one, two, 1))
    with pytest.raises(
        MalformedSource, match=r"is an object with the key '\w+' twice, and two values; expected"
    ):
        import_run("har", file, tmp_path / "run.zst")


SAME = [
    ('"status": 200', '"status": 200, "status": 200'),
    ('"text": "{}"', '"text": "{\\"a\\":1, \\"a\\" : 2}"'),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_a_key_with_one_value_decides(one: str, two: str, tmp_path: Path, imported: Importing) -> None:
    file = saved(tmp_path, sent())
    assert one in file.read_text()
    file.write_text(file.read_text().replace(one, two, 1))
    assert only(imported("har", file)).status == 200


def test_blanks_around_method_and_url_mean_nothing(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", saved(tmp_path, sent(" POST ", f" {PAY} ")))
    assert (only(bundle).method, only(bundle).url) == ("POST", PAY)


def test_entries_are_read_in_order_of_their_starts(tmp_path: Path, imported: Importing) -> None:
    late, early = sent(url=f"{PAY}/2"), sent(url=f"{PAY}/1")
    early["startedDateTime"] = "2026-03-02T10:00:00.999+01:00"
    found = imported("har", saved(tmp_path, late, early, creator="mitmproxy")).trajectory.of_type(Exchange)
    assert [(one.id, one.url[-1], one.t) for one in found] == [(0, "1", 0), (1, "2", 1)]


@pytest.mark.parametrize(
    "fields",
    [
        {"entry": {"_fromCache": "disk"}},
        {"entry": {"_fetchType": "Memory Cache"}},
        {"entry": {"cache": {"beforeRequest": {"lastAccess": "", "eTag": "", "hitCount": 0}}}},
        {"response": {"fromDiskCache": True}},
    ],
)
def test_what_a_cache_answered_is_marked(fields: Any, tmp_path: Path, imported: Importing) -> None:
    one = answered(sent("GET"), **fields.get("response", {}))
    assert only(imported("har", saved(tmp_path, {**one, **fields.get("entry", {})}))).from_cache


@pytest.mark.parametrize(
    "answered_by", [{"_fetchType": "Service Worker"}, {"_fetchedViaServiceWorker": True}]
)
def test_what_a_service_worker_answered_is_marked(
    answered_by: dict[str, Any], tmp_path: Path, imported: Importing
) -> None:
    one = sent("GET")
    (one["response"] if "_fetchedViaServiceWorker" in answered_by else one).update(answered_by)
    assert only(imported("har", saved(tmp_path, one))).from_worker


@pytest.mark.parametrize(
    ("elsewhere", "expected"), [({}, "UNDECIDED"), ({"Authorization": "Bearer x"}, "FAIL")]
)
def test_headers_that_chrome_takes_out_are_unknown(
    elsewhere: dict[str, str], expected: str, tmp_path: Path, imported: Importing
) -> None:
    other = sent("GET", "http://shop.test/", {"Host": "shop.test", **elsewhere})
    bundle = imported("har", saved(tmp_path, other, sent(**WHOLE["Chrome"]), creator="WebInspector"))
    assert outcome(bundle, headers={"Authorization": "Bearer y"}) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("net::ERR_NAME_NOT_RESOLVED", "FAIL"),
        ("net::ERR_BLOCKED_BY_CLIENT", "FAIL"),
        ("mixed-content", "FAIL"),
        ("net::ERR_FAILED", "UNDECIDED"),
        ("net::ERR_BLOCKED_BY_ORB", "UNDECIDED"),
        ("net::ERR_ABORTED", "UNDECIDED"),
        ("net::ERR_EMPTY_RESPONSE", "UNDECIDED"),
        ("NS_ERROR_NET_RESET", "UNDECIDED"),
        ("Load request cancelled", "UNDECIDED"),
        ("Client disconnected.", "UNDECIDED"),
        (None, "UNDECIDED"),
    ],
)
def test_a_request_that_broke_off_may_have_been_carried_out(
    error: str | None, expected: str, tmp_path: Path, imported: Importing
) -> None:
    one = answered(
        sent(bodySize=2, postData={"mimeType": JSON, "text": "{}"}), status=0, _error=error, content={}
    )
    bundle = imported("har", saved(tmp_path, one, creator="mitmproxy"))
    assert outcome(bundle, response_status=200) == expected


SECRETS = {
    "a form": sent(
        bodySize=-1, postData={"mimeType": "application/x-www-form-urlencoded", "text": "password=hunter22Secret"}
    ),
    "fields of a form": sent(
        postData={"mimeType": "application/x-www-form-urlencoded", "text": "", "params": pairs({"password": "hunter22Secret"})}
    ),
    "JSON": sent(postData={"mimeType": JSON, "text": '{"password": "hunter22Secret"}'}),
    "a cookie": sent("GET", headers={"Host": "x", "Cookie": "session=hunter22Secret"}),
    "a token": sent("GET", headers={"Host": "x", "X-Auth-Token": "hunter22Secret"}),
    "the list of cookies": sent("GET", cookies=pairs({"session": "hunter22Secret"})),
    "an address": sent("GET", f"{PAY}?access_token=hunter22Secret"),
    "a socket": socket(_webSocketMessages=[{"type": "send", "opcode": 1, "data": '{"password": "hunter22Secret"}'}]),
    "a response": answered(sent("GET"), content={"size": 34, "mimeType": JSON, "text": '{"access_token": "hunter22Secret"}'}),
}  # fmt: skip


@pytest.mark.parametrize("place", SECRETS)
def test_secrets_do_not_reach_the_bundle(place: str, tmp_path: Path, imported: Importing) -> None:
    bundle = imported("har", saved(tmp_path, SECRETS[place]))
    assert not [line for line in bundle.lines if b"hunter22Secret" in line]
    assert not [id for id in bundle.blob_ids if b"hunter22Secret" in bundle.blob(id)]


@given(st.text(max_size=60).filter(lambda text: "#" not in text))
def test_two_spellings_of_an_address_are_one(text: str) -> None:
    path = quote(text)
    assert plain_url(f"http://shop.test:80/{path}") == plain_url(f"HTTP://SHOP.test/{path}#end")
    assert plain_url(f"//[{text}")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "value", "text", "_file"]), inner),
    max_leaves=5,
)  # fmt: skip
FIELDS = ("method", "url", "headers", "bodySize", "postData", "status", "content", "redirectURL")


@given(st.dictionaries(st.sampled_from(FIELDS), JUNK), JUNK, JUNK)
def test_any_part_of_an_entry_is_read_or_left_out(parts: dict[str, Any], messages: Any, pages: Any) -> None:
    one = sent(**WHOLE["Chrome"])
    odd = {"request": {**one["request"], **parts}, "response": {**one["response"], **parts}}
    with tempfile.TemporaryDirectory() as folder:
        path = saved(Path(folder), one, {**one, **odd, "_webSocketMessages": messages}, pages=pages)
        import_run("har", path, Path(folder) / "x.zst")
