"""Paths that hold an app's whole state: found in recordings, and compared with real servers of each kind."""

from __future__ import annotations

import json
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.http_replay.http_server import serve
from replaykit.http_replay.recorded_replies import HttpReply, Miss, RecordedAnswers

from .story import Story

PATH = "/api/state"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

# Ways in which servers treat data sent to them; each returns the reply to a GET afterwards.
KINDS: dict[str, Any] = {
    "replaces": lambda state, sent: sent,
    "merges": lambda state, sent: {**state, **sent},
    "appends": lambda state, sent: {name: [*state.get(name, []), *sent[name]] for name in sent},
    "stamps": lambda state, sent: {**sent, "version": len(json.dumps(sent))},
    "ignores": lambda state, sent: state,
}


class App(ThreadingHTTPServer):
    """A single-page app's server: one path, read by GET, written by PUT and POST."""

    daemon_threads = True

    def __init__(self, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), Door)
        self.takes = KINDS[kind]
        self.state: Any = {}


class Door(BaseHTTPRequestHandler):
    server: App

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.said(json.dumps(self.server.state).encode())

    def do_PUT(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.state = self.server.takes(self.server.state, sent)
        self.said(b'{"ok": true}')

    do_POST = do_PUT

    def said(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running(kind: str) -> Iterator[App]:
    with App(kind) as app:
        thread = threading.Thread(target=app.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield app
        finally:
            app.shutdown()
            thread.join()


def asked(app: App, method: str, sent: bytes | None = None) -> bytes:
    url = f"http://127.0.0.1:{app.server_address[1]}{PATH}"
    with OPENER.open(urllib.request.Request(url, data=sent, method=method), timeout=10) as reply:
        return bytes(reply.read())


def lived(app: App, actions: list[tuple[str, Any]]) -> Story:
    """Do actions on a live server, and report them as a recording does."""
    story = Story()
    for number, (method, value) in enumerate(actions):
        sent = None if method == "GET" else json.dumps(value).encode()
        story.said(method, PATH, 10 * (number + 1), asked(app, method, sent), sent=sent)
    return story


STATES = st.dictionaries(st.sampled_from("ab"), st.lists(st.integers(0, 2), max_size=2), max_size=2)
ACTIONS = st.lists(st.tuples(st.sampled_from(["GET", "PUT", "POST"]), STATES), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_served_is_what_the_live_server_says_or_nothing(kind: str) -> None:
    with running(kind) as app, tempfile.TemporaryDirectory() as folder:

        @given(STATES, ACTIONS)
        def holds(seed: dict[str, Any], actions: list[tuple[str, Any]]) -> None:
            app.state = app.takes({}, seed)
            # An app that names its state by PUT replaces it: what else PUT may do is not the state's.
            fair = (
                actions
                if kind in ("replaces", "stamps")
                else [("POST" if m == "PUT" else m, v) for m, v in actions]
            )
            with open_bundle(lived(app, fair).written(Path(tempfile.mkdtemp(dir=folder)))) as bundle:
                answers = RecordedAnswers(bundle)
                found = answers.answer("GET", PATH)
            if isinstance(found, HttpReply) and not answers.assumed:
                assert json.loads(found.body) == json.loads(asked(app, "GET"))

        holds()


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_verifier_gets_the_state_of_an_app_that_was_never_read_again(method: str, tmp_path: Path) -> None:
    with running("replaces") as app:
        app.state = {"theme": "dark", "todos": []}
        story = lived(app, [("GET", None), (method, {"theme": "light", "todos": [1]})])
        live = asked(app, "GET")
    with open_bundle(story.written(tmp_path)) as bundle, serve(bundle) as served:
        with OPENER.open(served.url + PATH, timeout=10) as reply:
            assert json.load(reply) == json.loads(live)
        assert served.misses == ()
        assert served.assumed == ((PATH,) if method == "POST" else ())


def test_the_newest_counts_whatever_it_is(story: Story, tmp_path: Path) -> None:
    story.said("GET", PATH, 10, b'{"a": 1}')
    story.said("POST", PATH, 20, sent=b'{"a": 2}')
    story.said("GET", PATH, 30, b'{"a": 2}')
    story.said("POST", PATH, 40, sent=b'{"a": 3}')
    (tmp_path / "probed").mkdir()
    assert body_of(story.ask(tmp_path, "GET", PATH)) == {"a": 3}
    story.probed(PATH, 50, b'{"a": 4}')
    assert body_of(story.ask(tmp_path / "probed", "GET", PATH)) == {"a": 4}


@pytest.mark.parametrize(
    ("got", "sent"),
    [
        (b'{"a": 1, "b": 1}', b'{"a": 2}'),
        (b"[1]", b'{"a": 2}'),
        (b"[1]", b"[2]"),
        (b"{}", b'{"a": 2}'),
        (b'{"a": 1}', b"a=2"),
        (b"<p>a", b'{"a": 2}'),
    ],
)
def test_what_a_post_may_have_added_is_no_state(
    got: bytes, sent: bytes, story: Story, tmp_path: Path
) -> None:
    story.said("GET", PATH, 10, got)
    story.said("POST", PATH, 20, sent=sent)
    assert isinstance(story.ask(tmp_path, "GET", PATH), Miss)


def test_a_list_that_was_put_is_read_back(story: Story, tmp_path: Path) -> None:
    story.said("GET", PATH, 10, b"[1]")
    story.said("PUT", PATH, 20, sent=b"[2]")
    assert body_of(story.ask(tmp_path, "GET", PATH)) == [2]


def test_what_was_never_read_is_no_state(story: Story, tmp_path: Path) -> None:
    story.said("PUT", PATH, 20, sent=b'{"a": 2}')
    assert isinstance(story.ask(tmp_path, "GET", PATH), Miss)


def test_a_reply_right_after_shows_what_a_path_does(story: Story, tmp_path: Path) -> None:
    story.said("PUT", PATH, 10, sent=b'{"a": 1, "b": 1}')
    story.said("GET", PATH, 20, b'{"a": 1, "b": 7}')
    story.said("PUT", PATH, 30, sent=b'{"a": 2, "b": 2}')
    assert isinstance(story.ask(tmp_path, "GET", PATH), Miss)


def test_a_reply_of_the_cache_shows_nothing(story: Story, tmp_path: Path) -> None:
    story.said("PUT", PATH, 10, sent=b'{"a": 1}')
    story.said("GET", PATH, 20, b'{"a": 0}', from_cache=True)
    story.said("PUT", PATH, 30, sent=b'{"a": 2}')
    assert body_of(story.ask(tmp_path, "GET", PATH)) == {"a": 2}


def test_another_change_between_shows_nothing(story: Story, tmp_path: Path) -> None:
    story.said("PUT", PATH, 10, sent=b'{"a": 1}')
    story.said("POST", "/api/acts", 20)
    story.said("GET", PATH, 30, b'{"a": 5}')
    story.said("PUT", PATH, 40, sent=b'{"a": 2}')
    assert body_of(story.ask(tmp_path, "GET", PATH)) == {"a": 2}


def test_a_push_that_failed_is_none(story: Story, tmp_path: Path) -> None:
    story.said("GET", PATH, 10, b'{"a": 1}')
    story.said("PUT", PATH, 20, sent=b'{"a": 2}', status=422)
    assert body_of(story.ask(tmp_path, "GET", PATH)) == {"a": 1}


def test_a_path_that_is_named_is_no_assumption(story: Story, tmp_path: Path) -> None:
    story.said("GET", PATH, 10, b'{"a": 1}')
    story.said("POST", PATH, 20, sent=b'{"a": 2}')
    with open_bundle(story.written(tmp_path)) as bundle:
        for states, assumed in (([], [PATH]), ([PATH], [])):
            answers = RecordedAnswers(bundle, states=states)
            assert body_of(answers.answer("GET", PATH)) == {"a": 2}
            assert list(answers.assumed) == assumed


def body_of(found: HttpReply | Miss) -> Any:
    assert isinstance(found, HttpReply), str(found)
    return json.loads(found.body)


@pytest.fixture
def story() -> Story:
    return Story()


@pytest.mark.parametrize(
    "second",
    [
        {"t": 22},
        {"t": 22, "status": None, "error": "net::ERR_ABORTED", "reply": None},
        {"t": 22, "status": None, "ended": None, "reply": None},
        {"t": 18, "ended": 40},
        {"t": 18, "ended": 40, "status": None, "error": "net::ERR_ABORTED", "reply": None},
    ],
)
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_the_same_sent_twice_leaves_one_state(
    method: str, second: dict[str, Any], story: Story, tmp_path: Path
) -> None:
    story.said("GET", PATH, 10, b'{"a": 1, "b": 0}')
    more = dict(second)
    sends = [(20, {}), (more.pop("t"), more)]
    for t, facts in sorted(sends, key=lambda one: one[0]):
        story.said(method, PATH, t, sent=b'{"a": 2, "b": 1}', **facts)
    assert body_of(story.ask(tmp_path, "GET", PATH)) == {"a": 2, "b": 1}


def test_what_was_read_and_is_sent_again_is_what_is_there(story: Story, tmp_path: Path) -> None:
    story.said("PUT", PATH, 10, sent=b'{"a": 2}')
    story.said("GET", PATH, 20, b'{"a": 2}')
    story.said("PUT", PATH, 30, sent=b'{ "a" : 2 }', status=None, error="net::ERR_ABORTED", reply=None)
    assert body_of(story.ask(tmp_path, "GET", PATH)) == {"a": 2}


@pytest.mark.parametrize("sent", [b'{"a": 3}', b'{"a": true}', b"a=2", None])
def test_what_else_was_sent_meanwhile_may_have_come_last(
    sent: bytes | None, story: Story, tmp_path: Path
) -> None:
    story.said("GET", PATH, 10, b'{"a": 1}')
    story.said("PUT", PATH, 18, sent=sent, status=None, error="net::ERR_ABORTED", reply=None, ended=40)
    story.said("PUT", PATH, 20, sent=b'{"a": 2}')
    assert isinstance(story.ask(tmp_path, "GET", PATH), Miss)


def test_the_same_sent_elsewhere_is_another_change(story: Story, tmp_path: Path) -> None:
    story.said("GET", PATH, 10, b'{"a": 1}')
    story.said("PUT", PATH, 20, sent=b'{"a": 2}')
    story.said("PUT", "/api/other", 22, sent=b'{"a": 2}')
    assert isinstance(story.ask(tmp_path, "GET", PATH), Miss)
