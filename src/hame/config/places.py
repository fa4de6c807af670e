"""Where hame keeps its files: the XDG base directories.

https://specifications.freedesktop.org/basedir-spec/latest/ - a variable that is empty or holds a
relative path counts as unset.
"""

import os
import pwd
from collections.abc import Mapping

import msgspec


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """hame's own folders, absolute; none of them need exist yet."""

    home: str
    """The user's home."""
    config: str
    """Holds config.toml."""
    data: str
    """What must not be lost: sessions, weights."""
    state: str
    """What may be lost: the log, the history of the prompt."""
    cache: str
    """What can be made again."""

    @property
    def config_file(self) -> str:
        """The user's settings."""
        return f"{self.config}/config.toml"

    @property
    def rules_file(self) -> str:
        """The user's own rules for all projects."""
        return f"{self.config}/AGENTS.md"

    @property
    def keys_file(self) -> str:
        """Whose keys hame keeps; the keys themselves where there is no keyring."""
        return f"{self.config}/keys.json"

    @property
    def trust_file(self) -> str:
        """Which folders the user trusts."""
        return f"{self.config}/trust.json"

    @property
    def models_file(self) -> str:
        """The user's own rows of the catalogue."""
        return f"{self.config}/models.toml"

    @property
    def choices_file(self) -> str:
        """The models that were chosen last."""
        return f"{self.state}/choices.json"

    @property
    def tried_file(self) -> str:
        """How models were found to call tools."""
        return f"{self.cache}/tried.json"

    @property
    def sessions(self) -> str:
        """Folder of the journals."""
        return f"{self.data}/sessions"

    @property
    def results(self) -> str:
        """Folder of results that were kept whole."""
        return f"{self.data}/results"

    @property
    def snapshots(self) -> str:
        """Folder of what files were before they were changed."""
        return f"{self.data}/snapshots"

    @property
    def sandbox(self) -> str:
        """Folder of what sandboxes need while they live."""
        return f"{self.state}/sandbox"

    @property
    def temporary(self) -> str:
        """Folder of the private folders that commands know as /tmp."""
        return f"{self.cache}/temporary"

    @property
    def builds(self) -> str:
        """Folder of the projects' build caches."""
        return f"{self.cache}/builds"

    @property
    def jobs(self) -> str:
        """Folder of records of the background jobs that run."""
        return f"{self.state}/jobs"

    @property
    def log(self) -> str:
        """Folder of the log files."""
        return f"{self.state}/log"

    @property
    def history(self) -> str:
        """File of the lines typed at the prompt."""
        return f"{self.state}/history"


def find_places(environment: Mapping[str, str]) -> Places:
    """Where hame's files are, for the user whose environment this is."""
    home = _absolute(environment.get("HOME")) or pwd.getpwuid(os.getuid()).pw_dir

    def folder(variable: str, default: str) -> str:
        base = _absolute(environment.get(variable)) or f"{home.rstrip('/')}/{default}"
        return f"{base.rstrip('/')}/hame"

    return Places(
        home=home,
        config=folder("XDG_CONFIG_HOME", ".config"),
        data=folder("XDG_DATA_HOME", ".local/share"),
        state=folder("XDG_STATE_HOME", ".local/state"),
        cache=folder("XDG_CACHE_HOME", ".cache"),
    )


def project_file(project: str) -> str:
    """The settings file of a project."""
    return f"{project.rstrip('/')}/.hame/config.toml"


def _absolute(path: str | None) -> str | None:
    return path if path and path.startswith("/") else None
