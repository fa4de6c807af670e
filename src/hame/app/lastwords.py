"""What may be said of an error that nobody foresaw: everything but the secrets of this process.

A crash is reported where no session is at hand any more, so the keys that became known are remembered
for the whole process.
"""

from collections.abc import Mapping

from hame.base.settings import Settings
from hame.sessions.redaction import Redactor
from hame.workspace.environment import is_secret_name

_met = Redactor()


def known_secrets(settings: Settings, environment: Mapping[str, str]) -> list[str]:
    """The secrets of this process: what must never reach a model, a journal or a screen."""
    named = [value for name, value in environment.items() if is_secret_name(name)]
    keys = [server.api_key for server in settings.providers.values() if server.api_key]
    return named + keys


def remember_secret(secret: str) -> None:
    """A secret is known to this process, to its end."""
    _met.add(secret)


def without_secrets(text: str, environment: Mapping[str, str]) -> str:
    """The text without what was remembered and what the environment holds."""
    for secret in known_secrets(Settings(), environment):
        _met.add(secret)
    return _met.text(text)
