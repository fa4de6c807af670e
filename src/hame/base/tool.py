"""What a tool declares about itself.

Gate, parallelism, mask and surfaces read the effect and the argument kinds, never a tool's name.
"""

from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

from hame.base.json import JsonObject


class Effect(StrEnum):
    """What a call may do to the world."""

    READ = "read"
    """Looks; consecutive reads run together."""
    WRITE = "write"
    """Changes files of the project."""
    RUN = "run"
    """Starts a program, which may do anything the sandbox lets it."""
    NETWORK = "network"
    """Talks to another machine."""
    ISOLATED = "isolated"
    """Works in a place of its own (a sub-run); consecutive ones run together."""
    INTERACT = "interact"
    """Talks to the user or keeps the run's own notes; changes nothing else."""


class ArgumentKind(StrEnum):
    """What an argument means; the local mask enumerates candidates from it."""

    EXISTING_FILE = "existing_file"
    EXISTING_DIRECTORY = "existing_directory"
    EXISTING_PATH = "existing_path"
    NEW_PATH = "new_path"
    SEARCH_TEXT = "search_text"
    OLD_TEXT = "old_text"
    """A text that occurs in the file named by the call's path argument."""
    NEW_TEXT = "new_text"
    COMMAND = "command"
    PATTERN = "pattern"
    URL = "url"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    WORDS = "words"
    """Free text."""
    ITEMS = "items"
    """A list of objects; `items` says what each holds."""


JsonType: TypeAlias = Literal["string", "integer", "number", "boolean", "array", "object"]


class Argument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One argument of a tool."""

    name: str
    kind: ArgumentKind
    type: JsonType = "string"
    description: str = ""
    required: bool = True
    choices: tuple[str, ...] = ()
    items: tuple["Argument", ...] = ()
    """For an array of objects: the arguments of each."""

    def schema(self) -> JsonObject:
        """This argument as JSON Schema."""
        schema: JsonObject = {"type": self.type}
        if self.description:
            schema["description"] = self.description
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.type == "array":
            schema["items"] = object_schema(self.items) if self.items else {"type": "string"}
        return schema


def object_schema(arguments: tuple[Argument, ...]) -> JsonObject:
    """JSON Schema of an object with these members and no others."""
    schema: JsonObject = {
        "type": "object",
        "properties": {argument.name: argument.schema() for argument in arguments},
    }
    required = [argument.name for argument in arguments if argument.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


class MaskForm(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a tool is spoken in the one-line protocol of small models.

    `verb` is the first word (`read`, `find`); the arguments named in `arguments` follow, joined by
    `separators` (one fewer than the arguments). `fixed` arguments are set without being spoken.
    """

    verb: str
    arguments: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    fixed: JsonObject = {}


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as the model, the gate and the surfaces know it."""

    name: str
    description: str
    effect: Effect
    arguments: tuple[Argument, ...] = ()
    raw_schema: JsonObject | None = None
    """The schema of a contributed tool, as its source gave it; takes the place of `arguments`."""
    source: str = ""
    """Who contributes it; empty for hame's own."""
    title: str = ""
    """Name for eyes: `Read`, `Edit`, `Run`."""
    mask: MaskForm | None = None
    timeout_s: float | None = None
    """Whole-call limit; None: the tool limits itself."""
    advertised: bool = True
    """Whether every request names it; otherwise it is found by find_tool and called by use_tool."""

    forwards: bool = False
    """Its arguments `name` and `args` are a call to another tool, which is looked up, judged and
    recorded in its place."""

    def schema(self) -> JsonObject:
        """JSON Schema of the call's arguments."""
        return self.raw_schema if self.raw_schema is not None else object_schema(self.arguments)

    def argument(self, name: str) -> Argument | None:
        """The argument of that name."""
        return next((argument for argument in self.arguments if argument.name == name), None)
