"""A command and its input as one shell command, for eyes and for whoever judges it."""


def with_input(command: str, text: str) -> str:
    """The command with the text as a here-document."""
    mark = "INPUT"
    while mark in text.split("\n"):
        mark += "_"
    start = command if "\n" not in command else f"{{\n{command}\n}}"
    return f"{start} <<'{mark}'\n{text.rstrip(chr(10))}\n{mark}"
