"""Programs whose words say more than options and paths: each is read in its own way.

A check returns the words that are paths, to be looked at, or raises with the reason to ask.
"""

import re
from collections.abc import Callable

from hame.permissions.commands.line import Word
from hame.permissions.commands.options import Parsed, UnlistedError
from hame.permissions.names import names

Words = tuple[Word, ...]

# ---------------------------------------------------------------- find

_FIND_PLAIN = names(
    "-print -print0 -ls -prune -quit -depth -empty -executable -readable -writable -true -false -daystart -mount "
    "-xdev -nouser -nogroup -noleaf -not -a -and -o -or ! ( ) , -ignore_readdir_race"
)
_FIND_VALUED = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime "
    "-ctime -mmin -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -lname -ilname "
    "-fstype -used -printf"
)
_FIND_PATHS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
_FIND_NEWER = re.compile(r"-newer[aBcm](?:[aBcm]|(t))")
"""Compared with another file, or with a time (find(1), `-newerXY`)."""


def check_find(words: Words) -> Words:
    """Starting points and compared files; only tests and printing are known.

    Raises:
        UnlistedError: for an action, or a test that is not known.
    """
    left = list(words)
    paths: list[Word] = []
    while left and not left[0].text.startswith(("-", "(", "!")):
        paths.append(left.pop(0))
    while left:
        word = left.pop(0)
        if not word.literal:
            raise UnlistedError(f"{word.text} may become several words")
        if word.text in _FIND_PLAIN:
            continue
        newer = _FIND_NEWER.fullmatch(word.text)
        if word.text not in _FIND_VALUED | _FIND_PATHS and newer is None:
            raise UnlistedError(f"{word.text} is not on the list of find's tests")
        if not left or not left[0].literal:
            raise UnlistedError(f"{word.text} has no plain value")
        value = left.pop(0)
        if word.text in _FIND_PATHS or (newer is not None and not newer[1]):
            paths.append(value)
    return tuple(paths)


# ---------------------------------------------------------------- sed, awk, jq

_SED_PRINTS = re.compile(r"(?:\d{1,9}|\$)(?:,(?:\d{1,9}|\$|[+~]\d{1,9}))?p")

_AWK_FIELD = r"(?:\$(?:\d{1,4}|NF)|NR|NF|FILENAME|\"[\w .,:;=/()\[\]-]*\")"
_AWK_PATTERN = (
    r"(?:/(?:[\w .,:;=#^$*+?\[\]()-]|\\[.\w])*/"
    r"|(?:NR|NF)\s*(?:==|<=|<|!=)\s*\d{1,9}"
    r"|\$\d{1,4}\s*(?:==|!=)\s*\"[\w .,:;=/-]*\""
    r"|NR\s*==\s*\d{1,9}\s*,\s*NR\s*==\s*\d{1,9})"
)
_AWK_PROGRAM = re.compile(
    rf"\s*(?:{_AWK_PATTERN}\s*)?\{{\s*print(?:\s+{_AWK_FIELD}(?:\s*,?\s*{_AWK_FIELD})*)?\s*;?\s*\}}\s*"
    rf"|\s*{_AWK_PATTERN}\s*"
)
_JQ_REFUSED = re.compile(
    r"\b(?:env|ENV|import|include|input\w*|modulemeta|debug|stderr|halt\w*|getpath)\b|\$__"
)


def check_sed(words: Words) -> Words:
    """`sed -n 'N,Mp' FILES` and nothing else.

    Raises:
        UnlistedError: for any other script or option.
    """
    if len(words) < 2 or words[0] != Word("-n") or not words[1].literal:
        raise UnlistedError("only sed -n with line numbers and p is known to read")
    if not _SED_PRINTS.fullmatch(words[1].text):
        raise UnlistedError(f"the script {words[1].text} may do more than print lines")
    return _no_options(words[2:])


def check_awk(words: Words) -> Words:
    """`awk [-F SEP] '[PATTERN] {print FIELDS}' FILES` and nothing else.

    Raises:
        UnlistedError: for any other program or option.
    """
    left = list(words)
    if left and left[0].text.startswith("-F"):
        separator = left.pop(0)
        if separator.text == "-F" and left:
            separator = left.pop(0)
        if not separator.literal or len(separator.text) > 8:
            raise UnlistedError("the separator is not plain")
    if not left or not left[0].literal or not _AWK_PROGRAM.fullmatch(left[0].text):
        raise UnlistedError("the program may do more than print fields")
    files = _no_options(tuple(left[1:]))
    if any("=" in word.text for word in files):
        raise UnlistedError("an operand sets a variable")
    return files


def check_jq(parsed: Parsed) -> Words:
    """A filter that reads nothing but its input.

    Raises:
        UnlistedError: when the filter may read the environment or other files.
    """
    if not parsed.operands:
        raise UnlistedError("there is no filter")
    filtered = parsed.operands[0]
    if not filtered.literal or _JQ_REFUSED.search(filtered.text):
        raise UnlistedError("the filter may read more than its input")
    return parsed.operands[1:]


# ---------------------------------------------------------------- archives

_TAR_LISTS = re.compile(r"-?(?=[tvzjJ]*t)[tvzjJ]*f")


def check_tar(words: Words) -> Words:
    """`tar -tf FILE`.

    Raises:
        UnlistedError: for anything that is not a listing.
    """
    if len(words) != 2 or not _TAR_LISTS.fullmatch(words[0].text):
        raise UnlistedError("only a listing (tar -tf FILE) is known to read")
    if ":" in words[1].text or words[1].text.startswith("-"):
        raise UnlistedError("the archive may be on another machine")
    return words[1:]


def check_unzip(parsed: Parsed) -> Words:
    """`unzip -l FILE`.

    Raises:
        UnlistedError: for anything that is not a listing.
    """
    if parsed.options.isdisjoint({"l", "v"}):
        raise UnlistedError("it unpacks")
    return parsed.operands


# ---------------------------------------------------------------- the shell's own

_TEST_OF_FILE = names("-e -f -d -r -w -x -s -L -h")
_TEST_OF_TEXT = names("-n -z")
_TEST_TEXTS = names("= == !=")
_TEST_NUMBERS = names("-eq -ne -lt -le -gt -ge")
_NUMBER = re.compile(r"-?\d{1,18}")


def check_test(words: Words) -> Words:
    """One comparison, perhaps negated; nothing that evaluates a subscript.

    Raises:
        UnlistedError: for any other form.
    """
    if not all(word.literal for word in words):
        raise UnlistedError("a pattern may become several words")
    left = words[1:] if words and words[0].text == "!" else words
    texts = [word.text for word in left]
    match texts:
        case [operator, _] if operator in _TEST_OF_FILE:
            return left[1:]
        case [operator, _] if operator in _TEST_OF_TEXT:
            return ()
        case [_, operator, _] if operator in _TEST_TEXTS:
            return ()
        case [first, operator, second] if (
            operator in _TEST_NUMBERS and _NUMBER.fullmatch(first) and _NUMBER.fullmatch(second)
        ):
            return ()
        case [single] if not single.startswith("-"):
            return ()
        case _:
            raise UnlistedError("the test is not one of the known ones")


def check_bracket(words: Words) -> Words:
    """`[ ... ]`.

    Raises:
        UnlistedError: as for `test`.
    """
    if not words or words[-1] != Word("]"):
        raise UnlistedError("the test is not closed")
    return check_test(words[:-1])


def check_text(words: Words) -> Words:
    """Any words, as long as the shell passes them on as they stand.

    Raises:
        UnlistedError: for a pattern, which would list files.
    """
    if not all(word.literal for word in words):
        raise UnlistedError("a pattern would list files")
    return ()


_PRINTF_STORES = re.compile(r"%[^%a-zA-Z]*[hlLjzt]*n")


def check_printf(words: Words) -> Words:
    """A literal format that only prints.

    Raises:
        UnlistedError: for `-v` and `%n`, which set a variable and evaluate its subscript.
    """
    check_text(words)
    left = words[1:] if words and words[0].text == "--" else words
    if (
        not left
        or left[0].text.startswith("-")
        or _PRINTF_STORES.search(left[0].text.replace("%%", ""))
    ):
        raise UnlistedError("its format may set a variable")
    return ()


# ---------------------------------------------------------------- the machine

_PS_FLAGS = re.compile(r"-[AFHLTefl]+|[auxfhlrw]{1,6}")
_PS_COLUMNS = names(
    "pid ppid pgid sid uid user group comm args cmd command time etime etimes cputime pcpu %cpu pmem %mem rss vsz "
    "stat state s tty tt start lstart nice ni pri psr nlwp wchan cpu size sz ruser"
)


def check_ps(words: Words) -> Words:
    """A list of processes, without their environments.

    Raises:
        UnlistedError: for other options.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        if word.text in {"-p", "-u", "-o"} and left:
            value = left.pop(0).text
            names = [name.partition("=")[0] for name in value.split(",")]
            if word.text == "-o" and not _PS_COLUMNS.issuperset(names):
                raise UnlistedError(f"{value} is not on the list of its columns")
            if not re.fullmatch(r"[\w,%=-]+", value):
                raise UnlistedError(f"{value} is no plain value")
        elif not word.literal or not _PS_FLAGS.fullmatch(word.text):
            raise UnlistedError(f"{word.text} may show environments")
    return ()


_SMALL = re.compile(r"-?\d{1,6}")
_SECONDS = re.compile(r"(\d{1,2})(?:\.\d{1,3})?s?")
_LONGEST_SLEEP_S = 60


def check_seq(parsed: Parsed) -> Words:
    """A bounded list of whole numbers.

    Raises:
        UnlistedError: when it could be very long.
    """
    if not all(_SMALL.fullmatch(word.text) for word in parsed.operands):
        raise UnlistedError("its output may be very long")
    if len(parsed.operands) == 3 and int(parsed.operands[1].text) == 0:
        raise UnlistedError("its output never ends")
    return ()


def check_sleep(parsed: Parsed) -> Words:
    """At most a minute.

    Raises:
        UnlistedError: when it is longer.
    """
    found = [_SECONDS.fullmatch(word.text) for word in parsed.operands]
    if not all(match and int(match[1]) < _LONGEST_SLEEP_S for match in found) and [
        word.text for word in parsed.operands
    ] != ["60"]:
        raise UnlistedError(f"it sleeps for more than {_LONGEST_SLEEP_S} s")
    return ()


def check_date(parsed: Parsed) -> Words:
    """A format; anything else would set the clock.

    Raises:
        UnlistedError: for an operand that is no format.
    """
    if not all(word.text.startswith("+") for word in parsed.operands):
        raise UnlistedError("it would set the clock")
    return ()


def _no_options(words: Words) -> Words:
    if any(word.text.startswith("-") and word.text != "-" for word in words):
        raise UnlistedError("an option follows")
    return words


BY_WORDS: dict[str, Callable[[Words], Words]] = {
    "find": check_find,
    "sed": check_sed,
    "awk": check_awk,
    "gawk": check_awk,
    "mawk": check_awk,
    "tar": check_tar,
    "test": check_test,
    "[": check_bracket,
    "echo": check_text,
    "expr": check_text,
    "printf": check_printf,
    "ps": check_ps,
}
"""Programs that are read from their words alone."""

BY_OPTIONS: dict[str, Callable[[Parsed], Words]] = {
    "jq": check_jq,
    "unzip": check_unzip,
    "seq": check_seq,
    "sleep": check_sleep,
    "date": check_date,
}
"""Programs whose operands are read after the table has passed their options."""
