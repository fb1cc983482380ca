"""Whether what is not in a recording did not happen: the state of each channel, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from replaykit.trajectory.completeness_proof import GAPS, NEEDS, Proof
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.step import Trajectory

END = "trajectory.end"
"""Code of a recording that may have ended before the agent did."""

STATES = ("proven", "recorded", "auto_approve", "partial", "absent")
"""States of a channel, strongest first."""

LOGGED = frozenset({
    "target.late", "tab.late", "target.unarmed", "worker.shared", "attach.failed", "requests.leaving",
    "download.redirected", "report.unseen", "worker.updates",
})  # fmt: skip
"""Gaps of the network that a closed net log fills: what no one recorded is an exchange of its own there."""

_UNWATCHED = "witness:"
_ENDINGS = ("answered", "stopped", "max_steps", "timeout", "crashed")


class ChannelState(NamedTuple):
    """How complete a channel is."""

    state: str
    """`proven recorded partial absent`, of replies also `auto_approve`."""
    why: tuple[str, ...] = ()
    """Codes of what is missing; of `recorded`, `witness:<name>` for each that did not watch."""

    def __str__(self) -> str:
        unwatched = [code.removeprefix(_UNWATCHED) for code in self.why if code.startswith(_UNWATCHED)]
        why = f"not watched by {', '.join(unwatched)}" if unwatched else ", ".join(self.why)
        return f"{self.state} ({why})" if why else self.state


def is_filled(run: Trajectory, gap: Gap) -> bool:
    """Whether another witness observed what a gap reports as missed."""
    return gap.channel == "network" and gap.why in LOGGED and _is_closed(run, "netlog")


def broke_off(run: Trajectory) -> bool:
    """Whether the recording may have ended before the agent did."""
    ending = run.ending
    if ending is None or ending.kind not in _ENDINGS:
        return True
    return ending.kind == "crashed" and ending.cause != "agent"


def owed(run: Trajectory, channel: str) -> tuple[str, ...]:
    """Return the codes of what witnesses promised for a channel and did not prove."""
    promised = [witness for witness in NEEDS.get(channel, ()) if witness in run.header.witnesses]
    return tuple(dict.fromkeys(code for witness in promised for code in _debts(run, witness)))


def state_of(run: Trajectory, channel: str) -> ChannelState:
    """Return the state of a channel and the reasons for it."""
    stated = run.header.channels.get(channel, "absent")
    if stated not in ("recorded", "auto_approve"):
        return ChannelState(stated)
    gaps = [gap.why for gap in run.of_type(Gap) if gap.channel == channel and not is_filled(run, gap)]
    end = (END,) if broke_off(run) and not _is_whole(run, channel) else ()
    lacks = tuple(dict.fromkeys((*gaps, *owed(run, channel), *end)))
    if lacks:
        return ChannelState("partial", lacks)
    silent = [witness for witness in NEEDS.get(channel, ()) if witness not in run.header.witnesses]
    if stated == "recorded" and channel in NEEDS and not silent:
        return ChannelState("proven")
    return ChannelState(
        stated, tuple(f"{_UNWATCHED}{name}" for name in silent) if stated == "recorded" else ()
    )


def _is_whole(run: Trajectory, channel: str) -> bool:
    """Whether the channel ends with its file: a HAR is written when a session closes, and knows no answer."""
    return channel == "network" and run.header.source is not None and run.header.source.format == "har"


def lacking(run: Trajectory, channel: str) -> tuple[str, ...]:
    """Return why something in this channel may have been missed; empty where absence there is evidence."""
    found = state_of(run, channel)
    if found.state in ("proven", "recorded", "auto_approve"):
        return ()
    named = tuple(code for code in found.why if code == END or code in GAPS or code.startswith("proof:"))
    return named if named and len(named) == len(found.why) else (channel, *named)


def channel_lines(run: Trajectory) -> list[str]:
    """Return the channels of a run by their state, strongest first: `proven: actions, targets`."""
    states = {name: state_of(run, name) for name in sorted(run.header.channels)}
    named: dict[str, list[str]] = {}
    for name in sorted(states, key=lambda name: STATES.index(states[name].state)):
        named.setdefault(str(states[name]), []).append(name)
    return [f"{state}: {', '.join(names)}" for state, names in named.items()]


def weakest(states: Iterable[str]) -> str | None:
    """Return the weakest of these states; None if there are no states."""
    return max(states, key=STATES.index, default=None)


ASSUMED = {
    "page": "an agent that is trusted",
    "cooperative agent": "an agent that uses only public methods of its driver",
    "command agent": "nothing about the agent, which ran behind the proxy",
}
"""Assumptions of verdicts, by the word of `assumes`."""


def assumes(run: Trajectory) -> str:
    """Return whose tricks the recording would have noticed: a row of the table in SECURITY.md.

    `page`: only those of pages, the agent itself is trusted; `cooperative agent`: one in the recorder's own
    process that uses the driver's public methods; `command agent`: a program of its own behind the proxy.
    """
    if "commands" not in run.header.witnesses:
        return "page"
    return "command agent" if run.header.agent_access == "proxy" else "cooperative agent"


def _is_closed(run: Trajectory, witness: str) -> bool:
    return witness in run.header.witnesses and not _debts(run, witness)


def _debts(run: Trajectory, witness: str) -> tuple[str, ...]:
    proofs = [proof for proof in run.of_type(Proof) if proof.witness == witness]
    if proofs and all(proof.closed and not proof.lacks for proof in proofs):
        return ()
    return (f"proof:{witness}", *(code for proof in proofs for code in proof.lacks))
