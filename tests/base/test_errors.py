"""Errors carry their message and the remedy."""

import pytest

from hame.base.errors import (
    ArgumentError,
    ConfigError,
    ErrorKind,
    Failure,
    HameError,
    LocalModelError,
    ModelError,
    PathError,
    SessionError,
    ToolError,
)


@pytest.mark.parametrize(
    "kind",
    [HameError, ConfigError, ToolError, ArgumentError, PathError, SessionError, LocalModelError],
)
def test_an_error_has_a_message_and_a_hint(kind: type[HameError]) -> None:
    error = kind("It broke.", hint="Mend it.")
    assert (str(error), error.message, error.hint) == ("It broke.", "It broke.", "Mend it.")
    assert kind("It broke.").hint == ""
    assert isinstance(error, HameError)


def test_a_model_s_error_carries_the_whole_failure() -> None:
    failure = Failure(kind=ErrorKind.RATE_LIMIT, message="Too fast.", hint="Wait.", retry_after_s=3)
    error = ModelError(failure)
    assert (str(error), error.hint, error.failure) == ("Too fast.", "Wait.", failure)


def test_what_a_tool_could_not_do_is_told_to_the_model() -> None:
    assert issubclass(ArgumentError, ToolError)
    assert issubclass(PathError, ToolError)
