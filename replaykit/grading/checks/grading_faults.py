"""All faults of a task file that grading would refuse."""

from __future__ import annotations

from collections.abc import Sequence

from replaykit.grading.checks.reference_faults import reference_faults
from replaykit.grading.checks.request_faults import request_faults
from replaykit.grading.checks.state_faults import state_faults
from replaykit.tasks.check_faults import CheckFault, check_faults
from replaykit.tasks.task import Task


def task_faults(tasks: Sequence[Task], known_sites: Sequence[str] = ()) -> list[CheckFault]:
    """Return the faults of all checks; `known_sites` are those whose roots are known.

    What has none is graded without an error that the task file is the cause of.
    """
    own = [*reference_faults(tasks), *request_faults(tasks), *state_faults(tasks)]
    return [*check_faults(tasks, known_sites), *own]
