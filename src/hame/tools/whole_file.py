"""Writing a whole file, as the tools do that make one or replace one."""

from hame.base.outcome import Done, text_content
from hame.base.path import FileText
from hame.base.ports import Located, ToolContext
from hame.tools.difference import difference, split_lines
from hame.tools.phrase import counted
from hame.tools.problems import new_problems
from hame.tools.seen import SeenTexts


async def write_whole(
    place: Located, context: ToolContext, seen: SeenTexts, content: str, *, like: FileText | None
) -> Done:
    """Write it: a new file, or with `like` in place of the one that was read so.

    Raises:
        PathError: if it cannot be written.
    """
    workspace, shown = context.workspace, place.resolution.shown
    await workspace.write_text(place, content, like, replace=like is not None)
    seen.remember(workspace.was_read(place), content)
    before = like.text if like else ""
    view = difference(shown, before, content, created=like is None)
    lines = counted(len(split_lines(content)), "line")
    problems = await new_problems(context, shown, before, content)
    return Done(text_content(f"wrote {shown} ({lines}){problems}"), view, (shown,))
