"""requirements.txt and go.mod, which go line by line."""

import re

from hame.base.errors import ToolError
from hame.tools.manifests.dependency import Dependency, normalised
from hame.tools.manifests.keys import Setting

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_BLOCK = re.compile(r"^require[ \t]*\(\n(.*?)^\)", re.MULTILINE | re.DOTALL)


def add_to_requirements(text: str, dependency: Dependency) -> str:
    """Add a line, or change that of the same name; its comment stays."""
    wanted = f"{dependency.name}{dependency.extras}{dependency.version}"
    lines = text.split("\n")
    for index, line in enumerate(lines):
        found = _NAME.match(line)
        if found and normalised(found[1]) == normalised(dependency.name):
            comment = re.search(r"\s+#.*$", line)
            lines[index] = wanted + (comment[0] if comment else "")
            return "\n".join(lines)
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return f"{body}{wanted}\n"


def add_to_go_mod(text: str, dependency: Dependency) -> str:
    """Add a module to the block of direct ones, or change the version of one that is there.

    Raises:
        ToolError: when no version is given.
    """
    version = dependency.need_version(f"{dependency.name}@v1.0.0")
    known = re.compile(
        rf"^([ \t]*(?:require[ \t]+)?{re.escape(dependency.name)}[ \t]+)v\S+", re.MULTILINE
    )
    if known.search(text):
        return known.sub(lambda found: found[1] + version, text, count=1)
    line = f"\t{dependency.name} {version}\n"
    block = _BLOCK.search(text)
    if block is None:
        body = text.rstrip("\n")
        return f"{body}\n\nrequire {dependency.name} {version}\n"
    rows = block[1].split("\n")[:-1]
    names = [row.split()[0] for row in rows if row.strip() and not row.strip().startswith("//")]
    later = [name for name in names if name > dependency.name] if names == sorted(names) else []
    at = text.index(f"\t{later[0]} ", block.start()) if later else block.end(1)
    return text[:at] + line + text[at:]


def set_in_go_mod(text: str, key: str, setting: Setting | None) -> str:
    """Set `go`, `toolchain` or `module`; None takes a line away.

    Raises:
        ToolError: for any other key.
    """
    if key not in {"go", "toolchain", "module"}:
        raise ToolError("in go.mod only go, toolchain and module can be set")
    line = re.compile(rf"^{key}[ \t]+\S+\n?", re.MULTILINE)
    if setting is None:
        if not line.search(text) or key == "module":
            raise ToolError(f"there is no {key} to remove. Nothing was changed")
        return line.sub("", text, count=1)
    wanted = f"{key} {setting.words}\n"
    if line.search(text):
        return line.sub(lambda _: wanted, text, count=1)
    first = text.find("\n") + 1
    return f"{text[:first]}\n{wanted}{text[first:]}"
