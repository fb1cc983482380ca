"""Settings of a judge: protocol, evidence, model, number of votes."""

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
    """Word before the number; case does not count."""
    min: int = 1
    """Lowest possible score."""
    max: int = 5
    """Highest possible score."""
    pass_at: int = 4
    """Lowest score that counts as a success."""


class JsonParser(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="json"):
    """Reads one value from the last JSON object of a reply."""

    pointer: str
    """JSON pointer (RFC 6901) of the value."""
    success: Texts = ("success", "true")
    """Values that mean success; case does not count."""
    failure: Texts = ("failure", "false")
    """Values that mean failure; case does not count."""


Parser: TypeAlias = Literal["success_token", "status_line", "tags", "reward_line"] | ScoreParser | JsonParser
"""How the verdict of a judge of your own is read."""


class JudgeSettings(Written, frozen=True, kw_only=True):
    """Options of a multimodal judge. Options left out keep the default of the protocol."""

    protocol: Literal[
        "webvoyager", "webjudge", "agent_reward", "claims", "rubric", "panel", "custom", "checks"
    ]
    """Name of the protocol. `panel` combines several judges. `checks` configures how checks ask a model; it
    is no judge and is refused in tasks.
    """
    id: str = ""
    """Name in reports; default: the protocol's name."""
    variant: Literal["", "om2w", "general"] = ""
    """Variant of the protocol. `om2w`: Online-Mind2Web's copy of `webvoyager`, in compat mode. `general`:
    `webjudge` for tasks on any site; it fails runs that go in circles and may read the agent's reasoning.
    """
    images: str = ""
    """Which screenshots are sent: `last:k first+last:k all none`; of `webjudge` `scored>=t`; default: the
    protocol's choice.
    """
    shots: Literal["steps", "all"] = "steps"
    """`steps`: one screenshot per step. `all`: every look at a page."""
    dedupe: Literal["", "consecutive", "none"] = ""
    """`consecutive`: equal screenshots in a row are sent once. `none`: all are sent. Default: `consecutive`
    in strict mode, `none` in compat mode.
    """
    model: str = "claude-sonnet-5-5"
    """Model to ask, as `provider:name`; of Claude the bare name is enough."""
    effort: str | None = "medium"
    """Reasoning effort to request; null = no effort is sent."""
    max_tokens: Annotated[int, Meta(ge=256, le=21333)] = 4096
    """Longest reply, in tokens."""
    votes: Annotated[int, Meta(ge=1, le=99)] = 1
    """Number of times that the whole protocol is asked."""
    require: Literal["majority", "unanimous"] = "majority"
    """`majority`: most votes decide. `unanimous`: votes that disagree are a tie."""
    on_missing_answer: Literal["", "call", "fail"] = ""
    """Of `webvoyager`: a run without an answer is judged (`call`) or fails (`fail`). Default: `call` in
    strict mode, `fail` in compat mode.
    """
    max_images: Annotated[int, Meta(ge=1, le=100)] = 50
    """Of `webjudge` and `rubric`: greatest number of screenshots in the last stage; `rubric` sends at most
    20.
    """
    rubric: Rubric | None = None
    """Of `rubric`: the criteria; null = from the files of `--rubrics`, otherwise from the model."""
    rubrics: str = ""
    """Of `rubric`: digest of the files that hold the criteria; set by the command, refused in tasks."""
    look_batch: Annotated[int, Meta(ge=1, le=20)] = 6
    """Of `rubric`: screenshots in one request of the look round."""
    per_criterion: Annotated[int, Meta(ge=1, le=10)] = 4
    """Of `rubric`: number of most relevant screenshots sent for each criterion."""
    reading: Literal["together", "each"] = "together"
    """Of `rubric`: one request for all criteria (`together`), or one for each (`each`)."""
    story: bool = True
    """Of `rubric`: whether actions and answer are also read without any page."""
    facts: Literal["observed", "checks", "none"] = "observed"
    """Of `rubric`: facts sent with the changes of each page. `observed`: URLs, requests, dialogs, downloads,
    findings. `checks`: also name and outcome of checks that ask no model. `none`: no facts.
    """
    use_axtree: bool = False
    """Of `agent_reward`: send the last accessibility tree."""
    use_screenshot: bool = True
    """Of `agent_reward`: send the last screenshot."""
    axtree_chars_max: Annotated[int, Meta(ge=1)] = 200_000
    """Greatest length of an accessibility tree that is sent, in characters."""
    order: Literal["", "verdict_last", "verdict_first"] = ""
    """Of `agent_reward`: order of the reply. Default: `verdict_last` in strict mode, `verdict_first` in
    compat mode.
    """
    reasoning: Literal["", "include", "exclude"] = ""
    """Of `agent_reward`, and of `webjudge` with `general`: whether the agent's reasoning is sent. Default:
    `exclude` in strict mode, `include` in compat mode.
    """
    side_effects: Literal["", "report", "fail"] = ""
    """Of `claims` and `rubric`: whether an unexplained request that changed something is listed (`report`,
    the default) or fails the run (`fail`).
    """
    oversized_image: Literal["error", "downsize"] = "error"
    """Treatment of a screenshot that is too large for the model: `error` refuses it, `downsize` reduces it.

    """
    members: "tuple[str | JudgeSettings, ...]" = ()
    """Of `panel`: 2 to 9 judges, by protocol name or with their own settings."""
    success: Annotated[int, Meta(ge=1, le=9)] | None = None
    """Of `panel`: number of members that must give SUCCESS; null = all."""
    failure: Annotated[int, Meta(ge=1, le=9)] | None = None
    """Of `panel`: number of members that must give FAILURE; null = more than half."""
    veto: tuple[str, ...] = ()
    """Of `panel`: names of members whose FAILURE decides."""
    entry: str = ""
    """A judge in Python: `file.py@NAME` or the name of an entry point. Refused in tasks, because it is code.
    """
    prompts: dict[str, str] = {}
    """Prompt texts that replace the shipped ones, by slot."""
    parser: Parser = "success_token"
    """Of `custom`: how the verdict is read from the reply."""
