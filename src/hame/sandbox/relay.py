"""Runs a command inside a sandbox's network namespace, and leads it to hame's proxy outside.

A program of its own, which Python runs without hame and without site-packages:

    python -I -S relay.py SOCKET FILTER HOST:PORT,... -- COMMAND ARGUMENT ...

SOCKET is the proxy's Unix socket, FILTER a file with a program for seccomp. What connects to port 3128 of
the namespace's loopback is led to the socket; what connects to one of the further ports, to that port of
that host, by way of the same proxy. The command is started with the filter, so that it can open no Unix
socket itself; the relay keeps the right to, and nothing of the same user may look into it or trace it.
It ends when the command does, in the same way.
"""

import ctypes
import errno
import fcntl
import io
import os
import resource
import selectors
import signal
import socket
import struct
import sys

PORT = 3128
MOST_LINKS = 128
_ROOM = 65_536
"""Bytes that are held for one direction of one connection."""
_MOST_IGNORED = 64 << 20
"""Bytes that are read away for a side that takes no more, so that it is told so in peace."""
_HEAD_LIMIT = 8_192
_CANNOT_RUN, _NOT_FOUND = 126, 127
"""As shells have it."""
_SURVIVED = (
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2,
)  # fmt: skip
"""What is sent to everything is for the command to act on."""

# linux/prctl.h, linux/seccomp.h, linux/sockios.h, linux/if.h
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVILEGES = 1, 4, 22, 38
_FILTERED = 2
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1


class _Kernel:
    """prctl(2)."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def control(self, option: int, *words: int) -> None:
        """Call it.

        Raises:
            OSError: if the kernel refuses.
        """
        given = [ctypes.c_ulong(word) for word in (*words, 0, 0, 0, 0)[:4]]
        if self._libc.prctl(option, *given):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def install(self, program: bytes) -> None:
        """Filter the system calls of this process and its children (seccomp(2)).

        Raises:
            OSError: if the kernel refuses.
        """
        code = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
        given = ctypes.create_string_buffer(head, len(head))
        self.control(_SET_NO_NEW_PRIVILEGES, 1)
        self.control(_SET_SECCOMP, _FILTERED, ctypes.addressof(given))


class _Flow:
    """One direction of a connection."""

    def __init__(self, source: socket.socket, target: socket.socket, *, is_answer: bool) -> None:
        self.source = source
        self.target = target
        self.held = bytearray()
        self.ended = False
        """Nothing more comes."""
        self.done = False
        """The target has been told so, or takes nothing any more."""
        self.is_broken = False
        self.ignored = 0
        self.is_answer = is_answer
        """It begins with the proxy's answer to a request of the relay's own, which is taken off."""

    def read(self) -> None:
        """Take what there is."""
        try:
            data = self.source.recv(_ROOM)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.ended = True
        elif self.is_broken:
            self.ignored += len(data)
            self.ended = self.ignored > _MOST_IGNORED
        else:
            self.held += data
            if self.is_answer:
                self._take_off()

    def write(self) -> None:
        """Give what is held; and the end, after all of it."""
        if self.held and not self.is_answer:
            try:
                del self.held[: self.target.send(self.held)]
            except BlockingIOError:
                return
            except OSError:
                self.held.clear()
                self.is_broken = True
        if self.ended and not self.held and not self.done:
            self.done = True
            try:
                self.target.shutdown(socket.SHUT_WR)
            except OSError:
                self.is_broken = True

    def _take_off(self) -> None:
        head, separator, rest = self.held.partition(b"\r\n\r\n")
        if separator and head.split(b" ")[1:2] == [b"200"]:
            self.held, self.is_answer = bytearray(rest), False
        elif separator or len(self.held) > _HEAD_LIMIT:
            self.held.clear()
            self.ended = self.is_broken = True


class _Link:
    """A connection of the command's, and the one to the proxy that belongs to it."""

    def __init__(self, near: socket.socket, far: socket.socket, target: str) -> None:
        near.settimeout(0)
        far.settimeout(0)
        self.ends = (near, far)
        self._flows = (
            _Flow(near, far, is_answer=False),
            _Flow(far, near, is_answer=bool(target)),
        )
        if target:
            self._flows[0].held += f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n".encode()

    def move(self, ready: socket.socket, events: int) -> bool:
        """Do what can be done at one end; whether the connection is over."""
        for flow in self._flows:
            if flow.source is ready and events & selectors.EVENT_READ:
                flow.read()
            flow.write()
        there, back = self._flows
        return (there.done and back.done) or (back.is_answer and back.ended)

    def wanted(self, end: socket.socket) -> int:
        """What to wait for at an end."""
        wanted = 0
        for flow in self._flows:
            if flow.source is end and not flow.ended and len(flow.held) < _ROOM:
                wanted |= selectors.EVENT_READ
            if flow.target is end and flow.held and not flow.is_answer:
                wanted |= selectors.EVENT_WRITE
        return wanted

    def close(self) -> None:
        """Let go of both ends."""
        for end in self.ends:
            end.close()


class Relay:
    """Listens inside, and connects to the proxy."""

    def __init__(self, path: str, forwards: list[str]) -> None:
        """Listen.

        Raises:
            OSError: if the proxy's port is not free.
        """
        self._path = path
        self._selector = selectors.DefaultSelector()
        self._links = 0
        self._listeners: dict[socket.socket, str] = {}
        _raise_loopback()
        for listener in _listen(PORT):
            self._listeners[listener] = ""
        for target in forwards:
            port = int(target.rpartition(":")[2])
            if port == PORT:
                continue
            try:
                self._listeners |= dict.fromkeys(_listen(port), target)
            except OSError as error:
                _say(f"port {port} of this machine cannot be offered here: {error.strerror}")

    def run(self, woken: socket.socket, ended: "_Ended") -> int:
        """Serve until the command has ended; its status, as waitpid(2) gives it."""
        self._selector.register(woken, selectors.EVENT_READ)
        self._accept_more()
        while True:
            for key, events in self._selector.select():
                end = key.fileobj
                if not isinstance(end, socket.socket):
                    continue
                if end is woken:
                    end.recv(4_096)
                    if (status := ended()) is not None:
                        return status
                elif end in self._listeners:
                    self._accept(end)
                elif isinstance(key.data, _Link) and end.fileno() >= 0:
                    self._move(key.data, end, events)

    def _accept(self, listener: socket.socket) -> None:
        try:
            near, _ = listener.accept()
        except OSError:
            return
        far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            far.connect(self._path)
        except OSError:
            near.close()
            far.close()
            return
        self._links += 1
        if self._links == MOST_LINKS:
            for each in self._listeners:
                self._selector.unregister(each)
        link = _Link(near, far, self._listeners[listener])
        for end in link.ends:
            if wanted := link.wanted(end):
                self._selector.register(end, wanted, link)

    def _move(self, link: _Link, end: socket.socket, events: int) -> None:
        is_over = link.move(end, events)
        registered = self._selector.get_map()
        for each in link.ends:
            wanted = 0 if is_over else link.wanted(each)
            if each in registered and wanted:
                self._selector.modify(each, wanted, link)
            elif each in registered:
                self._selector.unregister(each)
            elif wanted:
                self._selector.register(each, wanted, link)
        if is_over:
            link.close()
            self._links -= 1
            if self._links == MOST_LINKS - 1:
                self._accept_more()

    def _accept_more(self) -> None:
        for listener in self._listeners:
            self._selector.register(listener, selectors.EVENT_READ)


class _Ended:
    """Whether the command has ended."""

    def __init__(self, process: int) -> None:
        self._process = process

    def __call__(self) -> int | None:
        found, status = os.waitpid(self._process, os.WNOHANG)
        return status if found else None


def _listen(port: int) -> list[socket.socket]:
    """Listeners on the loopback addresses there are.

    Raises:
        OSError: if there is none, or the port is not free.
    """
    listeners: list[socket.socket] = []
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen(MOST_LINKS)
        except OSError:
            # There may be no IPv6 here at all.
            if family == socket.AF_INET:
                raise
        else:
            listener.settimeout(0)
            listeners.append(listener)
    return listeners


def _raise_loopback() -> None:
    """A new namespace begins with its loopback down; whoever made it may have seen to that."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            asked = struct.pack("16sH22x", b"lo", 0)
            (flags,) = struct.unpack("16xH22x", fcntl.ioctl(any_socket, _GET_FLAGS, asked))
            if not flags & _UP:
                fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH22x", b"lo", flags | _UP))
        except OSError as error:
            _say(f"the loopback cannot be used: {error.strerror}")


def _start(
    kernel: _Kernel, program: bytes, command: list[bytes], environment: dict[bytes, bytes]
) -> int:
    """Start the command with its filter; its process id."""
    process = os.fork()
    if process:
        return process
    code = _CANNOT_RUN
    try:
        # What Python ignores for itself; all else that is handled here is reset by exec.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        kernel.control(_SET_DEATH_SIGNAL, signal.SIGKILL)
        kernel.install(program)
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
    except OSError as error:
        _say(f"cannot start {os.fsdecode(command[0])}: {error.strerror}")
        code = _NOT_FOUND if error.errno == errno.ENOENT else _CANNOT_RUN
    finally:
        os._exit(code)


def _end_like(status: int) -> int:
    """End as the command did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return 128 + number
    return os.WEXITSTATUS(status)


def _read_environment() -> dict[bytes, bytes]:
    """The environment as it was given: Python may have added a locale to its own."""
    pairs = [each.partition(b"=") for each in _read("/proc/self/environ").split(b"\0")]
    return {name: value for name, equals, value in pairs if equals}


def _read(path: str) -> bytes:
    with io.FileIO(path) as file:
        return file.readall()


def _survive(number: int, frame: object) -> None:
    """Handle a signal by nothing: unlike one that is ignored, the command does not inherit that."""
    del number, frame


def _say(words: str) -> None:
    os.write(2, f"hame: {words}\n".encode(errors="replace"))


def main(arguments: list[str]) -> int:
    """Run the command; its exit code."""
    path, filter_path, forwards, dashes, *command = arguments
    assert dashes == "--"
    kernel = _Kernel()
    try:
        program = _read(filter_path)
        environment = _read_environment()
        kernel.control(_SET_DUMPABLE, 0)
        relay = Relay(path, [each for each in forwards.split(",") if each])
        woken, wake = socket.socketpair()
        wake.settimeout(0)
        for number in (*_SURVIVED, signal.SIGCHLD):
            if number == signal.SIGCHLD or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _survive)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        words = [os.fsencode(each) for each in command]
        process = _start(kernel, program, words, environment)
    except OSError as error:
        _say(f"the way to the network cannot be opened: {error.strerror}")
        return _CANNOT_RUN
    return _end_like(relay.run(woken, _Ended(process)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
