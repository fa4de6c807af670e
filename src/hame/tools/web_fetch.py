"""web_fetch: a page of the public web as readable text."""

from functools import cache

from hame.base.errors import ToolError
from hame.base.json import JsonObject
from hame.base.outcome import Done, Failed, TextView, text_content
from hame.base.ports import Action, ToolContext, Web
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.web import WebRequest
from hame.tools.action import Plan, hold
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.phrase import spoken

_MOST_CHARS = 60_000
"""Of the text that the model gets; the rest is in the whole result."""


class WebFetch:
    """Fetches a page."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The address."""
        return spoken(arguments, "url")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Nothing is asked before the gate has spoken.

        Raises:
            ToolError: where there is no web.
        """
        web, url = context.web, need_string(arguments, "url").strip()
        if web is None:
            raise ToolError("there is no access to the web here")

        async def plan() -> Plan:
            return Plan(lambda: _fetch(web, url, context), TextView(url), (url,))

        return await hold((), plan)


async def _fetch(web: Web, url: str, context: ToolContext) -> Done | Failed:
    import anyio.to_thread

    from hame.tools.webpage import page_to_markdown
    from hame.tools.webtext import body_text, elsewhere_text, is_page, is_text, media_type

    got = await web.fetch(WebRequest(url=url))
    if got.elsewhere:
        return Done(text_content(elsewhere_text(got)))
    if not is_text(got):
        size = f"{len(got.body):,} bytes" + (" and more" if got.cut else "")
        kind = media_type(got) or "binary data"
        return Failed(f"{got.url} is {kind} ({size}), not text; fetch it with run_command")
    text = body_text(got)
    if is_page(got):
        text = await anyio.to_thread.run_sync(page_to_markdown, text, got.url)
    notes = [f"status {got.status}"] if got.status >= 300 else []
    if got.cut:
        notes.append(f"cut after {len(got.body):,} bytes")
    if len(text) > _MOST_CHARS:
        kept = context.blobs.put(text) if context.blobs is not None else None
        where = f"; the whole is result:{kept}" if kept else ""
        notes.append(f"{len(text) - _MOST_CHARS:,} characters more are left out{where}")
        text = text[:_MOST_CHARS]
    body = f"{got.url}\n\n{text.strip() or '(no text)'}" + "".join(f"\n[{note}]" for note in notes)
    return Failed(body) if got.status >= 400 else Done(text_content(body), TextView(text))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="web_fetch",
        title="Fetch",
        description=describe(__file__),
        effect=Effect.NETWORK,
        advertised=False,
        arguments=(Argument(name="url", kind=ArgumentKind.URL),),
    )
