"""Ids for calls that came without one."""

import hashlib


def mint_call_id(answer: str, number: int, name: str) -> str:
    """An id made from the answer's own id, the call's position in it and the tool's name.

    It is the same however the body was cut, and another for every other answer.
    """
    seed = f"{answer}/{number}/{name}"
    return f"call_{hashlib.sha256(seed.encode()).hexdigest()[:20]}"
