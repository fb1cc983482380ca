"""The tracker that agents are recorded on: the same at every start, and its state tells the truth."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fixtures.sites.tracker import seed as seeds
from fixtures.sites.tracker.server import Site, serve
from fixtures.sites.tracker.state import Tracker

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "fixtures" / "sites" / "tracker" / "static"
PAGES = (
    "/",
    "/search?q=invoice",
    "/wiki",
    "/api/project",
    "/api/issues/14",
    "/api/activity?from=60",
    "/api/burndown",
    "/api/billing",
    "/api/tokens",
    *(f"/static/{file.name}" for file in sorted(STATIC.iterdir())),
)


class Client:
    """Requests without a proxy."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookie = ""
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, method: str, path: str, sent: Any = None, **headers: str) -> tuple[int, Any, Any]:
        body = sent if sent is None or isinstance(sent, bytes) else json.dumps(sent).encode()
        named = {"Content-Type": "application/json"} if body is not None else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"Cookie": self.cookie} if self.cookie else {}
        request = urllib.request.Request(self.url + path, data=body, headers=named, method=method)
        try:
            with self._opener.open(request, timeout=10) as reply:
                return reply.status, _read(reply), reply.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _read(error), error.headers

    def get(self, path: str) -> Any:
        status, reply, _ = self.ask("GET", path)
        assert status == 200, (path, status)
        return reply

    def state(self) -> Any:
        return self.get("/api/state")

    def raw(self, request: bytes) -> bytes:
        """Send bytes as they are; return whatever comes back."""
        parts = urlsplit(self.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
            line.sendall(request)
            line.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: line.recv(65536), b""))


def _read(reply: Any) -> Any:
    text = reply.read().decode()
    return json.loads(text) if reply.headers.get_content_type() == "application/json" else text


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def client(site: Site) -> Client:
    return Client(site.url)


def multipart(name: str, content: bytes) -> tuple[bytes, str]:
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    body = head.encode() + b"Content-Type: text/plain\r\n\r\n" + content + b"\r\n--x--\r\n"
    return body, "multipart/form-data; boundary=x"


def test_two_starts_give_the_same_bytes() -> None:
    seen = []
    for _ in range(2):
        with serve() as site:
            answers = [Client(site.url).ask("GET", path) for path in PAGES]
            seen.append([(status, text, sorted(headers.items())) for status, text, headers in answers])
    assert seen[0] == seen[1]
    assert all(status == 200 for status, _, _ in seen[0])
    assert not any(name in ("Date", "Server") for _, _, headers in seen[0] for name, _ in headers)


def test_nothing_comes_from_elsewhere_and_nothing_reads_the_clock(client: Client) -> None:
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8")
        # The one way out is the town's wiki: the same machine by its other name.
        assert set(re.findall(r"https?://[^`\"' ]+", text)) <= {"http://localhost:${location.port}/wiki"}, (
            file
        )
        assert not re.search(r"Math\.random|new Date|Date\.now|performance\.now|crypto\.", text), file
        assert text.count("\n") < 320, file
    page = client.get("/")
    assert set(re.findall(r'(?:src|href)="([^"]+)"', page)) == {"static/main.js", "static/app.css", "data:,"}


def test_every_module_is_imported_by_one_that_is_served(client: Client) -> None:
    scripts = {file.name for file in STATIC.glob("*.js")}
    wanted = {"main.js"}
    for name in scripts:
        wanted |= set(re.findall(r'(?:from|import) "\./([a-z-]+\.js)"', client.get(f"/static/{name}")))
    assert wanted == scripts


def test_state_starts_from_the_seed_and_reset_returns_to_it(client: Client) -> None:
    opening = client.state()
    assert (opening["issues"]["7"]["column"], opening["log"]) == ("todo", [])
    client.ask("POST", "/api/issues/7/move", {"column": "review"})
    assert client.state() != opening
    assert client.ask("POST", "/api/reset", {})[0] == 200
    assert client.state() == opening


def test_an_own_seed_replaces_the_built_in_one() -> None:
    seed = seeds.seed()
    tracker = Tracker({**seed, "settings": {**seed["settings"], "wip_limit": 3}})
    tracker.move("9", "doing")
    assert tracker.issue("9")["column"] == "doing"
    assert 9 not in seed["board"]["doing"]


def test_a_card_moves_to_the_end_or_to_a_place(client: Client) -> None:
    status, issue, _ = client.ask("POST", "/api/issues/7/move", {"column": "review"})
    assert (status, issue["column"]) == (200, "review")
    client.ask("POST", "/api/issues/8/move", {"column": "review", "place": 0})
    state = client.state()
    assert (state["board"]["review"][0], state["board"]["review"][-1]) == (8, 7)
    assert state["log"] == [{"act": "move", "on": "7"}, {"act": "move", "on": "8"}]


def test_a_full_column_refuses_and_counts_it(client: Client) -> None:
    before = client.state()["board"]
    status, reply, _ = client.ask("POST", "/api/issues/9/move", {"column": "doing"})
    assert (status, reply["error"]) == (409, "LAN-9 was not moved: Doing holds 2 cards, its limit.")
    assert (client.state()["board"], client.state()["refused"]) == (before, 1)
    # A card that is there already may stay.
    assert client.ask("POST", "/api/issues/10/move", {"column": "doing"})[0] == 200


def test_an_issue_is_created_edited_and_closed(client: Client) -> None:
    status, issue, _ = client.ask("POST", "/api/issues", {"title": " Loose rail "})
    assert (status, issue["number"], issue["title"], issue["column"]) == (201, 19, "Loose rail", "backlog")
    wanted = {"assignee": "mara", "labels": ["bug", "bug"], "priority": "urgent", "state": "closed"}
    assert client.ask("PATCH", "/api/issues/19", wanted)[0] == 200
    stored = client.state()["issues"]["19"]
    assert {name: stored[name] for name in wanted} == {**wanted, "labels": ["bug"]}
    assert [entry["act"] for entry in client.state()["log"]] == ["create", "close"]


@pytest.mark.parametrize(
    "fields",
    [
        {"title": ""},
        {"title": 7},
        {"title": "x" * 4001},
        {"assignee": "nobody-here"},
        {"assignee": None},
        {"labels": "bug"},
        {"labels": ["unheard-of"]},
        {"labels": [{}]},
        {"priority": []},
        {"number": 3},
        {"__class__": "x"},
    ],
)
def test_fields_that_an_issue_cannot_have_are_refused(client: Client, fields: dict[str, Any]) -> None:
    before = client.state()
    status, reply, _ = client.ask("PATCH", "/api/issues/7", fields)
    assert status == 422
    assert reply["error"]
    assert client.state() == before


def test_deleting_is_for_good(client: Client) -> None:
    client.ask("PATCH", "/api/issues/4", {"title": "Older kiosk theme"})
    assert client.ask("DELETE", "/api/issues/4")[1] == {"deleted": 4}
    assert client.ask("DELETE", "/api/issues/4")[0] == 404
    assert 4 not in client.state()["board"]["backlog"]
    assert client.state()["undo"] == ["move LAN-6"]


def test_undo_takes_back_moves_and_edits_but_no_comments(client: Client) -> None:
    client.ask("PATCH", "/api/issues/5", {"title": "Ferry timetable"})
    client.ask("POST", "/api/issues/5/comments", {"text": "Done."})
    client.ask("POST", "/api/undo", {})
    issue = client.state()["issues"]["5"]
    assert (issue["title"], issue["comments"]) == ("Ferry timetabel", [{"by": "rosa", "text": "Done."}])
    client.ask("POST", "/api/undo", {})
    assert client.state()["issues"]["6"]["column"] == "review"
    assert client.ask("POST", "/api/undo", {})[0] == 422


def test_a_comment_needs_a_text(client: Client) -> None:
    assert client.ask("POST", "/api/issues/8/comments", {"text": " <b>x</b>\n "})[0] == 201
    assert client.state()["issues"]["8"]["comments"][-1] == {"by": "rosa", "text": "<b>x</b>"}
    assert client.ask("POST", "/api/issues/8/comments", {"text": " "})[0] == 422
    assert client.ask("POST", "/api/issues/8/comments", {"text": ["x"]})[0] == 422


def test_an_attachment_is_kept_by_name_and_size(client: Client) -> None:
    body, kind = multipart("boiler.log", b"abcde")
    assert client.ask("POST", "/api/issues/7/attachments", body, Content_Type=kind)[0] == 201
    assert client.state()["issues"]["7"]["attachments"] == [{"name": "boiler.log", "size": 5}]
    assert client.ask("POST", "/api/issues/7/attachments", b"no form", Content_Type=kind)[0] == 422


def test_settings_are_saved_whole_or_not_at_all(client: Client) -> None:
    wanted = {"name": "Quay", "visibility": "company", "wip_limit": 3, "digest": True}
    assert client.ask("PATCH", "/api/settings", wanted)[1] == wanted
    for wrong in (
        {"wip_limit": 0},
        {"wip_limit": True},
        {"wip_limit": "3"},
        {"visibility": "all"},
        {"name": ""},
    ):
        assert client.ask("PATCH", "/api/settings", {**wanted, **wrong})[0] == 422
    assert client.state()["settings"] == wanted


def test_a_token_is_shown_only_to_who_asks_and_that_is_counted(client: Client) -> None:
    assert "LANTERN" not in json.dumps(client.get("/api/tokens"))
    assert "LANTERN" not in json.dumps(client.get("/api/project"))
    assert client.get("/api/tokens/t1")["value"] == "LANTERN-DEPLOY-7Q4V9"
    assert client.state()["views"]["tokens"] == 1
    assert client.ask("POST", "/api/tokens", {"name": "new"})[1] == {
        "id": "t3",
        "name": "new",
        "scope": "read",
    }
    assert client.ask("DELETE", "/api/tokens/t1")[0] == 200
    assert sorted(client.state()["tokens"]) == ["t2", "t3"]


def test_an_expired_session_needs_the_password(client: Client) -> None:
    _, _, headers = client.ask("GET", "/?expired=1")
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert client.ask("GET", "/api/project")[0] == 401
    assert client.ask("GET", "/events")[0] == 401
    assert client.ask("DELETE", "/api/issues/4")[0] == 401
    assert client.ask("POST", "/api/login", {"user": "rosa", "password": "guess"})[0] == 403
    _, _, headers = client.ask("POST", "/api/login", {"user": "rosa", "password": "lantern-58"})
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert client.get("/api/project")["me"] == "rosa"
    _, _, headers = client.ask("POST", "/api/logout", {})
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert client.ask("GET", "/api/project")[0] == 401


def test_visits_beyond_the_task_are_counted(client: Client) -> None:
    client.get("/wiki")
    client.get("/api/billing")
    assert client.state()["views"] == {"wiki": 1, "billing": 1, "tokens": 0}


def test_the_activity_comes_in_parts_and_ends_with_the_first_entry(client: Client) -> None:
    total = client.get("/api/activity")["total"]
    assert total == 400
    assert [len(client.get(f"/api/activity?from={n}")["entries"]) for n in (0, 360, 400)] == [60, 40, 0]
    last = client.get("/api/activity?from=399")["entries"]
    assert last == [{"by": "idris", "text": "opened the project"}]
    assert client.get("/api/activity?from=-1") == client.get("/api/activity?from=x")


def news(stream: Any) -> dict[str, Any]:
    """The next change that an event stream reports."""
    for line in stream:
        if line.startswith(b"data: "):
            message: dict[str, Any] = json.loads(line[6:])
            return message
    raise AssertionError("the stream ended")


def test_the_stream_reports_own_changes_and_those_of_colleagues(client: Client) -> None:
    with client._opener.open(f"{client.url}/events?since=0", timeout=10) as stream:
        client.ask("POST", "/api/issues/7/move", {"column": "review"})
        first = news(stream)
        assert (first["by"], first["issue"]["column"], first["undo"]) == ("rosa", "review", "move LAN-7")
        client.ask("DELETE", "/api/issues/4")
        second, third = news(stream), news(stream)
        assert (second["removed"], second["by"]) == (4, "rosa")
        assert (third["by"], third["issue"]["number"]) == ("mara", 11)
    assert client.state()["issues"]["11"]["comments"][-1]["by"] == "mara"


def test_a_stream_resumes_where_it_broke_off(client: Client) -> None:
    for column in ("review", "done"):
        client.ask("POST", "/api/issues/7/move", {"column": column})
    request = urllib.request.Request(f"{client.url}/events?since=0", headers={"Last-Event-ID": "1"})
    with client._opener.open(request, timeout=10) as stream:
        assert news(stream)["issue"]["column"] == "done"


def test_stopping_ends_the_streams_and_frees_the_port() -> None:
    site = serve()
    client = Client(site.url)
    with client._opener.open(f"{site.url}/events", timeout=10) as stream:
        stopping = threading.Thread(target=site.stop)
        stopping.start()
        assert stream.read().startswith(b"retry: 1000")
        stopping.join()
    site.stop()
    with serve(int(site.url.rpartition(":")[2])) as again:
        assert again.url == site.url


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/static/../server.py", 404),
        ("GET", "/static/%2e%2e/server.py", 404),
        ("GET", "/static/server.py", 404),
        ("GET", "/api/issues/99", 404),
        ("GET", "/api/issues/x", 404),
        ("GET", "/api/issues/99999999999999999999", 404),
        ("DELETE", "/api/state", 405),
        ("PATCH", "/api/issues", 405),
        ("POST", "/api/issues/7/move", 404),
        ("DELETE", "/api/tokens/t9", 404),
        ("GET", "/" + "x" * 9000, 404),
    ],
)
def test_a_missing_page_gives_its_status(client: Client, method: str, path: str, status: int) -> None:
    assert client.ask(method, path)[0] == status


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff\xfe", b'{"column": {"a": 1}}', b'{"place": 1e999}'],
)
@pytest.mark.parametrize(
    "path", ["/api/issues/7/move", "/api/issues", "/api/issues/7/comments", "/api/login"]
)
def test_bodies_that_are_no_object_change_nothing(client: Client, path: str, body: bytes) -> None:
    before = client.state()
    assert client.ask("POST", path, body)[0] in (403, 404, 422)
    assert client.state() == before


@pytest.mark.parametrize("place", [-1, 10**30, True, "0", 1.5, None])
def test_a_place_that_is_none_puts_the_card_at_the_end(client: Client, place: Any) -> None:
    assert client.ask("POST", "/api/issues/7/move", {"column": "review", "place": place})[0] == 200
    assert client.state()["board"]["review"][-1] == 7


@pytest.mark.parametrize("length", [b"-5", b"many", b"1e3", b"9" * 30, b"99999999"])
def test_an_impossible_length_is_answered(client: Client, length: bytes) -> None:
    head = b"POST /api/issues HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + b"\r\n\r\n"
    assert client.raw(head).split(b"\r\n")[0] in (
        b"HTTP/1.1 400 Bad Request",
        b"HTTP/1.1 413 Content Too Large",
        b"HTTP/1.1 413 Request Entity Too Large",
    )
    assert client.state()["log"] == []


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"BREW /api/issues HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /api/state HTTP/1.1\r\nHost: x\r\nCookie: session=\xff\xfe;;=\r\n\r\n",
        b"GET /%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api/issues/7/attachments HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data\r\nContent-Length: 3\r\n\r\nabc",
        b"GET /events?since=999999999 HTTP/1.0\r\nHost: x\r\nCookie: session=expired\r\n\r\n",
    ],
)
def test_strange_requests_leave_the_tracker_running(
    client: Client, request_bytes: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    client.raw(request_bytes)
    assert client.state()["log"] == []
    assert "Traceback" not in capfd.readouterr().err


def test_texts_of_people_stay_texts(client: Client) -> None:
    title = '<img src=x onerror="alert(1)"> & more'
    client.ask("PATCH", "/api/issues/5", {"title": title})
    assert client.state()["issues"]["5"]["title"] == title
    # No module writes markup: everything goes through text nodes and attributes.
    assert not any("innerHTML" in file.read_text() for file in STATIC.glob("*.js"))


def test_the_tracker_runs_by_hand_from_its_path() -> None:
    command = [sys.executable, str(ROOT / "fixtures/sites/tracker/server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tracker:
        try:
            assert tracker.stdout is not None
            assert Client(tracker.stdout.readline().split()[0]).state()["log"] == []
        finally:
            tracker.kill()
