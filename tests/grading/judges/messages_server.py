"""A server on loopback that speaks the Messages API, and misbehaves on demand; what clients ask it."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from replaykit.grading.model_request import ImagePart, ModelRequest, TextPart

IMAGE = ImagePart(sha256="a" * 64, media_type="image/png", width=2, height=3, step=4)
REQUEST = ModelRequest(
    judge="webvoyager",
    stage="verdict",
    index=0,
    system="You judge.",
    content=(TextPart(text="Task"), IMAGE, TextPart(text="Your verdict:\n")),
    model="claude-sonnet-5-5",
    max_tokens=4096,
    effort="medium",
)
IMAGES = {"a" * 64: b"\x89PNG..."}
FAST = {"retry_after_ms": "1"}

Answer = Callable[["Handler", dict[str, Any]], None]


def message(text: str = "All there.\nSUCCESS", **fields: Any) -> dict[str, Any]:
    """Return a message as the API writes it."""
    made = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 120, "output_tokens": 7},
    }  # fmt: skip
    return {**made, **fields}


def error(kind: str, words: str = "no", **details: Any) -> dict[str, Any]:
    """Return an error as the API writes it."""
    said = {"type": kind, "message": words, **({"details": details} if details else {})}
    return {"type": "error", "error": said, "request_id": "req_e"}


def says(status: int, body: Any, **headers: str) -> Answer:
    """Answer with a status and a body: JSON, or bytes as they are."""

    def answer(handler: Handler, request: dict[str, Any]) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = headers.pop("content_type", "application/json")
        handler.send_response(status)
        handler.send_header("content-type", kind)
        handler.send_header("request-id", "req_1")
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def resets(handler: Handler, request: dict[str, Any]) -> None:
    """Cut the connection off before an answer."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def cuts(handler: Handler, request: dict[str, Any]) -> None:
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"id": "msg')
    handler.close_connection = True


class Handler(BaseHTTPRequestHandler):
    """Notes every request and answers with the next thing in the script; the last one stays."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._answer(body)

    def do_GET(self) -> None:
        self._answer({})

    def _answer(self, body: dict[str, Any]) -> None:
        server = self.server
        with server.lock:
            server.seen.append((self.command, self.path, dict(self.headers), body))
            server.under_way += 1
            server.most = max(server.most, server.under_way)
            answer = server.script[0] if len(server.script) == 1 else server.script.pop(0)
        try:
            answer(self, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with server.lock:
                server.under_way -= 1

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Runs from `with` to its end. `script`: answers in order."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *script: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.seen: list[tuple[str, str, dict[str, str], dict[str, Any]]] = []
        self.lock = threading.Lock()
        self.under_way = self.most = 0

    @property
    def url(self) -> str:
        """Return its base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Return the bodies of the requests."""
        return [body for *_, body in self.seen]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that were cut off on purpose."""

    def __enter__(self) -> Server:
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()
