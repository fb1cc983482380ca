"""Templates of peers that checks may ask by, named by digest: their texts are the user's, never shipped."""

from __future__ import annotations

import hashlib

from replaykit.grading.checks.judged_replies import Kind

KNOWN: dict[Kind, dict[str, str]] = {
    "webarena.fuzzy": {
        "5544e087d65b968336e3f1572bddefcbb7c9db1ae9b6ddf07f9f61a68e2e9439": "webarena",
        "c22f4e4c74794d7d20d66a5461129d18d6ce397420d551e7d39d563cd28dc4b7": "vwa",
    },
    # VisualWebArena took this one over as it was.
    "webarena.unachievable": {
        "5fe312d75a687d94daa2de5269ab3136cf5c36bd3cb794c3637ed087c346c0cd": "webarena",
    },
}
"""What is compared, to sha256 of a peer's whole template, its places left in, to the peer."""


def prompt_name(kind: Kind, template: str) -> str:
    """Return the peer whose template this is, else `sha256:...` of the template."""
    digest = hashlib.sha256(template.encode()).hexdigest()
    return KNOWN[kind].get(digest, f"sha256:{digest}")
