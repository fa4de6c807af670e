"""Which words of a command name files, and which of those it would write."""

import re
from collections.abc import Callable

from hame.permissions.commands.found import Found, Spoken
from hame.permissions.names import names

_SPEAKERS = names("echo printf expr basename dirname true false : seq sleep logger cowsay")
"""Programs whose operands are text."""

_PATTERN_FIRST = names(
    "grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk nawk jq yq fd fdfind"
)
_PATTERN_GIVEN = ("-e", "-f", "--regexp", "--file", "--files", "--expression", "--from-file")
_TEXT_VALUES = {
    name: names("-e -g -A -B -C -m -t -T -d --regexp --glob --iglob --include --exclude --exclude-dir --type -F -v")
    for name in _PATTERN_FIRST
} | {
    "find": names("-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -printf -perm"),
    "git": names("-m --message --grep --author --committer -S -G --format --pretty --date"),
    "gh": names("-t --title -b --body"),
    "tree": names("-I -P"),
    "ls": names("-I --ignore --hide"),
    "tar": frozenset({"--exclude"}), "rsync": frozenset({"--exclude", "--include"}), "du": frozenset({"--exclude"}),
    "diff": names("-x --exclude -I"),
}  # fmt: skip
"""Options whose value is text; written apart or with `=`."""

_ALL_WRITTEN = names(
    "rm unlink shred rmdir mkdir touch tee truncate mv srm trash trash-put mkfifo mknod sponge "
    "vi vim nvim ex ed nano pico micro joe emacs emacsclient code subl gedit kate hx helix"
)
_COMPRESSORS = names("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd")
_KEEPS = re.compile(r"-[A-Za-z0-9]*[cklt].*|--(?:stdout|to-stdout|keep|list|test)")
_MODE_FIRST = names("chmod chown chgrp chattr setfacl")
_LAST_WRITTEN = names("cp install ln scp rsync link")
_OUTPUT_OPTIONS = names("-o --output --out --output-document -O --output-file --outfile --out-file")
_SHORT_OUTPUT = re.compile(r"-[A-Za-z]*?[oO](.*)", re.DOTALL)
_GIT_WITH_OUTPUT = names("archive format-patch")
_FIND_PRINTS = names("-fprint -fprint0 -fprintf -fls")
FIND_DESTROYS = frozenset({"-delete"})
DELETERS = names("rm shred srm trash trash-put unlink mv")
_IN_PLACE = re.compile(r"-[A-Za-z]*i|--in-place")
_NO_OUTPUT = names(
    "grep egrep fgrep rg set shopt ps find git pytest mount ssh test [ od xargs getopt "
    "ls rsync column ps lsof"
)
"""Programs whose `-o` or `-O` names no output file."""


def file_words(found: Found) -> list[Spoken]:
    """The words that may name files; for a program that is not known, all of them."""
    words = _without_text_values(found)
    if found.name in _SPEAKERS:
        return [word for word in words if word.glob]
    if found.name in _PATTERN_FIRST and not any(
        text.startswith(_PATTERN_GIVEN) for text in found.texts
    ):
        return _without_first_operand(words)
    return words


def written_words(found: Found) -> list[Spoken]:
    """The words that name what the command would make, change or take away."""
    operands = _operands(found)
    written = list(_output_values(found)) if found.name not in _NO_OUTPUT else []
    if found.name == "git":
        written += _written_by_git(found)
    writer = _WRITERS.get(found.name)
    if writer is not None:
        return written + writer(found)
    if found.name in _ALL_WRITTEN or (
        found.name in _COMPRESSORS and not any(_KEEPS.fullmatch(text) for text in found.texts)
    ):
        return written + operands
    if found.name in _MODE_FIRST:
        return written + operands[1:]
    if found.name in _LAST_WRITTEN:
        return written + _targets(found, operands)
    return written


def _operands(found: Found) -> list[Spoken]:
    return [word for word in found.arguments if not word.text.startswith("-")]


def _without_text_values(found: Found) -> list[Spoken]:
    valued = _TEXT_VALUES.get(found.name, frozenset())
    kept: list[Spoken] = []
    skip = False
    for word in found.arguments:
        if skip:
            skip = False
            continue
        name, equals, _ = word.text.partition("=")
        skip = word.text in valued
        if not skip and not (equals and name in valued):
            kept.append(word)
    return kept


def _without_first_operand(words: list[Spoken]) -> list[Spoken]:
    for index, word in enumerate(words):
        if not word.text.startswith("-"):
            return words[:index] + words[index + 1 :]
    return words


def _output_values(found: Found) -> list[Spoken]:
    values: list[Spoken] = []
    for index, word in enumerate(found.arguments):
        name, equals, value = word.text.partition("=")
        if name in _OUTPUT_OPTIONS and equals:
            values.append(Spoken(value))
        elif word.text in _OUTPUT_OPTIONS:
            values += found.arguments[index + 1 : index + 2]
        elif short := _SHORT_OUTPUT.fullmatch(word.text):
            # `-fsSLo FILE` and `-qOFILE`: the letter may stand behind others.
            values += [Spoken(short[1])] if short[1] else found.arguments[index + 1 : index + 2]
    return values


def _written_by_git(found: Found) -> list[Spoken]:
    written = [Spoken(text[9:]) for text in found.texts if text.startswith("--output=")]
    if not _GIT_WITH_OUTPUT.isdisjoint(found.texts):
        written += _output_values(found)
    words = list(found.arguments)
    while words and words[0].text.startswith("-"):
        del words[: 2 if words[0].text in {"-C", "-c"} else 1]
    operands = [word for word in words if not word.text.startswith("-")]
    match [word.text for word in operands]:
        case ["clone", _, *_, _]:
            written.append(operands[-1])
        case ["init", _, *_]:
            written.append(operands[1])
        case ["worktree", "add", _, *_]:
            written.append(operands[2])
        case _:
            pass
    return written


def _targets(found: Found, operands: list[Spoken]) -> list[Spoken]:
    for index, word in enumerate(found.arguments):
        if word.text in {"-t", "--target-directory"}:
            return list(found.arguments[index + 1 : index + 2])
        if word.text.startswith("--target-directory="):
            return [Spoken(word.text.partition("=")[2])]
    if found.name == "ln" and len(operands) == 1:
        return []
    return operands[-1:]


def find_roots(found: Found) -> list[Spoken]:
    """Where `find` starts."""
    roots: list[Spoken] = []
    for word in found.arguments:
        if word.text in {"-L", "-H", "-P"}:
            continue
        if word.text.startswith(("-", "(", "!")):
            break
        roots.append(word)
    return roots or [Spoken(".")]


def find_destroys(found: Found) -> bool:
    """Whether it deletes what it finds, itself or through another."""
    runs = {text.rpartition("/")[2] for text in found.texts}
    return not FIND_DESTROYS.isdisjoint(runs) or not DELETERS.isdisjoint(runs)


def _written_by_find(found: Found) -> list[Spoken]:
    written = find_roots(found) if find_destroys(found) else []
    for index, word in enumerate(found.arguments):
        if word.text in _FIND_PRINTS:
            written += found.arguments[index + 1 : index + 2]
    return written


def _written_by_sed(found: Found) -> list[Spoken]:
    if not any(_IN_PLACE.match(text) for text in found.texts):
        return []
    return _operands(found)[0 if "-e" in found.texts else 1 :]


def _written_by_dd(found: Found) -> list[Spoken]:
    return [Spoken(word.text[3:]) for word in _operands(found) if word.text.startswith("of=")]


def _written_second(found: Found) -> list[Spoken]:
    return _operands(found)[1:2]


def _written_by_archiver(found: Found) -> list[Spoken]:
    """The folder that an archive is unpacked into, or the archive that is made."""
    written: list[Spoken] = []
    letter, mode = ("d" if found.name == "unzip" else "C"), ""
    for index, word in enumerate(found.arguments):
        text, following = word.text, found.arguments[index + 1 :]
        if text.startswith("--directory="):
            written.append(Spoken(text.partition("=")[2]))
        elif text in {"--directory", f"-{letter}"}:
            written += following[:1]
        elif text.startswith(f"-{letter}"):
            written.append(Spoken(text[2:]))
        elif index == 0 and found.name != "unzip" and not text.startswith("--"):
            # `tar xfC FILE FOLDER`: each letter takes its value from what follows, in their order.
            mode = text.lstrip("-")
            taking = [each for each in mode if each in "fCTXIbHVg"]
            makes = not {"c", "r", "u"}.isdisjoint(mode)
            written += [
                value
                for each, value in zip(taking, following, strict=False)
                if each == letter or (each == "f" and makes)
            ]
    return written


def _written_in_place(found: Found) -> list[Spoken]:
    return _operands(found) if any(text.startswith("-i") for text in found.texts) else []


def _written_first(found: Found) -> list[Spoken]:
    return _operands(found)[:1]


def _written_by_csplit(found: Found) -> list[Spoken]:
    values = zip(found.arguments, found.arguments[1:], strict=False)
    return [value for word, value in values if word.text == "-f"]


def _written_out(found: Found) -> list[Spoken]:
    values = zip(found.arguments, found.arguments[1:], strict=False)
    return [value for word, value in values if word.text == "-out"]


_WRITERS: dict[str, Callable[[Found], list[Spoken]]] = {
    "sed": _written_by_sed,
    "gsed": _written_by_sed,
    "perl": _written_by_sed,
    "dd": _written_by_dd,
    "uniq": _written_second,
    "xxd": _written_second,
    "tar": _written_by_archiver,
    "bsdtar": _written_by_archiver,
    "unzip": _written_by_archiver,
    "find": _written_by_find,
    "ruby": _written_in_place,
    "gawk": _written_in_place,
    "yq": _written_in_place,
    "patch": _written_first,
    "zip": _written_first,
    "split": _written_second,
    "csplit": _written_by_csplit,
    "openssl": _written_out,
}
