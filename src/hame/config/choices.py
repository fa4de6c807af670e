"""The models that a user chose last: one for each backend, and which backend it was.

Kept apart from the settings, which are the user's own words. What cannot be read or written is
forgotten: the user is asked again.
"""

from contextlib import suppress

import msgspec

from hame.config.whole import write_whole

VERSION = 1


class Choices(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was chosen."""

    version: int = VERSION
    backend: str = ""
    """The one that was chosen last."""
    models: dict[str, str] = {}
    """By backend, its model."""

    @property
    def name(self) -> str | None:
        """`backend/model` of the last choice; None before the first."""
        model = self.models.get(self.backend)
        return f"{self.backend}/{model}" if model else None


def read_choices(path: str) -> Choices:
    """The choices so far; none where there is no file, or one that is not ours."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is 8 ms of start
            choices = msgspec.json.decode(file.read(), type=Choices)
    except (OSError, msgspec.DecodeError):
        return Choices()
    return choices if choices.version <= VERSION else Choices()


def remember_choice(path: str, name: str) -> None:
    """Keep `backend/model` as the last choice, and as that backend's."""
    backend, _, model = name.partition("/")
    models = read_choices(path).models | {backend: model}
    data = msgspec.json.encode(Choices(backend=backend, models=models))
    with suppress(OSError):
        write_whole(path, data)
