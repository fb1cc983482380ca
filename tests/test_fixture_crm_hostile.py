"""Nothing that anybody sends to the CRM crashes it, leads away or gets in."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.sites.crm.server import Site, serve
from tests.site_client import Client


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def client(site: Site) -> Client:
    return Client(site.url)


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/nowhere", "GET", 404),
        ("/contacts/P-99", "GET", 404),
        ("/contacts/..%2f..%2fserver.py", "GET", 404),
        ("/static/server.py", "GET", 404),
        ("/static/..%2fserver.py", "GET", 404),
        ("/contacts/%0d%0aX-Evil:%201", "GET", 404),
        ("/contacts/%ff%fe", "GET", 404),
        ("/contacts/%00", "GET", 404),
        ("/contacts/" + "a" * 9000, "GET", 404),
        ("/deals/" + quote("'; DROP TABLE deals"), "GET", 404),
        ("/mail/" + "9" * 6000, "GET", 404),
        ("/contacts?page=" + "9" * 6000, "GET", 200),
        ("/contacts?" + "&".join(f"a{n}=1" for n in range(500)), "GET", 200),
        ("/api/state", "DELETE", 405),
        ("/contacts/P-01", "PUT", 405),
        ("/contacts/P-01", "OPTIONS", 405),
    ],
)
def test_a_missing_page_gives_its_status(client: Client, path: str, method: str, status: int) -> None:
    found, _, headers = client.ask(path, method=method)
    assert found == status
    assert headers["X-Evil"] is None


def test_head_has_no_body(client: Client) -> None:
    status, text, headers = client.ask("/contacts", method="HEAD")
    assert (status, text) == (200, "")
    assert int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize(
    "cookie", ["session=", "session=evil", "session=a;b=c;;=", '"; x', "session=n\xf6ra"]
)
def test_cookie_of_no_account_signs_no_one_in(client: Client, cookie: str) -> None:
    client.cookie = cookie.encode().decode("latin-1")
    status, text, _ = client.ask("/contacts")
    assert status in (200, 303)
    assert ("of 24 contacts" in text) == (status == 200)


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "0x10", "²", "9" * 40])
def test_length_that_is_no_number_is_refused(site: Site, length: str) -> None:
    assert raw(site, f"POST /contacts/new HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n") == 400


def test_body_that_is_too_large_is_refused_unread(site: Site) -> None:
    assert raw(site, "POST /import HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n") == 413


@pytest.mark.parametrize("target", ["*", "http://[", "http://x", "//", "/?=&=&%", "/%", "contacts"])
def test_odd_targets_are_answered(site: Site, target: str) -> None:
    assert raw(site, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n") in (200, 404)


def raw(site: Site, request: str) -> int:
    port = urlsplit(site.url).port
    assert port is not None
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request.encode("latin-1", "replace"))
        line = connection.makefile("rb").readline()
    return int(line.split()[1])


POSTS = (
    "/contacts/new",
    "/contacts/P-01/edit",
    "/contacts/P-01/merge",
    "/contacts/P-01/consent",
    "/contacts/P-01/files",
    "/import",
    "/mail/preview",
    "/mail/send",
    "/login",
    "/api/contacts/P-01/activity",
)
TYPES = st.sampled_from(
    [
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/form-data; boundary=b",
        "multipart/form-data; boundary*0=b; charset=nowhere",
        "",
    ]
)
BODIES = st.binary(max_size=300) | st.sampled_from(
    [
        b"[" * 100_000,
        b'{"name": ["a"], "email": {"b": null}}',
        b"&".join(b"a=1" for _ in range(5000)),
        b"--b\r\n" * 5000,
        b'--b\r\nContent-Disposition: form-data; name="sheet"; filename="\\..\\\x00a"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n!!!\r\n--b--",
        b"--b\r\nContent-Disposition: form-data; name*=nowhere''x; filename=\"a\"\r\n\r\nx\r\n--b--",
        b"name=%ff%00&email=a@b&subject=\xf0\x9f&body=x&to=P-01",
    ]
)


@given(path=st.sampled_from(POSTS), content_type=TYPES, body=BODIES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_body_is_answered(site: Site, path: str, content_type: str, body: bytes) -> None:
    headers = {"Content-Type": content_type}
    status, _, _ = Client(site.url).ask(path, body, "POST", headers)
    assert status in (200, 201, 303, 403, 404, 422), status
    assert Client(site.url).page("/contacts")
