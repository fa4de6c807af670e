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
from hame.sandbox.lingering import Lingering
from hame.sandbox.loopback import Loopback
from hame.sandbox.masks import Hold, Masks
from hame.sandbox.namespaces import Bwrap
from hame.sandbox.outlet import outlet_options, proxy_environment, relay_argv
from hame.sandbox.seccomp import Sockets, program
from hame.sandbox.site import Site
from hame.sandbox.trampoline import Trampoline, take_terminal
from hame.sandbox.view import Surveyor

_TEMPORARY = REPLACED[0]
_KEPT_S, _ENDED_S = 0.1, 2.0
"""How long a sandbox is waited for at its end: one that may be kept, and one that has been ended."""
_TRIES = 3
"""How often a project is looked at that changes meanwhile."""


class Builder:
    """Puts sandboxes together for one session."""

    def __init__(self, site: Site, linger_s: float) -> None:
        """Nothing is looked at yet."""
        self._site = site
        self._surveyor = Surveyor(site, opens_worktrees=True)
        self._looking = threading.Lock()
        self._masks = Masks(f"{site.scratch}/masks")
        self._lingering = Lingering(linger_s)

    def clear(self) -> None:
        """Take away what sandboxes have left whose hame was killed.

        Raises:
            OSError: if the private folder cannot be used.
        """
        self._masks.sweep()

    def close(self) -> None:
        """Take away now what would go a moment after the last command."""
        self._lingering.end()

    def build(
        self,
        launch: Launch,
        bwrap: Bwrap,
        stack: ExitStack,
        *,
        gateway: str,
        loopback: Loopback | None,
    ) -> tuple[Launch, Trampoline]:
        """The start of a program in its sandbox; `stack` takes what lasts as long as that does.

        `gateway` is the socket of the way to granted hosts, empty where there are none; `loopback` the
        network it is started in, None for one of its own.

        Raises:
            ToolError: if it cannot be confined as it has to be.
        """
        try:
            return self._build(launch, bwrap, stack, gateway=gateway, loopback=loopback)
        except OSError as error:
            where = f" {error.filename}" if error.filename else ""
            raise ToolError(f"cannot make the sandbox:{where} {error.strerror}") from error

    def _build(
        self,
        launch: Launch,
        bwrap: Bwrap,
        stack: ExitStack,
        *,
        gateway: str,
        loopback: Loopback | None,
    ) -> tuple[Launch, Trampoline]:
        confinement = launch.confinement or Confinement()
        roots = self._surveyor.roots(confinement)
        environment = self._environment(confinement, dict(launch.env or ()))
        _check_program(launch, environment)
        # Held before anything is looked at: what another sandbox has put there must not go meanwhile.
        held = (*roots, *(each.own for each in self._surveyor.worktrees(confinement)))
        hold = self._masks.hold(held) if roots else None
        if hold is not None:
            stack.callback(self._lingering.take, hold, _KEPT_S if launch.keep else _ENDED_S)
        parts = _Parts(launch.pass_fds, stack.enter_context(ExitStack()))
        trampoline = Trampoline(parts.opened)
        stack.callback(trampoline.close)
        others, in_network = _are_of_others(roots), loopback is not None
        parts.add(isolation_options(bwrap, keep=launch.keep, others=others, in_network=in_network))
        parts.add(self._mounts(bwrap, confinement, environment, hold, handles=parts.handles))
        if hold is not None:
            parts.add(["--sync-fd", parts.passing(hold.descriptor)])
        parts.passing(trampoline.descriptor)
        inside = trampoline.wrap(launch.argv, launch.pass_fds)
        own = Sockets.NONE if confinement.reach is Reach.READ else Sockets.LOOPBACK
        if gateway:
            # The relay keeps sockets with a path from what it starts.
            filter_ = parts.passing_data("inner filter", program(Sockets.LOOPBACK))
            parts.add(outlet_options(gateway, int(filter_)))
            inside, own = relay_argv(inside, confinement.hosts), Sockets.RELAY
        if launch.pty:
            inside = take_terminal(inside)
        parts.add(["--seccomp", parts.passing_data("filter", program(own))])
        parts.add(["--chdir", launch.cwd])
        outer = (bwrap.program, "--args", parts.passing_options(), "--", *inside)
        started = msgspec.structs.replace(
            launch,
            argv=outer if loopback is None else loopback.enter(outer),
            env=tuple(environment.items()),
            pass_fds=parts.passed,
        )
        return started, trampoline

    def _environment(self, confinement: Confinement, given: Mapping[str, str]) -> dict[str, str]:
        site, paths = self._site, self._site.paths
        if confinement.reach is Reach.READ:
            places = (paths.root, *paths.added, paths.temporary, site.caches, *confinement.writable)
            found = reading_environment(given, _TEMPORARY, tuple(filter(None, places)))
        else:
            found = writing_environment(given, _TEMPORARY)
            found |= cache_environment(site.caches, given, paths.home) if site.caches else {}
        return found | (proxy_environment(found) if confinement.hosts else {})

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


def _check_program(launch: Launch, environment: Mapping[str, str]) -> None:
    """Make sure that there is a program to start, in the words of a start that fails.

    Raises:
        ToolError: if there is none.
    """
    if not launch.argv:
        raise ToolError("there is no program to start: the command is empty")
    name = launch.argv[0]
    folders = [launch.cwd] if "/" in name else environment.get("PATH", "").split(":")
    candidates = [Path(folder, name) for folder in folders]
    found = [path for path in candidates if path.is_file()]
    if any(os.access(path, os.X_OK) for path in found):
        return
    if found or ("/" in name and candidates[0].exists()):
        raise ToolError(f"cannot start {name}: it may not be executed")
    raise ToolError(f"cannot start {name}: there is no such program")
