"""Steps of an rrweb stream: clicks, inputs and scrolls, those that belong together as one."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.interop.imported_run import Run
from replaykit.interop.rrweb.rrweb_dom import is_masked, options, text_of, value_of
from replaykit.interop.rrweb.rrweb_nodes import RrwebNode
from replaykit.interop.rrweb.rrweb_page import RrwebPage
from replaykit.trajectory.action import (
    Action,
    Check,
    Click,
    DblClick,
    Element,
    Fill,
    Scroll,
    SelectOption,
    Uncheck,
)
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.step import Event

DOUBLE_MS = 1000
"""Two clicks that a double click follows lie no further apart."""


SCROLL_MS = 500
"""Scrolls that lie further apart are two."""


class Pending(Struct, kw_only=True):
    """A step that may still change: what follows may belong to it."""

    page: RrwebPage
    id: Any
    action: Action
    before: Observation
    t: int
    end: int
    after: Observation | None = None


class RrwebSteps:
    """Builds the steps of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._found: list[Pending | Event] = []
        self._last: Pending | None = None
        #: Whether every target was on its page.
        self.are_aimed = True

    def add(self, event: Event) -> None:
        """Add an event that is no step."""
        self._found.append(event)

    def click(self, page: RrwebPage, data: dict[str, Any], t: int, button: str = "left") -> None:
        """Add a click."""
        point = _point(data)
        aim = self._aim(page, data, point)
        self._begin(page, data.get("id"), Click(element=aim, point=point, button=button), t)

    def double(self, page: RrwebPage, data: dict[str, Any], t: int) -> None:
        """Make the two clicks before it, on the same element, one double click."""
        point, id = _point(data), data.get("id")
        one = self._take_back(page, id, t)
        before = None
        # Browsers send both clicks before the double click.
        while one is not None:
            before = one
            one = self._take_back(page, id, t)
        self._begin(page, id, DblClick(element=self._aim(page, data, point), point=point), t)
        if before is not None and self._last is not None:
            action = replace(self._last.action, element=before.action.element)
            self._last = replace(self._last, before=before.before, t=before.t, action=action)

    def _take_back(self, page: RrwebPage, id: Any, t: int) -> Pending | None:
        """Return the last step, taken back, where it is a click on this element a moment ago."""
        if self._last is None and self._found and isinstance(last := self._found[-1], Pending):
            del self._found[-1]
            self._last = last
        one = self._last
        if one is None or one.page is not page or one.id != id or t - one.t > DOUBLE_MS:
            return None
        if not isinstance(one.action, Click):
            return None
        self._last = None
        return one

    def scroll(self, page: RrwebPage, data: dict[str, Any], t: int) -> None:
        """Add a scroll; those that follow each other in one element are one."""
        id, last = data.get("id"), self._last
        is_same = last is not None and last.page is page and last.id == id
        if last is None or not is_same or not isinstance(last.action, Scroll) or t - last.end > SCROLL_MS:
            node = page.node(id)
            # The page as a whole is no target.
            aim = None if node is None or node.name in ("html", "body") else page.element(id)
            self._begin(page, id, Scroll(element=aim, by="unknown"), t)
        else:
            self._run.leave_out("Scroll with another one after it")
        dx, dy = page.scroll_to(id, data.get("x"), data.get("y"))
        assert self._last is not None
        action = self._last.action
        assert isinstance(action, Scroll)
        self._last = replace(self._last, action=replace(action, dx=action.dx + dx, dy=action.dy + dy), end=t)

    def input(self, page: RrwebPage, data: dict[str, Any], t: int) -> None:
        """Add what was entered; inputs that follow each other in one field are one."""
        id, node = data.get("id"), page.node(data.get("id"))
        text, checked = str(data.get("text", "")), data.get("isChecked") is True
        is_choice = node is not None and node.name == "input" and node.kind in ("checkbox", "radio")
        if node is not None and is_choice and node.kind == "radio" and not checked:
            node.checked = False  # another one of its group was chosen
            page.change()
            return
        if not _is_entry(page, node, data, t):
            self._run.leave_out("Input that no gesture made")
            _hold(page, node, text, checked=checked, is_choice=is_choice)
            return
        last = self._last
        is_same = last is not None and last.page is page and last.id == id
        is_next = is_same and last is not None and isinstance(last.action, Fill | SelectOption)
        # Browsers send a click and an input for one action on a check box.
        is_clicked = is_same and is_choice and last is not None and isinstance(last.action, Click)
        element = (
            last.action.element if last is not None and (is_next or is_clicked) else self._aim(page, data)
        )
        action = self._entered(node, element, text, checked=checked)
        if last is not None and (is_next or is_clicked):
            self._last = replace(last, action=action, end=t)
            self._run.leave_out("Input with another one after it", int(is_next))
        else:
            self._begin(page, id, action, t)
        _hold(page, node, text, checked=checked, is_choice=is_choice)

    def _entered(
        self, node: RrwebNode | None, element: Element | None, text: str, *, checked: bool
    ) -> Action:
        if node is not None and node.name == "input" and node.kind in ("checkbox", "radio"):
            return Check(element=element) if checked else Uncheck(element=element)
        if node is not None and node.name == "select":
            labels = [" ".join(text_of(one).split()) for one in options(node) if value_of(one) == text]
            return SelectOption(element=element, values=(text,), labels=tuple(labels[:1]))
        is_hidden = is_masked(text) or (
            node is not None and node.is_secret and not self._run.options.keeps_secrets
        )
        if is_hidden and not is_masked(text):
            self._run.secret(text)
        value = MASKED if is_hidden else text
        aim = replace(element, masked=True, value=None) if is_hidden and element is not None else element
        return Fill(element=aim, value=value, value_after=value)

    def _aim(
        self, page: RrwebPage, data: dict[str, Any], point: tuple[int, int] | None = None
    ) -> Element | None:
        found = page.element(data.get("id"), point)
        if found is None:
            self.are_aimed = False
            self._run.flaw(
                "an action on a node that is not there: its target is not known",
                f"node {data.get('id')!r:.40}",
            )
        return found

    def _begin(self, page: RrwebPage, id: Any, action: Action, t: int) -> None:
        before = page.look("before", t)
        self._settle(t)
        page.touched += 1
        self._last = Pending(page=page, id=id, action=action, before=before, t=t, end=t)

    def _settle(self, t: int | None) -> None:
        """Take the last step for whole: the page as it is now is what it left behind."""
        if self._last is not None:
            self._found.append(replace(self._last, after=self._last.page.look("after", t)))
            self._last = None

    def end(self) -> None:
        """Add steps and events to the run, in order."""
        self._settle(None)
        for one in self._found:
            if not isinstance(one, Pending):
                self._run.add(one)
                continue
            step = self._run.step(
                action=one.action, before=one.before, t=one.t, end=one.end, page=one.page.number,
                url=None if one.after is None else one.after.url,
            )  # fmt: skip
            if one.after is not None:
                self._run.add(replace(one.after, of=step.index))


def _is_entry(page: RrwebPage, node: RrwebNode | None, data: dict[str, Any], t: int) -> bool:
    """Whether this may have been entered; a field with `autofocus` has the focus from the start."""
    if node is not None and node.kind == "hidden":
        return False
    is_first = node is not None and "autofocus" in node.attributes and data.get("userTriggered") is not False
    return is_first or page.gestures.is_entry(data, t)


def _hold(page: RrwebPage, node: RrwebNode | None, text: str, *, checked: bool, is_choice: bool) -> None:
    """Give a field what was entered in it."""
    if node is not None:
        node.value, node.checked = (node.value, checked) if is_choice else (text, node.checked)
        page.change()


def _point(data: dict[str, Any]) -> tuple[int, int] | None:
    both = [data.get("x"), data.get("y")]
    found = [round(one) for one in both if isinstance(one, int | float) and abs(one) < 1e9]
    return (found[0], found[1]) if len(found) == 2 else None
