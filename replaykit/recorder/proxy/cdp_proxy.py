"""The recorder's own thread between one browser and those who drive it.

The browser has a pipe and no port. Whoever drives it finds what a browser offers on loopback: discovery over
HTTP and WebSockets. The recorder comes in by a path that no one can guess. `switchboard` says what each may
see.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from replaykit.errors import RecorderError
from replaykit.open_connections import OpenConnections
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.proxy import websocket_frames
from replaykit.recorder.proxy.client_sessions import Switchboard
from replaykit.recorder.proxy.protocol_messages import BROWSER, RECORDER, Message
from replaykit.recorder.proxy.websocket_frames import BadFrame

START_MAX_S = 30.0
"""A browser that has not answered after this time is broken."""

TICK_S = 0.1
"""How often it is looked whether a page is held for too long."""

BACKLOG_MAX = 256 << 20
"""Bytes that wait for a client who does not read; one with more is let go."""

BROWSER_MAX = 64 << 20
"""Bytes that wait for the browser; a client with more to say waits."""

ROOM_S = 0.005
"""How often it is looked whether there is room again."""

HEAD_S = 10.0
"""Longest wait for the head of a request, and for the browser's answer to one."""

CLOSE_S = 1.0
"""Longest wait for a client who has yet to read what was sent to it before its end."""

CLIENTS_MAX = 64
"""Clients at one time."""

log = logging.getLogger("replaykit.recorder")

ANY = "127.0.0.1"


class Proxy:
    """Serves one browser; use it in a `with` block. All methods may be called by any thread."""

    def __init__(
        self,
        pipe: tuple[int, int],
        *,
        before: Callable[[str, Message], None] = lambda method, params: None,
        refused: Callable[[str, Message], None] = lambda method, params: None,
        late: Callable[[str], None] = lambda target: None,
        scripted: Callable[[int, bool | None, str], None] = lambda number, is_apart, target: None,
        arrived: Callable[[str], None] = lambda loader: None,
        parting: Callable[[str], None] | None = None,
    ) -> None:
        self._pipe = pipe
        self._token = secrets.token_urlsafe(24)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="replaykit-proxy", daemon=True)
        self._ready: Future[int] = Future()
        self._over: asyncio.Event | None = None
        self._before = before
        self._guid = secrets.token_hex(16)
        self._clients: dict[int, asyncio.StreamWriter] = {}
        self._next = RECORDER
        self._about: Message = {}
        self._is_open = True
        self._to_browser: asyncio.WriteTransport | None = None
        self._board = Switchboard(
            self._send,
            InjectedNames(),
            before=before,
            refused=refused,
            late=late,
            scripted=scripted,
            arrived=arrived,
            clock=self._loop.time,
        )
        self._board.on_close = self._part
        self._board.on_parting = parting or self._board.looked
        self._port = 0

    @property
    def endpoint(self) -> str:
        """HTTP address for agents."""
        return f"http://{ANY}:{self._port}"

    @property
    def own_endpoint(self) -> str:
        """WebSocket address of the recorder."""
        return f"ws://{ANY}:{self._port}/{self._token}"

    @property
    def counts(self) -> dict[str, int]:
        """Pages held, pages held too long, commands, and those refused."""
        return dict(self._board.counts)

    def __enter__(self) -> Proxy:
        self._thread.start()
        try:
            self._port = self._ready.result(START_MAX_S)
        except TimeoutError as error:
            self.__exit__()
            raise RecorderError(what=f"the browser did not answer in {START_MAX_S:.0f} s") from error
        return self

    def __exit__(self, *error: object) -> None:
        self._soon(self._end)
        self._thread.join(START_MAX_S)

    def _soon(self, call: Callable[..., object], *arguments: object) -> None:
        # The loop is closed once the browser is gone; no client is left to notify.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *arguments)

    def call(self, names: InjectedNames) -> None:
        """Record the recorder's names for what it puts into pages, before it does."""
        self._soon(self._board.call, names)

    def hold(self) -> None:
        """Hold new pages back until they are armed, from now on."""
        self._soon(setattr, self._board, "is_holding", True)

    def dismiss(self) -> None:
        """Let all clients but the recorder go, and admit no more: the agent is done."""
        self._soon(self._dismiss)

    def _dismiss(self) -> None:
        self._is_open = False
        self._board.let_go()
        for client in list(self._clients):
            if client != RECORDER:
                self._part(client)

    def armed(self, target: str) -> None:
        """Let go of a page."""
        self._soon(self._board.armed, target)

    def looked(self, target: str) -> None:
        """Let a page be closed: it has been looked at."""
        self._soon(self._board.looked, target)

    def hide(self, target: str) -> None:
        """Keep a page of the recorder's own from all others."""
        self._soon(self._board.hide, target)

    # The thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        # The thread has no caller: without this, `start` would report a timeout in place of the reason.
        except Exception as error:  # noqa: BLE001
            if not self._ready.done():
                self._ready.set_exception(
                    error if isinstance(error, RecorderError) else RecorderError(what=f"the browser: {error}")
                )
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _end(self) -> None:
        if self._over is not None:
            self._over.set()

    async def _serve(self) -> None:
        self._over = asyncio.Event()
        reader = asyncio.StreamReader(limit=1 << 20)
        reading, writing = await self._connect(reader)
        self._to_browser = writing
        connections = OpenConnections(self._client)
        server = await asyncio.start_server(connections.accept, ANY, 0)
        port = server.sockets[0].getsockname()[1]
        tasks = [asyncio.ensure_future(self._listen(reader)), asyncio.ensure_future(self._tick())]
        self._board.ask("Browser.getVersion", {}, lambda about: self._known(about, port))
        try:
            await self._over.wait()
        finally:
            for client in list(self._clients):
                self._part(client)
            for task in tasks:
                task.cancel()
            if not reading.is_closing():
                reading.close()
            if not writing.is_closing():
                writing.abort()
            await connections.end(server)
            await asyncio.gather(*tasks, return_exceptions=True)
        if not self._ready.done():
            raise RecorderError(what="the browser ended before it answered")

    async def _connect(
        self, reader: asyncio.StreamReader
    ) -> tuple[asyncio.ReadTransport, asyncio.WriteTransport]:
        reading, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(self._pipe[0], "rb", 0)
        )
        writing, _ = await self._loop.connect_write_pipe(
            asyncio.BaseProtocol, os.fdopen(self._pipe[1], "wb", 0)
        )
        return reading, writing

    def _known(self, about: Message, port: int) -> None:
        self._about = about
        self._ready.set_result(port)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        held = bytearray()
        while chunk := await reader.read(1 << 20):
            held += chunk
            # Split only where a message ends: a large one would be copied once for each chunk.
            if 0 in chunk:
                *messages, rest = held.split(b"\0")
                held = rest
                for message in messages:
                    self._receive(bytes(message))
        self._end()

    def _receive(self, message: bytes) -> None:
        try:
            self._board.from_browser(message)
        # One message that is not understood must not take the browser away from everybody.
        except Exception:
            log.exception("a message of the browser was not understood")

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._board.overdue()

    def _send(self, client: int, data: bytes) -> None:
        if client == BROWSER:
            if self._to_browser is not None and not self._to_browser.is_closing():
                self._to_browser.write(data + b"\0")
            return
        writer = self._clients.get(client)
        if writer is None or writer.transport.is_closing():
            return
        writer.write(websocket_frames.frame(data))
        if writer.transport.get_write_buffer_size() > BACKLOG_MAX:
            writer.transport.abort()

    def _part(self, client: int) -> None:
        writer = self._clients.pop(client, None)
        if writer is not None:
            with contextlib.suppress(OSError, RuntimeError):
                writer.write(websocket_frames.frame(b"", websocket_frames.CLOSE))
                writer.close()
            self._board.leave(client)

    # Clients

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_S)
            await self._answer(RequestHead.of(head), reader, writer)
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, ValueError, BadFrame) as error:
            log.debug("a client was let go: %s", error)
        finally:
            await _close(writer)

    async def _answer(
        self, request: RequestHead, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        is_own = request.path == f"/{self._token}"
        if not (is_own or self._is_open):
            _reply(writer, 404, {"error": "the agent is done"})
        elif request.is_foreign:
            _reply(writer, 403, {"error": "Host must be an address of this machine, without an Origin"})
        elif request.key is not None:
            await self._websocket(request, reader, writer, is_own=is_own)
        else:
            status, body = await self._discover(request)
            _reply(writer, status, body)
        with contextlib.suppress(OSError):
            await writer.drain()

    async def _websocket(
        self,
        request: RequestHead,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_own: bool,
    ) -> None:
        target = request.target("/devtools/page/")
        if not (is_own or target or request.path.startswith("/devtools/browser")) or (
            len(self._clients) >= CLIENTS_MAX
        ):
            _reply(writer, 404, {"error": f"no such endpoint: {request.path[:200]}"})
            return
        if not is_own:
            self._next += 1
        client = RECORDER if is_own else self._next
        writer.write(
            b"HTTP/1.1 101 WebSocket Protocol Handshake\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {websocket_frames.accept(request.key or '')}\r\n\r\n".encode()
        )
        self._clients[client] = writer
        self._board.join(client, target)
        try:
            await self._converse(client, reader, writer)
        finally:
            self._part(client)

    async def _converse(
        self, client: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        frames = websocket_frames.WebSocketReader()
        while chunk := await reader.read(1 << 20):
            for one in frames.feed(chunk):
                if one.kind == websocket_frames.CLOSE:
                    return
                if one.kind == websocket_frames.PING:
                    writer.write(websocket_frames.frame(one.data, websocket_frames.PONG))
                elif one.kind in (websocket_frames.TEXT, websocket_frames.BINARY):
                    self._board.from_client(client, one.data)
            if self._to_browser is not None and self._to_browser.get_write_buffer_size() > BROWSER_MAX:
                await self._room()

    async def _room(self) -> None:
        # A client that asks faster than the browser reads has to wait, not the memory of this process.
        while self._to_browser is not None and self._to_browser.get_write_buffer_size() > BROWSER_MAX:  # noqa: ASYNC110 - a transport has no event
            await asyncio.sleep(ROOM_S)

    # Discovery

    async def _discover(self, request: RequestHead) -> tuple[int, Any]:
        path = request.path.rstrip("/")
        if path == "/json/version":
            return 200, self._version()
        if path in ("/json", "/json/list"):
            return 200, [self._listed(one) for one in await self._targets()]
        if path == "/json/new":
            return await self._new(request)
        for name, method in (("close", "Target.closeTarget"), ("activate", "Target.activateTarget")):
            target = request.target(f"/json/{name}/")
            if target:
                done = await self._call(method, {"targetId": target})
                gone = f"No such target id: {target}"
                return (404, gone) if done is None else (200, f"Target is {_DONE[name]}")
        return 404, {"error": f"no such endpoint: {path[:200]}"}

    def _version(self) -> Message:
        about = self._about
        return {
            "Browser": about.get("product", ""),
            "Protocol-Version": about.get("protocolVersion", ""),
            "User-Agent": about.get("userAgent", ""),
            "V8-Version": about.get("jsVersion", ""),
            # Chromium itself reports this fixed number.
            "WebKit-Version": f"537.36 ({about.get('revision', '')})",
            "webSocketDebuggerUrl": f"ws://{ANY}:{self._port}/devtools/browser/{self._guid}",
        }

    def _listed(self, about: Message) -> Message:
        place = f"{ANY}:{self._port}/devtools/page/{about['targetId']}"
        return {
            "description": "",
            "devtoolsFrontendUrl": "",
            "id": about["targetId"],
            "title": about.get("title", ""),
            "type": about.get("type", ""),
            "url": about.get("url", ""),
            "webSocketDebuggerUrl": f"ws://{place}",
        }

    async def _new(self, request: RequestHead) -> tuple[int, Any]:
        # As Chromium does: no link or image of a page can open tabs by a PUT.
        if request.method != "PUT":
            return 405, "Using unsafe HTTP verb GET to invoke /json/new. This action supports only PUT verb."
        url = unquote(request.query) or "about:blank"
        self._before("Target.createTarget", {"url": url})
        # Made empty: it goes to its address once the recorder listens in it.
        made = await self._call("Target.createTarget", {"url": "about:blank"})
        target = (made or {}).get("targetId", "")
        if url != "about:blank":
            self._board.go(target, url)
        found = [one for one in await self._targets() if one["targetId"] == target]
        return (200, self._listed({**found[0], "url": url})) if found else (500, "Could not create new page")

    async def _targets(self) -> list[Message]:
        found = await self._call("Target.getTargets", {}) or {}
        return [one for one in found.get("targetInfos", ()) if not self._board.is_ours(one["targetId"])]

    async def _call(self, method: str, params: Message) -> Message | None:
        waiting: asyncio.Future[Message] = self._loop.create_future()

        def replied(found: Message) -> None:
            if not waiting.done():
                waiting.set_result(found)

        self._board.ask(method, params, replied)
        found = await asyncio.wait_for(waiting, HEAD_S)
        return None if "error" in found else found


class RequestHead(Struct, frozen=True):
    """The head of an HTTP request."""

    method: str
    path: str
    query: str
    headers: dict[str, str]

    @classmethod
    def of(cls, head: bytes) -> RequestHead:
        """Read one. Raises ValueError."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, where, _ = first.split(" ")
        parts = urlsplit(where)
        pairs = (line.partition(":") for line in lines if line)
        return cls(method, parts.path, parts.query, {name.lower(): value.strip() for name, _, value in pairs})

    @property
    def key(self) -> str | None:
        """The key of a WebSocket's handshake, where it is one."""
        is_upgrade = self.headers.get("upgrade", "").lower() == "websocket"
        return self.headers.get("sec-websocket-key") if is_upgrade and self.method == "GET" else None

    @property
    def is_foreign(self) -> bool:
        """Whether a page of a browser may have made it, itself or by a name that leads here."""
        host = urlsplit(f"//{self.headers.get('host', ANY)}").hostname or ""
        # DNS rebinding: a page can reach this port by a name of its own.
        is_here = host in ("localhost", "::1") or host.replace(".", "").isdigit()
        return "origin" in self.headers or not is_here

    def target(self, prefix: str) -> str | None:
        """Return the target that a path names."""
        return self.path.removeprefix(prefix) if self.path.startswith(prefix) else None


_DONE = {"close": "closing", "activate": "activated"}
_REASONS = {200: "OK", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 500: "Internal Error"}


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), CLOSE_S)
    except TimeoutError:
        writer.transport.abort()
    except OSError as error:
        log.debug("a client was gone before its end: %s", error)


def _reply(writer: asyncio.StreamWriter, status: int, body: Any) -> None:
    text = body if isinstance(body, str) else json.dumps(body, indent=2)
    kind = "text/html" if isinstance(body, str) else "application/json"
    data = text.encode()
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Length: {len(data)}\r\n"
    writer.write(f"{head}Content-Type: {kind}; charset=UTF-8\r\nConnection: close\r\n\r\n".encode() + data)
