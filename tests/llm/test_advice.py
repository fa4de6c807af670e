"""What a person is told about a failure."""

import pytest

from hame.base.errors import ErrorKind, Failure
from hame.llm.advice import explain, located, spoken


@pytest.mark.parametrize("kind", ErrorKind)
def test_every_kind_has_a_sentence_and_a_remedy(kind):
    message, hint = explain(kind, "Acme", 418, None)
    assert "Acme" in message
    assert message.endswith(" (HTTP 418).")
    assert hint.endswith(".")
    assert "\n" not in message + hint


def test_a_wait_the_server_asks_for_is_said():
    _, hint = explain(ErrorKind.RATE_LIMIT, "Acme", 429, 75)
    assert hint.startswith("Wait 1 min 15 s,")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.25, "250 ms"), (1, "1 s"), (59.2, "1 min"), (61, "1 min 1 s"), (7200, "2 h")],
)
def test_waits_are_said_in_words(seconds, said):
    assert spoken(seconds) == said


def missing(said: str = "", status: int | None = 404) -> Failure:
    message, hint = explain(ErrorKind.NOT_FOUND, "Acme", status, None)
    return Failure(
        kind=ErrorKind.NOT_FOUND,
        message=message,
        hint=hint,
        provider="Acme",
        said=said,
        status=status,
    )


def test_a_model_that_is_not_known_is_not_blamed_on_the_address():
    failure = missing("The model `x` does not exist")
    assert located(failure, "http://h/v1/chat/completions") is failure
    other = Failure(kind=ErrorKind.AUTH, message="no")
    assert located(other, "http://h/chat/completions") is other
    moved = missing("", 302)
    assert located(moved, "http://h/chat/completions") is moved


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("http://h:1234/chat/completions", "The base URL may lack its /v1."),
        ("http://h/v1/v1/messages", "The base URL holds /v1 already; leave it out there."),
        ("http://h/v1/responses", "Check the provider's base URL"),
        ("http://h/v1beta/models/x:streamGenerateContent?alt=sse", "Check the provider's base URL"),
    ],
)
def test_an_address_where_nothing_is_says_what_may_be_wrong_with_it(url, hint):
    failure = located(missing(), url)
    assert failure.message == f"Acme has nothing at {url.partition('?')[0]} (HTTP 404)."
    assert failure.hint.startswith(hint)


def test_an_address_is_shown_without_its_login():
    failure = located(missing(), "http://me:secret@h/v1/responses")
    assert "secret" not in failure.message
