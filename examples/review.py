"""Review what has changed in a git repository, from Python.

    python examples/review.py [FOLDER]

Uses the model that `hame` would use there. Reads are free; anything else is refused here.
"""

import asyncio
import sys

import hame
from hame.base import event


async def ask(question: hame.Question) -> hame.Answer:
    """Refuse whatever is asked: commands that only look, such as git diff, run without a question.

    To say yes, look at all of it (`question.detail` is the whole command), never at how it begins.
    """
    print(f"? {question.title} -> no")
    return hame.Answer(words="Only look: read files, git diff, git log. Change nothing.")


async def main() -> None:
    """One prompt; its events as they come."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    async with hame.open(folder, mode="ask", ask=ask) as session:
        async for item in session.prompt("Review the uncommitted changes. Name bugs first."):
            match item:
                case event.TextDelta(text=text):
                    print(text, end="", flush=True)
                case event.CallStarted(title=title, summary=summary):
                    print(f"\n[{title} {summary}]")
                case event.RunEnded(result=result):
                    print(f"\n{type(result).__name__}; session {session.id}")
                case _:
                    pass


if __name__ == "__main__":
    asyncio.run(main())
