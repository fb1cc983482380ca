"""The server of the label page, without a browser: who is answered, and what is taken."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.errors import SourceError
from replaykit.grading.agreement.labels import read_labels
from replaykit.grading.agreement.question_graders import CODES, asked
from replaykit.labelling.label_server import BODY_MAX, NOTE_MAX, QUESTIONS, LabelPage, label_page
from replaykit.labelling.label_session import LabelSession
from replaykit.testing import trajectory

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two runs that have a page but no screenshot at the end."""
    folder = tmp_path_factory.mktemp("runs")
    found = []
    for number in range(2):
        task = {
            "id": f"t{number}",
            "intent": "Say <b>yes</b>.",
            "checks": [{"type": "string_match", "must_include": ["secret reference"]}],
        }
        run = trajectory(task, run="agent-7").goto("http://shop.test/", "<h1>Shop</h1>").screenshot()
        run.click("#x", name="Buy").say("Shall I?", "ask").reply("Do.", True)
        found.append(str(run.answer("yes").write(folder / f"good-run-{number}.zst")))
    return found


@pytest.fixture
def served(runs: list[str], tmp_path: Path) -> Iterator[LabelPage]:
    with label_page(LabelSession(runs, tmp_path / "labels.jsonl", "ada")) as page:
        yield page


def ask(
    page: LabelPage, path: str, method: str = "GET", body: bytes | None = None, token: str | None = None,
    **headers: str,
) -> tuple[int, Mapping[str, str], bytes]:  # fmt: skip
    """Ask the server for a path below its token."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=10)
    try:
        address = f"/{page.token if token is None else token}/{path}"
        connection.request(method, address, body, {**(JSON if method == "POST" else {}), **named})
        reply = connection.getresponse()
        return reply.status, dict(reply.headers), reply.read()
    finally:
        connection.close()


def facts(page: LabelPage, path: str) -> Any:
    return json.loads(ask(page, path)[2])


@pytest.mark.parametrize("path", ["", "label.js", "runs", "runs/0", "runs/0/screenshot/0"])
def test_without_the_token_nothing_is_revealed(served: LabelPage, path: str) -> None:
    assert ask(served, path)[0] in (200, 404)
    for token in ("", "x", served.token[:-1], served.token.upper(), f"{served.token}x"):
        status, _, said = ask(served, path, token=token)
        assert status == 403
        assert b"shop" not in said.lower()


@pytest.mark.parametrize(
    "host", ["evil.test", "127.0.0.1.evil.test", "127.0.0.1@evil.test", "127.0.0.2", "", "localhost:1:2"]
)
def test_another_host_is_refused(served: LabelPage, host: str) -> None:
    assert ask(served, "runs", Host=host)[0] == 421


def test_a_host_of_this_machine_is_answered(served: LabelPage) -> None:
    assert ask(served, "runs", Host=f"localhost:{served.port}")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ],
)
def test_another_site_cannot_post(served: LabelPage, headers: dict[str, str]) -> None:
    body = b'{"label": "success"}'
    assert ask(served, "runs/0", "POST", body, **headers)[0] == 403
    assert ask(served, "end", "POST", b"{}", **headers)[0] == 403
    assert not served.session.saved
    assert not served.ended.is_set()
    assert ask(served, "runs/0", "POST", body, Origin=f"http://127.0.0.1:{served.port}")[0] == 200


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b""),
        (400, b"[]"),
        (400, b'{"label": "maybe"}'),
        (400, b'{"label": "success", "annotator": "bob"}'),
        (400, b'{"label": "success", "others": {"other": "yes"}}'),
        (400, b'{"label": "success", "others": {"trajectory_looping": "often"}}'),
        (400, json.dumps({"label": "success", "note": "x" * (NOTE_MAX + 1)}).encode()),
        (400, b'{"label": "success", "note": "\\ud800"}'),
        (413, b" " * (BODY_MAX + 1)),
    ],
)
def test_what_is_no_answer_is_not_written(served: LabelPage, status: int, body: bytes) -> None:
    assert ask(served, "runs/0", "POST", body)[0] == status
    assert not served.session.output.exists()


@settings(max_examples=60, deadline=None)
@given(
    path=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40), body=st.binary(max_size=60)
)
def test_no_request_breaks_the_server(
    runs: list[str], tmp_path_factory: pytest.TempPathFactory, path: str, body: bytes
) -> None:
    with label_page(LabelSession(runs, tmp_path_factory.mktemp("l") / "labels.jsonl", "ada")) as page:
        assert ask(page, path)[0] in (200, 403, 404)
        assert ask(page, f"runs/{path}", "POST", body)[0] in (400, 403, 404, 200)
        assert ask(page, "runs")[0] == 200


@pytest.mark.parametrize(
    "path",
    ["runs/2", "runs/-1", "runs/x", "runs/0/screenshot/99", "runs/0/page/1e3", "../label.js", "runs/%33"],
)
def test_nothing_else_is_there(served: LabelPage, path: str) -> None:
    assert ask(served, path)[0] == 404


def test_other_methods_are_refused(served: LabelPage) -> None:
    assert {ask(served, "runs", method)[0] for method in ("PUT", "DELETE", "OPTIONS", "PATCH")} == {405}


def test_the_view_is_blind_and_in_order(served: LabelPage) -> None:
    seen = facts(served, "runs/0")
    assert seen["intent"] == "Say <b>yes</b>."
    assert [row.get("step", row.get("text")) for row in seen["rows"]] == [0, 1, "Shall I?", "Do."]
    assert seen["answer"] == "yes"
    for hidden in ("secret reference", "agent-7", "good-run"):
        assert hidden not in json.dumps([seen, facts(served, "runs")])
    status, headers, data = ask(
        served, f"runs/0/{seen['rows'][1]['page']['kind']}/{seen['rows'][1]['page']['at']}"
    )
    assert (status, headers["Content-Type"], data[:4]) == (200, "image/png", b"\x89PNG")
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert seen["final"]["kind"] == "page"
    status, headers, data = ask(served, f"runs/0/page/{seen['final']['at']}")
    assert b"Shop" in data
    assert "sandbox; default-src 'none'" in headers["Content-Security-Policy"]


def test_every_reply_forbids_what_it_can(served: LabelPage) -> None:
    for path in ("", "label.js", "label.css", "runs", "runs/0", "nothing"):
        _, headers, _ = ask(served, path)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]


def test_one_run_is_open_at_a_time(served: LabelPage) -> None:
    facts(served, "runs/0")
    first = served.run(0).bundle
    facts(served, "runs/1")
    with pytest.raises(SourceError, match="closed"):
        first.blob(next(iter(first.blob_ids)))


def test_answers_are_those_that_agree_compares(served: LabelPage) -> None:
    assert QUESTIONS.keys() == CODES.keys()
    said = {"trajectory_looping": "yes", "trajectory_side_effect": ""}
    body = json.dumps({"label": "failure", "note": "no", "others": said}).encode()
    status, _, reply = ask(served, "runs/0", "POST", body)
    assert (status, json.loads(reply)["next"]) == (200, 1)
    labels = read_labels(served.session.output)
    assert labels.labels[0].others == {"trajectory_looping": "yes"}
    name, answers = asked(labels, "looping")
    assert (name, answers.labels[0].label) == ("trajectory_looping", "success")
    assert facts(served, "runs/0")["saved"] == {
        "label": "failure",
        "note": "no",
        "others": {"trajectory_looping": "yes"},
    }


def test_a_file_that_cannot_be_written_is_reported(served: LabelPage) -> None:
    served.session.output.mkdir()
    status, _, said = ask(served, "runs/0", "POST", b'{"label": "success"}')
    assert (status, b"labels.jsonl" in said) == (500, True)
    assert served.session.unlabelled() == [0, 1]
