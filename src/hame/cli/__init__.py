"""The command line: grammar, one-shot runs, the line conversation, and the commands.

start.py        the process: streams, errors, exit codes      root.py, options.py   the grammar
begin.py        options -> settings -> which surface          running.py            one run: signals, redrawing
oneshot.py      --print                                       conversation.py       the line conversation
render.py       a run in a terminal                           plain.py, stream_json.py   the same for pipes and programs
"""


def main() -> None:
    """Run the command line of this process and exit with its code."""
    import gc
    import sys

    from hame.cli.start import run

    code = run(sys.argv[1:])
    # All that is left goes with the process; to search it for cycles first takes 50 ms.
    gc.disable()
    gc.freeze()
    sys.exit(code)
