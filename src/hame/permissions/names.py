"""Sets of names written as one text: a table of a hundred words stays readable."""


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
