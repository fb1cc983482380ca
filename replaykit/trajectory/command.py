"""The agent's commands to its driver or the browser: one struct per command."""

from replaykit.trajectory.observation import Moment
from replaykit.trajectory.scalars import N, Point, Word


class Command(Moment, frozen=True, kw_only=True, tag="command"):
    """A command of the agent, as the witness `commands` saw it: what was asked for, not what came of it.

    What may hold a secret (typed text, single keys, sources, bodies) is left out; `size` is its length.
    """

    origin: Word
    """`driver` (the Playwright of this process) or `proxy` (CDP)."""
    kind: Word
    """`input target request script network state navigate`."""
    name: str
    """Its own name: `Frame.click`, `Input.dispatchMouseEvent`."""
    url: str | None = None
    """Address that it names."""
    method: str | None = None
    """HTTP method that it names."""
    selector: str | None = None
    """Element that it names."""
    key: str | None = None
    """Named key; a key that types a character is left out."""
    point: Point | None = None
    """Where, CSS px of the viewport."""
    size: N | None = None
    """Length of the text, source or body that is left out: characters, of a body bytes."""
    world: Word | None = None
    """Where a script runs: `page`, or `driver`, a world of the driver's own; absent = not known."""
    refused: bool = False
    """The recorder did not let it through."""
