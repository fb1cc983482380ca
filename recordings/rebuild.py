"""Record the conformance set again: every pair of fixtures/agents that is recorded, in a real browser.

Run: .venv/bin/python -m recordings.rebuild [--readable] [NAME...]

Recordings are frozen: they are made again only on purpose, and then reviewed by their readable
`.trajectory.json` and `.verdict.json`. Without names, all of them are. `--readable` records nothing and
writes only those two, after a change in what verdicts say.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import msgspec

from fixtures.agents.pairs import Pair, load_pairs
from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from replaykit.grading.judges.judge_options import judge_settings
from replaykit.grading.judges.request_plan import plan
from replaykit.grading.judges.tape.tape import append_reply
from replaykit.grading.model_request import ModelReply
from replaykit.recorder.agent_runs import record_agent
from replaykit.replay.player import Replay
from replaykit.tasks.task import fill_task

ROOT = Path(__file__).parent.parent
SET = ROOT / "recordings" / "conformance"
REPLIES = ROOT / "fixtures" / "replies"


def record(pair: Pair, path: Path) -> None:
    """Record one run against a fresh site; its own state must be the expected one."""
    with pair.serve() as site:
        record_agent(pair.entry, pair.load_task(), path, sites=pair.roots(site), user=pair.load_user())
        pair.prove(site.state.as_json())


def readable(path: Path) -> None:
    """Write the two readable files beside a bundle."""
    with open_bundle(path) as bundle:
        run = bundle.trajectory
        story = msgspec.to_builtins([run.header, *run.events])
        verdict = msgspec.to_builtins(grade(bundle))
    for kind, content in (("trajectory", story), ("verdict", verdict)):
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        path.with_suffix(f".{kind}.json").write_text(text)


def answer_judges(pair: Pair, path: Path) -> None:
    """Put the reply that a person wrote for this run on its tape, as synthetic."""
    written = REPLIES / f"{pair.name}.txt"
    tape = path.with_name(path.name.removesuffix(".zst") + ".replies.jsonl")
    tape.unlink(missing_ok=True)
    if not written.exists():
        return
    reply = ModelReply(
        text=written.read_text(), stop_reason="end_turn", model="written by hand", origin="synthetic"
    )
    with open_bundle(path) as bundle:
        task = fill_task(pair.load_task(), bundle.header.sites)
        for missing in plan(judge_settings("webvoyager"), task, Replay(bundle)).missing:
            append_reply(tape, missing.request, reply, trajectory=bundle.digest, ordinal=missing.ordinal)


def main() -> None:
    """Make the recordings named, or all."""
    wanted = {name for name in sys.argv[1:] if not name.startswith("-")}
    SET.mkdir(parents=True, exist_ok=True)
    for pair in load_pairs():
        if not pair.record or (wanted and pair.name not in wanted):
            continue
        if "--readable" not in sys.argv:
            make(pair)
        readable(SET / f"{pair.name}.zst")
        print(pair.name)


def make(pair: Pair) -> None:
    """Record into a temporary folder first: a failed run leaves the old recording."""
    with tempfile.TemporaryDirectory(dir=SET.parent) as folder:
        fresh = Path(folder) / f"{pair.name}.zst"
        record(pair, fresh)
        fresh.replace(SET / fresh.name)
    answer_judges(pair, SET / f"{pair.name}.zst")


if __name__ == "__main__":
    main()
