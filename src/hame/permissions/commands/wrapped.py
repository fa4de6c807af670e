"""Commands inside commands: what `env`, `timeout`, `xargs`, `sh -c`, `find -exec` and others run."""

from collections.abc import Iterator

import msgspec

from hame.permissions.commands.found import UNKNOWN, Found, Spoken, Stage
from hame.permissions.commands.loose import find_commands
from hame.permissions.names import names

DEEPEST = 12
"""Wrappers around wrappers that are looked through."""

SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash")


class Wrapper(msgspec.Struct, frozen=True):
    """How a program that runs another is called: options that take a value, words before the other."""

    valued: str = ""
    """Short options that take a value."""
    positional: int = 0
    """Words of its own that stand before the command."""


WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper("CDRTUghprtu"), "doas": Wrapper("Cu"), "pkexec": Wrapper(""),
    "env": Wrapper("CSu"), "nice": Wrapper("n"), "nohup": Wrapper(), "setsid": Wrapper(),
    "timeout": Wrapper("ks", 1), "gtimeout": Wrapper("ks", 1), "time": Wrapper("fo"),
    "command": Wrapper(), "builtin": Wrapper(), "exec": Wrapper("a"),
    "busybox": Wrapper(), "toybox": Wrapper(), "stdbuf": Wrapper("eio"),
    "ionice": Wrapper("cnpPu"), "chrt": Wrapper("DPT", 1), "taskset": Wrapper("", 1),
    "xargs": Wrapper("EILPadns"), "parallel": Wrapper("IJaj"), "watch": Wrapper("n"),
    "strace": Wrapper("EIOPSXabeopsu"), "ltrace": Wrapper("aelnopsu"),
    "flock": Wrapper("Ew", 1), "chroot": Wrapper("", 1), "unshare": Wrapper("GRSsw"),
    "nsenter": Wrapper("GSt"), "setpriv": Wrapper(), "runuser": Wrapper("Ggsu"),
    "systemd-run": Wrapper("EHMPp"), "systemd-inhibit": Wrapper(), "fakeroot": Wrapper("bils"),
    "proxychains": Wrapper("f"), "proxychains4": Wrapper("f"), "torsocks": Wrapper("Pau"),
    "setarch": Wrapper("", 1), "linux32": Wrapper(), "linux64": Wrapper(), "caffeinate": Wrapper("tw"),
    "chronic": Wrapper(), "unbuffer": Wrapper(), "rlwrap": Wrapper("CDHSbfsz"), "script": Wrapper("EITOBm"),
    "firejail": Wrapper(), "dbus-run-session": Wrapper(), "gosu": Wrapper("", 1), "su-exec": Wrapper("", 1),
    "arch": Wrapper(), "catchsegv": Wrapper(), "eatmydata": Wrapper(), "trickle": Wrapper("du"),
    "cpulimit": Wrapper("elp"), "prlimit": Wrapper("p"), "choom": Wrapper("np"), "numactl": Wrapper(),
}  # fmt: skip
"""Programs whose operands are another command."""

_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_RUNS = frozenset({"-x", "-X", "--exec", "--exec-batch"})
_LINKERS = ("ld-linux", "ld.so", "ld-musl")
_LONG_SEPARATE = frozenset({
    "--kill-after",
    "--signal",
    "--max-args",
    "--max-procs",
    "--arg-file",
    "--adjustment",
})


def unwrap(found: Found, home: str, depth: int = 0) -> Iterator[Found]:
    """The command itself, then every command that it would run, as far as its words tell."""
    yield found
    if depth >= DEEPEST or not found.words:
        return
    for inner in _directly_inside(found, home):
        yield from unwrap(inner, home, depth + 1)


def shell_text(found: Found) -> str | None:
    """The text that a shell, or `eval`, is told to run."""
    name = found.name
    if name in SHELLS or name == "su":
        return _after_c(found.arguments)
    if name == "eval":
        return " ".join(found.texts)
    if name == "trap" and found.arguments:
        return found.texts[0]
    if name in {"source", "."} or not found.arguments:
        return None
    if name in {"watch", "script", "ssh"}:
        return " ".join(found.texts[1:]) if name == "ssh" else _after_c(found.arguments)
    return None


def _directly_inside(found: Found, home: str) -> Iterator[Found]:
    name = found.name
    text = shell_text(found)
    if text is not None:
        yield from inside(find_commands(text, home=home), found)
    if name in SHELLS:
        for document in (*found.documents, *_here_strings(found)):
            yield from inside(find_commands(document, home=home), found)
    if name in WRAPPERS:
        yield from _wrapped(found, WRAPPERS[name], home)
    elif name in {"find", "fd", "fdfind"}:
        yield from _run_by_find(found)
    elif name.startswith(_LINKERS) and len(found.words) > 1:
        yield _again(found, found.words[1:])


def inside(commands: list[Found], outer: Found) -> Iterator[Found]:
    """Commands of a text: as a group, they stand where the outer one stands."""
    own = outer.stages[0]
    for command in commands:
        within = tuple(
            Stage((*own.pipeline, own.place, *stage.pipeline), stage.place)
            for stage in command.stages
        )
        yield msgspec.structs.replace(command, stages=(*within, *outer.stages))


def _again(found: Found, words: tuple[Spoken, ...]) -> Found:
    return msgspec.structs.replace(found, words=words, redirects=(), assignments=())


def _after_c(arguments: tuple[Spoken, ...]) -> str | None:
    for index, word in enumerate(arguments):
        if not word.text.startswith("-") or word.text == "--":
            continue
        if word.text == "--command" or ("c" in word.text and not word.text.startswith("--")):
            rest = [other.text for other in arguments[index + 1 :] if not _is_option(other.text)]
            return rest[0] if rest else None
    return None


def _is_option(text: str) -> bool:
    return text.startswith(("-", "+")) and len(text) > 1


def _here_strings(found: Found) -> list[str]:
    return [redirect.target.text for redirect in found.redirects if redirect.operator == "<<<"]


def _wrapped(found: Found, wrapper: Wrapper, home: str) -> Iterator[Found]:
    words = list(found.arguments)
    assignments: list[tuple[str, Spoken]] = []
    left = wrapper.positional
    while words:
        text = words[0].text
        name, equals, value = text.partition("=")
        if found.name == "env" and text.startswith(("-S", "--split-string")):
            yield from _split_string(found, words, home)
            return
        if _is_option(text):
            del words[: 2 if _takes_next(text, wrapper) else 1]
        elif equals and found.name in {"env", "sudo", "doas"}:
            assignments.append((name, Spoken(value)))
            del words[0]
        elif left:
            left -= 1
            del words[0]
        else:
            break
    if words or assignments:
        inner = _again(found, tuple(words))
        yield msgspec.structs.replace(inner, assignments=tuple(assignments))


def _takes_next(option: str, wrapper: Wrapper) -> bool:
    if option.startswith("--"):
        return option in _LONG_SEPARATE
    return (
        any(letter in wrapper.valued for letter in option[1:-1]) is False
        and option[-1] in wrapper.valued
    )


def _split_string(found: Found, words: list[Spoken], home: str) -> Iterator[Found]:
    """`env -S 'TEXT'`: the text is split into words, without a shell."""
    first = words[0].text
    glued = first.partition("=")[2] if first.startswith("--") else first[2:]
    text = glued or (words[1].text if len(words) > 1 else "")
    rest = words[1 if glued else 2 :]
    for command in find_commands(text, home=home):
        yield _again(found, (*command.words, *rest))


def _run_by_find(found: Found) -> Iterator[Found]:
    runs = _FIND_RUNS if found.name == "find" else _FD_RUNS
    words = found.arguments
    for index, word in enumerate(words):
        if word.text not in runs:
            continue
        inner: list[Spoken] = []
        for other in words[index + 1 :]:
            if other.text in {";", "+"}:
                break
            inner.append(other)
        if inner:
            places = tuple(Spoken(UNKNOWN) if other.text == "{}" else other for other in inner)
            yield _again(found, places)
