"""What a model is told when the user took something back."""

from collections.abc import Sequence

_NAMED = 20


def files_undone_text(paths: Sequence[str]) -> str:
    """Files are as they were; the conversation still says otherwise."""
    return f"The user has undone changes of yours. Read these files again before you rely on them:\n{_list(paths)}"


def files_stay_text(paths: Sequence[str]) -> str:
    """The conversation was taken back, the files were not."""
    return (
        "The user has taken the conversation back to here, but kept changes that were made after "
        f"it to these files:\n{_list(paths)}"
    )


def _list(paths: Sequence[str]) -> str:
    shown = "\n".join(paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{shown}\n({more} more)" if more > 0 else shown
