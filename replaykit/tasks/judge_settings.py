"""A judge as data: which protocol, what it sees, which model, how often it is asked."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from replaykit.tasks.checks import Written
from replaykit.tasks.rubric import Rubric

Texts: TypeAlias = str | tuple[str, ...]
"""One value, or several."""


class ScoreParser(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="score"
):
    """Reads one integer after a header."""

    header: str = "score"
    """Word before the number, in any case."""
    min: int = 1
    """Least score."""
    max: int = 5
    """Greatest score."""
    pass_at: int = 4
    """Least score that is a success."""


class JsonParser(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="json"):
    """Reads one value out of the last JSON object of a reply."""

    pointer: str
    """JSON pointer (RFC 6901) of the value."""
    success: Texts = ("success", "true")
    """Values that mean success, in any case."""
    failure: Texts = ("failure", "false")
    """Values that mean failure, in any case."""


Parser: TypeAlias = Literal["success_token", "status_line", "tags", "reward_line"] | ScoreParser | JsonParser
"""How the verdict of a judge of one's own is read."""


class JudgeSettings(Written, frozen=True, kw_only=True):
    """Options of a multimodal judge; what is left out is the protocol's own."""

    protocol: Literal[
        "webvoyager", "webjudge", "agent_reward", "claims", "rubric", "panel", "custom", "checks"
    ]
    """Whose protocol; `panel` folds several judges. `checks` is no judge: it says how checks ask a model, and
    is refused in tasks."""
    id: str = ""
    """Name in reports; empty = the protocol's."""
    variant: Literal["", "om2w", "general"] = ""
    """`om2w`: Online-Mind2Web's copy of `webvoyager`, in compat mode. `general`: its `webjudge` for tasks on
    any site, which fails runs that go round in circles and may be told the agent's reasoning."""
    images: str = ""
    """Which pictures: `last:k first+last:k all none`, of `webjudge` `scored>=t`; empty = the protocol's."""
    shots: Literal["steps", "all"] = "steps"
    """`all`: every look at a page, not one a step."""
    dedupe: Literal["", "consecutive", "none"] = ""
    """Whether equal pictures in a row are sent once; empty = in strict mode."""
    model: str = "claude-sonnet-5-5"
    """Model asked, as `provider:name`; a bare name means anthropic."""
    effort: str | None = "medium"
    """Effort asked for."""
    max_tokens: Annotated[int, Meta(ge=256, le=21333)] = 4096
    """Longest reply, tokens."""
    votes: Annotated[int, Meta(ge=1, le=99)] = 1
    """How often the whole protocol is asked."""
    require: Literal["majority", "unanimous"] = "majority"
    """`unanimous`: votes that disagree are a tie."""
    on_missing_answer: Literal["", "call", "fail"] = ""
    """Of `webvoyager`: what no answer means; empty = `call` in strict, `fail` in compat mode."""
    max_images: Annotated[int, Meta(ge=1, le=100)] = 50
    """Of `webjudge` and `rubric`: most pictures that the last stage gets; of `rubric` never more than 20."""
    rubric: Rubric | None = None
    """Of `rubric`: the criteria; null = a file of `--rubrics`, else the model is asked for them."""
    rubrics: str = ""
    """Of `rubric`: digest of the files that its criteria come from; set by the command, refused in tasks."""
    look_batch: Annotated[int, Meta(ge=1, le=20)] = 6
    """Of `rubric`: pictures of one look."""
    per_criterion: Annotated[int, Meta(ge=1, le=10)] = 4
    """Of `rubric`: pictures that each criterion is read with, the most relevant ones."""
    reading: Literal["together", "each"] = "together"
    """Of `rubric`: one request for all criteria, or one for each."""
    story: bool = True
    """Of `rubric`: whether the actions and the answer are also read without any page."""
    facts: Literal["observed", "checks", "none"] = "observed"
    """Of `rubric`: what is told beside what changed. `observed`: addresses, requests, dialogs, downloads,
    findings; `checks`: also name and outcome of checks that ask no model."""
    use_axtree: bool = False
    """Of `agent_reward`: send the last accessibility tree."""
    use_screenshot: bool = True
    """Of `agent_reward`: send the last screenshot."""
    axtree_chars_max: Annotated[int, Meta(ge=1)] = 200_000
    """Characters of an accessibility tree that are sent."""
    order: Literal["", "verdict_last", "verdict_first"] = ""
    """Of `agent_reward`; empty = the verdict last in strict, first in compat mode."""
    reasoning: Literal["", "include", "exclude"] = ""
    """Of `agent_reward`, and of `webjudge` with `general`: whether the agent's reasoning is sent; empty =
    `exclude` in strict, `include` in compat mode."""
    side_effects: Literal["", "report", "fail"] = ""
    """Of `claims` and `rubric`: what a request means that changed something and that nothing explains;
    empty = `report`."""
    oversized_image: Literal["error", "downsize"] = "error"
    """What the provider does with a picture that is too large for the model."""
    members: tuple[str | JudgeSettings, ...] = ()
    """Of `panel`: 2 to 9 judges, by protocol or with their own settings."""
    success: Annotated[int, Meta(ge=1, le=9)] | None = None
    """Of `panel`: members that have to say SUCCESS; null = all."""
    failure: Annotated[int, Meta(ge=1, le=9)] | None = None
    """Of `panel`: members that have to say FAILURE; null = more than half."""
    veto: tuple[str, ...] = ()
    """Of `panel`: names of members whose FAILURE decides."""
    entry: str = ""
    """A judge in Python: `file.py@NAME` or an entry point; refused in tasks, for it is code."""
    prompts: dict[str, str] = {}
    """Slot to text, instead of the shipped prompts."""
    parser: Parser = "success_token"
    """Of `custom`."""
