"""Classic BPF, as far as filters of system calls need it (seccomp(2), linux/filter.h)."""

import errno
import struct
from collections.abc import Iterable
from typing import TypeAlias

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
MASK = 0x54  # BPF_ALU | BPF_AND | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

# What a filter answers: linux/seccomp.h.
ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERROR = 0x00050000
REFUSE = _ERROR | errno.EPERM
UNKNOWN = _ERROR | errno.ENOSYS

# struct seccomp_data: the number, the architecture, and the low halves of the first arguments.
NUMBER, ARCHITECTURE = 0, 4
ARGUMENT = (16, 24, 32, 40, 48)

Instruction: TypeAlias = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, constant."""
Block: TypeAlias = list[Instruction]


def answer(value: int) -> Instruction:
    """The end of the program, with this answer."""
    return (_RETURN, 0, 0, value)


def fail(number: int) -> Instruction:
    """The end of the program: the call fails with this error."""
    return answer(_ERROR | number)


def for_call(number: int, block: Block) -> Block:
    """What is done for one call; every way through the block answers."""
    return [(EQUAL, 0, len(block), number), *block]


def refuse_bits(argument: int, bits: int) -> Block:
    """Refused if any of these bits is set in an argument."""
    return [
        (LOAD, 0, 0, ARGUMENT[argument]),
        (ANY_BIT, 0, 1, bits),
        answer(REFUSE),
        answer(ALLOW),
    ]


def assemble(instructions: Iterable[Instruction]) -> bytes:
    """The program, as an array of struct sock_filter."""
    return b"".join(struct.pack("=HBBI", *each) for each in instructions)
