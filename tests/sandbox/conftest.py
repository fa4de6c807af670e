"""Cages for the tests of this room."""

from collections.abc import Iterator

import pytest

from sandbox.cage import Cage, Driver, caged, identities


@pytest.fixture(scope="session", params=identities(), ids=lambda user: "user" if user else "root")
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """The processes in which hame runs: as root and as an ordinary user."""
    made = Driver(request.param)
    yield made
    made.close()


@pytest.fixture
def cage(driver: Driver) -> Iterator[Cage]:
    """A project in a home."""
    with caged(driver) as made:
        yield made
