"""Inspect: scorers, a recorder for samples, and a hook; Inspect finds them by its entry point `replaykit`.

Upstream: https://inspect.aisi.org.uk. Needs the extra `inspect`.
"""

from __future__ import annotations

from replaykit import MissingExtra

try:
    from replaykit.integrations.inspect.journal_hook import JournalHook
    from replaykit.integrations.inspect.sample_recording import RecordedRun, record_sample
    from replaykit.integrations.inspect.scorers import cup, recorded_run, violations
except ModuleNotFoundError as error:
    if error.name not in ("inspect_ai", "anyio"):
        raise
    raise MissingExtra(package="inspect-ai", extra="inspect", purpose="replaykit in Inspect") from error

__all__ = ["JournalHook", "RecordedRun", "cup", "record_sample", "recorded_run", "violations"]
