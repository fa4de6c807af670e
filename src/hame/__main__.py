"""Start here: `hame` and `python -m hame`."""

import sys


def main() -> None:
    """Run the command line; `--version` is answered before anything is imported."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from hame.version import __version__

        sys.stdout.write(f"hame {__version__}\n")
        return
    from hame.cli import main as run

    run()


if __name__ == "__main__":
    main()
