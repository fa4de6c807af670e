"""What went wrong on the way is told apart by its cause."""

import errno
import socket
import ssl

import pytest

from hame.base.errors import ErrorKind
from hame.net.faults import connection_failure, origin_of, timeout_failure

URL = "https://user:secret@api.acme.test/v1/chat?key=secret"


def chained(cause: BaseException) -> Exception:
    error = RuntimeError("outer")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "said", "retryable"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "refused the connection", True),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "cannot be reached", True),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "cannot be found", False),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "cannot be found", True),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version"), "does not speak TLS", False),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "before the answer was complete", True),
        (EOFError(), "before the answer was complete", True),
    ],
)
def test_each_cause_has_its_words(cause, said, retryable):
    failure = connection_failure(chained(cause), URL)
    assert failure.kind is ErrorKind.NETWORK
    assert said in failure.message
    assert "https://api.acme.test" in failure.message
    assert "secret" not in failure.message + failure.hint
    assert failure.hint
    assert failure.retryable is retryable


def test_a_cause_is_found_inside_a_group():
    group = ExceptionGroup("attempts", [OSError(1, "x"), ConnectionRefusedError(111, "refused")])
    assert "refused" in connection_failure(chained(group), URL).message


def test_causes_that_go_in_circles_come_to_an_end():
    one, two = RuntimeError("one"), RuntimeError("two")
    one.__cause__, two.__cause__ = two, one
    assert connection_failure(one, URL).retryable


def test_a_refusal_on_this_machine_is_a_server_that_is_not_running():
    failure = connection_failure(ConnectionRefusedError(), "http://localhost:11434/api/chat")
    assert failure.message == "Nothing is listening at http://localhost:11434."


def test_a_refusing_proxy_is_named_in_place_of_the_server():
    proxy = "http://me:secret@proxy.test:3128"
    failure = connection_failure(ConnectionRefusedError(), URL, proxy=proxy)
    assert "http://proxy.test:3128" in failure.message
    assert "secret" not in failure.message


@pytest.mark.parametrize("phase", ["connect", "sending", "first_byte", "idle", "total"])
def test_each_wait_has_its_words(phase):
    failure = timeout_failure(phase, 1.5, URL)
    assert failure.kind is ErrorKind.TIMEOUT
    assert "1.5 s" in failure.message
    assert failure.hint


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        (URL, "https://api.acme.test"),
        ("http://[::1]:8080/v1", "http://[::1]:8080"),
        ("http://host:port/", "http://host"),
        ("nonsense", "://nonsense"),
    ],
)
def test_an_origin_tells_no_secrets(url, origin):
    assert origin_of(url) == origin


def test_a_proxy_that_is_not_there_is_to_blame_and_not_the_server():
    for error in (ConnectionRefusedError(), socket.gaierror(-2, "Name or service not known")):
        failure = connection_failure(error, URL, proxy="http://me:secret@localhost:9")
        assert "The proxy http://localhost:9" in failure.message
        assert "HTTPS_PROXY" in failure.hint
        assert "secret" not in failure.message
