"""The recorded state at one moment: a page, and the state of the run around one step."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import msgspec

from replaykit.errors import LocatorLimit, SelectorInvalid, Unsupported
from replaykit.replay.frame_pages import DocumentView, FrameView, shown, views
from replaykit.replay.page_cache import Doms
from replaykit.replay.unread_parts import unread_parts
from replaykit.trajectory.action import Action
from replaykit.trajectory.action_rendering import render_step
from replaykit.trajectory.exchange import Dialog, Exchange, Message, Navigation
from replaykit.trajectory.observation import Observation, Read, TabView
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Probe, Step

if TYPE_CHECKING:
    from replaykit.replay.dom import Dom


class Page(DocumentView):
    """A page as it was observed by the recorder, on the agent's tabs or by a probe."""

    seen: Observation | Probe

    def __init__(
        self,
        seen: Observation | Probe,
        doms: Doms,
        step: int | None = None,
        place: int = 0,
        url: str | None = None,
    ) -> None:
        super().__init__(seen, doms)
        #: `start before after final unaligned`, or `probe`.
        self.role = seen.role if isinstance(seen, Observation) else "probe"
        #: Index of the step that it belongs to; None = before the first, after the last, or a probe.
        self.step = step
        #: Position of its event in the story.
        self.place = place
        self._url = url

    def __repr__(self) -> str:
        return f"<Page {self.role} {self.url}>"

    @property
    def url(self) -> str | None:
        """Its URL; where the observation does not say, that of its tab or snapshot."""
        if self.seen.url is not None or self._url is not None:
            return self.seen.url or self._url
        dom = self.dom
        return dom.url if dom is not None else None

    @property
    def title(self) -> str | None:
        """Its title."""
        if isinstance(self.seen, Observation) and self.seen.title is not None:
            return self.seen.title
        dom = self.dom
        return dom.title if dom is not None else None

    @property
    def tab(self) -> int | None:
        """Ordinal of its tab."""
        return self.seen.page

    @property
    def t(self) -> int | None:
        """When it was observed, ms since recording start."""
        return self.seen.t

    @property
    def status(self) -> int | None:
        """HTTP status of its document."""
        return self.seen.status

    @property
    def settled(self) -> bool | None:
        """Whether the page was at rest."""
        return self.seen.settled

    @property
    def reads(self) -> tuple[Read, ...]:
        """Values read from the live page."""
        return self.seen.reads

    @property
    def changed_without_event(self) -> tuple[tuple[str, str, str], ...]:
        """Fields that changed before it without a report of the browser: path, value before, value now."""
        return self.seen.changed_without_event if isinstance(self.seen, Observation) else ()

    @property
    def screenshot_id(self) -> str | None:
        """Blob of the screenshot."""
        shot = self.seen.screenshot if isinstance(self.seen, Observation) else None
        return None if isinstance(shot, Omitted) else shot

    @property
    def screenshot(self) -> bytes | None:
        """The screenshot as an image file; None where none was taken or kept. Raises BundleError."""
        found = self.screenshot_id
        return None if found is None else self._doms.screenshot(found)

    def screenshot_within(self, width: int) -> bytes | None:
        """Return the screenshot as an image file of at most `width` px; a wider one is made smaller.

        None where none was taken or kept, and for a wider one of another format than the recorder's own.
        Raises BundleError.
        """
        found = self.screenshot_id
        return None if found is None else self._doms.screenshot_within(found, width)

    def excludes(self, css: str) -> bool:
        """Whether nothing on the page matches a selector, found out from the bytes of its snapshot only.

        Raises as `dom` and `Dom.select` do.
        """
        found = self.snapshot_id
        return found is not None and found in self._doms and self._doms.excludes(found, css)

    def lacks(self, words: tuple[bytes, ...]) -> bool:
        """Whether the raw bytes of its snapshot lack one of these words, given in lower case.

        Raises as `dom` does.
        """
        found = self.snapshot_id
        return found is not None and found in self._doms and self._doms.lacks(found, words)

    @cached_property
    def frames(self) -> tuple[FrameView, ...]:
        """Frames that the page cannot read, by ordinal: the state key `frame` of their owner elements."""
        return views(self.seen.frames, self, self._doms)

    @property
    def frame_texts(self) -> tuple[str, ...]:
        """Rendered texts of the frames that the page cannot read, as far as they were recorded and show.

        Raises as `dom` and `Dom.text` do.
        """
        doms = (frame.dom for frame in shown(self.frames))
        return tuple(dom.whole_text for dom in doms if dom is not None)

    @cached_property
    def unlisted_texts(self) -> tuple[str, ...]:
        """Texts that the page or its frames may show and their rendered texts lack; empty if unreadable."""
        from replaykit.replay.unlisted_texts import unlisted_texts  # for rules that found nothing on a page

        try:
            doms = (self.dom, *(frame.dom for frame in shown(self.frames)))
            return tuple(text for dom in doms if dom is not None for text in unlisted_texts(dom))
        except (Unsupported, LocatorLimit):
            return ()

    def unlisted_in(self, css: str) -> tuple[str, ...]:
        """Return the same of the first element that a selector finds."""
        from replaykit.replay.unlisted_texts import unlisted_in  # likewise

        try:
            return unlisted_in(self.dom, css) if self.dom is not None else ()
        except (Unsupported, LocatorLimit, SelectorInvalid):
            return ()

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """Codes of what shows on the page and was not recorded, so that its text is unknown.

        Raises as `dom` does.
        """
        return tuple(unread_parts(self.dom, self.frames))

    @property
    def missing(self) -> str | None:
        """The code of the evidence that is not there, None where the page can be read."""
        found = self.snapshot_id
        if found is not None:
            return None if found in self._doms else f"blob:{found}"
        if isinstance(self.seen, Probe):
            return f"page:{self.seen.requested or self.seen.url or ''}"
        at = f"@{self.step}" if self.role in ("before", "after") and self.step is not None else ""
        return f"snapshot.{self.role}{at}"

    def read(self, locator: str) -> Read | None:
        """Return what the live page answered to a locator."""
        return next((read for read in self.reads if read.locator == locator), None)


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The run at one step: action, pages before and after, requests and messages."""

    index: int
    """Step index, from 0."""
    step: Step
    """The step as it was recorded."""
    before: Page | None
    """The page that the action changes, when the action began."""
    after: Page | None
    """The last look at the page after the action."""
    interim: tuple[Page, ...]
    """Earlier looks after the action, which show what appeared only briefly."""
    screenshot_page: Page | None
    """The last look with a screenshot at this tab, no later than the action; its URL may differ."""
    url: str | None
    """URL right after the action, before the page is at rest."""
    tabs: tuple[TabView, ...]
    """Tabs right after the action."""
    messages: tuple[Message, ...]
    """Messages during the step."""
    dialogs: tuple[Dialog, ...]
    """Native dialogs that the action caused."""
    navigations: tuple[Navigation, ...]
    """Navigations that the action caused."""
    exchanges: tuple[Exchange, ...]
    """Requests that the action caused, with their responses."""

    @property
    def action(self) -> Action:
        """The action of the step."""
        return self.step.action

    @property
    def dom(self) -> Dom | None:
        """The page acted on, parsed on first use; raises as `Page.dom`."""
        return self.before.dom if self.before is not None else None

    @property
    def line(self) -> str:
        """The action in one line: `<button> Pay -> CLICK`, with a note if it failed or was not seen."""
        return render_step(self.step)

    @property
    def shown(self) -> Page | None:
        """The last observation with a screenshot of the page acted on; it may be older than `before`.

        None without a screenshot of that URL. If no URL is recorded, raises as `dom` does.
        """
        seen, before = self.screenshot_page, self.before
        is_same = seen is before or before is None or (seen is not None and seen.url == before.url)
        return seen if is_same else None

    @property
    def screenshot(self) -> bytes | None:
        """The screenshot of `shown` as an image file; None if absent.

        Raises BundleError, and as `shown`.
        """
        return self.shown.screenshot if self.shown is not None else None

    @property
    def frames(self) -> tuple[FrameView, ...]:
        """Frames of the page acted on that it cannot read."""
        return self.before.frames if self.before is not None else ()


def same_url(one: str, other: str) -> bool:
    """Whether two URLs name one page: scheme, host case, empty segments and query order do not count."""
    return one == other or _parts(one) == _parts(other)


def _parts(url: str) -> tuple[object, ...]:
    return _kept(url) if len(url) <= _KEPT_MAX else _read(url)


def _read(url: str) -> tuple[object, ...]:
    import ada_url  # for addresses that are not written alike

    try:
        found = ada_url.URL(url)
    except ValueError:
        return (url,)
    segments = [segment for segment in found.pathname.split("/") if segment]
    pairs = sorted(ada_url.URLSearchParams(found.search).items())
    port = "" if found.port in ("80", "443") else found.port
    web = "http" if found.protocol in ("http:", "https:") else found.protocol
    return (web, found.hostname, port, segments, pairs, found.hash)


# A page is looked for among all that were seen; long URLs are not kept.
_kept = lru_cache(maxsize=1024)(_read)
_KEPT_MAX = 2048
