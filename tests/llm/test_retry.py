"""When a request is sent again."""

from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import ErrorKind, Failure
from hame.llm.retry import Retries, RetryPolicy, chance

BUSY = Failure(kind=ErrorKind.OVERLOADED, message="busy", retryable=True)
SILENT = Failure(kind=ErrorKind.TIMEOUT, message="silent", retryable=True)


def waits(failure: Failure, policy: RetryPolicy | None = None, draw: float = 1.0) -> list[float]:
    retries = Retries(policy or RetryPolicy(), lambda: draw)
    found: list[float] = []
    while (wait := retries.wait_after(failure)) is not None:
        found.append(wait)
    return found


def asks(wait: float) -> Failure:
    return Failure(
        kind=ErrorKind.RATE_LIMIT, message="slow down", retryable=True, retry_after_s=wait
    )


def test_waits_double_up_to_the_longest():
    assert waits(BUSY) == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert waits(BUSY, RetryPolicy(longest_s=1.5)) == [0.5, 1.0, 1.5, 1.5, 1.5]


def test_jitter_is_full():
    assert waits(BUSY, draw=0.0) == [0.0] * 5
    assert waits(BUSY, draw=0.5) == [0.25, 0.5, 1.0, 2.0, 4.0]


def test_what_will_not_pass_is_not_waited_for():
    assert waits(Failure(kind=ErrorKind.AUTH, message="no")) == []


def test_silence_is_borne_three_times():
    assert len(waits(SILENT)) == 2


def test_the_servers_wait_is_the_least():
    first, *_ = waits(asks(10))
    assert 10 <= first <= 11


def test_a_wait_of_nothing_is_one_of_our_own():
    assert waits(asks(0)) == waits(BUSY)


def test_a_wait_beyond_the_limit_ends_it():
    assert waits(asks(61)) == []
    assert len(waits(asks(60))) == 1


@given(st.floats(0, 200), st.floats(0, 1))
def test_all_waits_together_stay_within_the_limit(wait, draw):
    assert sum(waits(asks(wait), draw=draw)) <= 61


def test_chance_lies_between_nothing_and_one():
    assert all(0 <= chance() < 1 for _ in range(100))
