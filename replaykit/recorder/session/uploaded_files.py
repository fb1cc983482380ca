"""Contents of files that were given to a page: read in the page, kept where they are text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from msgspec.structs import replace

from replaykit.patterns import lazy_pattern
from replaykit.recorder.session.declared_steps import DeclaredAction
from replaykit.recorder.session.driver_messages import ReadPage, Source
from replaykit.recorder.session.outbox import Asking, Blob, Outbox
from replaykit.trajectory.action import FileInfo, UploadFile
from replaykit.trajectory.scalars import Omitted

KEPT_MAX = 2**20
"""Bytes of a text file that are kept; of a larger one, and of one that is no text, its digest is."""

# Tab, line ends, form feed and escape occur in texts; other control characters mean binary data.
_CONTROLS = lazy_pattern(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_TYPES = ("text/", "application/json")


class Uploads:
    """Asks pages for the files that they were given, before these are gone."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def read(
        self, action: DeclaredAction, source: Source, keys: Sequence[int | None]
    ) -> Asking[DeclaredAction]:
        """Return the action with the contents of its files, as far as the page still has them."""
        upload, blobs, files = action.action, list(action.blobs), list[FileInfo]()
        assert isinstance(upload, UploadFile)
        for file, key in zip(upload.files, keys, strict=True):
            data = yield from self._contents(action.page, source, key)
            file, blob = (file, None) if data is None else self._kept(file, data)
            files.append(file)
            blobs += [blob] if blob is not None else []
        return replace(action, action=replace(upload, files=tuple(files)), blobs=tuple(blobs))

    def _contents(self, page: int | None, source: Source, key: int | None) -> Asking[bytes | None]:
        if key is None or page is None:
            return None
        reply = yield ReadPage(id=0, page=page, what="file", args=(source[0], key))
        return reply.value if isinstance(reply.value, bytes) else None

    def _kept(self, file: FileInfo, data: bytes) -> tuple[FileInfo, Blob | None]:
        text = text_of(data) if len(data) <= KEPT_MAX else None
        if text is None:
            why = "type" if len(data) <= KEPT_MAX else "cap"
            digest = hashlib.sha256(data).hexdigest()
            return replace(file, body=Omitted(why=why, n=len(data), sha256=digest)), None
        is_declared = file.mime is not None and file.mime.startswith(_TYPES)
        blob = self._outbox.blob(file.mime if is_declared and file.mime else "text/plain", text.encode())
        return replace(file, body=blob.id), blob


def text_of(data: bytes) -> str | None:
    """Return a file as text: UTF-8, UTF-16 with its mark, else a letter a byte; None = it is no text."""
    has_mark = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    # latin-1 reads any bytes, so it comes last; control characters then tell binary data.
    for encoding in ("utf-16",) if has_mark else ("utf-8-sig", "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return None if _CONTROLS.search(text) else text
    return None
