"""The log of what the agent of this process asks Playwright for, read off the one way that all of it goes.

Every call of Playwright's API ends in one method of its connection. It is wrapped while a recording runs;
calls of the recorder itself are marked by a context variable, and left out.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from math import inf
from typing import Any, TypeAlias
from urllib.parse import urlencode, urljoin, urlsplit
from weakref import WeakKeyDictionary

from replaykit.browser import FEATURES_OFF, UNISOLATED
from replaykit.recorder.browser.driver_parts import SessionFeed
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.witnesses.agent_made_documents import forges
from replaykit.recorder.browser.witnesses.command_kinds import (
    ALTERED,
    BLIND,
    BLINDED,
    DRIVER_KINDS,
    alters,
    blinds,
    cdp_kind,
    runs_in_page,
    strokes_of,
)
from replaykit.recorder.browser.witnesses.other_clients import (
    UNLOGGED,
    UNLOGGED_IN,
    has_other_clients,
    opens_browser,
    unwrapped,
)
from replaykit.recorder.browser.witnesses.selector_engines import runs_own_engine
from replaykit.recorder.session.request_messages import Failed, Finished, Requested, Responded
from replaykit.recorder.session.witnesses import Answered, Commanded, ScriptAsked, ScriptEnded

log = logging.getLogger("replaykit.recorder")

Params: TypeAlias = Mapping[str, Any]

FUNNELS = ("send_message_to_server", "_send_message_to_server")
"""The method of Playwright's connection that all commands go through: 1.65, and 1.60."""

BOUNDARY = "replaykit-form"
"""Between the parts of a form with files that the driver sent: its own boundary is not known."""

_BROWSERS = frozenset({"launch", "launchPersistentContext", "connect", "connectOverCDP"})
_TEXTS = ("value", "text", "expression", "source", "html", "content", "body", "postData")

_NESTED = "send nested"
"""Method of a session by which a command reaches some target below it; how it ends is unknown."""

_is_own: ContextVar[bool] = ContextVar("replaykit_is_own", default=False)
_sender: ContextVar[object] = ContextVar("replaykit_sender", default=None)


@contextmanager
def own_calls() -> Iterator[None]:
    """Leave calls of Playwright inside of this block out of every log: they are the recorder's."""
    token = _is_own.set(True)
    try:
        yield
    finally:
        with suppress(ValueError):  # a coroutine whose loop has ended is closed in another context
            _is_own.reset(token)


class _Funnel:
    """The wrapped method of one connection, and the logs that listen to it."""

    # Weak: the log must not keep a closed connection alive.
    open: WeakKeyDictionary[Any, _Funnel] = WeakKeyDictionary()

    def __init__(self, connection: Any, name: str) -> None:
        self.logs: list[DriverLog] = []
        self._connection = connection
        self._name = name
        self._send: Callable[..., Any] = getattr(connection, name)
        setattr(connection, name, self._wrapped)

    def leave(self, one: DriverLog) -> None:
        """Let a log go; the last one takes the wrapping with it."""
        self.logs.remove(one)
        if not self.logs:
            # The wrapping hides the method of the class, which shows again without it.
            delattr(self._connection, self._name)
            _Funnel.open.pop(self._connection, None)

    def _wrapped(self, object: Any, method: str, params: Params, *rest: Any, **options: Any) -> Any:
        listening = () if _is_own.get() else tuple(one for one in self.logs if one.is_meant(object))
        # Before it is sent: that a script begins has to be known before its events come.
        for one in listening:
            one.receive(object, method, params)
        reply = self._send(object, method, params, *rest, **options)
        for one in listening:
            one.follow(method, reply)
        return reply


class DriverLog:
    """The agent's commands, as one recording learns of them."""

    def __init__(self, driver: SessionFeed, *, is_sync: bool) -> None:
        self._driver = driver
        self._is_sync = is_sync
        self._funnel: _Funnel | None = None
        self._is_remote = False
        self._tabs: dict[Any, CdpTab | None] = {}
        self._contexts: set[Any] = set()
        self._foreign_pages: dict[Any, float] = {}
        self._launched: list[float] = []
        self.flags: tuple[str, ...] = ()
        """How the browser was started: over a pipe it has no other client."""
        self._asked = 0
        self._last: str | None = None
        self._scripts = 0
        self._run_in: CdpTab | None = None
        self._script: int | None = None
        self._fetched: dict[str, str] = {}
        self._asked_for: dict[str, str] = {}
        self._base = ""
        self._bases: dict[str, str] = {}

    @property
    def is_whole(self) -> bool:
        """Whether all commands are seen that the browser can be given."""
        return self._funnel is not None and not self._is_remote and not has_other_clients(self.flags)

    @property
    def is_unisolated(self) -> bool:
        """Whether sandboxed frames live in the processes of their pages; elsewhere they wait for no one."""
        # Of several such flags Chromium follows the last.
        last = next((flag for flag in reversed(self.flags) if flag.startswith(FEATURES_OFF)), "")
        return UNISOLATED in last.removeprefix(FEATURES_OFF).split(",")

    def enter(self) -> None:
        """Take the code that runs here, and what it starts, for the agent of this recording."""
        _sender.set(self)

    def open(self, target: Any) -> None:
        """Listen to the connection of one of Playwright's objects, where its way of sending is known."""
        connection = getattr(target._impl_obj, "_connection", None)
        # The browser that is recorded now is not one that the agent used without being watched.
        if self._launched:
            self._launched.pop()
        if self._funnel is not None or connection is None:
            return
        found = _Funnel.open.get(connection)
        name = next((name for name in FUNNELS if callable(getattr(connection, name, None))), None)
        if found is None and name is not None:
            found = _Funnel.open[connection] = _Funnel(connection, name)
        if found is not None:
            found.logs.append(self)
            self._funnel = found
            # A server has one browser for all its clients.
            is_remote = getattr(connection, "is_remote", None)
            self._is_remote = is_remote is not None and is_remote()

    def started(self, command_line: str) -> None:
        """Note how the browser was started."""
        self.flags = tuple(command_line.split())
        if self.is_whole:
            # From here on all commands are logged; so far the agent has sent none.
            self._driver.census.touched_at = -inf

    def close(self) -> None:
        """Stop listening."""
        if self._funnel is not None:
            self._funnel.leave(self)
            self._funnel = None

    def expect(self, page: Any) -> None:
        """Note that a page is about to be recorded."""
        self._tabs.setdefault(page._impl_obj, None)
        self._contexts.add(page.context._impl_obj)

    def link(self, page: Any, tab: CdpTab) -> None:
        """Note which tab a page is."""
        self.expect(page)
        self._tabs[page._impl_obj] = tab

    def is_meant(self, object: Any) -> bool:
        """Whether a command is one of this recording's agent: by who sends it, else by what it is about."""
        sender = _sender.get()
        if sender is not None and sender in self._others():
            return sender is self
        return self._is_sync or sender is self or _owner(object, "BrowserContext") in self._contexts

    def _others(self) -> list[DriverLog]:
        return self._funnel.logs if self._funnel is not None else []

    def receive(self, object: Any, method: str, params: Params) -> None:
        """Record a command that is about to be sent; errors here do not reach the agent."""
        self._last = self._script = None
        self._run_in = None
        method, name, params = _named(object, method, params)
        kind = cdp_kind(name) if object._type == "CDPSession" else DRIVER_KINDS.get(method)
        if kind is None and runs_own_engine(params.get("selector")):
            kind = "script"
        if method == "newRequest":
            self._base = str(params.get("baseURL") or "")
        if method == "fetchResponseBody":
            self._last = self._fetched.pop(str(params.get("fetchUid")), None)
        elif kind is not None:
            try:
                self._take(object, method, kind, name, params)
            except Exception as error:  # noqa: BLE001 - the agent goes on
                self._driver.failed("actions", error)

    def follow(self, method: str, reply: Any) -> None:
        """Record the results of a driver's request, which may create objects, and the end of its script."""
        future = getattr(reply, "future", reply)
        if method == "newRequest" and self._base:
            future.add_done_callback(partial(self._based, self._base))
        if self._last is not None:
            future.add_done_callback(partial(self._replied, method, self._last))
        if self._script is not None and hasattr(future, "add_done_callback"):
            future.add_done_callback(partial(self._ran, self._script, self._run_in))
        elif self._script is not None:
            self._ran(self._script, self._run_in)

    def missed(self) -> list[tuple[float, str]]:
        """Return when the agent first used each page or browser that is not recorded, and what it is."""
        foreign = [at for page, at in self._foreign_pages.items() if self._tabs.get(page, 0) == 0]
        return [(at, "page") for at in foreign] + [(at, "browser") for at in self._launched]

    def _take(self, object: Any, method: str, kind: str, name: str, params: Params) -> None:
        at = self._driver.clock.now()
        self._note_unwatched(object, method, kind, params, at)
        tab = None if method == _NESTED else self._tabs.get(_owner(object, "Page"))
        number = tab.page if tab is not None and tab.actor == "agent" else None
        more = {"strokes": strokes_of(name, params), "forges": forges(name, params), **shown(params)}
        world = "page" if runs_own_engine(params.get("selector")) else None
        self._driver.feed(Commanded(at=at, page=number, kind=kind, name=name, world=world, **more))
        self._note_gaps(name, params)
        is_in_page = True if world else runs_in_page(name if object._type == "CDPSession" else method)
        if is_in_page is not None and method != _NESTED:
            asked = ScriptAsked(
                at=at,
                page=number,
                number=self._scripts + 1,
                is_apart=not is_in_page,
                is_outermost=kind == "script" and _is_of_page(object, params),
                strokes=strokes_of(method, params),
            )
            self._run(tab if number is not None else None, asked)
        self._note_request(object, name, params, at)

    def _note_gaps(self, name: str, params: Params) -> None:
        """Note which channels are no longer whole after a command."""
        if alters(name, params):
            self._driver.gap("network", ALTERED)
        for channel in BLINDED if blinds(name, params) else ():
            self._driver.gap(channel, BLIND)
        for channel in UNLOGGED_IN if opens_browser(name) else ():
            self._driver.gap(channel, UNLOGGED)

    def _note_request(self, object: Any, name: str, params: Params, at: float) -> None:
        """Note a request that the driver sends, or one of a page that the agent answers."""
        if name == "APIRequestContext.fetch":
            self._request(object, params, at)
        # With another address the agent decides what the page is given.
        elif name == "Route.fulfill" or (name == "Route.continue" and params.get("url")):
            # Playwright's own properties already say what the agent made of it.
            asked = getattr(object.request, "_initializer", None) or vars(object.request)
            self._driver.feed(Answered(at=at, url=asked["url"], method=asked["method"]))

    def _note_unwatched(self, object: Any, method: str, kind: str, params: Params, at: float) -> None:
        """Note the use of a page or browser that is not recorded, or of one of which no page is named."""
        page = _owner(object, "Page")
        if page is not None and page not in self._tabs and kind != "target":
            self._foreign_pages.setdefault(page, at)
        if kind in ("input", "script") and self.is_whole and not _is_of_page(object, params):
            self._driver.census.touched_at = at
        if method in _BROWSERS and object._type in ("BrowserType", "LocalUtils"):
            self._launched.append(at)

    def _run(self, tab: CdpTab | None, asked: ScriptAsked) -> None:
        self._script = self._scripts = asked.number
        self._run_in = tab
        self._driver.feed(asked)

    def _ran(self, number: int, tab: CdpTab | None, reply: Any = None) -> None:
        self._driver.feed(ScriptEnded(at=self._driver.clock.now(), number=number))
        if tab is not None:
            tab.leave_listeners.ask()

    # Requests that the driver makes itself

    def _request(self, object: Any, params: Params, at: float) -> None:
        self._asked += 1
        self._last = f"driver:{self._asked}"
        context = _owner(object, "BrowserContext")
        own = self._bases.get(getattr(object, "_guid", ""), "")
        base = (getattr(context, "_options", None) or {}).get("baseURL") or own
        headers, post = _body_of(params)
        asked = Requested(
            at=at,
            request=self._last,
            method=str(params.get("method") or "GET").upper(),
            url=_with_parameters(urljoin(base, str(params["url"])), params),
            headers=headers,
            post=post,
            resource="fetch",
            initiator="driver",
        )
        self._driver.feed(asked)
        self._asked_for[asked.request] = asked.url

    def _based(self, base: str, reply: Any) -> None:
        """Note what addresses of a client of its own are relative to."""
        try:
            self._bases[reply.result()["request"]._object._guid] = base
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self._driver.failed("network", error)

    def _replied(self, method: str, name: str, reply: Any) -> None:
        try:
            if reply.cancelled():
                self._fail(name, "cancelled")
            elif reply.exception() is not None:
                self._fail(name, str(reply.exception()).splitlines()[0])
            elif method == "fetchResponseBody":
                self._read(name, reply)
            else:
                self._respond(name, reply.result()["response"])
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self._driver.failed("network", error)

    def _fail(self, name: str, error: str) -> None:
        self._driver.feed(Failed(at=self._driver.clock.now(), request=name, error=error[:200]))

    def _respond(self, name: str, response: Params) -> None:
        now = self._driver.clock.now()
        headers = tuple((one["name"], one["value"]) for one in response.get("headers", ()))
        mime = next((value for key, value in headers if key.lower() == "content-type"), None)
        name = self._redirected(name, response.get("url") or "", now)
        responded = Responded(
            at=now,
            request=name,
            status=response["status"],
            status_text=response.get("statusText", ""),
            headers=headers,
            mime=mime,
        )
        self._driver.feed(responded)
        self._fetched[response.get("fetchUid", "")] = name

    def _redirected(self, name: str, url: str, at: float) -> str:
        """Note the target of a redirect; the driver follows it without reporting the hops."""
        if url.partition("#")[0] == self._asked_for.pop(name, url).partition("#")[0]:
            return name
        self._driver.gap("network", "redirect.unseen")
        last = f"{name}#1"
        self._driver.feed(Finished(at=at, request=name))
        led = Requested(
            at=at,
            request=last,
            method="GET",
            url=url,
            redirect_from=name,
            resource="fetch",
            initiator="driver",
        )
        self._driver.feed(led)
        return last

    def _read(self, name: str, reply: Any) -> None:
        binary = reply.result().get("binary")
        body = base64.b64decode(binary) if isinstance(binary, str) else binary
        self._driver.feed(Finished(at=self._driver.clock.now(), request=name, body=body))


def _named(object: Any, method: str, params: Params) -> tuple[str, str, Params]:
    """Return the method, name and parameters of a command, as they were sent or as a session gets them."""
    if object._type != "CDPSession" or method != "send":
        return method, f"{object._type}.{method}", params
    sent = str(params.get("method")), params.get("params") or {}
    name, inner = unwrapped(*sent)
    return method if name == sent[0] else _NESTED, name, inner


def _is_of_page(object: Any, params: Params) -> bool:
    """Whether a command reaches a page's main frame, and no other."""
    is_main = object._type == "Frame" and getattr(object, "_parent_frame", None) is None
    return is_main and "enter-frame" not in str(params.get("selector"))


def _owner(object: Any, kind: str) -> Any:
    """Return the page or context that one of Playwright's objects belongs to; None = to no context."""
    for _ in range(8):
        if object is None or getattr(object, "_type", None) == kind:
            return object
        page = getattr(object, "_page", None)
        object = page if getattr(page, "_type", None) == "Page" else getattr(object, "_parent", None)
    return None


def shown(params: Params) -> dict[str, Any]:
    """Return what a command says in clear, as fields of `Commanded`, and how long the rest of it is."""
    clear: dict[str, Any] = {
        name: str(params[name]) for name in ("url", "method", "selector") if params.get(name)
    }
    sizes = [len(text) for name in _TEXTS if isinstance(text := params.get(name), str)]
    key = params.get("key")
    # A single character may belong to a password; a named key such as `Enter` tells nothing.
    if isinstance(key, str) and len(key.rpartition("+")[2]) > 1:
        clear["key"] = key
    return {**clear, "point": _point(params), "size": sum(sizes) if sizes else None}


def _point(params: Params) -> tuple[int, int] | None:
    x, y = params.get("x"), params.get("y")
    if isinstance(x, int | float) and isinstance(y, int | float) and abs(x) < 2**31 and abs(y) < 2**31:
        return int(x), int(y)
    return None


def _with_parameters(url: str, params: Params) -> str:
    pairs = [(one["name"], str(one["value"])) for one in params.get("params") or ()]
    query = str(params["encodedParams"]).lstrip("?") if params.get("encodedParams") else urlencode(pairs)
    if not query:
        return url
    parts = urlsplit(url)
    return parts._replace(query=f"{parts.query}&{query}" if parts.query else query).geturl()


def _body_of(params: Params) -> tuple[tuple[tuple[str, str], ...], bytes | None]:
    """Return headers and body that the driver was asked to send, with the type that it states by itself."""
    headers = tuple((one["name"], one["value"]) for one in params.get("headers") or ())
    kind, post = _encoded(params)
    is_stated = any(name.lower() == "content-type" for name, _ in headers)
    return (headers if post is None or is_stated else (*headers, ("content-type", kind))), post


def _encoded(params: Params) -> tuple[str, bytes | None]:
    if params.get("postData") is not None:
        data = params["postData"]
        return "application/octet-stream", data if isinstance(data, bytes) else base64.b64decode(data)
    if params.get("jsonData") is not None:
        return "application/json", str(params["jsonData"]).encode()
    if params.get("formData") is not None:
        pairs = [(one["name"], str(one["value"])) for one in params["formData"]]
        return "application/x-www-form-urlencoded", urlencode(pairs).encode()
    if params.get("multipartData") is not None:
        return f"multipart/form-data; boundary={BOUNDARY}", _multipart(params["multipartData"])
    return "", None


def _multipart(parts: list[Params]) -> bytes:
    lines: list[bytes] = []
    for part in parts:
        file = part.get("file")
        named = f'form-data; name="{part["name"]}"' + (f'; filename="{file["name"]}"' if file else "")
        lines += [f"--{BOUNDARY}".encode(), f"Content-Disposition: {named}".encode()]
        data = str(part.get("value", "")).encode()
        if file:
            lines.append(f"Content-Type: {file.get('mimeType') or 'application/octet-stream'}".encode())
            held = file["buffer"]
            data = held if isinstance(held, bytes) else base64.b64decode(held)
        lines += [b"", data]
    return b"\r\n".join([*lines, f"--{BOUNDARY}--".encode(), b""])
