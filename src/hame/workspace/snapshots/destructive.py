"""Commands that are known to take work away, so that ignored files are held before they run.

Only a net below the net: what is not ignored is held before every command. A command that is named
here for nothing costs a moment; one that is not costs ignored files.
"""

import re

_WORD = r"(?:^|[\s;&|(`'\"/])"
_DESTROYS = re.compile(
    _WORD + r"(?:"
    r"rm|rmdir|unlink|shred|truncate|dd|mv|"
    r"git(?:\s+-{1,2}\S+(?:\s+[^-\s]\S*)?)*?\s+"
    r"(?:reset|clean|checkout|restore|stash|switch|rm|read-tree|worktree|submodule)|"
    r"find\s.*?\s-(?:delete|exec|execdir|ok)|"
    r"rsync\s.*?--del[\w-]*|"
    r"(?:make|ninja|cargo|go|gradle|\S*gradlew|mvn|npm|yarn|pnpm|bundle|mix|dotnet)\s.*?"
    r"(?:clean|prune|ci)|"
    r"docker|podman"
    r")(?=$|[\s;&|)`'\"])",
    re.DOTALL,
)
_CALLS = re.compile(r"\b(?:rmtree|unlink|rmdir|remove|rmSync|unlinkSync|rm_rf|remove_tree)\b")


def destroys(command: str) -> bool:
    """Whether a command line holds something that takes files away."""
    return bool(_DESTROYS.search(command) or _CALLS.search(command))
