"""The prompts of one judge: shipped ones, or the user's, with their digests and where they come from."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from replaykit.errors import JudgeError
from replaykit.grading.judges.prompts.prompt import digest, fill, shipped
from replaykit.grading.judges.prompts.upstream_prompts import KNOWN, STRIPPED


class Slot(Struct, frozen=True, kw_only=True):
    """A place for a prompt."""

    shipped: str = ""
    """Shipped prompt that stands there; empty = the user has to give one."""
    names: tuple[str, ...] | None = None
    """Placeholders that it may name; None = it is no template."""
    aliases: dict[str, str] = {}
    """Spellings of placeholders in other people's prompts."""


class Prompts:
    """Texts by slot. Raises JudgeError for a slot or a placeholder that does not exist."""

    def __init__(self, protocol: str, slots: Mapping[str, Slot], given: Mapping[str, str]) -> None:
        self._protocol = protocol
        self._slots = slots
        self._given = given
        unknown = sorted(set(given) - set(slots))
        if unknown:
            raise JudgeError(what=f"no prompt {unknown[0]!r} in {protocol}; there are {', '.join(slots)}")
        for name, slot in slots.items():
            if name not in given and not slot.shipped:
                raise JudgeError(what=f"judge {protocol} needs a prompt {name!r}")
            if slot.names is not None:
                self.fill(name, dict.fromkeys(slot.names, ""))
            elif name in given:
                self._refuse_placeholders(name)

    def _refuse_placeholders(self, plain: str) -> None:
        """Raise JudgeError where a text that is sent as it stands names what another one may name."""
        for name, slot in self._slots.items():
            for known in slot.names or ():
                if f"{{{{{known}}}}}" in self._given[plain]:
                    reason = f"{{{{{known}}}}} would be sent as it stands; it belongs in the prompt {name}"
                    raise JudgeError(what=f"prompt {plain}: {reason}")

    def text(self, slot: str) -> str:
        """Return the text of a slot as it is."""
        if slot not in self._given:
            return shipped(self._slots[slot].shipped)
        given = self._given[slot]
        return given.strip() if digest(given) in STRIPPED else given

    def fill(self, slot: str, values: Mapping[str, str]) -> str:
        """Return the text of a slot with its placeholders filled."""
        aliases = self._slots[slot].aliases if slot in self._given else {}
        return fill(self.text(slot), values, aliases)

    @property
    def digests(self) -> dict[str, str]:
        """Slot to sha256 of its text."""
        return {name: digest(self._given.get(name) or self.text(name)) for name in self._slots}

    @property
    def label(self) -> str:
        """`own`, `upstream-identical` where every slot holds a known text of its benchmark, else `custom`."""
        if not self._given:
            return "own"
        known = KNOWN.get(self._protocol, {})
        is_same = all(found in known.get(name, ()) for name, found in self.digests.items())
        return "upstream-identical" if is_same else "custom"
