"""What can go wrong, by kind.

    HameError                 anything hame reports to a person; carries a hint naming the remedy
    ├── ModelError            a model or its server failed; carries the whole Failure
    ├── ConfigError           settings, flags or files of settings that cannot be used (exit code 2)
    │   └── ChoiceError       several things could be meant
    ├── ToolError             a tool could not do what was asked; the text is for the model
    │   ├── ArgumentError     the call's arguments do not fit the tool's schema
    │   └── PathError         a path that may not, or cannot, be used
    ├── SessionError          a session that cannot be opened, written or found
    └── LocalModelError       the built-in model cannot be set up or run here

Code branches on `ErrorKind` or on the class, never on text.
"""

from enum import StrEnum

import msgspec


class ErrorKind(StrEnum):
    """Why a model's answer failed, however the provider worded it."""

    AUTH = "auth"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    CONTEXT_OVERFLOW = "context_overflow"
    REQUEST_TOO_LARGE = "request_too_large"
    INVALID_REQUEST = "invalid_request"
    RATE_LIMIT = "rate_limit"
    QUOTA_EXHAUSTED = "quota_exhausted"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    CONTENT_FILTER = "content_filter"
    TOOL_USE_FAILED = "tool_use_failed"
    NETWORK = "network"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    UNKNOWN = "unknown"


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A failed answer as plain data: it travels in events and in the journal."""

    kind: ErrorKind
    message: str
    """What happened, in hame's words; one line."""
    hint: str = ""
    """What the user can do about it; one line."""
    provider: str = ""
    """Display name of whose server failed."""
    said: str = ""
    """The provider's own words, at most one line of them."""
    retryable: bool = False
    retry_after_s: float | None = None
    """How long the server asked us to wait, in seconds."""
    status: int | None = None
    """HTTP status, where there was one."""
    mid_stream: bool = False
    """Whether part of an answer had already arrived."""
    parameter: str | None = None
    """The request parameter that the server named as unsupported, if it did."""


class HameError(Exception):
    """Anything hame reports to a person."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and the remedy."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class ModelError(HameError):
    """A model or its server failed; `failure` says everything known about it."""

    def __init__(self, failure: Failure) -> None:
        """Wrap the failure."""
        super().__init__(failure.message, hint=failure.hint)
        self.failure = failure


class ConfigError(HameError):
    """Settings, flags or settings files that cannot be used."""


class ChoiceError(ConfigError):
    """Several things could be meant, and only the user can say which."""

    def __init__(self, message: str, candidates: tuple[str, ...], *, hint: str = "") -> None:
        """`candidates` are the names to choose from."""
        super().__init__(message, hint=hint)
        self.candidates = candidates


class ToolError(HameError):
    """A tool could not do what was asked; the message is written for the model."""


class ArgumentError(ToolError):
    """The arguments of a call do not fit the tool's schema."""


class PathError(ToolError):
    """A path that may not, or cannot, be used."""


class SessionError(HameError):
    """A session that cannot be opened, written or found."""


class LocalModelError(HameError):
    """The built-in model cannot be set up or run on this machine."""
