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
    "rm unlink shred rmdir mkdir touch tee truncate mv srm trash trash-put mkfifo mknod"
)
_MODE_FIRST = names("chmod chown chgrp chattr setfacl")
_LAST_WRITTEN = names("cp install ln scp rsync link")
_OUTPUT_OPTIONS = names("-o --output --out --output-document -O --output-file --outfile --out-file")
_IN_PLACE = re.compile(r"-[A-Za-z]*i|--in-place")
_NO_OUTPUT = names(
    "grep egrep fgrep rg set shopt ps find git pytest mount ssh test [ od xargs getopt"
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
        written += [Spoken(text[9:]) for text in found.texts if text.startswith("--output=")]
    writer = _WRITERS.get(found.name)
    if writer is not None:
        return written + writer(found)
    if found.name in _ALL_WRITTEN:
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
        elif word.text.startswith("-o") and len(word.text) > 2:
            values.append(Spoken(word.text[2:]))
    return values


def _targets(found: Found, operands: list[Spoken]) -> list[Spoken]:
    for index, word in enumerate(found.arguments):
        if word.text in {"-t", "--target-directory"}:
            return list(found.arguments[index + 1 : index + 2])
        if word.text.startswith("--target-directory="):
            return [Spoken(word.text.partition("=")[2])]
    if found.name == "ln" and len(operands) == 1:
        return []
    return operands[-1:]


def _written_by_sed(found: Found) -> list[Spoken]:
    if not any(_IN_PLACE.match(text) for text in found.texts):
        return []
    return _operands(found)[0 if "-e" in found.texts else 1 :]


def _written_by_dd(found: Found) -> list[Spoken]:
    return [Spoken(word.text[3:]) for word in _operands(found) if word.text.startswith("of=")]


def _written_second(found: Found) -> list[Spoken]:
    return _operands(found)[1:2]


def _written_folder(found: Found) -> list[Spoken]:
    """The folder that an archive is unpacked into."""
    for index, word in enumerate(found.arguments):
        if word.text in {"-C", "-d", "--directory"}:
            return list(found.arguments[index + 1 : index + 2])
    return []


_WRITERS: dict[str, Callable[[Found], list[Spoken]]] = {
    "sed": _written_by_sed,
    "gsed": _written_by_sed,
    "perl": _written_by_sed,
    "dd": _written_by_dd,
    "uniq": _written_second,
    "xxd": _written_second,
    "tar": _written_folder,
    "unzip": _written_folder,
}
