"""Pages of snapshots, read once: runs look at few pages over and over, and so do runs of one site."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol
from weakref import ref

from replaykit.bundle.blobs import image_size, narrowed, png
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.snapshot.snapshot_format import MEDIA_TYPE

if TYPE_CHECKING:
    from replaykit.replay.dom import Dom

# Pages that a thread keeps, in bytes of their snapshots; elements and texts take 10 to 15 times as much.
CACHE_BYTES = 3 * 2**20


class Blobs(Protocol):
    """Interface of a bundle's contents for this part."""

    def __contains__(self, id: object) -> bool: ...

    def blob(self, id: str) -> bytes:
        """Return a verified payload."""

    def blob_type(self, id: str) -> str:
        """Return its media type."""


class Kept(threading.local):
    """The latest pages by what is in them, whatever bundles they come from."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self._pages: OrderedDict[bytes, Dom] = OrderedDict()
        self._size = 0

    def page(self, data: bytes) -> Dom:
        """Return the page of a snapshot; those used longest ago go. Raises SnapshotInvalid."""
        dom = self._pages.get(data)
        if dom is None:
            from replaykit.replay.dom import Dom  # what reads pages is for runs of which a page is read

            dom = self._pages[data] = Dom(data)
            self._size += len(data)
            self._shrink()
        self._pages.move_to_end(data)
        return dom

    def _shrink(self) -> None:
        # The page just asked for stays, however large it is.
        while len(self._pages) > 1 and self._size > self.limit:
            oldest, _ = self._pages.popitem(last=False)
            self._size -= len(oldest)


_KEPT = Kept()


class Doms:
    """The pages of one bundle, and their screenshots."""

    def __init__(self, blobs: Blobs, kept: Kept | None = None) -> None:
        self._blobs = blobs
        self._kept = kept or _KEPT
        # Weak: `Kept` decides how long a page lives.
        self._seen: dict[str, ref[Dom]] = {}
        self._excluded: dict[tuple[str, str], bool] = {}
        self._lacking: dict[tuple[str, tuple[bytes, ...]], bool] = {}

    def __contains__(self, id: object) -> bool:
        if id in self._seen:
            return True
        return isinstance(id, str) and id in self._blobs and self._blobs.blob_type(id) == MEDIA_TYPE

    def screenshot(self, id: str) -> bytes:
        """Return a screenshot as an image file: pixels as PNG, all else as it is. Raises BundleError."""
        data = self._blobs.blob(id)
        return png(data) if self._blobs.blob_type(id) == PIXMAP else data

    def screenshot_within(self, id: str, width: int) -> bytes | None:
        """Return a screenshot as an image file of at most `width` px; None where it cannot be made so.

        Raises BundleError.
        """
        data, own = self._blobs.blob(id), self._blobs.blob_type(id)
        if own == PIXMAP:
            return png(narrowed(data, width))
        size = image_size(data, own)
        return data if size is not None and size[0] <= width else None

    def excludes(self, id: str, css: str) -> bool:
        """Whether the raw bytes of a snapshot already rule out a match of a selector.

        Raises as `get` does.
        """
        known = self._excluded.get((id, css))
        if known is None:
            from replaykit.replay.selectors.selector_cache import compile_selector

            known = self._excluded[id, css] = self.get(id).excludes(compile_selector(css))
        return known

    def lacks(self, id: str, words: tuple[bytes, ...]) -> bool:
        """Whether the raw bytes of a snapshot lack one of these words; raises as `get`."""
        known = self._lacking.get((id, words))
        if known is None:
            known = self._lacking[id, words] = self.get(id).lacks(words)
        return known

    def get(self, id: str) -> Dom:
        """Return the page of a snapshot blob. Raises SnapshotInvalid, BundleError."""
        known = self._seen.get(id)
        seen = None if known is None else known()
        # The bytes of this bundle are read at least once: a page of another one vouches for nothing here.
        dom = self._kept.page(self._blobs.blob(id) if seen is None else seen.data)
        if dom is not seen:
            self._seen[id] = ref(dom)
        return dom
