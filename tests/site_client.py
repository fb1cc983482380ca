"""Plain HTTP to a fixture site, as its own pages and scripts and other people's programs speak to it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

JSON = {"Content-Type": "application/json"}


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None


class Client:
    """Requests without following redirects and without a proxy."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookie = ""
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())

    def ask(
        self,
        path: str,
        form: Mapping[str, Any] | bytes | None = None,
        method: str | None = None,
        headers: Mapping[str, str] = {},
    ) -> tuple[int, str, Any]:
        body = form if form is None or isinstance(form, bytes) else urlencode(form, doseq=True).encode()
        sent = {**headers, **({"Cookie": self.cookie} if self.cookie else {})}
        request = urllib.request.Request(self.url + path, data=body, headers=sent, method=method)
        try:
            with self._opener.open(request, timeout=10) as reply:
                return reply.status, reply.read().decode(), reply.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers

    def page(self, path: str) -> str:
        status, text, _ = self.ask(path)
        assert status == 200, (path, status)
        return text

    def post(self, path: str, form: Mapping[str, Any] | bytes = b"", **headers: str) -> str:
        """Post a form that is accepted; return where it leads."""
        status, _, reply = self.ask(path, form, headers=headers)
        assert status == 303, (path, status)
        return str(reply["Location"])

    def script(self, method: str, path: str, value: Any = None) -> tuple[int, Any]:
        """Ask as the page's own script does."""
        body = None if value is None else json.dumps(value).encode()
        status, text, _ = self.ask(path, body, method, JSON)
        return status, json.loads(text)

    def state(self) -> Any:
        return json.loads(self.page("/api/state"))


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src", "action") and value]


def multipart(*parts: tuple[str, str | bytes, str | None]) -> tuple[bytes, str]:
    """A body of fields (name, text, None) and files (name, bytes, file name), and its type."""
    lines = []
    for name, value, filename in parts:
        named = f'name="{name}"' + (f'; filename="{filename}"' if filename is not None else "")
        lines += [b"--line-7\r\nContent-Disposition: form-data; " + named.encode() + b"\r\n\r\n"]
        lines += [value.encode() if isinstance(value, str) else value, b"\r\n"]
    return b"".join([*lines, b"--line-7--\r\n"]), "multipart/form-data; boundary=line-7"
