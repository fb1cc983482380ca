"""Secrets known by their look, whoever declared them: keys and tokens of services, card numbers."""

from __future__ import annotations

import re

from replaykit.patterns import lazy_pattern

_LOOKS = (
    (
        "private_key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,16384}?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]{0,16384})",
    ),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,2048}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("bearer", r"Bearer [A-Za-z0-9._~+/=-]{16,}"),
    ("aws_key", r"A[KS]IA[0-9A-Z]{16}(?![0-9A-Z])"),
    ("github_token", r"gh[oprsu]_[A-Za-z0-9]{36,}"),
    ("github_key", r"github_pat_[A-Za-z0-9_]{40,}"),
    ("gitlab_token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("slack_token", r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("google_key", r"AIza[0-9A-Za-z_-]{35}"),
    ("stripe_key", r"[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("model_key", r"sk-[A-Za-z0-9_-]{20,}"),
    ("hub_token", r"hf_[A-Za-z0-9]{30,}"),
    ("npm_token", r"npm_[A-Za-z0-9]{36,}"),
    ("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{30,}"),
    ("mail_key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("chat_hook", r"hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{16,}"),
    ("chat_hook", r"discord(?:app)?\.com/api/webhooks/\d{16,20}/[\w-]{60,}"),
    ("card", r"[2-6]\d{3}(?:[ -]?\d){9,15}(?![\d-])"),
)
"""Name and pattern. Each begins with a literal: joined, they take ten times longer."""

SERVICE_KEYS = {
    "AGE-SECRET-KEY-1": 58, "ATATT3": 60, "GOCSPX-": 24, "PMAK-": 50, "bb_live_": 20, "dckr_pat_": 24,
    "dop_v1_": 64, "figd_": 36, "glrt-": 20, "glsa_": 32, "gsk_": 40, "hvs.": 24, "lin_api_": 32, "ntn_": 40,
    "pplx-": 40, "r8_": 37, "rubygems_": 48, "shpat_": 32, "shpca_": 32, "shppa_": 32, "shpss_": 32,
    "sntrys_": 40, "sntryu_": 40, "whsec_": 24, "xai-": 60, "xapp-1-": 30, "ya29.": 30,
}  # fmt: skip
"""How keys of services begin, to the least number of signs that follow: letters, digits, `_`, `-`."""

LOOKS = tuple(
    (name, lazy_pattern(look))
    for name, look in (
        *_LOOKS,
        *(
            ("service_key", rf"{re.escape(begin)}([A-Za-z0-9_-]{{{least},}})")
            for begin, least in SERVICE_KEYS.items()
        ),
    )
)
"""All built-in patterns by name."""

CARD_LENGTHS = range(13, 20)
"""Digits of a card number."""

LOOK_MIN = min(CARD_LENGTHS)
"""Shortest text that any built-in pattern matches, characters: a card number without blanks."""

_ISSUERS = lazy_pattern(r"4|5[1-5]|2[2-7]|6011|65|3[478]|35")
"""First digits of card numbers: a time in ms or an order number is no card."""


def is_secret_look(name: str, match: re.Match[str]) -> bool:
    """Whether a match of a built-in pattern is what it looks like."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    # Checked here: a lookbehind would make each pattern begin with no literal.
    if before.isalnum() or before in ("_", "-", "."):
        return False
    if name == "service_key":
        # Names of classes and anchors are words; keys are random.
        return any(map(str.isdigit, match[1]))
    if name != "card":
        return True
    # One number in ten passes the check digit by chance, so the issuer must fit too.
    return _ISSUERS.match(match.group()) is not None and passes_luhn(match.group())


def passes_luhn(text: str) -> bool:
    """Whether the digits form a number with a valid check digit (ISO/IEC 7812-1, annex B)."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(digits) in CARD_LENGTHS and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
