"""`s3://` against a real S3 server on loopback: the same verdicts, and only ranges are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import SourceError
from replaykit.grading.engine import grade_many
from replaykit.report.json_report import as_json

# Made when the packages below hand their connections to garbage collection; nothing of it is ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"
NAMES = ("refund-order--wrong_target", "refund-order--no_consent", "order-total--good")


class Answer(NamedTuple):
    """One request to the server, and what it sent."""

    method: str
    range: str | None
    sent: int


class Store(NamedTuple):
    """A bucket, and what was asked of it since it was filled."""

    bucket: str
    bundles: list[Path]
    answers: list[Answer]

    def urls(self) -> list[str]:
        """Return where the bundles are."""
        return [f"s3://{self.bucket}/{path.name}" for path in self.bundles]


@pytest.fixture
def bundles(tmp_path: Path) -> list[Path]:
    """Shipped bundles, most of whose bytes are screenshots, and one file that is no bundle."""
    bad = tmp_path / "bad.zst"
    bad.write_bytes(b"no bundle")
    return [*(RECORDINGS / f"{name}.zst" for name in NAMES), bad]


@pytest.fixture
def store(bundles: list[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Put the bundles into a server's bucket; count what it is asked for."""
    server_module = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")
    answers: list[Answer] = []
    _listen(server_module, answers, monkeypatch)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "reader")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "reader")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem()
    # Servers of one process share their buckets.
    bucket = f"runs-{port}"
    files.mkdir(bucket)
    for path in bundles:
        files.put_file(str(path), f"{bucket}/{path.name}")
    answers.clear()
    s3fs.S3FileSystem.clear_instance_cache()
    yield Store(bucket, bundles, answers)
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


def test_a_bucket_is_graded_as_a_folder_is(store: Store) -> None:
    assert as_json(grade_many(store.urls())) == as_json(grade_many(store.bundles))


def test_only_ranges_are_asked_for_and_screenshots_stay_where_they_are(store: Store) -> None:
    for url, path in zip(store.urls(), store.bundles[:-1], strict=False):
        store.answers.clear()
        grade_many([url])
        assert all(one.range for one in store.answers if one.method == "GET")
        sent = sum(one.sent for one in store.answers if one.method == "GET")
        assert 0 < sent <= 132 * 1024
        assert sent < 0.6 * path.stat().st_size


def test_a_missing_object_is_named_in_the_error(store: Store) -> None:
    with pytest.raises(SourceError) as raised:
        open_bundle(f"s3://{store.bucket}/none.zst")
    assert f"s3://{store.bucket}/none.zst" in str(raised.value)


def _listen(server_module: Any, answers: list[Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    """Note every answer of the server, as it leaves."""
    plain = server_module.DomainDispatcherApplication.__call__

    def call(self: Any, environ: dict[str, Any], start: Any) -> Any:
        def started(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            length = {name.lower(): value for name, value in headers}.get("content-length", "0")
            asked = environ.get("HTTP_RANGE")
            kept = asked if asked and re.fullmatch(r"bytes=\d*-\d*", asked) else None
            answers.append(Answer(environ["REQUEST_METHOD"], kept, int(length)))
            return start(status, headers, *rest)

        return plain(self, environ, started)

    monkeypatch.setattr(server_module.DomainDispatcherApplication, "__call__", call)
