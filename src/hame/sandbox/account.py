"""What an audit has done and found, in lines for the user and the model."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

_MOST = 6
"""Names in one line."""
_LONGEST = 200
"""Characters of what would be run."""


class Account:
    """Gathered while an audit goes through what a command has left."""

    def __init__(self, root: str) -> None:
        """Paths below the root are named from there."""
        self._root = root
        self._put_back: list[str] = []
        self._taken: list[str] = []
        self._cut: dict[str, list[str]] = {}
        self._failed: list[str] = []
        self._programs: dict[str, list[str]] = defaultdict(list)
        self._brought: list[str] = []
        self._links: list[str] = []
        self._to_come: list[str] = []
        self._marked: list[str] = []

    def put_back(self, path: str) -> None:
        """A protected file is again what it was."""
        self._put_back.append(self._shown(path))

    def took(self, path: str) -> None:
        """Something that programs outside would have run or believed was set aside."""
        self._taken.append(self._shown(path))

    def cut(self, path: str, keys: Iterable[str]) -> None:
        """These keys were taken out of a configuration of git."""
        self._cut[self._shown(path)] = [_plain(key) for key in keys]

    def failed(self, path: str, why: str) -> None:
        """Something could not be put right."""
        self._failed.append(f"{self._shown(path)} ({why})")

    def found_program(self, folder: str, name: str) -> None:
        """A program in a folder from which programs are run by name is new or has changed."""
        self._programs[self._shown(folder)].append(_plain(name))

    def found_brought(self, path: str) -> None:
        """A new folder came with something that would be protected."""
        self._brought.append(self._shown(path))

    def found_link(self, path: str, target: str) -> None:
        """A new link leads out of the project."""
        self._links.append(f"{self._shown(path)} -> {_plain(target)}")

    def found_to_come(self, path: str, programs: str) -> None:
        """A rebase that was not ended runs programs when it goes on."""
        self._to_come.append(f"{_plain(programs)[:_LONGEST]} ({self._shown(path)})")

    def unmarked(self, path: str) -> None:
        """A file lost its set-user-id or set-group-id bit."""
        self._marked.append(self._shown(path))

    def lines(self, aside: str) -> Sequence[str]:
        """What to tell, the gravest first; nothing where nothing was found."""
        kept = f"; what it left is kept in {aside}" if aside else ""
        lines: list[str] = []
        if self._failed:
            lines.append(f"NOT put right after this command: {_listed(self._failed)}")
        if self._put_back:
            lines.append(
                f"protected, so put back as they were before this command: "
                f"{_listed(self._put_back)}{kept}"
            )
        if self._taken:
            where = f" and kept in {aside}" if aside else ""
            lines.append(
                f"set aside, since programs outside the sandbox would run or trust them: "
                f"{_listed(self._taken)}{where}"
            )
        lines += [
            f"taken out of {path}, since git might start programs for them: {_listed(keys)}"
            for path, keys in self._cut.items()
        ]
        if self._marked:
            lines.append(f"set-user-id bits taken off: {_listed(self._marked)}")
        if self._to_come:
            lines.append(f"a rebase that was not ended would run: {_listed(self._to_come)}")
        if self._links:
            lines.append(f"new links that lead out of the project: {_listed(self._links)}")
        lines += [
            f"new or changed programs in {folder}: {_listed(names)}"
            for folder, names in self._programs.items()
        ]
        if self._brought:
            lines.append(f"came with settings for other programs: {_listed(self._brought)}")
        return lines

    def _shown(self, path: str) -> str:
        return _plain(path.removeprefix(f"{self._root}/"))


def _plain(name: str) -> str:
    """A name without anything that a terminal or a format would take for something else."""
    if name.isprintable():
        return name
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in name
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {more} more" if more > 0 else "")
