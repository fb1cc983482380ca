"""`replaykit explain`."""

from __future__ import annotations

from difflib import get_close_matches

import click

from replaykit.errors import UsageError
from replaykit.report.reasons import SECTIONS, reason_words
from replaykit.report.remedies import REMEDIES, family


@click.command(
    short_help="Explain the reasons that a report names.",
    epilog="Example: replaykit explain no_request page:http://shop.test/orders",
)
@click.argument("words", nargs=-1, metavar="[WORD]...")
def command(words: tuple[str, ...]) -> None:
    """Explain reasons and missing evidence that a report names. Without WORD, list them all."""
    for word in words or _known():
        click.echo("\n".join(_explained(word)))


def _known() -> list[str]:
    return sorted({*(word for part in SECTIONS.values() for word in part), *REMEDIES})


def _explained(word: str) -> list[str]:
    found = [f"{word} ({kind}): {meaning}." for kind in SECTIONS if (meaning := _meaning(kind, word))]
    remedy = REMEDIES.get(family(word))
    if remedy:
        found.append(f"{word} (missing evidence): to record it, {remedy}.")
    if found:
        return found
    near = get_close_matches(family(word), _known(), 3)
    hint = f"did you mean {', '.join(near)}?" if near else "`replaykit explain` lists all words"
    if word.endswith((".zst", ".jsonl")):
        hint = "to see why a run got its verdict, use `replaykit grade`; `replaykit show` lists its steps"
    raise UsageError(what=f"no outcome, reason or missing evidence is called {word!r}; {hint}")


def _meaning(kind: str, word: str) -> str:
    if word.startswith("not_a_") and kind != "check":
        return SECTIONS[kind].get(word, "")
    return reason_words(kind, word)
