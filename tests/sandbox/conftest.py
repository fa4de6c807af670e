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


@pytest.fixture(params=["bubblewrap", "landlock"])
def mechanism(request: pytest.FixtureRequest) -> str:
    """What confines; a test that is about one of them says which."""
    return request.param


@pytest.fixture
def cage(driver: Driver, mechanism: str) -> Iterator[Cage]:
    """A project in a home."""
    with caged(driver, mechanism=mechanism) as made:
        yield made
