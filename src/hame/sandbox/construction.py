"""Putting one program's sandbox together; everything here waits for the disk."""

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from hame.base.confinement import Confinement, Reach
from hame.base.errors import ToolError
from hame.base.process import Launch
from hame.sandbox.arguments import isolation_options, mount_options
from hame.sandbox.caches import cache_environment
from hame.sandbox.environment import reading_environment, writing_environment
from hame.sandbox.handles import Handles
from hame.sandbox.layout import REPLACED
from hame.sandbox.masks import Hold, Masks
from hame.sandbox.namespaces import Bwrap
from hame.sandbox.seccomp import Sockets, program
from hame.sandbox.site import Site
from hame.sandbox.trampoline import Trampoline
from hame.sandbox.view import Surveyor

_TEMPORARY = REPLACED[0]
_TRIES = 3
"""How often a project is looked at that changes meanwhile."""


class Builder:
    """Puts sandboxes together for one session."""

    def __init__(self, site: Site) -> None:
        """Nothing is looked at yet."""
        self._site = site
        self._surveyor = Surveyor(site)
        self._looking = threading.Lock()
        self._masks = Masks(f"{site.scratch}/masks")

    def clear(self) -> None:
        """Take away what sandboxes have left whose hame was killed.

        Raises:
            OSError: if the private folder cannot be used.
        """
        self._masks.sweep()

    def build(self, launch: Launch, bwrap: Bwrap, stack: ExitStack) -> tuple[Launch, Trampoline]:
        """The start of a program in its sandbox; `stack` takes what lasts as long as that does.

        Raises:
            ToolError: if it cannot be confined as it has to be.
        """
        try:
            return self._build(launch, bwrap, stack)
        except OSError as error:
            where = f" {error.filename}" if error.filename else ""
            raise ToolError(f"cannot make the sandbox:{where} {error.strerror}") from error

    def _build(self, launch: Launch, bwrap: Bwrap, stack: ExitStack) -> tuple[Launch, Trampoline]:
        confinement = launch.confinement or Confinement()
        roots = self._surveyor.roots(confinement)
        environment = self._environment(confinement, dict(launch.env or ()))
        argv = (_find_program(launch, environment), *launch.argv[1:])
        # Held before anything is looked at: what another sandbox has put there must not go meanwhile.
        hold = self._masks.hold(roots) if roots else None
        if hold is not None:
            stack.callback(hold.release)
        parts = _Parts(launch.pass_fds, stack.enter_context(ExitStack()))
        trampoline = Trampoline(parts.opened)
        stack.callback(trampoline.close)
        parts.add(isolation_options(bwrap, keep=launch.keep, others=_are_of_others(roots)))
        parts.add(self._mounts(bwrap, confinement, environment, hold, handles=parts.handles))
        if hold is not None:
            parts.add(["--sync-fd", parts.passing(hold.descriptor)])
        sockets = Sockets.NONE if confinement.reach is Reach.READ else Sockets.LOOPBACK
        parts.add(["--seccomp", parts.passing_data("filter", program(sockets))])
        parts.add(["--chdir", launch.cwd])
        inside = trampoline.wrap(argv, launch.pass_fds, terminal=launch.pty)
        parts.passing(trampoline.descriptor)
        started = msgspec.structs.replace(
            launch,
            argv=(bwrap.program, "--args", parts.passing_options(), "--", *inside),
            env=tuple(environment.items()),
            pass_fds=parts.passed,
        )
        return started, trampoline

    def _environment(self, confinement: Confinement, given: Mapping[str, str]) -> dict[str, str]:
        site, paths = self._site, self._site.paths
        if confinement.reach is Reach.READ:
            places = (paths.root, *paths.added, paths.temporary, site.caches, *confinement.writable)
            return reading_environment(given, _TEMPORARY, tuple(filter(None, places)))
        caches = cache_environment(site.caches, given, paths.home) if site.caches else {}
        return writing_environment(given, _TEMPORARY) | caches

    def _mounts(
        self,
        bwrap: Bwrap,
        confinement: Confinement,
        environment: Mapping[str, str],
        hold: Hold | None,
        *,
        handles: Handles,
    ) -> list[str]:
        """The file system, of a project that may be changing.

        Raises:
            FileNotFoundError: if it changed each time.
            ToolError: if something that has to be protected cannot be.
        """
        for left in reversed(range(_TRIES)):
            with self._looking:
                view = self._surveyor.look(confinement, environment)
            if hold is not None:
                hold.put(view.missing)
            try:
                return mount_options(view.layout, bwrap, handles, self._site.paths.temporary)
            except FileNotFoundError:
                handles.close()
                if not left:
                    raise
        return []


class _Parts:
    """bubblewrap's arguments, and what it needs open until it has been started."""

    def __init__(self, passed: Sequence[int], opened: ExitStack) -> None:
        """`passed` are descriptors that the program itself gets."""
        self.opened = opened
        self.handles = Handles()
        opened.callback(self.handles.close)
        self._options: list[str] = []
        self._passed = list(passed)

    @property
    def passed(self) -> tuple[int, ...]:
        """All descriptors that bubblewrap gets."""
        return (*self._passed, *self.handles.descriptors)

    def add(self, options: Sequence[str]) -> None:
        """Further arguments."""
        self._options += options

    def passing(self, descriptor: int) -> str:
        """Let it have a descriptor; its number."""
        self._passed.append(descriptor)
        return str(descriptor)

    def passing_data(self, name: str, data: bytes) -> str:
        """Let it have a file that is nowhere on disk; its number.

        Raises:
            OSError: if there are no more descriptors.
        """
        descriptor = os.memfd_create(f"hame-{name}", os.MFD_CLOEXEC)
        self.opened.callback(os.close, descriptor)
        os.write(descriptor, data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return self.passing(descriptor)

    def passing_options(self) -> str:
        """Let it have the arguments as a file, whose length has no limit; its number.

        Raises:
            OSError: if there are no more descriptors.
        """
        return self.passing_data(
            "arguments", b"".join(os.fsencode(each) + b"\0" for each in self._options)
        )


def _are_of_others(roots: Sequence[str]) -> bool:
    """Whether any of these belongs to somebody else."""
    return any(os.lstat(root).st_uid != os.geteuid() for root in roots if os.path.lexists(root))


def _find_program(launch: Launch, environment: Mapping[str, str]) -> str:
    """Where the program is that is meant by a name, as the system would look for it.

    Raises:
        ToolError: if there is none.
    """
    if not launch.argv:
        raise ToolError("there is no program to start: the command is empty")
    name = launch.argv[0]
    folders = [launch.cwd] if "/" in name else environment.get("PATH", "").split(":")
    found = [path for folder in folders if (path := Path(folder, name)).is_file()]
    for path in found:
        if os.access(path, os.X_OK):
            return str(path)
    if found:
        raise ToolError(f"cannot start {name}: it may not be executed")
    raise ToolError(f"cannot start {name}: there is no such program")
