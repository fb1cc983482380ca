"""Each kind of check to what grades it, loaded for such checks only: a command waits for what it loads."""

from __future__ import annotations

from replaykit.grading.checks.pages.final_page import cursor_url, final_evidence, final_url
from replaykit.grading.checks.requirement import Graded, Terms, graded, undecided
from replaykit.grading.verdict import Evidence
from replaykit.replay.agent_made_pages import FORGED, is_forged
from replaykit.replay.player import Replay
from replaykit.tasks.checks import Check, PageCheck, PageImages, ProgramHtml, StringMatch, UrlMatch
from replaykit.tasks.network_checks import AgentResponse, NetworkMatch
from replaykit.tasks.state_checks import StateHttp, StateScript, StateVerifier
from replaykit.tasks.task import Task


def items_of(
    check: Check, number: int, task: Task, replay: Replay, terms: Terms, cursor: str
) -> tuple[Graded, ...]:
    """Grade the check at position `number` of a task; those before it left the page `cursor`."""
    match check:
        case StringMatch():
            from replaykit.grading.checks.answer_text import grade_string

            return grade_string(check, replay, terms)
        case UrlMatch():
            from replaykit.grading.checks.final_url import grade_url

            last, peer = _readable(final_url(replay), replay), cursor_url(cursor, replay)
            forged = replay.final is not None and is_forged(replay.final, replay)
            fault = undecided("forged", FORGED) if forged else None
            return (grade_url(check, last, peer, terms, final_evidence(replay), fault),)
        case PageCheck():
            from replaykit.grading.checks.pages.page_check import grade_page

            return grade_page(check, replay, terms)
        case ProgramHtml():
            from replaykit.grading.checks.pages.program_html import grade_html

            return grade_html(check, replay, terms, cursor)
        case PageImages():
            nothing = undecided("unsupported", "page_image_query")
            return (graded("images", nothing, nothing, terms.mode, Evidence()),)
        case AgentResponse() | NetworkMatch():
            return (_verified(check, number, task, replay, terms),)
        case StateHttp() | StateScript() | StateVerifier():
            return _state(check, task, replay, terms)
    from replaykit.grading.checks.check_plugins import (
        grade_plugin,  # the metadata of packages is slow to read
    )

    return (grade_plugin(check, replay, task, terms),)


def _readable(url: str | None, replay: Replay) -> str | None:
    if url is None or "%" not in url:
        return url
    from replaykit.replay.page_charsets import readable_url  # most URLs are plain

    return readable_url(url, replay)


def _verified(
    check: AgentResponse | NetworkMatch, number: int, task: Task, replay: Replay, terms: Terms
) -> Graded:
    from replaykit.grading.checks.webarena_verified_rules import peer_answer, peer_rule

    if isinstance(check, NetworkMatch):
        from replaykit.grading.checks.requests.network_check import grade_network

        return grade_network(check, peer_rule(check, number, task, replay, terms.sites), replay, terms)
    from replaykit.grading.checks.agent_response import grade_response

    return grade_response(check, peer_answer(check, number, task, replay, terms.sites), replay, terms)


def _state(
    check: StateHttp | StateScript | StateVerifier, task: Task, replay: Replay, terms: Terms
) -> tuple[Graded, ...]:
    if isinstance(check, StateVerifier):
        from replaykit.grading.checks.verifier import grade_verifier

        return (grade_verifier(check, replay, terms),)
    from replaykit.grading.checks.requests.app_state import grade_script, grade_state

    if isinstance(check, StateHttp):
        return grade_state(check, replay, terms)
    return (grade_script(check, replay, terms, next(iter(task.start_urls), None)),)
