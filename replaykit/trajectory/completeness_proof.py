"""Proof that a recording is complete: the witnesses that watched, and the final report of each."""

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
    "events.missed", "seq.broken", "document.unopened", "document.unclosed", "document.crashed",
    "ledger.full", "target.late", "socket.late", "target.unrecorded", "scripts.disabled",
    "requests.leaving", "download.redirected", "report.unseen", "worker.updates", "browser.gone", "crashed",
    "commands.unlogged",
})  # fmt: skip
"""Codes of gaps that a verdict names as missing evidence; for other gaps it names the channel."""


class Proof(Moment, frozen=True, kw_only=True, tag="proof"):
    """Final report of one witness; one for each witness that the header promises."""

    witness: Word
    """`page ledger census commands netlog speech`."""
    closed: bool = False
    """Whether it watched to the end and missed nothing."""
    lacks: tuple[Word, ...] = ()
    """Codes of what it missed: those of gaps."""
    counts: dict[str, N] = {}
    """Its counts, for people to read: windows, events counted and seen, targets, commands, requests."""
