"""Messages of Inspect: what an assistant wrote, thought and called, and what its calls gave."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from replaykit.interop.imported_run import Run
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Threw

REFERENCE = "attachment://"
"""How a reference to an attachment begins; its key follows."""

_IMAGE = "data:image/"


class InspectCall(NamedTuple):
    """One call of a tool."""

    id: str
    function: str
    arguments: Any
    parse_error: Any


class InspectMessage(Struct, kw_only=True):
    """One message."""

    role: str
    content: Any = None
    source: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None
    function: str | None = None
    error: Any = None

    def calls(self) -> list[InspectCall]:
        """Return the calls that name a function."""
        found = [one for one in self.tool_calls or () if _is_call(one)]
        return [
            InspectCall(str(one.get("id", "")), one["function"], one.get("arguments"), one.get("parse_error"))
            for one in found
        ]

    def broken(self) -> bool:
        """Whether there are calls that name no function."""
        return any(not _is_call(one) for one in self.tool_calls or ())


class Part(Enum):
    """Kind of a part of a message."""

    TEXT = "text"
    THOUGHT = "reasoning"
    OTHER = "other"


class Whole(NamedTuple):
    """A value with its attachments: which were used, which are not there."""

    value: Any
    used: set[str]
    missing: set[str]


class InspectResult(Struct, kw_only=True):
    """Result of a call."""

    function: str
    returned: Any
    error: Threw | None
    images: list[Blob]


class CallResults:
    """Results of calls, by their ids; where models use an id again, in the order of the calls."""

    tree = ""
    """The page as the tool `web_browser` showed it last."""

    def __init__(self, run: Run, name: str, messages: list[InspectMessage]) -> None:
        self._results: dict[str, list[InspectResult]] = {}
        # Ids may repeat, and each call has one result.
        open_calls = Counter(call.id for one in messages for call in one.calls())
        for at, one in enumerate(messages):
            if one.role != "tool":
                continue
            id = one.tool_call_id
            if id is not None and open_calls[id] > 0:
                open_calls[id] -= 1
                self._results.setdefault(id, []).append(_result(run, one))
                continue
            place = f"{name} messages[{at}]"
            if id in open_calls:
                run.flaw("a second result of one call: it is kept beside", place)
            else:
                run.cut("a result of a call that is nowhere: it is kept beside", place)
            run.keep(place, {"tool_call_id": id, "content": one.content, "error": one.error})

    def of(self, id: str) -> InspectResult | None:
        """Return what a call gave; None where nothing is known."""
        results = self._results.get(id)
        result = results.pop(0) if results else None
        if result is not None and result.function.startswith(_BROWSER):
            self.tree = _tree(result.returned)
        return result


def add_result(run: Run, result: InspectResult, of: int) -> None:
    """Add the images that a call gave."""
    for at, shot in enumerate(result.images):
        is_first = at == 0
        run.add(
            Observation(
                role="after" if is_first else "unaligned", of=of if is_first else None, screenshot=shot
            )
        )


def _result(run: Run, one: InspectMessage) -> InspectResult:
    shown = [shot for part in _list(one.content) if (shot := _image(run, part)) is not None]
    error = one.error if isinstance(one.error, dict) else None
    threw = None
    if error is not None:
        threw = Threw(
            name=str(error.get("type", "Error"))[:64] or "Error", message=str(error.get("message", ""))
        )
    elif one.error:
        threw = Threw(name="Error", message=str(one.error))
    returned = _without_screenshots(one.content) or None
    return InspectResult(function=one.function or "", returned=returned, error=threw, images=shown)


_BROWSER, _TREE = "web_browser_", "accessibility tree:"
_NODE = lazy_pattern(r'[ \t]*\[\d+\] (\w{1,64})(?: "([^\n]{0,1024}?)")?[ \t]*(?:\[[^\n"]*\])?[ \t]*')


def _tree(returned: Any) -> str:
    """Return the tree in what the tool `web_browser` gave: all of it, or what follows the page's text."""
    if isinstance(returned, str):
        return returned.rpartition(_TREE)[2] if returned.startswith("main content:") else returned
    texts = [part.get("text") for part in _list(returned) if isinstance(part, dict)]
    return next((text for text in reversed(texts) if isinstance(text, str) and text.startswith(_TREE)), "")


def named_by_tree(tree: str, action: Action) -> Action:
    """Return an action with role and name of its target, which the tree before it shows under its number."""
    element = action.element
    if element is None or not tree or not (element.ref or "").isdecimal():
        return action
    lines = [line for line in tree.split("\n") if line.lstrip().startswith(f"[{element.ref}]")]
    node = _NODE.fullmatch(lines[0]) if len(lines) == 1 else None
    # A text of the page may look like a line of the tree: two lines of one number say nothing.
    if node is None:
        return action
    return replace(action, element=replace(element, role=node[1], name=node[2] or None))


def _image(run: Run, part: Any) -> Blob | None:
    data = part.get("image") if isinstance(part, dict) and part.get("type") == "image" else None
    # A reference that is still here leads to nothing, and was reported.
    if not isinstance(data, str) or data.startswith(REFERENCE):
        return None
    if data.startswith(_IMAGE):
        return run.screenshot_in(data)
    # An import opens no connection: the address is untrusted.
    run.flaw("an image at an address: it is not fetched", data[:80])
    return None


def _without_screenshots(content: Any) -> Any:
    """Return what a call gave, each image by its type only: it is kept as a screenshot."""
    if not isinstance(content, list):
        return content
    return [
        {**part, "image": "screenshot"}
        if isinstance(part, dict) and str(part.get("image", "")).startswith(_IMAGE)
        else part
        for part in content
    ]


def whole(value: Any, attachments: dict[str, Any]) -> Whole:
    """Return a value with attachments in the place of their references, at any depth."""
    used: set[str] = set()
    missing: set[str] = set()

    def put(one: Any) -> Any:
        if isinstance(one, dict):
            return {key: put(part) for key, part in one.items()}
        if isinstance(one, list):
            return [put(part) for part in one]
        if not isinstance(one, str) or not one.startswith(REFERENCE):
            return one
        key = one.removeprefix(REFERENCE)
        text = attachments.get(key)
        (used if isinstance(text, str) else missing).add(key)
        return text if isinstance(text, str) else one

    return Whole(put(value), used, missing)


def text_of(content: Any) -> str:
    """Return the words of a message."""
    return content if isinstance(content, str) else parts(content, Part.TEXT) or ""


def parts(content: Any, kind: Part) -> Any:
    """Return the parts of one kind: texts joined as lines, None without any text; other parts unchanged."""
    found = [one for one in _list(content) if _kind(one) is kind]
    if kind is Part.OTHER:
        return found
    texts = (_text_of(one, kind.value) for one in found)
    return "\n".join(text for text in texts if text) or None


def _text_of(part: dict[str, Any], key: str) -> str:
    text = part.get(key)
    # Providers encrypt what a model thought, and send a summary.
    if key == Part.THOUGHT.value and (part.get("redacted") is True or not text):
        text = part.get("summary")
    return text if isinstance(text, str) else ""


def _kind(part: Any) -> Part:
    kind = part.get("type") if isinstance(part, dict) else None
    return {"text": Part.TEXT, "reasoning": Part.THOUGHT}.get(str(kind), Part.OTHER)


def _list(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _is_call(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("function"), str)
