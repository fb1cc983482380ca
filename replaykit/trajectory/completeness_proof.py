"""Proof that a recording is complete: the witnesses that watched, and what each says at the end."""

from replaykit.trajectory.observation import Moment
from replaykit.trajectory.scalars import N, Word

WITNESSES = ("page", "ledger", "census", "commands", "netlog", "speech")
"""Who can watch a run.

`page`: listeners in the page. `ledger`: the browser's own count of input events, compared with those seen.
`census`: every page, frame and worker is watched before it runs. `commands`: what the agent asked for.
`netlog`: every request that reached the network. `speech`: only the user and the harness speak as the user.
"""

NEEDS: dict[str, tuple[str, ...]] = {
    "actions": ("page", "ledger", "census", "commands"),
    "targets": ("page", "ledger", "census", "commands"),
    "urls": ("page", "census"),
    "snapshots": ("page", "census"),
    "dialogs": ("page", "census"),
    "network": ("census", "netlog", "commands"),
    "replies": ("speech",),
    "messages": ("speech",),
}
"""Channel to the witnesses that together prove it complete; a channel without a row is never proven."""

GAPS = frozenset({
    "events.unheard", "seq.broken", "document.unopened", "document.unclosed", "document.crashed",
    "ledger.full", "target.late", "socket.late", "target.unrecorded", "scripts.disabled",
    "requests.leaving", "browser.gone", "crashed",
})  # fmt: skip
"""What a gap says was missed, in words that verdicts repeat; other gaps say it in words of their own."""


class Proof(Moment, frozen=True, kw_only=True, tag="proof"):
    """What one witness says at the end of the recording; one for each that the header promises."""

    witness: Word
    """`page ledger census commands netlog speech`."""
    closed: bool = False
    """Whether it watched to the end and missed nothing."""
    lacks: tuple[Word, ...] = ()
    """Codes of what it missed: those of gaps."""
    counts: dict[str, N] = {}
    """What it counted, for people to read: windows, events counted and seen, targets, commands, requests."""
