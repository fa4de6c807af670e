"""Whether a call may run: modes and grants now; rules, command analysis and the full path guard later."""

from hame.permissions.gate import ModeGate

__all__ = ["ModeGate"]
