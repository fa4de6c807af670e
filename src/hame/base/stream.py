"""StreamEvent: what a model may say while it answers.

The order is the model's. A stream ends with exactly one `Completed` or `Failed`. `RetryScheduled`
comes only before anything else was emitted.
"""

from typing import TypeAlias

import msgspec

from hame.base.errors import Failure
from hame.base.message import Image, Opaque, StopReason, ToolCall
from hame.base.model import Usage


class _StreamEvent(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """Base of all stream events."""


class RetryScheduled(_StreamEvent, frozen=True, tag="retry_scheduled"):
    """The client will ask again after a wait; nothing of the answer has been emitted yet."""

    failure: Failure
    delay_s: float
    attempt: int
    """Number of the attempt that failed, from 1."""


class TextDelta(_StreamEvent, frozen=True, tag="text_delta"):
    """More words of the answer."""

    text: str
    signature: str | None = None


class ThinkingDelta(_StreamEvent, frozen=True, tag="thinking_delta"):
    """More words of the reasoning."""

    text: str


class ThinkingCompleted(_StreamEvent, frozen=True, tag="thinking_completed"):
    """A block of reasoning is whole; an empty one with a signature is a block too."""

    signature: str | None = None


class OpaqueCompleted(_StreamEvent, frozen=True, tag="opaque_completed"):
    """A provider-made block is whole; a later version of it takes the place of the earlier one."""

    block: Opaque


class ImageCompleted(_StreamEvent, frozen=True, tag="image_completed"):
    """The model made a picture."""

    block: Image


class ToolCallStarted(_StreamEvent, frozen=True, tag="tool_call_started"):
    """A call has begun; its arguments follow."""

    index: int
    """Position among this answer's calls, from 0; joins the three call events."""
    id: str
    name: str


class ToolCallArgsDelta(_StreamEvent, frozen=True, tag="tool_call_args_delta"):
    """More text of a call's arguments."""

    index: int
    text: str


class ToolCallCompleted(_StreamEvent, frozen=True, tag="tool_call_completed"):
    """A call is whole; only such calls enter the answer."""

    index: int
    call: ToolCall


class UsageReported(_StreamEvent, frozen=True, tag="usage_reported"):
    """The provider's count so far; a later report replaces an earlier one."""

    usage: Usage


class Completed(_StreamEvent, frozen=True, tag="completed"):
    """The answer reached its proper end."""

    stop_reason: StopReason
    raw_stop_reason: str | None = None


class Failed(_StreamEvent, frozen=True, tag="failed"):
    """The answer broke; what arrived of it is not to be executed."""

    failure: Failure


StreamEvent: TypeAlias = (
    RetryScheduled
    | TextDelta
    | ThinkingDelta
    | ThinkingCompleted
    | OpaqueCompleted
    | ImageCompleted
    | ToolCallStarted
    | ToolCallArgsDelta
    | ToolCallCompleted
    | UsageReported
    | Completed
    | Failed
)
