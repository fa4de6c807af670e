"""http_request: one HTTP request to the public network, and its answer as it is."""

from functools import cache

from hame.base.errors import ArgumentError, ToolError
from hame.base.json import JsonObject, get_number, get_object, get_string
from hame.base.outcome import Done, Failed, TextView, text_content
from hame.base.ports import Action, ToolContext, Web
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.base.web import WebRequest, WebResponse
from hame.tools.action import Plan, hold
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.phrase import flatten, spoken

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MOST_CHARS = 30_000
_LONGEST_S = 120.0


class HttpRequestTool:
    """Makes a request."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """Method and address."""
        method = get_string(arguments, "method") or "GET"
        return flatten(f"{method.upper()} {spoken(arguments, 'url')}")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Put the request together; nothing is sent before the gate has spoken.

        Raises:
            ArgumentError: for headers that are no texts.
            ToolError: where there is no network.
        """
        web = context.web
        if web is None:
            raise ToolError("there is no access to the web here")
        headers = get_object(arguments, "headers")
        if not all(isinstance(value, str) for value in headers.values()):
            raise ArgumentError("headers are an object of texts")
        request = WebRequest(
            url=need_string(arguments, "url").strip(),
            method=(get_string(arguments, "method") or "GET").upper(),
            headers=tuple((name, str(value)) for name, value in headers.items()),
            body=(get_string(arguments, "body") or "").encode(),
            timeout_s=min(get_number(arguments, "timeout_s") or 30.0, _LONGEST_S),
        )

        async def plan() -> Plan:
            shown = _shown(request)
            return Plan(lambda: _send(web, request, context), TextView(shown), (repr(request),))

        return await hold((), plan)


def _shown(request: WebRequest) -> str:
    """All that will be sent, for the question."""
    lines = [f"{request.method} {request.url}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    if request.body:
        lines += ["", request.body.decode("utf-8", "replace")]
    return "\n".join(lines)


async def _send(web: Web, request: WebRequest, context: ToolContext) -> Done | Failed:
    got = await web.fetch(request)
    text = _answer(got, context)
    return Failed(text) if got.status >= 400 else Done(text_content(text), TextView(text))


def _answer(got: WebResponse, context: ToolContext) -> str:
    from hame.tools.webtext import body_text, is_text, media_type

    lines = [f"status {got.status}", *(f"{name}: {value}" for name, value in got.headers), ""]
    if got.elsewhere:
        lines.append(f"[another host was not asked: {got.elsewhere}]")
    if not is_text(got):
        lines.append(f"[{len(got.body):,} bytes of {media_type(got) or 'binary data'}]")
        return "\n".join(lines)
    text = body_text(got)
    notes = [f"[cut after {len(got.body):,} bytes]"] if got.cut else []
    if len(text) > _MOST_CHARS:
        kept = context.blobs.put(text) if context.blobs is not None else None
        where = f"; the whole is result:{kept}" if kept else ""
        notes.append(f"[{len(text) - _MOST_CHARS:,} characters more are left out{where}]")
        text = text[:_MOST_CHARS]
    return "\n".join([*lines, text, *notes])


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="http_request",
        title="Request",
        description=describe(__file__),
        effect=Effect.NETWORK,
        advertised=False,
        arguments=(
            Argument(name="url", kind=ArgumentKind.URL),
            Argument(name="method", kind=ArgumentKind.CHOICE, choices=_METHODS, required=False),
            Argument(name="headers", kind=ArgumentKind.ITEMS, type="object", required=False),
            Argument(name="body", kind=ArgumentKind.WORDS, required=False),
            Argument(
                name="timeout_s",
                kind=ArgumentKind.NUMBER,
                type="number",
                required=False,
                description="at most 120",
            ),
        ),
    )
