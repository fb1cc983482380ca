"""Kinds of commands, by the names that Playwright's own protocol and CDP give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replaykit.recorder.session.witnesses import Strokes

_DRIVER = {
    "input": """
        check uncheck click dblclick dragAndDrop fill focus blur hover press selectOption selectText
        setInputFiles tap type scrollIntoViewIfNeeded keyboardDown keyboardUp keyboardInsertText keyboardType
        keyboardPress mouseMove mouseDown mouseUp mouseClick mouseWheel touchscreenTap accept dismiss drop
    """,
    "target": """
        newPage newContext newRequest newCDPSession newBrowserCDPSession launch launchPersistentContext
        connect connectOverCDP close runBeforeUnload startServer newContextForReuse connectToWorker
    """,
    "request": "fetch",
    "script": """
        evaluateExpression evaluateExpressionHandle evalOnSelector evalOnSelectorAll waitForFunction
        addScriptTag addStyleTag addInitScript exposeBinding dispatchEvent registerSelectorEngine
        webmcpCallTool
    """,
    "network": """
        fulfill abort continue setNetworkInterceptionPatterns setWebSocketInterceptionPatterns setOffline
        setExtraHTTPHeaders setHTTPCredentials sendToPage sendToServer closePage closeServer harOpen
    """,
    "state": """
        addCookies clearCookies grantPermissions clearPermissions setGeolocation setStorageState clockInstall
        clockFastForward clockPauseAt clockResume clockRunFor clockSetFixedTime clockSetSystemTime
        emulateMedia setViewportSize webStorageSetItem webStorageRemoveItem webStorageClear credentialsInstall
        credentialsCreate credentialsDelete
    """,
    "navigate": "goto reload goBack goForward setContent",
}

# Without `waitForFunction`: it lasts as long as the page takes, so it would claim too many events.
_IN_PAGE = frozenset(
    {"evaluateExpression", "evaluateExpressionHandle", "evalOnSelector", "evalOnSelectorAll"}
    | {"dispatchEvent", "addScriptTag"}
)

# A name that ends in a dot or in a verb (`DOM.set`) stands for all that begin like it.
_CDP = {
    "input": """
        Input. DOM.setFileInputFiles DOM.focus Page.handleJavaScriptDialog Autofill.trigger
        Emulation.setEmitTouchEventsForMouse FindInPage.find FedCm.select FedCm.click
        FedCm.dismiss FedCm.openUrl DeviceAccess.selectPrompt DeviceAccess.cancelPrompt
        Extensions.triggerAction
    """,
    "target": """
        Target.createTarget Target.createBrowserContext Target.disposeBrowserContext Target.closeTarget
        Target.attachToTarget Target.attachToBrowserTarget Target.exposeDevToolsProtocol Page.close
        Target.openDevTools Browser.close Browser.crash Page.crash PWA.install PWA.launch
        PWA.openCurrentPageInApp
    """,
    "request": "Network.loadNetworkResource Network.replayXHR",
    "script": """
        Runtime.evaluate Runtime.callFunctionOn Runtime.runScript Runtime.addBinding
        Debugger. Page.addScriptToEvaluateOnNewDocument Page.addScriptToEvaluateOnLoad
        Page.createIsolatedWorld Page.addCompilationCache Target.sendMessageToTarget Extensions.loadUnpacked
        WebMCP.invokeTool
    """,
    "network": """
        Fetch. Network.setBlockedURLs Network.emulateNetworkConditions Network.setExtraHTTPHeaders
        Network.setRequestInterception Network.setBypassServiceWorker Network.overrideNetworkState
        Network.setUserAgentOverride ServiceWorker. BackgroundService.
    """,
    "state": """
        Network.setCookie Network.setCookies Network.deleteCookies Network.clearBrowserCookies
        Network.deleteDeviceBoundSession Storage.setCookies Storage.clear Storage.deleteStorageBucket
        DOMStorage.set DOMStorage.remove DOMStorage.clear IndexedDB.delete IndexedDB.clear CacheStorage.delete
        Extensions.setStorageItems Extensions.removeStorageItems Extensions.clearStorageItems
        DOM.set DOM.remove DOM.copyTo DOM.moveTo DOM.undo DOM.redo DOM.forceShow CSS.set CSS.addRule
        CSS.createStyleSheet CSS.force Emulation.
        Browser.grantPermissions Browser.setPermission Browser.resetPermissions
        Page.deleteCookie Page.setGeolocationOverride Page.setDeviceMetricsOverride Page.setBypassCSP
        Page.setTouchEmulationEnabled Page.setSPCTransactionMode Page.setRPHRegistrationMode
        DeviceOrientation.set Page.setDeviceOrientationOverride Autofill.setAddresses WebAuthn.add
        WebAuthn.setUserVerified WebAuthn.setAutomaticPresenceSimulation WebAuthn.removeCredential
        WebAuthn.clearCredentials WebAuthn.setCredentialProperties BluetoothEmulation. SmartCardEmulation.
        DigitalCredentials.set Runtime.terminateExecution
    """,
    "navigate": """
        Page.navigate Page.navigateToHistoryEntry Page.reload Page.setDocumentContent
        Page.setWebLifecycleState
    """,
}

DRIVER_KINDS = {name: kind for kind, names in _DRIVER.items() for name in names.split()}
"""Method of Playwright's protocol to the kind of command; what is not here only reads."""

_EXACT = {name: kind for kind, names in _CDP.items() for name in names.split()}
_PREFIXES = tuple(_EXACT.items())


CDP_SCRIPTS = frozenset(
    ["Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.runScript", "Debugger.evaluateOnCallFrame"]
)
"""Methods of CDP that run a script and are answered when it has run."""


PLANTING = frozenset({"Page.addScriptToEvaluateOnNewDocument", "Page.addScriptToEvaluateOnLoad"})
"""Methods of CDP that have a script run in documents to come."""


def runs_in_page(method: str) -> bool | None:
    """Whether a command to Playwright runs a script in the page's own world; None = it runs none at all."""
    if method in _IN_PAGE or method in CDP_SCRIPTS:
        return True
    # Drivers carry input out by scripts in a world of their own.
    return False if DRIVER_KINDS.get(method) == "input" else None


# Not `input`: scripts of a page also make such events, and the browser calls them trusted.
_STROKES = {
    "pointerdown": "click dblclick tap check uncheck mouseDown mouseClick touchscreenTap",
    "pointerup": "mouseUp",
    "keydown": "press keyboardDown keyboardPress",
}
_EVENTS = {name: event for event, names in _STROKES.items() for name in names.split()}

_CDP_EVENTS = {
    "mousePressed": "pointerdown",
    "mouseReleased": "pointerup",
    "keyDown": "keydown",
    "rawKeyDown": "keydown",
}
_NOTHING = Strokes(event="", count=0)


def strokes_of(method: str, params: Mapping[str, Any]) -> Strokes | None:
    """Return the input that a command makes, where nothing that it does goes without it; else None."""
    if method in ("Input.dispatchMouseEvent", "Input.dispatchKeyEvent"):
        return _strokes_of_event(str(params.get("type")), params)
    event = _EVENTS.get(method)
    # Other keys are pressed as well: `Control+A`, or those that are held meanwhile.
    if event is None or params.get("modifiers") or "+" in str(params.get("key") or ""):
        return None
    return Strokes(event=event, count=2 if method == "dblclick" else int(params.get("clickCount") or 1))


def _strokes_of_event(kind: str, params: Mapping[str, Any]) -> Strokes | None:
    # A pointer that moves drags what it holds, and Space presses a button when it is released.
    is_held = params.get("buttons") or params.get("button", "none") != "none"
    if (kind == "mouseMoved" and not is_held) or (kind == "keyUp" and params.get("key", " ") != " "):
        return _NOTHING
    event = _CDP_EVENTS.get(kind)
    return None if event is None else Strokes(event=event)


BLIND = "scripts.disabled"
"""Why nothing is reported by a page whose scripts the agent has turned off."""

BLINDED = ("actions", "targets", "snapshots", "form_state")
"""Channels that the recorder's script in the page fills."""


def blinds(name: str, params: Mapping[str, Any]) -> bool:
    """Whether a command turns the scripts of pages off, and with them what listens in them."""
    if name == "Browser.newContext":
        return params.get("javaScriptEnabled") is False
    return name == "Emulation.setScriptExecutionDisabled" and params.get("value") is True


ALTERED = "request.altered"
"""Why the network is not whole: the agent had a request sent that the page had not asked for in this way."""

_GOING_ON = frozenset({"Route.continue", "Fetch.continueRequest", "Network.continueInterceptedRequest"})


def alters(name: str, params: Mapping[str, Any]) -> bool:
    """Whether a command lets a request go on to another address, by another method or with another body."""
    return name in _GOING_ON and any(params.get(field) for field in ("url", "method", "postData"))


def cdp_kind(method: str) -> str | None:
    """Return the kind of a CDP method; None = it only reads, or changes nothing that a check could see."""
    exact = _EXACT.get(method)
    if exact is not None:
        return exact
    return next((kind for prefix, kind in _PREFIXES if method.startswith(prefix)), None)
