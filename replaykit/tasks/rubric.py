"""A rubric: the criteria by which runs of a task are judged, written before anyone looks at a run."""

import hashlib
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

CRITERIA_MAX = 12
"""Criteria of one rubric."""

Kind: TypeAlias = Literal["outcome", "process"]
"""`outcome`: part of the result. `process`: part of the way to it."""

Proof: TypeAlias = Literal["answer", "page", "screenshot", "network"]
"""Evidence that can show that a criterion is met."""

Validity: TypeAlias = Literal["valid", "ambiguous", "impossible", "not_allowed"]
"""Whether the task can be done at all."""


class Criterion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One criterion of a rubric."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,32}$")]
    """Unique id in the rubric."""
    statement: Annotated[str, Meta(min_length=10, max_length=300)]
    """Requirement, in one sentence."""
    asked: Annotated[str, Meta(max_length=1000)] = ""
    """Words of the intent that ask for it, verbatim."""
    kind: Kind = "outcome"
    """`outcome`: part of the result. `process`: part of the way to it."""
    proof: tuple[Proof, ...] = ("page",)
    """Evidence that can show that it holds: `answer page screenshot network`."""
    weight: Annotated[int, Meta(ge=0, le=3)] = 1
    """Weight in the process score; 0 = it does not count."""
    when: Annotated[str, Meta(max_length=300)] = ""
    """Condition under which the criterion applies; empty = always."""
    any_of: Annotated[str, Meta(max_length=32)] = ""
    """Name of a group of criteria of which one must hold; empty = no group."""


class Author(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Author of a rubric: a person, or a model whose reply is on a tape."""

    person: str = ""
    """Name of the person."""
    model: str = ""
    """Name of the model."""
    key: str = ""
    """Key of the model's reply on the tape, 64 hex digits."""


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """All criteria of one task."""

    schema: Literal["replaykit.rubric/1"]
    """Name and version of this file's layout."""
    task: str
    """Id of the task."""
    intent_sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the intent in UTF-8, 64 hex digits. A rubric for another wording is refused."""
    by: Author = Author()
    """Who wrote the rubric."""
    validity: Validity = "valid"
    """Whether the task can be done, judging by its words."""
    criteria: Annotated[tuple[Criterion, ...], Meta(min_length=1, max_length=CRITERIA_MAX)]
    """The criteria, in order."""

    def __post_init__(self) -> None:
        ids = [one.id for one in self.criteria]
        repeated = next((id for id in ids if ids.count(id) > 1), None)
        if repeated is not None:
            raise ValueError(f"two criteria have the id {repeated!r}")

    @property
    def digest(self) -> str:
        """`sha256:` of what it asks for: not of who wrote it."""
        content = msgspec.to_builtins(self.criteria), self.validity
        return "sha256:" + hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def intent_digest(intent: str) -> str:
    """Return the sha256 of an intent, 64 hex digits."""
    return hashlib.sha256(intent.encode("utf-8", "surrogatepass")).hexdigest()
