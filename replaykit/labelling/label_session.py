"""Runs in the order in which a person labels them, and the labels of this person so far."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import BundleError, UsageError
from replaykit.grading.agreement.labels import (
    LABELS,
    Label,
    LabelAnswer,
    append_label,
    check_appendable,
    read_labels,
)
from replaykit.trajectory.plurals import counted


class LabelSession:
    """One annotator's labels of many runs: known runs are skipped, every new label is saved at once."""

    def __init__(self, sources: Sequence[str], output: Path, annotator: str, seed: int = 0) -> None:
        """Put the runs into a seeded order that reveals nothing about them, and read the labels so far.

        Of several bundles, those that cannot be read are kept apart in `unreadable`. Raises BundleError where
        none can be read, LabelError, UsageError.
        """
        if not annotator.strip():
            raise UsageError(what="--annotator: expected a name, got blanks")
        self.output, self.annotator = output, annotator.strip()
        #: Runs labelled in this session, by place.
        self.saved: set[int] = set()
        self._labels = _known(output, self.annotator)
        check_appendable(output)
        #: Why bundles could not be read.
        self.unreadable: list[BundleError] = []
        self._by_digest = self._read(sources)
        self._order = sorted(self._by_digest)
        random.Random(seed).shuffle(self._order)

    def _read(self, sources: Sequence[str]) -> dict[str, str]:
        """Return digest to bundle of each run, once."""
        found: dict[str, str] = {}
        for source in sources:
            try:
                with open_bundle(source) as bundle:
                    found.setdefault(bundle.digest, source)
            except BundleError as error:
                self.unreadable.append(error)
        if self.unreadable and not found:
            raise self.unreadable[0]
        return found

    def __len__(self) -> int:
        return len(self._order)

    def source(self, place: int) -> str:
        """Return the bundle of a run."""
        return self._by_digest[self._order[place]]

    def label(self, place: int) -> Label | None:
        """Return this annotator's last label of a run."""
        return self._labels.get(self._order[place])

    def unlabelled(self, after: int = -1) -> list[int]:
        """Return the places without a label: those behind `after` first, then those before it."""
        open_places = [place for place in range(len(self)) if self.label(place) is None]
        return sorted(open_places, key=lambda place: (place <= after, place))

    def save(
        self,
        place: int,
        bundle: Bundle,
        answer: LabelAnswer,
        note: str,
        others: Mapping[str, str] | None = None,
    ) -> None:
        """Append a label of a run; a later one of the same run replaces it. Raises LabelError."""
        label = Label(
            trajectory=self._order[place],
            label=answer,
            annotator=self.annotator,
            at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            note=note.strip(),
            task=_whole(str((bundle.header.task or {}).get("id", ""))),
            others=dict(others or {}),
        )
        append_label(self.output, label)
        self._labels[label.trajectory] = label
        self.saved.add(place)

    def summary(self) -> str:
        """Return in one line what was labelled now, and in all."""
        found = [label.label for place in range(len(self)) if (label := self.label(place)) is not None]
        count = Counter(found)
        counts = ", ".join(f"{count[name]} {name.replace('_', ' ')}" for name in LABELS if count[name])
        done = f"{len(found)} of {counted(len(self), 'run')} labelled by {self.annotator}"
        return f"{counted(len(self.saved), 'run')} labelled now; {done}" + (f": {counts}" if counts else "")


def _known(output: Path, annotator: str) -> dict[str, Label]:
    labels = read_labels(output).labels if output.exists() and output.stat().st_size else ()
    return {label.trajectory: label for label in labels if label.annotator == annotator}


def _whole(text: str) -> str:
    """Return text without lone surrogates, which no file of UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()
