"""Tree: folders and files by their components from the root of an imagined file system."""

from collections.abc import Iterator
from itertools import count
from typing import TypeAlias

import msgspec

from hame.base.path import FileKind, Identity

Parts: TypeAlias = tuple[str, ...]


class Node(msgspec.Struct):
    """One folder, or one file with its bytes."""

    inode: int
    data: bytes | None = None
    """None: it is a folder."""


class Tree:
    """All there is."""

    def __init__(self) -> None:
        """Begin with the root alone."""
        self._inodes = count(1)
        self._nodes: dict[Parts, Node] = {(): Node(next(self._inodes))}

    def kind(self, parts: Parts) -> FileKind:
        """What is there."""
        node = self._nodes.get(parts)
        if node is None:
            return FileKind.MISSING
        return FileKind.DIRECTORY if node.data is None else FileKind.FILE

    def data(self, parts: Parts) -> bytes | None:
        """A file's bytes; None when there is no file."""
        node = self._nodes.get(parts)
        return node.data if node else None

    def identity(self, parts: Parts) -> Identity | None:
        """Which node it is."""
        node = self._nodes.get(parts)
        return Identity(1, node.inode) if node else None

    def make_folders(self, parts: Parts) -> None:
        """Make a folder and those above it; no file may be in the way."""
        for length in range(len(parts) + 1):
            if parts[:length] not in self._nodes:
                self._nodes[parts[:length]] = Node(next(self._inodes))

    def put(self, parts: Parts, data: bytes) -> None:
        """Write a file, with its folders."""
        self.make_folders(parts[:-1])
        node = self._nodes.get(parts)
        if node is None:
            self._nodes[parts] = Node(next(self._inodes), data)
        else:
            node.data = data

    def below(self, parts: Parts) -> list[Parts]:
        """The place itself and everything below it."""
        return [each for each in self._nodes if each[: len(parts)] == parts]

    def children(self, parts: Parts) -> Iterator[tuple[Parts, Node]]:
        """What is directly in a folder."""
        for each, node in self._nodes.items():
            if len(each) == len(parts) + 1 and each[:-1] == parts:
                yield each, node

    def move(self, source: Parts, target: Parts) -> None:
        """Move a file or a folder with all in it, to a name that is free."""
        self.make_folders(target[:-1])
        for each in self.below(source):
            self._nodes[target + each[len(source) :]] = self._nodes.pop(each)

    def delete(self, parts: Parts) -> None:
        """Delete a file or a folder with all in it."""
        for each in self.below(parts):
            del self._nodes[each]
