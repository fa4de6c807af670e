"""Which surface a command line asks for: one run, or a conversation."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hame.base.settings import OutputFormat
from hame.cli.launch import prepare


def begin(options: Mapping[str, Any], words: Sequence[str]) -> int:
    """Start what was asked for; the exit code.

    Raises:
        HameError: if it could not be started.
    """
    said = " ".join([*words, *filter(None, [options["prompt"]])])
    piped = not sys.stdin.isatty()
    once = options["print"] or options["prompt"] is not None or options["output_format"]
    # Questions that go into a file are seen by nobody.
    into_file = bool(said.strip()) and not sys.stdout.isatty()
    interactive = not (once or piped or into_file)
    launch = prepare(options, interactive=interactive)
    if interactive:
        from hame.cli.conversation import Conversation

        return Conversation(launch).hold(said)
    from hame.cli.oneshot import run_once
    from hame.cli.piped import compose_prompt, read_piped
    from hame.cli.session import build_session

    wants_input = piped or said.strip() in {"", "-"}
    prompt = compose_prompt(said, read_piped() if wants_input else None)
    return run_once(launch, prompt, OutputFormat(options["output_format"] or "text"), build_session)
