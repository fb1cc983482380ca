"""One event of a run, with the fields that rules ask about."""

from __future__ import annotations

import unicodedata
from functools import cached_property, lru_cache
from itertools import permutations, product
from typing import Any
from urllib.parse import unquote, unquote_plus

from msgspec import Struct

from replaykit.charsets import in_bytes
from replaykit.errors import Unsupported
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.grading.policies.events.three_valued_truth import FALSE, Truth, unknown
from replaykit.grading.policies.events.url_conditions import address, is_blank
from replaykit.patterns import lazy_pattern
from replaykit.replay.agent_made_pages import FORGED
from replaykit.replay.dom import Dom
from replaykit.replay.run_state import Page
from replaykit.replay.selected_texts import selected_texts
from replaykit.tasks.grammar.letters import is_unseen
from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase, Element, tag_of
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.text_changes import is_put_in

ENTER = ("Enter", "NumpadEnter", "Return")
"""Keys that activate as Enter does."""

SPACE = ("Space", "Spacebar", " ")
"""Keys that activate as Space does."""

MOVING = frozenset({"ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown", "PageUp", "Home", "End"})
"""Keys that move in a list or group, or on a scale."""

SHORT_PAGE = 400
"""Characters of visible text below which all of a page is prominent."""

_NOTICES = "h1, [role=alert], [role=alertdialog], [role=dialog], dialog"
_ALERTS = "[role=alert], [role=status], [aria-live=assertive], [aria-live=polite]"

_TARGETED = (
    actions.Click, actions.DblClick, actions.Tap, actions.MouseAction, actions.Fill, actions.Type,
    actions.KeyboardType, actions.KeyboardInsertText, actions.Press, actions.Clear, actions.Hover,
    actions.Focus, actions.SelectOption, actions.Check, actions.Uncheck, actions.UploadFile,
    actions.DragAndDrop,
)  # fmt: skip
"""Actions on an element, recorded or not."""

PRESSED = frozenset(
    {"button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "switch", "tab", "treeitem"}
)
"""Roles of controls that are pressed."""

_DRAWN = ("canvas", "embed", "object")

BUTTONS = ("submit", "button", "reset", "image")
"""Input types whose value is a name, not a text entered."""


class Event(Struct, frozen=True, kw_only=True, dict=True):
    """One event of the stream; `None` = not recorded, or not a field of its kind."""

    kind: str
    """`action visit message answer user_reply dialog page request`, `gap`, `maybe`: perhaps what it hides."""
    story: int | None = None
    """Position in the trajectory's events, from 0."""
    step: int | None = None
    """Step it belongs to, or follows."""
    tab: int | None = None
    """Tab ordinal."""
    url: str | None = None
    """URL of the page concerned."""
    action: ActionBase | None = None
    """Actions: what was done."""
    failed: bool | None = False
    """Actions and visits: attempted only; None = not known."""
    values: tuple[tuple[str, ...], ...] = ()
    """Texts entered; of an option chosen its value and label are alternatives."""
    message: str | None = None
    """Text of the message; of an action the prompt that it answers."""
    role: str | None = None
    """ARIA role of the target, or type of a dialog."""
    approved: bool | None = None
    """Replies: the user's decision, where one was stated."""
    page: Page | None = None
    """Pages: the page; actions: the page acted on."""
    after: Page | None = None
    """Actions: the next look at that page, if nothing else was done before it."""
    shows: tuple[tuple[ActionBase, Page | None], ...] = ()
    """Actions: what that look shows of parts elsewhere: a choice for certain, and the page that it is on."""
    exchange: Exchange | None = None
    """Requests: what was sent, and what came back."""
    status: int | None = None
    """Pages: HTTP status of the main document."""
    title: str | None = None
    """Pages: title."""
    forged: bool = False
    """Pages: the agent has a hand in it, so it is no evidence of the site."""
    hides: frozenset[str] = frozenset()
    """Gaps: kinds of events that may be missing here; `maybe`: what it is, if it is one."""
    is_by_value: bool = False
    """`maybe`: nothing but the value points to the agent, so only a rule that names a value asks."""
    is_chosen: bool = False
    """`maybe`: the widget that the agent used entered the value."""
    code: str = ""
    """Gaps and `maybe`: the missing evidence."""
    at: int | None = None
    """When, ms since recording start; None = the recording has no times."""

    @cached_property
    def known(self) -> dict[str, Any]:
        """Facts found about the event, by question: every policy asks again."""
        return {}

    @cached_property
    def tag(self) -> str:
        """The action's tag."""
        return tag_of(self.action) if self.action is not None else ""

    @cached_property
    def element(self) -> Element | None:
        """The action's target."""
        return self.action.element if self.action is not None else None

    @cached_property
    def has_target(self) -> bool:
        """Whether the action is one on an element, recorded or not; a prompt has no element."""
        return not self.is_reply and self._is_on_element

    @property
    def is_reply(self) -> bool:
        """Whether it is the text that was given to a prompt."""
        return self.kind == "action" and self.message is not None

    @property
    def _is_on_element(self) -> bool:
        return self.element is not None or isinstance(self.action, _TARGETED)

    @cached_property
    def names(self) -> tuple[Reading, ...]:
        """Every recorded name of the target."""
        found = _names(self.element) if self.element is not None else ()
        found = (self.message,) if self.is_reply else found
        return tuple(Reading(name, self.step) for name in dict.fromkeys(found) if name is not None)

    @cached_property
    def labels(self) -> tuple[Reading, ...]:
        """The labels of the target: its names without its own text."""
        names = self.element.names if self.element is not None else None
        return tuple(Reading(name, self.step) for name in _labels(names or actions.Names()) if name)

    @cached_property
    def called(self) -> str | None:
        """All names, folded, one a line; None where a part of one is missing."""
        whole = not any(reading.missing for reading in self.names)
        read = (*self.names, *self.lookalikes, *self.over, *self.seen)
        return "\n".join(reading.folded for reading in read) if whole else None

    @cached_property
    def lookalikes(self) -> tuple[Reading, ...]:
        """Names as the letters that they look like; empty where they are those."""
        return tuple(
            Reading(seen, self.step) for name in self.names if (seen := looks_like(name.raw)) is not None
        )

    @cached_property
    def over(self) -> tuple[Reading, ...]:
        """Texts shown over the target that are not among its names."""
        found = self.element.over if self.element is not None else ()
        return tuple(Reading(text, self.step) for text in found)

    @cached_property
    def seen(self) -> tuple[Reading, ...]:
        """Text that the screen may show in place of the names of the target."""
        names = self.element.names if self.element is not None else None
        found = names.seen if names is not None and self.element and not is_holder(self.element) else None
        return (Reading(found, self.step),) if found else ()

    @property
    def is_drawn(self) -> bool:
        """Whether the target draws possible controls itself, so that its names do not describe them."""
        return self.element is not None and self.element.tag in _DRAWN

    @cached_property
    def unnamed(self) -> Truth:
        """UNKNOWN where the target may have a name that was not recorded, else FALSE."""
        element = self.element
        if element is None:
            return unknown(f"target@{self.step or 0}") if self.has_target else FALSE
        if element.closed_shadow:
            return unknown(f"names.closed@{self.step or 0}")
        if element.cut:
            return unknown(f"text.cut@{self.step or 0}")
        # An element without any name shows something that no recording holds.
        is_named = not self.is_drawn and any(reading.raw.strip() for reading in self.names)
        return FALSE if is_named and not _is_described(element) else unknown(f"names@{self.step or 0}")

    @cached_property
    def entered(self) -> tuple[Reading, ...]:
        """Every text entered."""
        return tuple(Reading(text, self.step) for option in self.values for text in option)

    @cached_property
    def held(self) -> tuple[Reading, ...]:
        """Values of the field afterwards, where the action edited its text."""
        after = getattr(self.action, "value_after", None)
        return (Reading(after, self.step),) if isinstance(after, str) else ()

    @property
    def held_before(self) -> str | None:
        """Value of the field when the action began."""
        element = self.element or Element()
        return element.text if element.value is None and has_lines(element) else element.value

    @property
    def is_put_in(self) -> bool:
        """Whether the field holds afterwards what it held before with the text put in, and nothing else."""
        before = self.held_before
        added, after = getattr(self.action, "value", None), getattr(self.action, "value_after", None)
        if before is None or not isinstance(added, str) or not isinstance(after, str):
            return False
        return is_put_in(added, before, after)

    @cached_property
    def keys(self) -> tuple[Reading, ...]:
        """The key that was pressed and writes nothing, in every way to write it: `Control+k`, `Ctrl+k`."""
        if not isinstance(self.action, actions.Press) or is_printable(self.action.key):
            return ()
        return tuple(Reading(key, self.step) for key in spellings(self.action.key))

    @cached_property
    def message_text(self) -> Reading:
        """The message."""
        return Reading(self.message or "", self.step)

    @cached_property
    def outgoing(self) -> tuple[Reading, ...]:
        """Texts that leave through the event."""
        if self.kind == "visit":
            url = self.url or ""
            forms = dict.fromkeys((unquote(url), unquote_plus(url), url, *in_bytes(url)))
            return tuple(Reading(form, self.step) for form in forms if form)
        if self.kind in ("action", "dialog") and not self.is_reply:  # the dialog holds it
            return tuple(reading for reading in (*self.entered, *self.held) if reading.raw)
        if self.kind in ("action", "request"):
            return ()
        return (self.message_text,) if self.message else ()

    @cached_property
    def is_place(self) -> bool:
        """Whether its URL is somewhere: no empty tab, no error page, nothing a browser refuses."""
        return self.url is not None and not is_blank(self.url) and address(self.url) is not None

    @cached_property
    def shown(self) -> Reading | tuple[str, ...]:
        """Pages: the visible text, or the codes of what is missing."""
        dom = self.dom
        if isinstance(dom, tuple):
            return dom
        try:
            return self._whole_text(dom)
        except Unsupported:
            return ("visible_text",)

    def _whole_text(self, dom: Dom) -> Reading:
        frames = self.page.frame_texts if self.page is not None else ()
        missing = self.page.unread if self.page is not None else ()
        return Reading("\n".join((dom.whole_text, *frames)), self.step, missing, self._unlisted)

    def _unlisted(self) -> tuple[str, ...]:
        return self.page.unlisted_texts if self.page is not None else ()

    @cached_property
    def prominent(self) -> tuple[Reading, ...]:
        """Pages: title, headings, notices and, of a short page, all of its visible text."""
        dom = self.dom
        title = "" if self.forged else self.title or ("" if isinstance(dom, tuple) else dom.title)
        texts = [title] if title else []
        if not isinstance(dom, tuple):
            texts += self._notices(_NOTICES)
        whole = [self.shown] if isinstance(self.shown, Reading) else []
        short = [reading for reading in whole if len(reading.folded) < SHORT_PAGE]
        return (*(Reading(text, self.step) for text in texts), *short)

    @cached_property
    def alerts(self) -> tuple[Reading, ...]:
        """Pages: short texts that the page announces: alerts, states, toasts."""
        texts = () if isinstance(self.dom, tuple) else self._notices(_ALERTS)
        return tuple(Reading(text, self.step) for text in texts if len(text) < SHORT_PAGE)

    def _notices(self, css: str) -> list[str]:
        return selected_texts(self.page, css) if self.page is not None else []

    @property
    def dom(self) -> Dom | tuple[str, ...]:
        """The page that the event is about, or the codes of what is missing."""
        if self.forged:
            return (FORGED,)
        if self.page is None:
            return (f"snapshot.before@{self.step or 0}" if self.kind == "action" else "snapshot.final",)
        return self.page.dom or (self.page.missing or "snapshot.final",)


_MODIFIERS = {"Control": ("Control", "Ctrl"), "Meta": ("Meta", "Cmd", "Command"), "Alt": ("Alt", "Option")}


@lru_cache(maxsize=1024)
def spellings(key: str) -> tuple[str, ...]:
    """Return the ways to write a chord: modifiers in any order and by their usual names."""
    *modifiers, last = key[:-1].split("+") if key.endswith("+") else key.split("+")
    last = f"{last}+" if key.endswith("+") else last
    # Orders of modifiers multiply: a hostile chord may name any number of them.
    orders = permutations(modifiers) if len(modifiers) <= len(_MODIFIERS) + 1 else (modifiers,)
    names = (product(*(_MODIFIERS.get(one, (one,)) for one in order)) for order in orders)
    return tuple(dict.fromkeys("+".join((*chord, last)) for order in names for chord in order))


def types_text(element: Element | None) -> bool:
    """Whether keys that activate elsewhere write into the target: Space, and Enter where it has lines."""
    return has_lines(element) or (
        element is not None and element.tag == "input" and element.type not in (*BUTTONS, *_SWITCHES)
    )


def has_lines(element: Element | None) -> bool:
    """Whether Enter begins a line in the target."""
    if element is None:
        return False
    attributes = element.attributes or {}
    is_editable = attributes.get("contenteditable", "false").lower() in ("", "true", "plaintext-only")
    is_box = element.role == "textbox" and attributes.get("aria-multiline", "").lower() == "true"
    return element.tag == "textarea" or is_editable or is_box


def takes_no_text(element: Element | None) -> bool:
    """Whether a letter enters nothing in the target: it chooses in a closed list, or does nothing."""
    if element is None:
        return False
    is_readonly = element.tag in ("input", "textarea") and "readonly" in (element.attributes or {})
    return is_readonly or (element.role == "combobox" and not types_text(element))


_TEXTLESS = PRESSED | {
    "checkbox",
    "listbox",
    "menu",
    "menubar",
    "radio",
    "radiogroup",
    "slider",
    "tablist",
    "tree",
}
"""Roles of elements that take keys, and no text: a letter looks for an entry."""


def takes_no_letter(element: Element | None) -> bool:
    """Whether a key that writes elsewhere enters nothing in the target."""
    is_textless = element is not None and element.role in _TEXTLESS and not types_text(element)
    return is_textless or takes_no_text(element)


_SWITCHES = ("checkbox", "radio", "color", "file", "range")


def is_moving(action: ActionBase | None) -> bool:
    """Whether an action is a key that moves in a list, group or scale, with modifiers or without."""
    return isinstance(action, actions.Press) and action.key.rpartition("+")[2] in MOVING


def is_printable(key: str) -> bool:
    """Whether a key name is one printable character."""
    return len(key) == 1 and key.isprintable()


def _is_described(element: Element) -> bool:
    """Whether a target is known by a text only: an agent's words for it, of which no page is the witness."""
    facts = (element.tag, element.role, element.name, element.names, element.node, element.attributes)
    return not element.earlier and all(fact is None for fact in facts)


def _names(element: Element) -> tuple[str | None, ...]:
    names = element.names or actions.Names()
    is_button = element.tag == "input" and element.type in BUTTONS
    own = () if is_holder(element) else (element.text, names.text, names.shown, *element.earlier)
    return (
        *own, element.name, element.value if is_button else None, names.value, *_labels(names),
        *(names.active or "").splitlines(),
    )  # fmt: skip


def _labels(names: actions.Names) -> tuple[str | None, ...]:
    return (names.aria_label, names.labelledby, names.label, names.alt, names.title, names.placeholder)


def is_holder(element: Element) -> bool:
    """Whether a key went to a list or menu that holds the focus for its entries: its text is theirs."""
    return element.role in _HOLDERS and element.names is not None and bool(element.names.active)


_HOLDERS = ("grid", "listbox", "menu", "menubar", "radiogroup", "tablist", "tree", "treegrid")


_PAIRS = (
    "аa вb еe ѕs іi јj ӏl кk мm нh оo рp сc тt уy хx һh ԁd ԛq ԝw ѵv "
    "αa εe ηn ιi κk νv οo ρp τt υu χx ωw ϲc ϳj օo սu ոn հh ɡg ɑa ıi ǀl"
)
_LETTERS = {pair[0]: pair[1] for pair in _PAIRS.split()}
"""Lower-case letters of other scripts to the Latin one that they look like."""

_CAPITALS = dict(zip("ВЕКМНΗΜΝΡΥΧΖΒΕΙΚΤ", "BEKMHHMNPYXZBEIKT", strict=True))
"""Capitals that look like another letter than their small ones do."""

_IN_WORDS = (
    (lazy_pattern(r"(?<=[a-z])0|0(?=[a-z])"), "o"),
    (lazy_pattern(r"(?<=[a-z])[1|]|[1|](?=[a-z])"), "l"),
)


@lru_cache(4096)
def looks_like(text: str) -> str | None:
    """Return the Latin letters that a text looks like, in lower case; None if none differs."""
    whole = unicodedata.normalize("NFKC", text)
    read = "".join(_read(one) for one in whole if not is_unseen(one)).lower()
    for digit, letter in _IN_WORDS:
        read = digit.sub(letter, read)
    return read if read != text.lower() else None


def _read(one: str) -> str:
    return _CAPITALS.get(one) or _LETTERS.get(one.lower(), one)
