"""What would be sent to a model, written out with its keys masked."""

import re
from collections.abc import Sequence

import anyio
from msgspec.structs import replace

from hame.app.build import Launchpad, build_runtime
from hame.app.lastwords import known_secrets
from hame.app.models import USER_AGENT
from hame.base.capability import written
from hame.base.json import JsonObject, parse
from hame.base.ports import HttpRequest
from hame.net.http import whole_headers

_MASK = "***"
_LEAST_SECRET = 8
"""Characters; a shorter value is masked only where its place tells that it is a secret."""
_SECRET_QUERY = re.compile(r"([?&][^=&]*(?:auth|key|token|secret|sig)[^=&]*=)[^&]*", re.IGNORECASE)
_SECRET_NAMES = ("auth", "key", "token", "secret", "cookie", "password")
"""A header whose name holds one of these is shown masked, whatever is in it."""


async def preview_request(pad: Launchpad, text: str) -> JsonObject:
    """The first request of a prompt: method, URL, headers and body; no model is asked.

    A server of the user's own is asked for what it says of the model: the request depends on it.

    Raises:
        ConfigError: if no model can be asked, or the one that is meant is not asked over HTTP.
        SessionError: if the session to go on with cannot be opened.
    """
    runtime = await build_runtime(replace(pad, tries=False))
    try:
        model, request = await runtime.preview(text)
    finally:
        with anyio.CancelScope(shield=True):
            await runtime.close()
    return describe_request(written(model, request), known_secrets(pad.settings, pad.environment))


def describe_request(request: HttpRequest, secrets: Sequence[str]) -> JsonObject:
    """A request as one object; keys and secrets in its address and headers are masked."""
    headers = {
        name: _masked(name, value, secrets) for name, value in whole_headers(request, USER_AGENT)
    }
    return {
        "method": request.method,
        "url": _without(_SECRET_QUERY.sub(rf"\1{_MASK}", request.url), secrets),
        "headers": headers,
        "body": parse(request.body) if request.body else None,
    }


def _masked(name: str, value: str, secrets: Sequence[str]) -> str:
    if any(word in name.lower() for word in _SECRET_NAMES):
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {_MASK}" if space else _MASK
    return _without(value, secrets)


def _without(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            text = text.replace(secret, _MASK)
    return text
