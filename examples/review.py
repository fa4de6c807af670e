"""Review what has changed in a git repository, from Python.

    python examples/review.py [FOLDER]

Uses the model that `hame` would use there. Reads are free; anything else is asked for here.
"""

import asyncio
import sys

import hame
from hame.base import event
from hame.base.question import Choice


async def ask(question: hame.Question) -> hame.Answer:
    """Decide what the model may run: only git commands that look."""
    harmless = question.title.startswith(("Run git diff", "Run git log", "Run git show"))
    print(f"? {question.title} -> {'yes' if harmless else 'no'}")
    return hame.Answer(choice=Choice.ONCE if harmless else Choice.NO)


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
