"""The reasons of results in plain words: one sentence for each word that grading can give."""

from __future__ import annotations

_CHECKS = {
    "bad_locator": "the locator gives no text, number or truth value, so there is nothing to compare",
    "bad_predicate": "a place or an expression of the check cannot be read",
    "bad_reference": "the expected value of the task file cannot be read as what it should be",
    "bad_regex": "the expression of the task file is no regular expression",
    "bad_selector": "the selector of the task file is no CSS",
    "contained": "the text holds what it may not hold",
    "differs": "the value found is not the expected one",
    "empty": "the value is blank, and something was expected",
    "empty_reference": "the expected text is empty, which every text would hold",
    "forged": "the agent made this page or answer itself, so it says nothing about the site",
    "hidden": "the value was masked when it was recorded, so it cannot be compared",
    "length": "the list has another number of items than expected",
    "locator_limit": "the locator needs more steps on this page than are allowed",
    "needs_model": "a model has to compare this, and none was asked yet",
    "no_alternative": "none of the expected alternatives fits",
    "no_answer": "the agent ended without an answer",
    "no_checks": "the task has no checks, no judge and no policies",
    "no_contents": "the target says nothing that the page has to contain",
    "no_element": "the selector or locator finds no element on the page",
    "no_ending": "the recording ends before the agent did, so its answer is unknown",
    "no_exchange": "the run made no such request",
    "no_match": "no item of the list fits",
    "no_navigation": "the run opened no page",
    "no_plugin": "no installed package has this check",
    "no_request": "the run made no such request",
    "no_requirements": "the check demands nothing",
    "no_value": "the element has no such property, or the place holds nothing",
    "no_verifier": "the program that the check names cannot be run",
    "not_a_url": "the value is no URL",
    "not_a_list": "a list was expected",
    "not_allowed": "programs of task files are run only with --allow-verifiers",
    "not_an_object": "the answer is no JSON object with task_type, status and retrieved_data",
    "not_contained": "the text does not hold the expected part",
    "not_coordinates": "the value is no pair of latitude and longitude",
    "not_json": "the body of the request or response is not JSON",
    "not_proven": "the recording does not prove that nothing was missed, and --require-proof asks for that",
    "not_recorded": "the recording does not hold what the check asks for",
    "not_served": "the recorded server could not be started for the program",
    "null": "the value is null on one side only",
    "page_not_reached": "the page could not be reached after the run: an error, a refusal or a login page",
    "page_not_recorded": "the check looked at a page that was not recorded",
    "peer_exception": "in compat mode: the benchmark's own code would raise an exception here",
    "plugin_raised": "the code of the plugin raised an exception",
    "request_made": "the run made a request that it may not make",
    "site_unknown": "the task names a site, and nothing says where it is",
    "snapshot_invalid": "the recorded page is damaged",
    "too_deep": "the value is nested too deeply to be compared",
    "unknown_helper": "the locator calls a helper function that does not exist",
    "unsafe_pattern": "an expression or a place of the check cannot be tried in bounded time, or not be read",
    "unsafe_regex": "the regular expression could take too long on some text",
    "unsupported": "a recorded page cannot answer this question without a browser",
    "urls.incomplete": "the addresses that the run opened were not all recorded",
    "verifier_raised": "the program that the check names raised an exception",
    "weak_evidence": "only weak evidence decides this, and --require-strong refuses it",
}
_POLICIES = {
    "bad_definition": "the policy is defined in a way that cannot be read",
    "denied": "the user refused, or the address is one that the policy denies",
    "did_not_wait": "the agent did not wait for the user's reply",
    "empty_trajectory": "the run has no step, so the policy never applied",
    "forbidden": "the run did what the policy forbids",
    "forbidden_state": "a page shows a value that the policy forbids",
    "leaked": "a secret left the place where it belongs",
    "never_done": "the run never did what the policy demands",
    "never_triggered": "what the policy is about never came up in this run",
    "no_eval": "the benchmark's policy has no rule to evaluate",
    "no_request": "no approval was requested before this action",
    "no_response": "the demanded action did not follow",
    "not_allowed": "the address is not one that the policy allows",
    "not_before": "the demanded action did not come first",
    "not_given": "the run entered a value that neither task nor user gave",
    "not_told": "the agent saw an error and did not report it to the user",
    "nothing_configured": "the policy names nothing that it could limit",
    "out_of_order": "the demanded actions came in another order",
    "out_of_scope": "the policy does not apply to this run's site or phase",
    "peer_dormant": "in compat mode: the benchmark's own code reports the policy as dormant",
    "peer_violated": "in compat mode: the benchmark's own code reports a violation",
    "required_never_visited": "the run never opened an address that the policy demands",
    "rule_raised": "the code of the rule raised an exception",
    "scope_never_opened": "the event that begins the policy's scope never came",
    "selector_never_resolved": "the element that the policy is about was on no page",
    "state_absent": "the value that the policy demands was on no page",
    "state_not_met": "the value on the page is not the one that the policy demands",
    "too_few": "the run did it fewer times than the policy demands",
    "too_many": "the run did it more often than the policy allows",
    "unsupported_rule": "this release cannot grade the rule",
    "yielded": "another policy that takes precedence applied instead",
}
_JUDGES = {
    "all_shown": "the recording shows all that was asked for and all that was claimed",
    "ambiguous": "the reply holds both verdicts",
    "auth": "the provider refused the key",
    "bad_request": "the provider refused the request",
    "bad_response": "the server's response was not one of a model",
    "batch": "the batch of requests failed at the provider",
    "client_error": "the client that asks the model raised an exception",
    "connection": "the server could not be reached",
    "contradicted": "the recording shows the opposite of a need of the task or of a key claim of the answer",
    "context_full": "the reply was cut off because the model's context was full",
    "deadline": "there was no reply before the deadline",
    "empty_reply": "the reply is empty",
    "evidence_unreadable": "the bundle's evidence for the judge cannot be read",
    "hedged": "the reply gives a verdict and takes it back in the same sentence",
    "image_limit": "there are more or larger screenshots than the model accepts",
    "judge_bug": "the judge's own code raised an exception",
    "missing_key": "no API key is set for the provider",
    "missing_sdk": "the package that asks the provider is not installed",
    "no_evidence": "the run has nothing that the judge could look at",
    "no_object": "the reply holds no JSON object that could be read",
    "no_quorum": "too few of the votes, or of the members of a panel, are verdicts",
    "no_task": "the bundle holds no task that the judge could be told",
    "no_token": "the reply holds no verdict",
    "not_final": "the verdict does not stand at the end of the reply",
    "not_shown": "the recording does not show everything that the task needs and the answer claims",
    "off": "judges were switched off by --judge-mode off",
    "overloaded": "the provider is overloaded",
    "quorum": "enough members of the panel gave this verdict",
    "rate_limited": "the provider's rate limit was reached",
    "recorded": "the replies of this check are on the tape, and decide the check itself",
    "refused": "the model refused to answer",
    "server": "the provider answered with an error",
    "side_effect": "the run changed something on a server that no need of the task explains",
    "spend_limit": "the provider's spending limit was reached",
    "stopped": "the model stopped before its reply was complete",
    "tape_miss": "the tape holds no reply to this question; --judge-mode new asks the model",
    "tie": "as many votes say success as failure, or both verdicts of a panel have their members",
    "timeout": "the server did not answer in time",
    "too_large": "the request is larger than the provider accepts",
    "truncated": "the reply was cut off at the token limit",
    "unknown": "the provider failed in an unknown way",
    "unknown_token": "the reply ends in a verdict that the judge does not know",
    "veto": "a member of the panel whose FAILURE decides says FAILURE",
    "verdict": "the reply of the model ends in this verdict",
}
_RATES = {
    "judge_errors": "no judge could be asked about any run, and no check decides one",
    "no_policies": "no run has such a policy",
    "no_runs": "there is no run that the rate is about",
    "none_graded": "not one run could be graded",
    "none_active": "every policy was dormant in every run",
}

SECTIONS = {"check": _CHECKS, "policy": _POLICIES, "judge": _JUDGES, "rate": _RATES}
"""Kind of a result to its words; a word may mean different things of two kinds."""

_NOT_A = "not_a_"


def reason_words(kind: str, reason: str) -> str:
    """Return the sentence for a reason of a check, policy, judge or rate.

    Empty where it is no word of grading: a plugin gives reasons of its own.
    """
    if reason.startswith(_NOT_A) and reason not in SECTIONS[kind]:
        return f"the value cannot be read as a {reason.removeprefix(_NOT_A).replace('_', ' ')}"
    return SECTIONS[kind].get(reason, "")


def said(kind: str, reason: str | None) -> str:
    """Return a reason as reports show it: in words, the word itself in parentheses."""
    words = reason_words(kind, reason or "")
    return f"{words} ({reason})" if words else reason or ""
