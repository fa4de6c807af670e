"""Programs that only read, each with the options and operands that keep it so."""

from functools import cache

from hame.permissions.commands.options import Operands, Program, row
from hame.permissions.names import names

_PATHS, _TEXT, _NAMES = Operands.PATHS, Operands.TEXT, Operands.NAMES
_PATTERN = Operands.PATTERN_THEN_PATHS

_GREP_LONG = (
    "count extended-regexp files-with-matches files-without-match fixed-strings ignore-case invert-match "
    "line-number no-filename no-messages only-matching perl-regexp quiet recursive with-filename word-regexp "
    "include: exclude: exclude-dir: color= colour= max-count: after-context: before-context: context: regexp:"
)
_RG_LONG = (
    "case-sensitive count files files-with-matches files-without-match fixed-strings heading hidden ignore-case "
    "invert-match json line-number multiline no-config no-heading no-ignore no-line-number only-matching pcre2 "
    "smart-case stats type-list vimgrep word-regexp no-filename with-filename count-matches trim column "
    "multiline-dotall glob: iglob: type: type-not: max-count: max-depth: context: "
    "after-context: before-context: color: sort: sortr: regexp: max-columns: threads:"
)


@cache
def programs() -> dict[str, Program]:
    """The table by name."""
    grep = row(
        "EFGHILPRachilnoqrsvwxz", "A:num B:num C:num m:num e:text", _GREP_LONG, _PATTERN, count=True
    )
    hashes = row("b", operands=_PATHS)
    return {
        "arch": row(),
        "b2sum": hashes,
        "basename": row("az", "s:text", operands=_TEXT),
        "cat": row("AETbensv", long="number number-nonblank show-all squeeze-blank", operands=_PATHS),
        "cksum": row(operands=_PATHS),
        "cmp": row("ls", "n:num", operands=_PATHS, most=2, globs=False),
        "column": row("tx", "s:text c:num", operands=_PATHS),
        "comm": row("123", operands=_PATHS, most=2, globs=False),
        "cut": row(
            "sz", "d:text f:digits c:digits b:digits",
            "complement only-delimited delimiter: fields: output-delimiter:", _PATHS,
        ),
        "date": row("Ru", "d:text", "utc date: iso-8601=", _TEXT, most=1),
        "df": row("PTahik", long="human-readable", operands=_PATHS),
        "diff": row(
            "BNabciqrsuwy", "U:num x:text I:text",
            "brief ignore-all-space ignore-space-change recursive side-by-side unified unified= exclude: "
            "width: label: color=", _PATHS, most=2, globs=False,
        ),
        "dirname": row("z", operands=_TEXT),
        "du": row(
            "Lachksx", "d:num", "all human-readable summarize total max-depth: exclude:", _PATHS
        ),
        "echo": row(),
        "egrep": grep,
        "expand": row("i", "t:num", operands=_PATHS),
        "expr": row(),
        "false": row(operands=_TEXT),
        "fd": row(
            "FHIagips", "e:word t:letter d:num E:text",
            "absolute-path hidden no-ignore type: extension: max-depth: exclude:", _PATTERN,
        ),
        "fgrep": grep,
        "file": row("Lbhik", long="brief dereference mime mime-type", operands=_PATHS),
        "fold": row("bs", "w:num", operands=_PATHS),
        "free": row("bghklmtw"),
        "grep": grep,
        "head": row("qv", "n:size c:size", "quiet verbose lines: bytes:", _PATHS, count=True),
        "hexdump": row("Ccdovx", "n:num s:num", operands=_PATHS),
        "hostname": row("AIdfis"),
        "id": row("Ggnru", operands=_NAMES),
        "join": row("", "t:sep 1:num 2:num", operands=_PATHS, most=2, globs=False),
        "jq": row(
            "MSacejnrs",
            long="compact-output exit-status monochrome-output null-input raw-output slurp sort-keys tab",
            operands=_PATTERN,
        ),
        "ls": row(
            "1ACFGRSXacdghiklmnopqrstuvx", "I:text",
            "all almost-all directory group-directories-first human-readable inode no-group recursive reverse "
            "size color= time-style: sort: time: ignore: hide:", _PATHS,
        ),
        "lscpu": row(),
        "md5sum": hashes,
        "nl": row("", "b:number-style n:number-style w:num s:text v:num", operands=_PATHS),
        "nproc": row(long="all"),
        "od": row("bcdiovx", "A:letter t:word N:num j:num", operands=_PATHS),
        "paste": row("s", "d:text", operands=_PATHS),
        "printf": row(),
        "ps": row(),
        "pwd": row("LP"),
        "readlink": row("efmn", operands=_PATHS),
        "realpath": row("LPemqs", operands=_PATHS),
        "rev": row(operands=_PATHS),
        "rg": row(
            ".0FHINSUacilnopqsuvwx",
            "A:num B:num C:num m:num e:text g:text t:word T:word d:num j:num", _RG_LONG, _PATTERN,
        ),
        "seq": row("w", "s:text f:text", operands=_TEXT, most=3),
        "sha1sum": hashes,
        "sha224sum": hashes,
        "sha256sum": hashes,
        "sha384sum": hashes,
        "sha512sum": hashes,
        "sleep": row(operands=_TEXT, most=1),
        "sort": row(
            "CMVbcdfghimnrsuz", "k:list t:sep",
            "check human-numeric-sort ignore-case numeric-sort reverse stable unique version-sort key: "
            "field-separator:", _PATHS, globs=False,
        ),
        "stat": row("Lft", "c:text", "dereference terse format: printf:", _PATHS),
        "strings": row("a", "n:num", operands=_PATHS),
        "tac": row(operands=_PATHS),
        "tail": row("qv", "n:size c:size", "quiet verbose lines: bytes:", _PATHS, count=True),
        "tr": row("Ccds", long="complement delete squeeze-repeats", operands=_TEXT, most=2),
        "tree": row(
            "CDFNadfghinpqrstuv", "L:num I:text P:text",
            "dirsfirst gitignore noreport prune filelimit= charset=", _PATHS, globs=False,
        ),
        "true": row(operands=_TEXT),
        "type": row("Papt", operands=_NAMES),
        "uname": row("aimnoprsv"),
        "uniq": row(
            "cdiuz", "f:num s:num w:num", "count ignore-case repeated unique", _PATHS, most=1, globs=False
        ),
        "unzip": row("lqv", operands=_PATHS, most=1, globs=False),
        "uptime": row("ps"),
        "wc": row("Lclmw", long="bytes chars lines max-line-length words", operands=_PATHS),
        "which": row("a", operands=_NAMES),
        "whoami": row(),
        "xxd": row("bipu", "l:num s:num c:num g:num", operands=_PATHS, most=1, globs=False),
    }  # fmt: skip


TELL_VERSION = names(
    "python python3 node gcc g++ clang clang++ java ruby perl php git bash rg jq grep sed awk find ls tar curl "
    "cmake docker sqlite3"
)
"""Programs whose `--version` looks at nothing else."""

_LOG_LONG = (
    "oneline graph all decorate no-decorate stat shortstat numstat name-only name-status patch no-patch "
    "no-merges merges first-parent reverse follow abbrev-commit color no-color no-ext-diff no-textconv "
    "date-order topo-order cc branches tags remotes since: until: after: before: author: committer: grep: "
    "max-count: skip: pretty= format= date= decorate= diff-filter= abbrev= stat= color="
)
_LOG_VALUED = "n:num U:num S:text G:text L:range"


@cache
def git_commands() -> dict[str, Program]:
    """Git's sub-commands that only read, by name; operands are revisions, paths or patterns."""
    log = row("pusiEFPwbM", _LOG_VALUED, _LOG_LONG, _TEXT, count=True)
    return {
        "blame": row(
            "wleftsM", "L:range", "date porcelain line-porcelain show-email date=", _TEXT
        ),
        "branch": row(
            "avr", "",
            "all remotes verbose list show-current color no-color list= contains= no-contains= merged= "
            "no-merged= sort= format= points-at=", _TEXT,
        ),
        "cat-file": row("pets", operands=_TEXT),
        "count-objects": row("vH"),
        "describe": row("", "", "tags all always long dirty abbrev= match=", _TEXT),
        "diff": row(
            "puswbzRM", "U:num S:text G:text",
            "stat shortstat numstat name-only name-status cached staged color no-color patch raw summary check "
            "word-diff minimal patience histogram no-renames find-renames ignore-all-space ignore-space-change "
            "ignore-blank-lines no-ext-diff no-textconv merge-base quiet exit-code stat= unified= diff-filter= "
            "color= word-diff= diff-algorithm=", _TEXT,
        ),
        "for-each-ref": row("", "", "format= sort= count=", _TEXT),
        "grep": row(
            "niIlLcvwEFPohqa", "e:text A:num B:num C:num",
            "line-number ignore-case files-with-matches count word-regexp cached untracked heading break "
            "max-depth=", _TEXT,
        ),
        "log": log,
        "ls-files": row(
            "cdmostuzk", "x:text",
            "cached deleted modified others ignored stage exclude-standard unmerged full-name exclude=", _TEXT,
        ),
        "ls-tree": row("rdtlz", "", "name-only name-status long full-name full-tree", _TEXT),
        "merge-base": row("a", "", "is-ancestor octopus all fork-point", _TEXT),
        "remote": row("v", "", "verbose", _TEXT, most=0),
        "rev-list": row(
            "", "n:num", "count all oneline no-merges left-right max-count= since=", _TEXT, count=True
        ),
        "rev-parse": row(
            "q", "",
            "abbrev-ref show-toplevel short verify git-dir is-inside-work-tree show-prefix symbolic-full-name "
            "all branches absolute-git-dir is-bare-repository short= abbrev-ref=", _TEXT,
        ),
        "shortlog": row("snec", "", "summary numbered email", _TEXT, count=True),
        "show": log,
        "show-ref": row("dq", "", "tags head heads", _TEXT),
        "status": row(
            "sbvz", "u=untracked",
            "short branch porcelain long show-stash ahead-behind renames no-renames column no-column "
            "porcelain= untracked-files= ignored=", _TEXT,
        ),
        "tag": row("ln", "", "list list= contains= sort= format= points-at= merged=", _TEXT),
    }  # fmt: skip


GIT_PAIRS: dict[tuple[str, str], Program] = {
    ("stash", "list"): row("", "n:num", "oneline stat", count=True),
    ("stash", "show"): row("pu", "", "stat patch name-only name-status", _TEXT, most=1),
    ("worktree", "list"): row("vz", "", "verbose porcelain"),
    ("submodule", "status"): row("", "", "cached recursive", _TEXT),
    ("reflog", "show"): row("", "n:num", "date= oneline", _TEXT, count=True),
}
"""Sub-commands of two words."""

GIT_KEYS = names(
    "user.name user.email core.autocrlf core.ignorecase core.bare init.defaultBranch pull.rebase"
)
"""Settings of git that may be read: none of them can hold a key."""
