"""No sandbox: what commands run in until there is one."""

from hame.base.process import Launch


class Unconfined:
    """Implements the Sandbox port by confining nothing, and saying so."""

    @property
    def level(self) -> str:
        """Shown on every surface."""
        return "none"

    def wrap(self, launch: Launch) -> Launch:
        """The same program, as it is."""
        return launch
