"""Which files `.gitignore` files leave out, https://git-scm.com/docs/gitignore."""

from collections.abc import Callable, Iterator

import msgspec

from hame.base.glob import compile_glob
from hame.testing.memory.tree import Parts, Tree


class _Rule(msgspec.Struct, frozen=True):
    folder: Parts
    """Where its file lies."""
    matches: Callable[[str], object]
    folders_only: bool
    keeps: bool


def ignored(tree: Tree, root: Parts) -> Callable[[Parts], bool]:
    """A question for each file below a root: is it left out?"""
    rules = sorted(_rules(tree, root), key=lambda rule: len(rule.folder))

    def is_ignored(file: Parts) -> bool:
        ends = range(len(root) + 1, len(file) + 1)
        return any(_left_out(file[:end], rules, folder=end < len(file)) for end in ends)

    return is_ignored


def _left_out(place: Parts, rules: list[_Rule], *, folder: bool) -> bool:
    """By the last rule that matches; the deeper files come later."""
    out = False
    for rule in rules:
        inside = place[len(rule.folder) :]
        applies = place[: len(rule.folder)] == rule.folder and (folder or not rule.folders_only)
        if inside and applies and rule.matches("/".join(inside)):
            out = not rule.keeps
    return out


def _rules(tree: Tree, root: Parts) -> Iterator[_Rule]:
    for file in tree.below(root):
        if file[-1:] == (".gitignore",):
            for line in (tree.data(file) or b"").decode("utf-8", "replace").splitlines():
                text = line.rstrip()
                keeps = text.startswith("!")
                pattern = text[1:] if keeps else text
                body = pattern.rstrip("/")
                if body and not pattern.startswith("#"):
                    matches = compile_glob(body).fullmatch
                    yield _Rule(file[:-1], matches, body != pattern, keeps)
