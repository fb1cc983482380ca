"""One sitting: the judges of a run decide, from the tape, or from a client for what it does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from replaykit.bundle.reader import Bundle
from replaykit.grading.judges.judge_config import Panel, judge_name, tape_of, unpacked
from replaykit.grading.judges.tape.tape import Tape
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

if TYPE_CHECKING:
    from replaykit.grading.judges.clients.client import Client
    from replaykit.grading.judges.tape.tape_recorder import LiveMode, TapeRecorder


@contextmanager
def staffed(panel: Panel, client: Client | None = None) -> Iterator[Client | None]:
    """Give the client of a panel that asks, None of one that does not; what was made here is closed."""
    if not panel.is_live:
        yield None
        return
    from replaykit.grading.judges.clients.transports import client_or_own  # transports are for those who ask

    with client_or_own(client, panel.base_url) as asked:
        yield asked


def recorder_of(panel: Panel, bundle: Bundle, client: Client) -> TapeRecorder:
    """Return a recorder that knows what the tape of a bundle holds by now."""
    from replaykit.grading.judges.tape.tape_recorder import (
        TapeRecorder,  # threads and sockets are for those who ask
    )

    unpacked(bundle, panel.tape)
    how: LiveMode = "refresh" if panel.how == "refresh" else "new"
    return TapeRecorder(bundle, client, panel.tape, trajectory=bundle.digest, mode=how)


def judge_all(
    panel: Panel, bundle: Bundle, task: Task, replay: Replay, client: Client | None = None
) -> tuple[tuple[Judgement, ...], Tape | None]:
    """Return the judgement of each judge, and the tape with the replies used.

    `client` is asked for missing replies; None = only the tape is used. Raises JudgeError for judges that
    cannot be built.
    """
    if panel.how == "off":
        return tuple(_off(settings) for settings in panel.judges), None
    if not panel.judges:
        return (), None
    if client is not None:
        judged = _live(panel, bundle, task, replay, client)
        return judged, tape_of(bundle, panel.tape)
    from replaykit.grading.judges.tape.tape_player import (
        judge_from_tape,  # judges are for tasks that have one
    )

    tape = tape_of(bundle, panel.tape)
    return tuple(judge_from_tape(one, task, replay, tape, panel.mode) for one in panel.judges), tape


def _live(panel: Panel, bundle: Bundle, task: Task, replay: Replay, client: Client) -> tuple[Judgement, ...]:
    # Loaded here: threads and sockets are for those who ask.
    from replaykit.grading.judges.tape.tape_recorder import judge_sync

    return tuple(
        judge_sync(one, task, replay, recorder_of(panel, bundle, client), panel.mode) for one in panel.judges
    )


def _off(settings: JudgeSettings) -> Judgement:
    return Judgement(
        judge=judge_name(settings), outcome=JudgeOutcome.NOT_EVALUATED, reason="off", fingerprint=""
    )
