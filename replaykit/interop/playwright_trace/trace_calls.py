"""Classify calls of Playwright's protocol: actions, calls that only read or wait, and undecidable ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from replaykit.trajectory import action as actions

RAW_MAX = 64 * 2**10
"""Bytes of a call's parameters that a step keeps."""

_ACTING = (
    "Frame",
    "ElementHandle",
    "JSHandle",
    "Page",
    "BrowserContext",
    "Dialog",
    "APIRequestContext",
    "Worker",
)
"""Classes whose methods may be actions; all others only read, or belong to the harness."""

_QUIET = """
    textContent innerText innerHTML inputValue isVisible isHidden isEnabled isDisabled isChecked isEditable
    getAttribute title content querySelector querySelectorAll queryCount waitForSelector waitForFunction
    waitForTimeout waitForElementState waitForLoadState waitForEventInfo expect expectScreenshot screenshot
    ariaSnapshot ariaSnapshotDiff boundingBox highlight resolveSelector frameElement ownerFrame contentFrame
    scrollIntoViewIfNeeded selectText requests consoleMessages pageErrors pdf bringToFront setViewportSize
    emulateMedia route unroute setNetworkInterceptionPatterns setWebSocketInterceptionPatterns
    updateSubscription registerLocatorHandler unregisterLocatorHandler resolveLocatorHandlerNoReply
    setDefaultTimeoutNoReply setDefaultNavigationTimeoutNoReply exposeBinding addInitScript cookies
    storageState newCDPSession harStart harExport tracingStart tracingStop tracingGroup tracingGroupEnd
    startJSCoverage stopJSCoverage startCSSCoverage stopCSSCoverage generateLocatorString snapshotForAI
    pause enableRecorder createTempFiles grantPermissions clearPermissions setGeolocation
    setExtraHTTPHeaders setOffline setHTTPCredentials clockInstall clockFastForward clockPauseAt clockResume
    clockRunFor clockSetFixedTime clockSetSystemTime __waitInfo__ dispose fetchResponseBody fetchLog
    disposeAPIResponse getProperty getPropertyList jsonValue
"""
_INERT = frozenset(_QUIET.split())
"""Methods that read, wait or set up: no steps."""


def action_of(call: Mapping[str, Any], element: actions.Element | None) -> actions.Action | None:
    """Return what a call did; None where it did nothing to a page. Unknown where it may have."""
    kind, method = call.get("class"), call.get("method")
    if kind not in _ACTING or not isinstance(method, str) or method in _INERT:
        return None
    if kind == "BrowserContext" and method != "newPage":
        return None if method in ("close", "closed") else _unknown(call)
    params = call.get("params")
    make = _MAKERS.get(method)
    if make is None:
        return _unknown(call)
    try:
        return make(params if isinstance(params, dict) else {}, element)
    # Parameters are foreign: a call that cannot be read did something all the same.
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return _unknown(call)


def typed(action: actions.Action) -> str | None:
    """Return the text that an action enters, None for all others."""
    if isinstance(action, actions.TextAction):
        return action.value
    return None


def raw_of(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return class, method and parameters of a call, where they are not too long to keep."""
    raw = {name: call[name] for name in ("callId", "class", "method", "title", "params") if call.get(name)}
    return raw if len(msgspec.json.encode(raw)) <= RAW_MAX else {**raw, "params": None}


def _unknown(call: Mapping[str, Any]) -> actions.Unknown:
    text = msgspec.json.encode(call.get("params")).decode()
    return actions.Unknown(
        name=str(call.get("method"))[:64] or "call", raw=text if len(text) <= RAW_MAX else ""
    )


def _click(params: dict[str, Any], element: actions.Element | None) -> actions.Action:
    count, fields = params.get("clickCount", 1), _pointing(params, element)
    # Some callers double-click by `click(click_count=2)`.
    return (
        actions.DblClick(element=element, **fields)
        if count == 2
        else actions.Click(element=element, **fields)
    )


def _pointing(params: dict[str, Any], element: actions.Element | None) -> dict[str, Any]:
    modifiers = tuple(str(one) for one in params.get("modifiers") or ())
    point = None if element is None else element.point
    return {"button": str(params.get("button", "left")), "modifiers": modifiers, "point": point}


def _select(params: dict[str, Any], element: actions.Element | None) -> actions.Action:
    chosen = [one for one in params.get("options") or () if isinstance(one, dict)]
    values = [str(one[key]) for one in chosen for key in ("value", "valueOrLabel") if key in one]
    labels = [str(one["label"]) for one in chosen if "label" in one]
    return actions.SelectOption(element=element, values=tuple(values), labels=tuple(labels))


def _upload(params: dict[str, Any], element: actions.Element | None) -> actions.Action:
    names = [str(path) for path in params.get("localPaths") or ()]
    held = [*(params.get("payloads") or ()), *(params.get("files") or ())]  # `files`: up to Playwright 1.37
    names += [str(one.get("name", "")) for one in held if isinstance(one, dict)]
    # Only the name: folders tell about the machine that recorded.
    bases = (name.replace("\\", "/").rpartition("/")[2] for name in names)
    return actions.UploadFile(element=element, files=tuple(actions.FileInfo(name=name) for name in bases))


def _drag(params: dict[str, Any], element: actions.Element | None) -> actions.Action:
    target = params.get("target")
    # The layout's selector is named `source` here, not `selector`.
    start = element or actions.Element(ref=str(params.get("source", "")))
    return actions.DragAndDrop(element=start, to=actions.Element(ref=str(target)) if target else None)


def _point(params: dict[str, Any]) -> tuple[int, int]:
    return (round(params["x"]), round(params["y"]))


def _dialog(accept: bool) -> Callable[[dict[str, Any], actions.Element | None], actions.Action]:
    def make(params: dict[str, Any], element: actions.Element | None) -> actions.Action:
        text = params.get("promptText")
        return actions.HandleDialog(accept=accept, text=text if isinstance(text, str) else None)

    return make


def _wheel(params: dict[str, Any], element: actions.Element | None) -> actions.Action:
    return actions.Scroll(dx=round(params["deltaX"]), dy=round(params["deltaY"]), by="wheel")


_MAKERS: dict[str, Callable[[dict[str, Any], actions.Element | None], actions.Action]] = {
    "goto": lambda p, _: actions.Goto(url=str(p["url"])),
    "click": _click,
    "dblclick": lambda p, e: actions.DblClick(element=e, **_pointing(p, e)),
    "tap": lambda p, e: actions.Tap(element=e, point=None if e is None else e.point),
    "fill": lambda p, e: actions.Fill(element=e, value=str(p["value"])),
    "type": lambda p, e: actions.Type(element=e, value=str(p["text"])),
    "press": lambda p, e: actions.Press(element=e, key=str(p["key"])),
    "check": lambda p, e: actions.Check(element=e),
    "uncheck": lambda p, e: actions.Uncheck(element=e),
    "hover": lambda p, e: actions.Hover(element=e),
    "focus": lambda p, e: actions.Focus(element=e),
    "selectOption": _select,
    "setInputFiles": _upload,
    "dragAndDrop": _drag,
    "goBack": lambda *_: actions.GoBack(),
    "goForward": lambda *_: actions.GoForward(),
    "reload": lambda *_: actions.Reload(),
    "newPage": lambda *_: actions.NewTab(),
    "close": lambda *_: actions.CloseTab(),
    "keyboardType": lambda p, _: actions.KeyboardType(value=str(p["text"])),
    "keyboardInsertText": lambda p, _: actions.KeyboardInsertText(value=str(p["text"])),
    "keyboardPress": lambda p, _: actions.Press(key=str(p["key"])),
    "keyboardDown": lambda p, _: actions.KeyboardDown(key=str(p["key"])),
    "keyboardUp": lambda p, _: actions.KeyboardUp(key=str(p["key"])),
    "mouseClick": lambda p, _: actions.MouseClick(point=_point(p), button=str(p.get("button", "left"))),
    "mouseMove": lambda p, _: actions.MouseMove(point=_point(p)),
    "mouseDown": lambda p, _: actions.MouseDown(point=(0, 0), button=str(p.get("button", "left"))),
    "mouseUp": lambda p, _: actions.MouseUp(point=(0, 0), button=str(p.get("button", "left"))),
    "mouseWheel": _wheel,
    "accept": _dialog(True),
    "dismiss": _dialog(False),
}
