"""Which generation a Gemini model is of: they differ in how thinking is asked for and signed."""

import re

_NUMBER = re.compile(r"gemini-(\d+)")
_LATEST = 3


def generation(model: str) -> int:
    """2 for gemini-2.5-flash, 3 for gemini-3-pro-preview; names without a number that move on are 3.

    0 for a model that is no Gemini (Gemma, and whatever else is served here).
    """
    found = _NUMBER.search(model)
    if found is not None:
        return int(found.group(1))
    return _LATEST if model.startswith("gemini-") and model.endswith("-latest") else 0
