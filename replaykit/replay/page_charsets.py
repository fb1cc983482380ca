"""In which charset the pages of a run send their forms and links, where that is not UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from replaykit.charsets import LEGACY, codec_of
from replaykit.errors import ReplaykitError
from replaykit.form_texts import url_in_utf8
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page


def legacy_codec(replay: Replay) -> str | None:
    """Return the codec of the run's pages that are not in UTF-8; None where all are, or they differ."""
    labels = {label for page in replay.pages for label in _labels(page)}
    found = {codec for label in labels if (codec := codec_of(label)) in LEGACY}
    return found.pop() if len(found) == 1 else None


def readable_url(url: str, replay: Replay) -> str:
    """Return a URL of the run with its query in UTF-8."""
    return url_in_utf8(url, partial(replay.memo, legacy_codec))


def _labels(page: Page) -> Iterator[str]:
    """Yield the charsets of a page, of the documents in it, and of its forms that name one."""
    for view in (page, *page.frames):
        try:
            dom = view.dom
        except ReplaykitError:
            continue
        if dom is not None:
            yield from _labels_in(dom)


def _labels_in(dom: Dom) -> Iterator[str]:
    if "html" not in dom.snapshot.head.content_type:
        return  # texts and images send no forms
    yield dom.snapshot.head.charset
    yield from (inner.charset for inner in dom.snapshot.inner.values() if inner.charset)
    for form in dom.select_all("form[accept-charset]"):
        yield from (form.attribute("accept-charset") or "").replace(",", " ").split()
