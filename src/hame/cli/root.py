"""The grammar: `hame [OPTIONS] [PROMPT...]` and `hame COMMAND`.

A first word that names a command is the command; anything else, and whatever goes with `--print`, is
a prompt. A command's module is imported when the command is chosen.
"""

import inspect
from collections.abc import Mapping
from importlib import import_module

import click
from typing_extensions import override

from hame.cli.options import add_options, merge_options

COMMANDS: Mapping[str, tuple[str, str]] = {
    "models": ("hame.cli.commands.models:models", "List providers and their models."),
    "auth": ("hame.cli.commands.auth:auth", "Keep and try the keys of providers."),
    "sessions": ("hame.cli.commands.sessions:sessions", "List and show what was said before."),
    "undo": ("hame.cli.commands.undo:undo", "Take back what a session did."),
    "snapshots": ("hame.cli.commands.snapshots:snapshots", "What undo keeps, and clearing it up."),
    "trace": ("hame.cli.commands.trace:trace", "What happened in a session, line by line."),
    "replay": ("hame.cli.commands.replay:replay", "Run a session again as it was recorded."),
    "usage": ("hame.cli.commands.usage:usage", "Tokens and money, by day, model or session."),
    "config": ("hame.cli.commands.config:config", "Show and change settings."),
    "permissions": (
        "hame.cli.commands.permissions:permissions",
        "Show, check and change what may run without a question.",
    ),
    "trust": (
        "hame.cli.commands.trust:trust",
        "See what a folder brings, and say whether you trust it.",
    ),
    "local": ("hame.cli.commands.local:local", "Set up the built-in model."),
    "demo": ("hame.cli.commands.demo:demo", "Watch it at work on a sample project."),
    "doctor": ("hame.cli.commands.doctor:doctor", "Check installation, settings and model."),
    "debug": ("hame.cli.commands.debug:debug", "Read recordings, and see what would be sent."),
    "completion": ("hame.cli.commands.completion:completion", "Set up completion in your shell."),
}
"""Where each command lives, and what `hame --help` says of it."""

_HELP = """A coding agent: one harness around any model.

Without a prompt, or with one, hame holds a conversation; with --print, or where a prompt or the
answer goes through a pipe, it answers once. Options can be set for good with `hame config`, or as
HAME_<OPTION> in the environment."""


class ReaderGoneError(Exception):
    """Whoever read standard output has gone; click would make exit code 1 of a BrokenPipeError."""


class PromptCommand(click.Command):
    """Takes the words of a prompt, and options after them."""

    @override
    def get_help(self, ctx: click.Context) -> str:
        """The help of hame itself."""
        return ctx.parent.get_help() if ctx.parent else super().get_help(ctx)


class Root(click.Group):
    """The group whose commands are imported when chosen, and whose other words are a prompt."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help."""
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return _for_people(getattr(import_module(module), name))

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name, else the prompt that takes all the words.

        Raises:
            UsageError: for what is most likely a mistyped command.
        """
        asked = ctx.params.get("print") or ctx.params.get("prompt") is not None
        if not asked and args[0] in COMMANDS:
            return super().resolve_command(ctx, args)
        if not asked and _asks_for_help(args):
            return "help", help_, args[1:]
        if not asked and (meant := self._mistyped(ctx, args)):
            raise click.UsageError(
                f"{args[0]} is not a command, did you mean {meant}? As a prompt, say it with -p.",
                ctx,
            )
        return "prompt", prompt, args

    def _mistyped(self, ctx: click.Context, args: list[str]) -> str | None:
        """The command that is meant by a word alone, or by one before a command's own command."""
        word, *after = args
        if not (word.isascii() and word.isalpha() and word.islower()) or len(after) > 1:
            return None
        from difflib import get_close_matches

        near = get_close_matches(word, COMMANDS, n=1, cutoff=0.8)
        if not near or not after:
            return near[0] if near else None
        command = self.get_command(ctx, near[0])
        known = command.commands if isinstance(command, click.Group) else ()
        return near[0] if after[0] in known else None

    @override
    def invoke(self, ctx: click.Context) -> object:
        """Run what was asked for.

        Raises:
            ReaderGoneError: if nobody reads what is written.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGoneError from error

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def _asks_for_help(args: list[str]) -> bool:
    """`help`, alone or before the name of a command; more words are a prompt."""
    return args[0] == "help" and (len(args) == 1 or (len(args) == 2 and args[1] in COMMANDS))


def _for_people(command: click.Command) -> click.Command:
    """The command with a help that does not say what the function behind it raises."""
    if command.help is not None:
        command.help = inspect.cleandoc(command.help).partition("\n\nRaises:")[0]
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _for_people(each)
    return command


@click.group(
    cls=Root,
    invoke_without_command=True,
    subcommand_metavar="[PROMPT... | COMMAND]",
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", "-V", "version", is_flag=True, help="Show the version and leave.")
@add_options
@click.pass_context
def root(ctx: click.Context, **options: object) -> int | None:
    """Keep the options; without a command, start."""
    if options.pop("version"):
        from hame.version import __version__

        click.echo(f"hame {__version__}")
        ctx.exit()
    ctx.obj = options
    return _begin(options, ()) if ctx.invoked_subcommand is None else None


@click.command("help")
@click.argument("name", required=False)
@click.pass_context
def help_(ctx: click.Context, name: str | None) -> None:
    """Say what `--help` of hame or of a command says."""
    above = ctx.find_root()
    command = root.get_command(above, name) if name else None
    inner = click.Context(command, parent=above, info_name=name) if command else above
    click.echo(inner.get_help())


@click.command(cls=PromptCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("words", nargs=-1)
@add_options
@click.pass_obj
def prompt(before: dict[str, object], words: tuple[str, ...], **options: object) -> int:
    """Start with a prompt; options after the words win over those before them."""
    return _begin(merge_options(before, options), words)


def _begin(options: dict[str, object], words: tuple[str, ...]) -> int:
    from hame.cli.begin import begin

    return begin(options, words)
