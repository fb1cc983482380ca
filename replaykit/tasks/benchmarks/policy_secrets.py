"""Secrets that the policies of a task name: those whose value is test data, and those of the environment."""

from __future__ import annotations

from replaykit.tasks.benchmarks.stwab_rules import native_policies
from replaykit.tasks.policy_rules import NoLeak, OnlyFill, Secret
from replaykit.tasks.task import Task


def policy_secrets(task: Task | None) -> list[Secret]:
    """Return the secrets that the task's policies look for."""
    rules = [policy.rule for policy in native_policies(task.policies) if policy.enabled] if task else []
    named = [secret for rule in rules if isinstance(rule, NoLeak) for secret in rule.secrets]
    return [Secret(value=secret) if isinstance(secret, str) else secret for secret in named]


def sought_texts(task: Task | None) -> tuple[str, ...]:
    """Return those whose value is test data."""
    return tuple(sorted({secret.value for secret in policy_secrets(task) if secret.value}))


def plain_texts(task: Task | None) -> tuple[str, ...]:
    """Return test data that the stored task names anyway: to hide it would only hide evidence."""
    texts = set(sought_texts(task))
    for policy in native_policies(task.policies) if task else ():
        if isinstance(policy.rule, OnlyFill):
            texts.update(policy.rule.allowed)
    return tuple(sorted(texts))
