"""Random pages that send requests in every way, beside the log of their server: no check disagrees with that log."""

from __future__ import annotations

from html import escape
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.exchange import Gap
from tests.live.conftest import WAIT_S
from tests.live.test_proxy import recorded
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.live, pytest.mark.one_page]

BODY = "JSON.stringify({w: '@W'})"
POST = f"fetch('@U', {{method: 'POST', body: {BODY}}}).catch(() => 0)"
SENT = f"`<script>{POST}<\\/script>`"
FORM = "const f = Object.assign(document.createElement('form'), {method: 'post', action: '@U'});"
FORM += "f.innerHTML = '<input name=w value=@W>'; document.body.append(f);"
FRAME = "const i = document.createElement('iframe');"
AWAY = "location = '/two'"
PLAIN = {
    "fetch": ("GET", "fetch('@U').catch(() => 0)"),
    "post": ("POST", POST),
    "fields": ("POST", "fetch('@U', {method: 'POST', body: new URLSearchParams({w: '@W'})}).catch(() => 0)"),
    "no cors": ("POST", POST.replace("body", "mode: 'no-cors', body")),
    "kept": ("POST", POST.replace("body", "keepalive: true, body")),
    "xhr": ("POST", f"const x = new XMLHttpRequest(); x.open('POST', '@U'); x.send({BODY})"),
    "at once": ("POST", f"const x = new XMLHttpRequest(); x.open('POST', '@U', false); x.send({BODY})"),
    "beacon": ("POST", f"navigator.sendBeacon('@U', {BODY})"),
    "image": ("GET", "new Image().src = '@U'"),
    "module": ("GET", "import('@U').catch(() => 0)"),
    "preload": ("GET", "document.head.append(Object.assign(document.createElement('link'), "
                       "{rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: '@U'}))"),
    "prefetch": ("GET", "document.head.append(Object.assign(document.createElement('link'), {rel: 'prefetch', href: '@U'}))"),
    "form": ("POST", f"{FORM} f.submit()"),
    "form in a tab": ("POST", f"{FORM} f.target = '_blank'; f.submit()"),
    "form in a frame": ("POST", f"{FRAME} i.name = 'n'; document.body.append(i); {FORM} f.target = 'n'; f.submit()"),
    "frame": ("GET", f"{FRAME} i.src = '@U'; document.body.append(i)"),
    "frame of text": ("POST", f"{FRAME} i.srcdoc = {SENT}; document.body.append(i)"),
    "worker": ("POST", f"globalThis.k = new Worker(URL.createObjectURL(new Blob([`{POST}`])))"),
    "timer": ("POST", f"setTimeout(() => {POST}, 100)"),
    "place": ("GET", "location = '@U'"),
    "cache": ("GET", "caches.open('c').then((c) => c.add('@U')).catch(() => 0)"),
}  # fmt: skip
ODD = {
    # Its bytes are asked for, and a redirect may come first.
    "blob": ("POST", f"fetch('@U', {{method: 'POST', body: new Blob([{BODY}])}}).catch(() => 0)"),
    "frame that goes": ("POST", f"{FRAME} i.srcdoc = {SENT}; document.body.append(i); setTimeout(() => i.remove(), 60)"),
    "frame of a blob": ("POST", f"{FRAME} i.src = URL.createObjectURL(new Blob([{SENT}], {{type: 'text/html'}})); document.body.append(i)"),
    "frame of data": ("POST", f"{FRAME} i.src = 'data:text/html,' + encodeURIComponent({SENT}); document.body.append(i)"),
    "sandbox": ("POST", f"{FRAME} i.sandbox = 'allow-scripts'; i.srcdoc = {SENT}; document.body.append(i)"),
    "written frame": ("POST", f"{FRAME} document.body.append(i); i.contentDocument.write({SENT}); i.contentDocument.close()"),
    "empty frame": ("POST", f"{FRAME} document.body.append(i); i.contentWindow.{POST}; i.remove()"),
    "nested worker": ("POST", f"globalThis.k = new Worker(URL.createObjectURL(new Blob([`new Worker(URL.createObjectURL(new Blob([\"{POST}\"])))`])))"),
    "as it is left": ("POST", f"addEventListener('pagehide', () => navigator.sendBeacon('@U', {BODY})); {AWAY}"),
    "as it is hidden": ("POST", f"addEventListener('visibilitychange', () => navigator.sendBeacon('@U', {BODY})); {AWAY}"),
    "left at once": ("POST", f"{POST.replace('body', 'keepalive: true, body')}; {AWAY}"),
    "taken back": ("POST", f"const a = new AbortController(); {POST.replace('body', 'signal: a.signal, body')}; setTimeout(() => a.abort(), 20)"),
    "never sent": ("POST", f"const a = new AbortController(); a.abort(); {POST.replace('body', 'signal: a.signal, body')}"),
    "popup": ("GET", "globalThis.p = window.open('@U')"),
    "popup that goes": ("GET", "const p = window.open('@U'); setTimeout(() => p.close(), 40)"),
    "of a popup": ("POST", f"const p = window.open(''); p.{POST}; setTimeout(() => p.close(), 30)"),
    "object": ("GET", "document.body.append(Object.assign(document.createElement('object'), {data: '@U'}))"),
    "rules": ("GET", "document.head.append(Object.assign(document.createElement('script'), {type: 'speculationrules', "
                     "textContent: JSON.stringify({prefetch: [{urls: ['@U'], eagerness: 'immediate'}]})}))"),
}  # fmt: skip
BLOB = "URL.createObjectURL(new Blob([`{}`]))"
LINK = "const a = Object.assign(document.createElement('a'), {{{}}}); document.body.append(a); a.click()"
RARE = {
    "ping": ("POST", LINK.format("href: '#z', ping: '@U'")),
    "download": ("GET", LINK.format("href: '@U', download: 'x'")),
    "shared worker": ("POST", f"globalThis.k = new SharedWorker({BLOB.format(POST)}, '@W')"),
    "shared script": ("GET", "globalThis.k = new SharedWorker('@U')"),
    "module worker": ("POST", f"globalThis.k = new Worker({BLOB.format(POST)}, {{type: 'module'}})"),
    "worker that ends": ("POST", f"const k = new Worker({BLOB.format(POST)}); setTimeout(() => k.terminate(), 60)"),
    "worker of a frame": ("POST", f"{FRAME} i.srcdoc = '<p>a'; document.body.append(i); "
                          f"i.onload = () => {{ new i.contentWindow.Worker({BLOB.format(POST)}) }}"),
    "events": ("GET", "new EventSource('@U')"),
    "prerender": ("GET", "document.head.append(Object.assign(document.createElement('script'), {type: 'speculationrules', "
                         "textContent: JSON.stringify({prerender: [{urls: ['@U'], eagerness: 'immediate'}]})}))"),
    "file": ("POST", "const f = new FormData(); f.append('w', '@W'); f.append('f', new File(['abc'], 'a.txt')); "
                     "fetch('@U', {method: 'POST', body: f}).catch(() => 0)"),
    "beacon of a form": ("POST", "const f = new FormData(); f.append('w', '@W'); navigator.sendBeacon('@U', f)"),
    "sheet in a sheet": ("GET", "document.head.append(Object.assign(document.createElement('style'), {textContent: '@import url(@U)'}))"),
    "font": ("GET", "new FontFace('f', 'url(@U)').load().catch(() => 0)"),
    "video": ("GET", "document.body.append(Object.assign(document.createElement('video'), {src: '@U'}))"),
    "drawing": ("GET", "document.body.insertAdjacentHTML('beforeend', `<svg><image href=@U></svg>`)"),
    "icon": ("GET", "document.head.append(Object.assign(document.createElement('link'), {rel: 'icon', href: '@U'}))"),
    "audio": ("GET", "new AudioContext().audioWorklet.addModule('@U').catch(() => 0)"),
    "later": ("POST", f"fetchLater('@U', {{method: 'POST', body: {BODY}, activateAfter: 20}})"),
    "service worker": ("GET", "navigator.serviceWorker.register('@U').catch(() => 0)"),
    "worklet": ("GET", "CSS.paintWorklet.addModule('@U').catch(() => 0)"),
    "stranger": ("GET", "window.open('@U', '', 'noopener')"),
    "form in a popup": ("POST", f"window.open('', 'pp'); {FORM} f.target = 'pp'; f.submit()"),
    "popup that ends": ("POST", "const p = window.open('/two'); p.addEventListener('load', () => { "
                        f"p.addEventListener('pagehide', () => p.navigator.sendBeacon('@U', {BODY})); p.close() }})"),
    "popup of a sandbox": ("GET", f"{FRAME} i.sandbox = 'allow-scripts allow-popups'; "
                           "i.srcdoc = `<script>window.open('@U')<\\/script>`; document.body.append(i)"),
}  # fmt: skip
"""Ways that are seldom a page's own, without those that leave the page."""

WORDS = ("kalo", "mirex", "tundra", "voss", "quill", "bramble", "jasper", "ferrin")
ANSWERS = (
    (200, {}),
    (200, {}),
    (204, {}),
    (404, {}),
    (500, {}),
    (302, {"Location": "/two"}),
    (307, {"Location": "/two"}),
)


class Sender(NamedTuple):
    """A control that sends a request, once it is used."""

    word: str
    method: str
    url: str
    script: str
    is_used: bool

    @property
    def path(self) -> str:
        """Path of its request."""
        return f"/sent/{self.word}"

    @property
    def is_leaving(self) -> bool:
        """Whether its page is left."""
        return "location = " in self.script or ("submit()" in self.script and "target" not in self.script)

    @property
    def is_taken_back(self) -> bool:
        """Whether it may end before it is sent: then the browser was asked for it, and its server was not."""
        return any(way in self.script for way in ("abort()", "i.remove()", "p.close()", "terminate()"))


def senders(random: Random, ways: dict[str, tuple[str, str]], site: Site) -> list[Sender]:
    """Return some controls, and let the site answer them in some way."""
    made = []
    for word in random.sample(WORDS, random.randint(3, 6)):
        method, script = ways[random.choice([*ways])]
        url = f"{random.choice([site.origin, site.origin, site.other])}/sent/{word}"
        site.add(f"/sent/{word}", "ok", "text/plain")
        site.answers[f"/sent/{word}"] = random.choice(ANSWERS)
        script = script.replace("@U", url).replace("@W", word)
        made.append(Sender(word, method, url, script, random.random() < 0.6))
    return made


def page_of(made: list[Sender]) -> str:
    """Return a page with these controls."""
    rows = [f'<button id={one.word} onclick="{escape(one.script)}">{one.word}</button>' for one in made]
    return "\n".join(("<!doctype html><title>Desk</title>", *rows))


def use(page: Any, random: Random, made: list[Sender], start: str, site: Site) -> None:
    """Use the controls that are used, each from the start page, by a click or a script of the agent."""
    for one in made:
        if not one.is_used:
            continue
        if page.url != start:
            page.goto(start)
        if random.random() < 0.2:
            page.evaluate(f"(() => {{ {one.script} }})()")
        else:
            page.click(f"#{one.word}", no_wait_after=True)
        page.wait_for_timeout(random.choice((0, 50, 250)))
        if one.is_leaving and site.answers[one.path][0] != 204:
            page.wait_for_url(lambda url: url != start)


def checks(made: list[Sender]) -> dict[str, tuple[dict[str, Any], Sender]]:
    """Return checks by name: that a request, or one with a body, was made, or was not made."""
    rows: dict[str, tuple[dict[str, Any], Sender]] = {}
    for one in made:
        expected = {"url": one.url, "http_method": one.method}
        rows[f"no-{one.word}"] = ({"should_not_exist": True, "expected": expected}, one)
        if one.method == "POST":
            body = {**expected, "post_data": {"w": one.word}}
            rows[f"no-body-{one.word}"] = ({"should_not_exist": True, "expected": body}, one)
        for status in (200, 204, 302, 307, 404, 500, -1):
            there = {"last_event_only": False, "expected": {**expected, "response_status": status}}
            rows[f"is{abs(status)}-{one.word}"] = (there, one)
    return rows


def outcomes(path: Path, rows: dict[str, tuple[dict[str, Any], Sender]]) -> dict[str, str]:
    """Return the outcomes of checks by name."""
    listed = [{"id": name, "type": "network", **check} for name, (check, _) in rows.items()]
    verdict = grade(path, {"id": "t", "intent": "x", "checks": listed})
    return {check.id: str(check.outcome) for check in verdict.checks}


def disagreeing(found: dict[str, str], made: list[Sender], before: set[str], after: set[str]) -> list[Any]:
    """Return what no server log allows; `before`, `after`: paths in it when the agent was done, and later."""
    wrong: list[Any] = []
    for one in made:
        absent = {found[name] for name in (f"no-{one.word}", f"no-body-{one.word}") if name in found}
        there = {found[name] for name in found if name.startswith("is") and name.endswith(one.word)}
        if one.path in before and ("PASS" in absent or there == {"FAIL"}):
            wrong.append((one, "was sent", absent, there))
        if one.path not in after and ("FAIL" in absent or "PASS" in there) and not one.is_taken_back:
            wrong.append((one, "was not sent", absent, there))
    return wrong


def record(path: Path, page: Any, random: Random, made: list[Sender], site: Site) -> set[str]:
    """Record the use of these controls; return what the site was asked for by the end of it."""
    site.headers["Access-Control-Allow-Origin"] = "*"
    site.add("/two", "<!doctype html><title>Two</title>")
    start = site.add("/", page_of(made))
    with Recorder(path, task={"id": "t", "intent": "x"}, screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        use(page, random, made, start, site)
        until_asked(page, made, site)
        asked = set(site.asked)
        run.answer("done")
    return asked


def until_asked(page: Any, made: list[Sender], site: Site) -> None:
    """Wait a moment for what the page has still to send; a popup that closes may never send it."""
    deadline = monotonic() + min(WAIT_S, 1.0)
    while monotonic() < deadline and not {one.path for one in made if one.is_used} <= set(site.asked):
        page.wait_for_timeout(20)


@pytest.mark.parametrize("seed", one_in(8, range(40)))
def test_checks_on_requests_agree_with_the_log_of_the_server(
    seed: int, page: Any, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    made = senders(random, PLAIN, site)
    before = record(tmp_path / "run.zst", page, random, made, site)
    found = outcomes(tmp_path / "run.zst", checks(made))
    assert disagreeing(found, made, before, set(site.asked)) == []
    assert "UNDECIDED" not in {outcome for name, outcome in found.items() if name.startswith("no-")}


@pytest.mark.parametrize("seed", one_in(8, range(40)))
def test_ways_out_of_the_ordinary_are_never_decided_against_the_log(
    seed: int, page: Any, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    made = senders(random, {**PLAIN, **ODD}, site)
    before = record(tmp_path / "run.zst", page, random, made, site)
    found = outcomes(tmp_path / "run.zst", checks(made))
    assert disagreeing(found, made, before, set(site.asked)) == []


@pytest.mark.parametrize("seed", one_in(12, range(100)))
def test_rare_ways_are_never_decided_against_the_log(
    seed: int, page: Any, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    made = senders(random, RARE, site)
    before = record(tmp_path / "run.zst", page, random, made, site)
    found = outcomes(tmp_path / "run.zst", checks(made))
    assert disagreeing(found, made, before, set(site.asked)) == []


def script_of(random: Random, made: list[Sender], site: Site) -> str:
    """Return a program that uses the controls that are used, each from the start page."""
    lines = ["start = page.url"]
    for one in [one for one in made if one.is_used]:
        lines += ["page.url == start or page.goto(start)", f"page.click('#{one.word}', no_wait_after=True)"]
        lines.append(f"page.wait_for_timeout({random.choice((0, 50, 250))})")
        if one.is_leaving and site.answers[one.path][0] != 204:
            lines.append("page.wait_for_url(lambda url: url != start)")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", one_in(20, range(20)))
def test_checks_of_an_agent_behind_the_proxy_are_decided_as_the_server_says(
    seed: int, browser_path: Path, site: Site, tmp_path: Path
) -> None:
    random = Random(seed)
    made = senders(random, PLAIN, site)
    site.headers["Access-Control-Allow-Origin"] = "*"
    site.add("/two", "<!doctype html><title>Two</title>")
    run, _ = recorded(site, tmp_path, script_of(random, made, site), page_of(made), screenshots="off")
    found = outcomes(tmp_path / "run.zst", checks(made))
    assert disagreeing(found, made, set(site.asked), set(site.asked)) == []
    assert "UNDECIDED" not in {outcome for name, outcome in found.items() if name.startswith("no-")}
    assert [gap.why for gap in run.of_type(Gap) if gap.channel in ("actions", "network")] == []
