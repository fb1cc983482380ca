"""Actions: what an agent did, and the element it did it to."""

from typing import Annotated, TypeAlias

from replaykit.trajectory.scalars import VOLATILE, Blob, Box, Id, Json, Ms, N, Point, Px, Record, Word

DATE_TYPES = frozenset({"date", "datetime-local", "month", "time", "week"})
"""Input types whose parts take keys one by one: the field has a value once all parts are there."""


class Names(Record, frozen=True, kw_only=True):
    """The names of an element, kept apart because policies match any of them."""

    text: str | None = None
    """Text content."""
    shown: str | None = None
    """Visible text, where it differs: through slots, shadow trees, style sheets."""
    seen: str | None = None
    """Text that the screen may show, where it differs: words of elements that touch are apart."""
    value: str | None = None
    """`value` of submit, button and reset inputs."""
    aria_label: str | None = None
    """`aria-label` attribute."""
    labelledby: str | None = None
    """Text of the elements that `aria-labelledby` names."""
    label: str | None = None
    """Text of its `<label>` elements; without one the name of the host that it operates."""
    alt: str | None = None
    """`alt` attribute, its own or its image's."""
    title: str | None = None
    """`title` attribute."""
    placeholder: str | None = None
    """`placeholder` attribute."""
    active: str | None = None
    """Of a key: name of the element that it affects, by `aria-activedescendant`, or a form's button."""


class NodeRef(Record, frozen=True, kw_only=True):
    """Where an element stands in a snapshot."""

    snapshot: Id
    """Blob of the snapshot."""
    number: N
    """Element number in it: start tokens in stream order, from 0."""


class Via(Record, frozen=True, kw_only=True):
    """The innermost target of an event, where it is not the control itself."""

    tag: str | None = None
    """Lower-case tag name."""
    css: str | None = None
    """Unique CSS path."""


class Element(Record, frozen=True, kw_only=True):
    """The target of an action, as it was before the action."""

    ref: str | None = None
    """The agent's own reference: bid, mark number or selector."""
    tag: str | None = None
    """Lower-case tag name."""
    type: str | None = None
    """`type` of an input or button."""
    role: str | None = None
    """ARIA role, explicit or implied."""
    name: str | None = None
    """Accessible name, computed in the page."""
    text: str | None = None
    """Text content, at most 1,024 UTF-16 units."""
    value: str | None = None
    """Live value."""
    names: Names | None = None
    """All names, kept apart."""
    attributes: dict[str, str] | None = None
    """As found: at most 64, values of at most 1 KiB."""
    css: str | None = None
    """Unique path; ` >>> ` enters a shadow root."""
    xpath: str | None = None
    """XPath, as a harness gives it."""
    frame: tuple[N, ...] = ()
    """Frame ordinals from the main frame; empty = main frame."""
    frame_url: str | None = None
    """URL of the frame, where it is not the main one."""
    box: Box | None = None
    """Bounding box, CSS px of the viewport."""
    point: Point | None = None
    """Where the pointer met it, CSS px of the viewport."""
    node: NodeRef | None = None
    """Its place in the snapshot taken before the action; absent = not in it."""
    via: Via | None = None
    """The innermost target, if another element."""
    disabled: bool | None = None
    """Whether it was disabled."""
    visible: bool | None = None
    """Whether it was rendered and visible."""
    closed_shadow: bool = False
    """The action happened inside its closed shadow root, whose content is unknown."""
    earlier: tuple[str, ...] = ()
    """Other names that it, or what stood in its place, had in the second before."""
    over: tuple[str, ...] = ()
    """Texts that showed over the point, in elements that a pointer goes through."""
    cut: bool = False
    """A text or attribute was cut."""
    masked: bool = False
    """Its value is masked."""


class ActionBase(Record, frozen=True, kw_only=True, tag_field="type"):
    """Fields that every action has."""

    element: Element | None = None
    """The target."""
    t: Annotated[Ms | None, VOLATILE] = None
    """Start, ms since recording start (inside `Step.observed` only)."""
    end: Annotated[Ms | None, VOLATILE] = None
    """End, ms since recording start (inside `Step.observed` only)."""
    trusted: bool = True
    """False: the events were made by a script."""
    completed: bool = True
    """False: a pointer went down but no click followed."""
    by: Word | None = None
    """Cause of scrolling: `wheel key script unknown`. Of an event of a script: `unknown`, if that is open."""
    modifiers: tuple[str, ...] = ()
    """`Alt Control Meta Shift` held down."""


class ClickAction(ActionBase, frozen=True, kw_only=True):
    """Fields of clicks on an element."""

    point: Point | None = None
    """Where, CSS px of the viewport."""
    button: Word = "left"
    """Mouse button."""


class Click(ClickAction, frozen=True, kw_only=True, tag="click"):
    """Primary click."""


class DblClick(ClickAction, frozen=True, kw_only=True, tag="dblclick"):
    """Double click."""


class Tap(ActionBase, frozen=True, kw_only=True, tag="tap"):
    """Touch (declared only)."""

    point: Point | None = None
    """Where, CSS px of the viewport."""
    button: Word = "left"
    """Kept for symmetry with click."""


class MouseAction(ActionBase, frozen=True, kw_only=True):
    """Fields of actions at a position rather than on an element."""

    point: Point
    """Where, CSS px of the viewport."""
    button: Word = "left"
    """Mouse button."""
    count: N = 1
    """Clicks in a row."""


class MouseClick(MouseAction, frozen=True, kw_only=True, tag="mouse_click"):
    """Click at a position, or with a button other than the primary."""


class MouseDblClick(MouseAction, frozen=True, kw_only=True, tag="mouse_dblclick"):
    """Double click at a position."""


class MouseMove(MouseAction, frozen=True, kw_only=True, tag="mouse_move"):
    """Pointer moved."""


class MouseDown(MouseAction, frozen=True, kw_only=True, tag="mouse_down"):
    """Button pressed."""


class MouseUp(MouseAction, frozen=True, kw_only=True, tag="mouse_up"):
    """Button released."""


class TextAction(ActionBase, frozen=True, kw_only=True):
    """Fields of actions that enter text."""

    value: str
    """Text entered."""
    value_after: str | None = None
    """Value of the field afterwards."""


class Fill(TextAction, frozen=True, kw_only=True, tag="fill"):
    """Text entered at once: it replaces what the field held, or is put into it (`is_put_in`)."""

    submit: bool = False
    """Enter was pressed right after."""

    @property
    def is_put_in(self) -> bool:
        """Whether the field holds afterwards what it held before with the text put in, and nothing else."""
        from replaykit.trajectory.text_changes import (
            is_put_in,  # for those who ask: most runs are read without
        )

        element = self.element or Element()
        before = (element.text if element.value is None else element.value) or ""
        is_part = bool(before and self.value and self.value_after)
        return is_part and is_put_in(self.value, before, self.value_after or "")


class Type(TextAction, frozen=True, kw_only=True, tag="type"):
    """Text typed key by key into one field."""

    submit: bool = False
    """Enter was pressed right after."""


class KeyboardType(TextAction, frozen=True, kw_only=True, tag="keyboard_type"):
    """Text typed wherever the focus is (declared only)."""


class KeyboardInsertText(TextAction, frozen=True, kw_only=True, tag="keyboard_insert_text"):
    """Text inserted wherever the focus is (declared only)."""


class Press(ActionBase, frozen=True, kw_only=True, tag="press"):
    """A named key or a chord."""

    key: str
    """`Enter`, `Control+a`."""
    value_after: str | None = None
    """Value of the field afterwards, where the key edited its text."""


class KeyboardDown(ActionBase, frozen=True, kw_only=True, tag="keyboard_down"):
    """Key pressed (declared only)."""

    key: str
    """Key name."""


class KeyboardUp(ActionBase, frozen=True, kw_only=True, tag="keyboard_up"):
    """Key released (declared only)."""

    key: str
    """Key name."""


class Clear(ActionBase, frozen=True, kw_only=True, tag="clear"):
    """A field emptied (declared only)."""


class Hover(ActionBase, frozen=True, kw_only=True, tag="hover"):
    """Pointer rested on an element (declared only)."""


class Focus(ActionBase, frozen=True, kw_only=True, tag="focus"):
    """Focus moved (declared only)."""


class SelectOption(ActionBase, frozen=True, kw_only=True, tag="select_option"):
    """Options chosen in a select."""

    values: tuple[str, ...]
    """`value` of each selected option."""
    labels: tuple[str, ...] = ()
    """Label of each selected option."""


class Check(ActionBase, frozen=True, kw_only=True, tag="check"):
    """Checkbox or radio set."""


class Uncheck(ActionBase, frozen=True, kw_only=True, tag="uncheck"):
    """Checkbox cleared."""


class FileInfo(Record, frozen=True, kw_only=True):
    """A file given to an upload."""

    name: str
    """Base name."""
    size: N | None = None
    """Bytes."""
    mime: str | None = None
    """Media type the page saw."""
    body: Blob | None = None
    """Its content, text in UTF-8; why it was not kept; absent = it was not read."""


class UploadFile(ActionBase, frozen=True, kw_only=True, tag="upload_file"):
    """Files chosen in a file input."""

    files: tuple[FileInfo, ...]
    """Names, sizes and types."""


class DragAndDrop(ActionBase, frozen=True, kw_only=True, tag="drag_and_drop"):
    """One element dragged onto another."""

    to: Element | None = None
    """Where it was dropped."""
    point: Point | None = None
    """Start, CSS px of the viewport."""
    to_point: Point | None = None
    """End, CSS px of the viewport."""


class Scroll(ActionBase, frozen=True, kw_only=True, tag="scroll"):
    """Page or element scrolled."""

    dx: Px = 0
    """Right is positive, CSS px."""
    dy: Px = 0
    """Down is positive, CSS px."""
    amount: str | None = None
    """As declared: `page`."""


class Goto(ActionBase, frozen=True, kw_only=True, tag="goto"):
    """Navigation that the agent asked for."""

    url: str
    """As asked for."""


class NewTab(ActionBase, frozen=True, kw_only=True, tag="new_tab"):
    """Tab opened by the agent."""

    url: str | None = None
    """First URL."""


class GoBack(ActionBase, frozen=True, kw_only=True, tag="go_back"):
    """One page back in the history."""


class GoForward(ActionBase, frozen=True, kw_only=True, tag="go_forward"):
    """One page forward in the history."""


class Reload(ActionBase, frozen=True, kw_only=True, tag="reload"):
    """Page loaded again."""


class CloseTab(ActionBase, frozen=True, kw_only=True, tag="close_tab"):
    """Tab closed by the agent."""


class FocusTab(ActionBase, frozen=True, kw_only=True, tag="focus_tab"):
    """Another tab acted on."""

    to_page: N | None = None
    """Tab ordinal."""
    tab: N | None = None
    """Index as declared."""


class HandleDialog(ActionBase, frozen=True, kw_only=True, tag="handle_dialog"):
    """A dialog answered, as declared; the observed fact is the dialog event."""

    accept: bool = True
    """Accepted or dismissed."""
    text: str | None = None
    """Text given to a prompt."""


class Wait(ActionBase, frozen=True, kw_only=True, tag="wait"):
    """Waited on purpose (declared only)."""

    ms: Ms | None = None
    """How long, ms."""


class Noop(ActionBase, frozen=True, kw_only=True, tag="noop"):
    """Nothing done on purpose (declared only)."""

    ms: Ms | None = None
    """How long, ms."""


class SendMsgToUser(ActionBase, frozen=True, kw_only=True, tag="send_msg_to_user"):
    """Message to the user as an action (declared only)."""

    text: str
    """Text of the message."""
    ask: bool = False
    """A question."""


class Answer(ActionBase, frozen=True, kw_only=True, tag="answer"):
    """Final answer as an action (declared only)."""

    text: str
    """The answer."""


class ReportInfeasible(ActionBase, frozen=True, kw_only=True, tag="report_infeasible"):
    """The agent says that the task cannot be done (declared only)."""

    text: str
    """Why."""


class ToolCall(ActionBase, frozen=True, kw_only=True, tag="tool_call"):
    """A tool outside the browser: shell, files, search (declared only)."""

    name: str
    """Tool name."""
    arguments: dict[str, Json] = {}
    """As given."""


class Unknown(ActionBase, frozen=True, kw_only=True, tag="unknown"):
    """An action or event of a newer version: may be anything, proves nothing."""

    name: str
    """Its tag."""
    raw: str = ""
    """Its JSON text."""


Action: TypeAlias = (
    Click | DblClick | Tap | MouseClick | MouseDblClick | MouseMove | MouseDown | MouseUp
    | Fill | Type | KeyboardType | KeyboardInsertText | Press | KeyboardDown | KeyboardUp
    | Clear | Hover | Focus | SelectOption | Check | Uncheck | UploadFile | DragAndDrop | Scroll
    | Goto | NewTab | GoBack | GoForward | Reload | CloseTab | FocusTab | HandleDialog
    | Wait | Noop | SendMsgToUser | Answer | ReportInfeasible | ToolCall | Unknown
)  # fmt: skip
"""Every action, distinguished by `type`."""


def tag_of(action: ActionBase) -> str:
    """Return the action's tag; of an unknown one the tag it had in its file."""
    return action.name if isinstance(action, Unknown) else str(action.__struct_config__.tag)
