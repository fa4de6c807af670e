"""The user's keys as backends ask for them: what hame keeps, and what a command prints."""

from collections.abc import AsyncIterator, Callable, Mapping

import anyio

from hame.app.lastwords import remember_secret
from hame.base.errors import ConfigError, ToolError
from hame.base.ports import Processes
from hame.base.process import Exit, Launch
from hame.config.keystore import Keyring, KeyStore
from hame.config.places import Places

_COMMAND_S = 60.0
"""A command may have to ask the user to unlock something."""
_MOST_BYTES = 65_536


def _find_keyring() -> Keyring | None:
    from hame.config.keyring import find_keyring  # A key is seldom saved, or fetched from one.

    return find_keyring()


class UserKeys:
    """Implements `hame.backends.credential.Keys`."""

    def __init__(
        self,
        places: Places,
        environment: Mapping[str, str],
        processes: Processes,
    ) -> None:
        """Read nothing yet."""
        self.store = KeyStore(places.keys_file, _find_keyring)
        self.on_secret: Callable[[str], None] = lambda _: None
        """Is told every key that becomes known."""
        self._environment = environment
        self._processes = processes
        self._home = places.home

    def learned(self, secret: str) -> None:
        """A secret is known from now on."""
        remember_secret(secret)
        self.on_secret(secret)

    async def run(self, command: str) -> str:
        """The first line that a shell command prints, in the user's whole environment.

        Raises:
            ConfigError: if it fails, takes too long, or prints nothing; what it printed is not
                repeated.
        """
        launch = Launch(
            argv=("sh", "-c", command),
            cwd=self._home,
            env=tuple(self._environment.items()),
            merge_stderr=False,
            label="api_key_cmd",
        )
        output, failed = b"", f"it took longer than {_COMMAND_S:.0f} s"
        try:
            with anyio.move_on_after(_COMMAND_S):
                output, ended = await self._printed(launch)
                how = f"signal {ended.signal}" if ended.code is None else f"exit code {ended.code}"
                failed = "" if ended.ok else how
        except ToolError as error:
            failed = error.message
        secret = output.decode("utf-8", "replace").strip().partition("\n")[0].strip()
        if failed or not secret:
            why = failed or "it printed nothing"
            raise ConfigError(
                f"api_key_cmd did not give a key: {why}", hint=f"Try it in a shell: {command}"
            )
        return secret

    async def _printed(self, launch: Launch) -> tuple[bytes, Exit]:
        """What a program prints, as far as a key may go, and how it ended.

        Raises:
            ToolError: if it cannot be started.
        """
        output = b""
        async with self._processes.start(launch) as process:
            async with anyio.create_task_group() as beside:
                beside.start_soon(_pass_over, process.errors())
                async for chunk in process.output():
                    output = (output + chunk)[:_MOST_BYTES]
            return output, await process.wait()


async def _pass_over(chunks: AsyncIterator[bytes]) -> None:
    """Read what nobody wants, so that the program never waits for a reader."""
    async for _ in chunks:
        pass
