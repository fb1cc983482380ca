"""Elements and locators of a rebuilt page, as Playwright has them: reads are offered, actions raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Protocol

from replaykit.errors import PageInert
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom_tree import words

ACTIONS = words(
    """
    blur check clear click dblclick dispatch_event drag_and_drop drag_to fill focus hover press
    press_sequentially scroll_into_view_if_needed select_option select_text set_checked set_content
    set_input_files tap type uncheck reload go_back go_forward route unroute expose_function
    expose_binding add_init_script add_script_tag add_style_tag bring_to_front screenshot pdf
    set_viewport_size emulate_media pause keyboard mouse touchscreen on once remove_listener
    expect_event expect_navigation expect_popup expect_download expect_request expect_response
    """
)
"""Names of Playwright's surface that a recorded page does not have."""

READS = words(
    """
    get_attribute inner_html inner_text input_value is_checked is_disabled is_editable is_enabled is_hidden
    is_visible text_content
    """
)
"""Methods of one element that are answered."""

FINDS = words(
    """
    get_by_alt_text get_by_label get_by_placeholder get_by_role get_by_test_id get_by_text get_by_title
    """
)
"""Methods that give a locator, in addition to `locator`."""

STYLED = lazy_pattern(
    r"^(all_inner_texts|get_by_role|inner_text|is_hidden|is_visible)$|:visible\b|(^|>>)\s*(role|visible)="
)
"""Names and selectors that depend on style: drivers ask in worlds of their own, unseen by `asking.js`."""

_MORE = words("locator nth filter all all_inner_texts all_text_contents count")


class Send(Protocol):
    """Does work in the browser's thread; `asked`: name and arguments."""

    def __call__(self, work: Callable[[], Any], *asked: str) -> Any:
        """Return its result. Raises Unsupported where the answer would be a guess."""


class Answers(NamedTuple):
    """How the page of a handle answers."""

    send: Send
    run: Callable[[Any, str, Any], Any]
    """Evaluates a script on a handle; for the browser's thread."""
    framed: Callable[[Any, str], Any]
    """Returns the driver's locator of a frame that may be asked; for the browser's thread."""


class _Offered:
    """A Playwright object of which some names are offered."""

    _offered: frozenset[str] = frozenset()

    def __init__(self, target: Any, answers: Answers) -> None:
        self._target = target
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        if name in self._offered:
            return lambda *given, **named: self._ask(
                lambda: getattr(self._target, name)(*given, **named), name, *map(str, given)
            )
        return refuse(name, type(self).__name__, self._offered | names_of(type(self)))

    def _ask(self, work: Callable[[], Any], *asked: str) -> Any:
        return offer(self._answers.send(work, *asked), self._answers)

    def _evaluate(self, target: Callable[[], Any], expression: str, arg: Any) -> Any:
        return self._answers.send(lambda: self._answers.run(target(), expression, arg))


class OfflineElement(_Offered):
    """An element of a rebuilt page: reads as Playwright's `ElementHandle` does."""

    _offered = READS

    def query_selector(self, selector: str) -> OfflineElement | None:
        """Return the first match below."""
        found: OfflineElement | None = self._ask(lambda: self._target.query_selector(selector), selector)
        return found

    def query_selector_all(self, selector: str) -> list[OfflineElement]:
        """Return all matches below."""
        found: list[OfflineElement] = self._ask(lambda: self._target.query_selector_all(selector), selector)
        return found

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        """Call a script with the element. Raises Unsupported for what no recording holds."""
        return self._evaluate(lambda: self._target, expression, arg)


class _Framing(_Offered):
    def frame_locator(self, selector: str) -> OfflineFrameLocator:
        """Return the frame of the first match inside.

        Raises Unsupported where its document was not recorded, or is not as it was.
        """
        found: OfflineFrameLocator = self._ask(lambda: self._answers.framed(self._target, selector), selector)
        return found


class OfflineFrameLocator(_Framing):
    """A frame of a rebuilt page: finds as Playwright's `FrameLocator` does."""

    _offered = FINDS | words("locator")


class OfflineLocator(_Framing):
    """A locator on a rebuilt page: reads as Playwright's `Locator` does, but waits for nothing."""

    _offered = READS | FINDS | _MORE

    @property
    def first(self) -> OfflineLocator:
        """Its first match."""
        return OfflineLocator(self._answers.send(lambda: self._target.first), self._answers)

    @property
    def last(self) -> OfflineLocator:
        """Its last match."""
        return OfflineLocator(self._answers.send(lambda: self._target.last), self._answers)

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        """Call a script with the element. Raises Unsupported for what no recording holds."""
        return self._evaluate(self._target.element_handle, expression, arg)

    def evaluate_all(self, expression: str, arg: Any = None) -> Any:
        """Call a script with all matches. Raises Unsupported for what no recording holds."""
        return self._evaluate(self._target.element_handles, expression, arg)


def refuse(name: str, owner: str, offered: frozenset[str]) -> NoReturn:
    """Raise PageInert for an action, AttributeError for any other name."""
    if name not in ACTIONS:
        raise AttributeError(f"{owner!r} object has no attribute {name!r}")
    raise PageInert(action=name, offered=", ".join(sorted(offered)))


def names_of(kind: type) -> frozenset[str]:
    """Return the names that a class offers by itself."""
    return frozenset(name for name in dir(kind) if not name.startswith("_"))


def offer(found: Any, answers: Answers) -> Any:
    """Wrap what belongs to the browser's thread."""
    if isinstance(found, list):
        return [offer(one, answers) for one in found]
    kinds = {
        "ElementHandle": OfflineElement,
        "FrameLocator": OfflineFrameLocator,
        "Locator": OfflineLocator,
    }
    kind = kinds.get(type(found).__name__)
    return found if kind is None else kind(found, answers)
