"""A recorded run as the benchmark would have seen it: a list of steps, a final page, and what is not known.

A field that was not recorded reads as empty, as in the benchmark, and is noted: whether the verdict stands in
spite of it is decided afterwards (`peer_grading.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

from replaykit.errors import ReplaykitError, SelectorInvalid
from replaykit.grading.peers.stwebagentbench.peer_run import NotRecorded, PeerPage, StepView
from replaykit.replay.dom import Dom, Node
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.replay.selectors.locator_evaluation import evaluate
from replaykit.replay.selectors.xpath_evaluation import find
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase, tag_of
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.observation import Observation, Read
from replaykit.trajectory.step import Step

NAMED = frozenset((
    "scroll", "fill", "select_option", "click", "dblclick", "hover", "press", "focus", "clear",
    "drag_and_drop", "upload_file",
))  # fmt: skip
"""Types whose target the benchmark looks up; check and uncheck are not among them."""

CALL_MAX = 4096
"""Characters of a call that is read for its arguments."""

_Answer = TypeVar("_Answer")

Note = Callable[[str], object]
"""Called with the code of evidence that was asked for and is missing."""


class RecordedStep:
    """One step; fields that were not recorded are noted when they are read, and empty."""

    def __init__(
        self, step: Step | None, action: ActionBase, note: Note, *, url: str = "", story: int | None = None
    ) -> None:
        self.step = step
        #: Position in the trajectory's events.
        self.story = story
        self._action = action
        self._note = note
        self._url = url
        self._before: RecordedStep | None = None
        self.targets_recorded = True
        called = _call(step.raw) if step is not None else None
        self.type, self._args = called if called is not None else (tag_of(action), _arguments(action))

    def inherit(self, before: RecordedStep | None) -> None:
        """Take text and reference of the call before it in the same turn, where it has no element."""
        if before is None or before.step is None or self.step is None or self.type.lower() in NAMED:
            return
        if self.step.turn is not None and self.step.turn == before.step.turn:
            self._before = before

    @property
    def args(self) -> tuple[Any, ...]:
        """Arguments of the call."""
        if any(isinstance(arg, str) and "\u27e6" in arg for arg in self._args):
            self._note(f"value.redacted@{self._index}")
        return self._args

    @property
    def text(self) -> str:
        """Text content of the target."""
        if self._before is not None:
            return self._before.text
        if self.type.lower() not in NAMED or self.type == "scroll":
            return ""
        element = self._action.element
        found = None if element is None else element.text
        if found is None and element is not None and element.names is not None:
            found = element.names.text
        if found is None and not self.targets_recorded:
            self._note(f"target@{self._index}")
        if element is not None and element.cut:
            self._note(f"text.cut@{self._index}")
        return found or ""

    @property
    def bid(self) -> str:
        """The agent's reference of the target."""
        if self._before is not None:
            return self._before.bid
        if self.type.lower() not in NAMED or not self._args:
            return ""
        if self._action.element is None and not self.targets_recorded:
            self._note(f"target@{self._index}")
        return str(self._args[0])

    @property
    def url(self) -> str:
        """URL right after the action."""
        if self.step is None:
            return self._url
        if self.step.url is None:
            self._note("urls.incomplete")
        return self.step.url or ""

    @property
    def tabs(self) -> tuple[str, ...]:
        """URLs of all tabs right after the action; only the active one if nothing else is known."""
        if self.step is None:
            return ()
        return tuple(tab.url for tab in self.step.tabs)

    @property
    def _index(self) -> int:
        return self.step.index if self.step is not None else 0


class RecordedSteps(Sequence[StepView]):
    """The steps of a run, messages and answer included."""

    def __init__(self, replay: Replay, note: Note) -> None:
        self._note = note
        self._is_whole = replay.trajectory.channel("actions") == "recorded"
        self.listed = tuple(_steps(replay, note))
        #: Whether any step was looked at.
        self.was_read = False

    def __len__(self) -> int:
        if not self.listed and not self._is_whole:
            self._note("trajectory.gap@0")
        return len(self.listed)

    @overload
    def __getitem__(self, at: int) -> StepView: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[StepView]: ...
    def __getitem__(self, at: int | slice) -> StepView | Sequence[StepView]:
        self.was_read = True
        return self.listed[at]

    def __iter__(self) -> Iterator[StepView]:
        self.was_read = True
        return iter(self.listed)


class RecordedPage:
    """A recorded page, asked as the benchmark asks a live one."""

    def __init__(self, replay: Replay, page: Page | None, note: Note) -> None:
        self._replay = replay
        self._page = page
        self._note = note

    @property
    def url(self) -> str:
        """Its URL; noted and empty where it was not recorded."""
        found = self._page.url if self._page is not None else None
        if found is None:
            self._note("urls.incomplete")
        return found or ""

    def html(self) -> str:
        """Return the page source."""
        return self._asked(lambda: self._dom.source, "snapshot.final")

    def body_text(self) -> str:
        """Return the rendered text of the body."""
        return self._asked(lambda: self._dom.text, "visible_text")

    def bid(self, selector: str) -> str | None:
        """Return attribute `bid` of the first match; another scheme of references leaves it open."""
        read = self._page.read(selector) if self._page is not None else None
        if read is not None and read.kind == "hits":
            return read.hits[0].attributes.get("bid") if read.hits else None
        dom = self._dom
        if self._asked(lambda: dom.select("[bid]"), "bid") is None:
            raise NotRecorded("bid")
        found = self._asked(lambda: _first(dom, selector), f"probe:{selector}")
        return found.attribute("bid") if found is not None else None

    def value(self, script: str) -> Any:
        """Return the value of a script: as read from the live page, else from the snapshot."""
        read = self._page.read(script) if self._page is not None else None
        if read is None:
            if self._replay.trajectory.channel("form_state") != "recorded" and _is_live(script):
                raise NotRecorded("form_state")
            read = self._asked(lambda: evaluate(script, self._dom), f"probe:{script}")
        if read.kind == "exception":
            raise ValueError(read.threw.message if read.threw is not None else "the script threw")
        return python_value(read)

    def field(self, xpath: str) -> str | None:
        """Return the input value of the first match."""
        found = self._asked(lambda: _first(self._dom, xpath), f"probe:{xpath}")
        if found is None:
            return None
        if found.tag not in ("input", "textarea", "select"):
            raise ValueError(f"<{found.tag}> has no input value")
        if self._replay.trajectory.channel("form_state") != "recorded":
            raise NotRecorded("form_state")
        return self._asked(lambda: str(found.value), f"probe:{xpath}")

    def opened(self, url: str) -> PeerPage:
        """Return a page that was looked at after the run."""
        page = self._replay.probe(url)
        if page is None:
            raise NotRecorded(f"page:{url}")
        return RecordedPage(self._replay, page, self._note)

    def called(self, source: str) -> str:
        """Refuse: what a helper would have returned is not in the recording."""
        raise NotRecorded(f"api:{source.partition('(')[0].strip()}")

    @property
    def _dom(self) -> Dom:
        if self._page is None:
            raise NotRecorded("snapshot.final")
        page = self._page
        dom = self._asked(lambda: page.dom, f"blob:{page.snapshot_id}")
        if dom is None:
            raise NotRecorded(page.missing or "snapshot.final")
        return dom

    def _asked(self, ask: Callable[[], _Answer], code: str) -> _Answer:
        try:
            return ask()
        except ReplaykitError as error:  # what cannot be read is not what the page shows
            raise NotRecorded(code) from error


def python_value(read: Read) -> Any:
    """Return the Python value that the driver gives for a JavaScript value; undefined becomes None."""
    match read.kind:
        case "number":
            return float(read.special) if read.special is not None else read.value
        case "bool" | "string" | "array" | "object":
            return read.value
        case "node":
            return "ref: <Node>"
    return None


def _steps(replay: Replay, note: Note) -> Iterator[RecordedStep]:
    trajectory = replay.trajectory
    targets = trajectory.channel("targets") == "recorded"
    before: RecordedStep | None = None
    url, last = "", None
    for story, event in enumerate(trajectory.events):
        if isinstance(event, Observation | Step):
            url = event.url or url
        if isinstance(event, Step):
            found = RecordedStep(event, event.reported, note, story=story)
            found.targets_recorded = targets
            found.inherit(before)
            before, last = found, event.reported
            yield found
        elif isinstance(event, Message) and event.role != "user" and event.kind not in ("answer", "claim"):
            last = actions.SendMsgToUser(text=event.text)
            yield RecordedStep(None, last, note, url=url, story=story)
    answer = trajectory.answer
    if answer is not None and not (isinstance(last, actions.Answer) and last.text == answer):
        yield RecordedStep(None, actions.Answer(text=answer), note, url=url)


def _arguments(action: ActionBase) -> tuple[Any, ...]:
    """Return the arguments that the benchmark's environment would have been called with."""
    element = action.element
    ref = (element.ref or element.css or "") if element is not None else ""
    match action:
        case actions.Fill() | actions.Type():
            return ref, action.value
        case actions.KeyboardType() | actions.KeyboardInsertText():
            return (action.value,)
        case actions.Press():
            return ref, action.key
        case actions.SelectOption():
            chosen = action.labels or action.values
            return ref, chosen[0] if len(chosen) == 1 else list(chosen)
        case actions.UploadFile():
            return (ref, *(file.name for file in action.files))
        case actions.DragAndDrop():
            return ref, (action.to.ref or action.to.css or "") if action.to is not None else ""
        case actions.Scroll():
            return action.dx, action.dy
        case actions.Goto():
            return (action.url,)
        case actions.SendMsgToUser() | actions.Answer() | actions.ReportInfeasible():
            return (action.text,)
    return (ref,) if ref else ()


def _call(raw: Any) -> tuple[str, tuple[Any, ...]] | None:
    """Return type and arguments of one call in the benchmark's own words: `fill("a12", "Ada")`."""
    if not isinstance(raw, str) or len(raw) > CALL_MAX:
        return None
    try:
        call = ast.parse(raw.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return call.func.id, tuple(ast.literal_eval(arg) for arg in given)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _first(dom: Dom, selector: str) -> Node | None:
    """Return the first match of CSS or XPath; CSS finds its way into open shadow roots."""
    if is_xpath(selector):
        return next(iter(find(selector, dom)), None)
    try:
        found = dom.select(selector)
        if found is not None or dom.root is None:
            return found
        shadows = (node.shadow for node in dom.root.descendants() if node.is_element)
        return next((hit for root in shadows if root is not None and (hit := root.select(selector))), None)
    except SelectorInvalid:
        return None


def _is_live(script: str) -> bool:
    return any(name in script for name in (".value", ".checked", ".selected"))
