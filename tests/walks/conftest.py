"""Whole prompts over real HTTP: the real runtime, or the real command, against a server of our own."""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hame.app.build import Launchpad, build_runtime
from hame.app.runtime import Runtime
from hame.base.settings import Mode, Settings
from hame.config.places import find_places
from hame.testing import Reply

MODELS = {
    "anthropic_messages": "anthropic/claude-sonnet-4-5",
    "openai_chat": "openrouter/some/model",
    "openai_responses": "openai/gpt-5.5",
    "gemini": "gemini/gemini-3-pro-preview",
    "ollama": "ollama/mock-model",
}
"""A model on each wire."""


def keys(url: str) -> dict[str, str]:
    """The variables that lead every provider to one server."""
    return {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENROUTER_API_KEY": "k",
        "OPENROUTER_BASE_URL": f"{url}/v1",
        "GEMINI_API_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": url,
        "OLLAMA_HOST": url,
    }


class House:
    """A home and a project, and runtimes in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.home = folder / "home"
        self.opened: list[Runtime] = []

    async def open(
        self,
        url: str,
        model: str,
        *,
        mode: Mode = Mode.AUTO,
        resume: str | None = None,
        interactive: bool = False,
    ) -> Runtime:
        """A runtime whose providers are all at one server."""
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **keys(url)}
        runtime = await build_runtime(
            Launchpad(
                settings=Settings(model=model, mode=mode),
                environment=environment,
                places=find_places(environment),
                project=str(self.project),
                interactive=interactive,
                resume=resume,
            )
        )
        self.opened.append(runtime)
        return runtime

    def copy(self, name: str) -> "House":
        """The same house elsewhere, its sessions included; the project stays where it is."""
        other = House(self.folder.with_name(f"{self.folder.name}-{name}"))
        shutil.copytree(self.home, other.home)
        other.project = self.project
        other.opened = self.opened
        return other


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A house with a few files in its project."""
    made = House(tmp_path / "house")
    made.home.mkdir(parents=True)
    made.project.mkdir()
    for name in ("a.txt", "b.txt"):
        (made.project / name).write_text(f"content of {name}\n")
    yield made
    for runtime in made.opened:
        await runtime.close()


@pytest.fixture(params=MODELS)
def wire(request: pytest.FixtureRequest) -> str:
    """Each wire."""
    return request.param


@pytest.fixture(scope="session")
def models() -> dict[str, str]:
    """A model on each wire."""
    return MODELS


@pytest.fixture(scope="session")
def pages() -> dict[str, Reply]:
    """What a server says of its models beside its answers: Ollama's word that they call tools."""
    return {"/api/show": Reply(body=b'{"capabilities":["completion","tools"]}')}


Provide = Callable[[str], dict[str, str]]


@pytest.fixture(scope="session")
def provide() -> Provide:
    """The variables that lead every provider to one server."""
    return keys
