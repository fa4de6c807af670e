"""`hame completion`: the script that makes a shell complete hame's commands and options."""

import sys

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

_INSTALL = {
    "bash": 'Add to ~/.bashrc:  eval "$(hame completion bash)"',
    "zsh": 'Add to ~/.zshrc:  eval "$(hame completion zsh)"',
    "fish": "Run:  hame completion fish > ~/.config/fish/completions/hame.fish",
}
_CLASSES = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(epilog="\n\n".join(_INSTALL.values()))
@click.argument("shell", type=click.Choice(tuple(_INSTALL)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    made = _CLASSES[shell]
    script = made(ctx.find_root().command, {}, "hame", "_HAME_COMPLETE").source()
    sys.stdout.write(f"{script}\n")
    if sys.stdout.isatty():
        sys.stderr.write(f"{_INSTALL[shell]}\n")
