"""How to record evidence that is missing: one plain sentence for each kind of code."""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.patterns import lazy_pattern

REMEDIES_MAX = 3
"""Sentences that stand below one result."""

_TASK = "record with --evidence task, or name the address: replaykit record --evidence FILE"
_WHOLE = "record again with `replaykit record`, which watches the run until the agent ends"
_WATCH = "record again with `replaykit record` (--agent or -- COMMAND), and attach before the agent starts"
_BODIES = "record with --network bodies"
_REPLAY = "grade with --replay auto, so that an offline browser reads the page"
_SPEECH = "record with --user FILE or --harness-events FILE, which hold the user's replies"
_API = "record with --task FILE#ID and --evidence task, so that the site's API is asked after the run"
_SCRIPT = "record with --task FILE#ID, so that the check's script runs after the agent"
_HEADER = "record with --network bodies and --keep-header NAME for the header"
_HIDDEN = (
    "the value was masked, is a secret or looks like one: record a test value instead, without --mask or"
    " --secret-env for it"
)
_PAGES = "record again with `replaykit record`, which keeps every page; an imported run may lack them"
_NAMES = "record again with `replaykit record`, which keeps names of targets; an imported run may lack them"

REMEDIES: dict[str, str] = {
    "a11y": "record with --a11y",
    "action.implied": "an imported action may do more than its type says (a typed line feed is Enter):"
    " look at the step",
    "actions": _WATCH,
    "api": _API,
    "bid": "import the run from BrowserGym's own files, which hold the ids of elements",
    "blob": "the bundle is damaged: run `replaykit verify BUNDLE`, then copy it again from its source",
    "body": _BODIES,
    "browser.gone": "no one closed the browser, and what came last in it is unknown: record the run again",
    "choice": "a key moved in a control of the page's own making, and what it chose is unknown: let the agent"
    " click, or read the value after the run (`phase: post`)",
    "button.secondary": "the agent clicked with the secondary button, which opens a menu or does more:"
    " check what came of it",
    "canvas.unread": "the page is drawn on a canvas, so its text is unknown: check what the agent answered,"
    " or a request",
    "command.unreported": "the agent called its driver for this, and no page reports on what: look at the"
    " requests of the run",
    "console": "record again with `replaykit record`, which keeps the console",
    "cookies": "record with `replaykit record`; a HAR without cookies does not show them",
    "crashed": "a page crashed, and what came last in it is unknown: record the run again",
    "dialogs": _WATCH,
    "document.crashed": "a page crashed while it was recorded: record the run again",
    "document.unclosed": "a page was gone before it was read: record the run again",
    "document.unopened": "a page began before the recorder was in it: " + _WATCH,
    "download.redirected": "a link with `download` led through a redirect, and only its end is known: record"
    " with `replaykit record`, whose log of requests has it",
    "drag.activates": "a pointer went down or up on a control, which may have acted: check what came of it",
    "events.missed": "the page kept input events from the recorder: record again with `-- COMMAND`",
    "field": _NAMES,
    "form_state": "record again with `replaykit record`, which keeps what form fields held",
    "embedded.unread": "a PDF or another document in the page was not recorded, so its text is unknown: check"
    " what the agent answered, or a request",
    "frame.unread": "a frame of the page was not recorded, so its text is unknown: " + _WATCH,
    "generated.unread": "style sheets show more words than a recording keeps, so the text of the page is"
    " unknown: check what the agent answered, or a request",
    "header": "import or record the run together with its task: --task FILE#ID",
    "headers": _HEADER,
    "ledger.full": "more input than a recording keeps: record a shorter run with --max-steps",
    "message.channel": _SPEECH,
    "messages": _SPEECH,
    "key.link": "Space was pressed on a link, which the browser does not follow: check what came of it",
    "names": _NAMES,
    "names.closed": "the target lies in a closed shadow root, whose names no recording can read: check"
    " what the action caused, for example its request",
    "names.inside": "a control inside the target has the name: record an agent that clicks that control",
    "names.row": "other boxes have the same name, and a person calls each by its row: name the box by a"
    " selector, or check what it led to",
    "names.covered": "another text covered the target: name the target by a selector in the policy",
    "names.confusable": "a name holds letters that look alike: state in the policy which name is meant",
    "navigation.by_script": "a script of the agent, or the page, moved on: record an agent that clicks, or"
    " goes there by its driver",
    "netlog": "record again with `replaykit record`, and let it close the browser",
    "network": _BODIES,
    "page": _TASK,
    "page.unreached": "the recorder tried this page and did not reach it: `replaykit show BUNDLE` gives"
    " the reason; let the site run, with the agent logged in, and record again",
    "page_image_query": "checks of images are not supported: ask a judge with --judge NAME",
    "plugin": "a plugin names this evidence: see its own documentation",
    "probe": _REPLAY,
    "probes": _TASK,
    "proof": _WATCH + "; without --require-proof, a channel that is only recorded is enough",
    "replies": _SPEECH,
    "reply": "ask the model with `replaykit judge run BUNDLE`, or grade with --judge-mode new",
    "report.unseen": "the browser sent a report for a page, such as one of its content security policy:"
    " record with `replaykit record`, whose log of requests has it",
    "request": "the verifier asked what the run never requested: let the run request it too",
    "requests.leaving": "a page was left that may send at its end, and what it sent then is unknown: record"
    " with `replaykit record`, whose log of requests has it",
    "screenshots": "record with --screenshots png",
    "script": _SCRIPT,
    "secret": "record with --secret-env NAME, so that the recorder marks where the secret was sent",
    "seq.broken": "a message of a page was lost: record the run again",
    "site": "name the site: --site NAME=URL",
    "sites": "name the site: --site shopping=URL",
    "snapshot": _PAGES,
    "snapshot.after": _PAGES,
    "snapshot.before": _PAGES,
    "snapshot.final": _PAGES,
    "snapshots": _PAGES,
    "state": "record with --network bodies, so that the response with the state is kept",
    "state.before": "record with --pre-probes on, so that the state before the run is known",
    "target": _NAMES,
    "commands.unlogged": "the agent let a page, an extension or another client command the browser: record an"
    " agent that sends its commands itself",
    "scripts.disabled": "the agent turned off scripts, which record its actions: let it leave them on",
    "socket.late": "a WebSocket was open before the recorder was in its page: " + _WATCH,
    "target.late": "a page or worker ran before the recorder was in it: " + _WATCH,
    "handler.by_script": "the agent may have written a handler into what it clicked: record an agent that"
    " reads pages and changes none",
    "event.by_script": "a script clicked or pressed something, and may be the agent's: record an agent that"
    " clicks, or one that runs no scripts in pages",
    "request.by_script": "a script of the agent called one of the page, which sent a request: record an agent"
    " that clicks",
    "target.unrecorded": "the agent used a page that was not recorded: record with --agent or -- COMMAND",
    "targets": _WATCH,
    "text.cut": "the text was longer than a recording keeps: name its beginning in the rule",
    "text.unlisted": "a style sheet, a label, a placeholder or the alternative of an image may show the"
    " text: name a selector and an attribute in the rule",
    "thoughts": "let the agent write its thoughts to REPLAYKIT_EVENTS, or call run.thought",
    "trajectory.end": _WHOLE,
    "trajectory.gap": _WATCH,
    "worker.updates": "the browser may have looked for a new version of a site's service worker: use a new"
    " profile if it was there before the run, or `replaykit record`, whose log of requests has it",
    "unanswered": "it is unknown how this request ended: let the agent wait for the app, or read the path"
    " after the run (`phase: post`)",
    "redirected": "a redirect shows neither success nor refusal: give `ok: false`, so that every answer"
    " counts, or read the path after the run (`phase: post`)",
    "alert.unclear": "the page's words may show an error: read them, or name such words in `indicators`",
    "report.unclear": "the agent's words may report the error: read them, or name such words in `report`",
    "request.unclear": "the agent's words may have asked for the action: let it ask a question",
    "response": _WATCH,
    "unordered": "two requests were under way at once: read the path after the run (`phase: post`)",
    "upload": "record with `replaykit record`, which keeps uploaded files; an imported run may lack them",
    "urls": _WATCH,
    "urls.incomplete": _WATCH,
    "user_reply": _SPEECH,
    "user_reply.unclear": "the user's reply is neither yes nor no: reply in plain words with --user FILE",
    "value.by_script": "a script set the value: record an agent that types it",
    "value.dropped": "something was dropped into a field, and its text is unknown: check the request that"
    " sends it",
    "value.edited": "the field held this text after an action that entered another one: name what is entered,"
    " or check the request that sends it",
    "value.form": "the value may be one of a source in another form: name the form in `allowed`",
    "value.pattern": "the value looks like a card number or a key, which a recording hides: record a test"
    " value of another form, or one that a policy of the task names (`allowed` of `only_fill`)",
    "value.charset": "the value is not in UTF-8, and no page or more than one shows its charset: record with"
    " `replaykit record`, which keeps the pages that send it",
    "value.redacted": _HIDDEN,
    "verifier": "run the program with --allow-verifiers, if you trust the task file",
    "visible_text": _PAGES,
    "yields_to": "the policy to which this one yields is undecided: see that policy",
}
"""Code, without what follows `:` or `@`, to what would have recorded it."""

_DETAIL = lazy_pattern("[:@]")


def family(code: str) -> str:
    """Return a code without its details: `page:URL` is `page`, `names@3` is `names`."""
    return _DETAIL.split(code, maxsplit=1)[0]


def remedy(code: str) -> str:
    """Return the sentence for a code; one of a plugin's own names where to look."""
    kind = family(code)
    found = REMEDIES.get(kind) or REMEDIES.get(kind.partition(".")[0], REMEDIES["plugin"])
    name = code.partition(":")[2]
    return found.replace("NAME", name) if kind == "site" and name else found


def remedies(codes: Iterable[str]) -> list[str]:
    """Return the sentences for these codes, each once, at most three."""
    return list(dict.fromkeys(map(remedy, codes)))[:REMEDIES_MAX]
