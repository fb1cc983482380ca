"""Bundles behind a real loopback server: one request where possible, and whatever servers do wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from replaykit.bundle.byte_source import is_remote
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.remote import HttpSource
from replaykit.bundle.verification import verify
from replaykit.errors import NotABundle, SourceError
from replaykit.grading.engine import grade_many
from replaykit.report.json_report import as_json
from replaykit.testing import trajectory


class Site(ThreadingHTTPServer):
    """Serves bytes by name. `manner`: how it misbehaves; `asked`: method and range of every request."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes], manner: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files
        self.manner = manner
        self.asked: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        site, span = self.server, self.headers["Range"]
        site.asked.append(("GET", span))
        data = site.files.get(self.path)
        if data is None:
            return self._send(404, b"")
        if site.manner == "fails twice" and len(site.asked) < 3:
            return self._send(503, b"")
        if site.manner == "no ranges":
            return self._send(200, data)
        if not data:
            return self._send(416, b"")
        first, _, last = span.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last), len(data) - 1) if first else len(data) - 1
        part = data[start : end + 1]
        tag = f'"{len(site.asked)}"' if site.manner == "changes" else '"1"'
        return self._send(206, part, ("Content-Range", f"bytes {start}-{end}/{len(data)}"), ("ETag", tag))

    def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.server.manner == "cuts" else body)
        self.close_connection = True

    def do_HEAD(self) -> None:
        self.server.asked.append(("HEAD", ""))
        self._send(405, b"")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def site(files: dict[str, bytes], manner: str = "well") -> Iterator[Site]:
    with Site(files, manner) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def local(tmp_path: Path) -> Path:
    return trajectory().goto("http://a.test/", "<p>hi</p>").screenshot().answer("x").write(tmp_path / "a.zst")


@pytest.fixture
def big(tmp_path: Path) -> Path:
    run = trajectory().goto("http://a.test/", "<p>hi</p>")
    run.see("".join(f"<p>{hash(str(n)) & 0xFFFFFFFF:x}{n * n * n:x}</p>" for n in range(40_000)))
    path = run.answer("x").write(tmp_path / "big.zst")
    assert path.stat().st_size > 100_000
    return path


def test_what_is_remote() -> None:
    assert all(map(is_remote, ["http://a/b.zst", "s3://bucket/a.zst", "memory://a", "HTTPS://a"]))
    assert not any(map(is_remote, ["a.zst", "-", "/a:/b.zst", "./http:/a", "C:\\runs\\a.zst"]))


def test_a_small_bundle_is_one_request(local: Path) -> None:
    with site({"/a.zst": local.read_bytes()}) as server, open_bundle(f"{server.url}/a.zst") as bundle:
        assert bundle.name == f"{server.url}/a.zst"
        with open_bundle(local) as here:
            assert bundle.trajectory == here.trajectory
            assert all(bundle.blob(id) == here.blob(id) for id in here.blob_ids)
        assert server.asked == [("GET", server.asked[0][1])]


def test_a_large_bundle_is_read_in_parts(big: Path) -> None:
    with site({"/a.zst": big.read_bytes()}) as server, open_bundle(f"{server.url}/a.zst") as bundle:
        assert bundle.ending is not None
        assert len(server.asked) == 2
        last = bundle.blob_ids[-1]
        with open_bundle(big) as here:
            assert bundle.blob(last) == here.blob(last)


@pytest.mark.parametrize("manner", ["fails twice", "no ranges"])
def test_servers_that_are_difficult(big: Path, manner: str) -> None:
    with site({"/a.zst": big.read_bytes()}, manner) as server:
        assert verify(f"{server.url}/a.zst").findings == ()


@pytest.mark.parametrize(
    ("manner", "path", "reason"),
    [
        ("well", "/b.zst", "HTTP 404 Not Found"),
        ("cuts", "/a.zst", "are missing"),
        ("changes", "/a.zst", "it changed while it was read"),
    ],
)
def test_what_cannot_be_read_says_why(big: Path, manner: str, path: str, reason: str) -> None:
    with (
        site({"/a.zst": big.read_bytes()}, manner) as server,
        pytest.raises(SourceError, match=reason) as error,
        open_bundle(f"{server.url}{path}") as bundle,
    ):
        bundle.blob(bundle.blob_ids[-1])
    assert f"{path}: cannot read" in str(error.value)


def test_an_address_where_no_server_listens_is_refused() -> None:
    with site({}) as server:
        url = server.url
    with pytest.raises(SourceError, match="refused"):
        open_bundle(f"{url}/a.zst")


def test_an_empty_file_is_no_bundle() -> None:
    with site({"/a.zst": b""}) as server, pytest.raises(NotABundle):
        open_bundle(f"{server.url}/a.zst")


def test_reads_are_those_of_the_bytes() -> None:
    data = bytes(range(256))
    with site({"/a": data}) as server:
        source = HttpSource(f"{server.url}/a")
        assert (source.size(), source.read_suffix(300), source.read_suffix(0)) == (256, data, b"")
        assert (source.read_range(3, 5), source.read_range(9, 0)) == (data[3:8], b"")
        with pytest.raises(SourceError, match="1 of 9 bytes at 255 are there"):
            source.read_range(255, 9)


def test_graded_remotely_is_graded_the_same(local: Path, big: Path) -> None:
    with site({"/a.zst": local.read_bytes(), "/big.zst": big.read_bytes()}) as server:
        found = grade_many([f"{server.url}/a.zst", f"{server.url}/big.zst", f"{server.url}/none.zst"])
        assert server.url not in as_json(found).decode()
    here = grade_many([local, big])
    lost, *graded = found.verdicts
    assert tuple(graded) == here.verdicts
    assert lost.error is not None
    assert lost.error.kind == "SourceError"


def test_file_systems_that_fsspec_knows(big: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra `remote` is not installed")
    memory = fsspec.filesystem("memory")
    memory.pipe("/runs/big.zst", big.read_bytes())
    with open_bundle("memory://runs/big.zst") as bundle, open_bundle(big) as here:
        assert bundle.trajectory == here.trajectory
        assert bundle.blob(bundle.blob_ids[-1]) == here.blob(here.blob_ids[-1])
    with pytest.raises(SourceError, match=r"memory://runs/none.zst: cannot open"):
        open_bundle("memory://runs/none.zst")
    with pytest.raises(SourceError, match="cannot open"):
        open_bundle("nonsense://runs/none.zst")


def test_a_file_system_may_take_a_version_before_the_range(
    big: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra `remote` is not installed")
    memory = fsspec.filesystem("memory")
    memory.pipe("/runs/versioned.zst", big.read_bytes())
    plain = type(memory).cat_file

    def cat_file(
        self: object,
        path: str,
        version_id: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> bytes:
        assert version_id is None
        return plain(self, path, start=start, end=end)

    monkeypatch.setattr(type(memory), "cat_file", cat_file)
    with open_bundle("memory://runs/versioned.zst") as bundle, open_bundle(big) as here:
        assert bundle.digest == here.digest
