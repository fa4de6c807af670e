"""Every kind of failure as a person sees it: what happened, whose words, and what to do.

Each is made by the code that makes it in a run, from what a server or the network really does.
"""

import errno
import io
import json
import socket
import ssl

import pytest
from inline_snapshot import snapshot

from hame.app.runtime import _crashed
from hame.base.errors import ErrorKind, Failure
from hame.base.event import RunEnded
from hame.base.model import Usage
from hame.base.run import RunFailed
from hame.cli.plain import PlainView
from hame.llm.advice import located
from hame.llm.broken import cut_stream, not_an_answer
from hame.llm.classify import classify_error, classify_response
from hame.net.faults import connection_failure, request_failure, timeout_failure

URL = "https://api.acme.example/v1/chat/completions"
LOCAL = "http://127.0.0.1:1234/v1/chat/completions"


def shown(failure: Failure) -> str:
    """What `hame -p` writes to standard error at the end of a run that failed."""
    out = io.StringIO()
    result = RunFailed(failure=failure)
    view = PlainView(out, answers=False)
    view.show(RunEnded(result=result, usage=Usage(), steps=1, seconds=0.0, cost_usd=0.0))
    return out.getvalue().partition("\n1 step")[0]


def refused(status: int, said: object, **headers: str) -> Failure:
    """A refusal by status."""
    body = said if isinstance(said, str) else json.dumps(said)
    lower = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify_response(status, lower, body.encode(), "Acme", now=0.0)


def error(message: str, code: str = "", kind: str = "") -> dict:
    return {"error": {"message": message, "code": code, "type": kind}}


def crashed() -> Failure:
    """What hame makes of a bug of its own."""
    result = _crashed(RuntimeError("boom"), str).result
    assert isinstance(result, RunFailed)
    return result.failure


FAILURES = {
    "auth": refused(401, error("Incorrect API key provided: sk-...abc")),
    "permission": refused(403, error("Project does not have access to model `big`")),
    "not_found: model": located(refused(404, error("The model `bog` does not exist")), URL),
    "not_found: missing /v1": located(
        refused(404, "404 page not found"), "http://h:1/chat/completions"
    ),
    "context_overflow": refused(
        400, error("maximum context length is 128000 tokens", "context_length_exceeded")
    ),
    "request_too_large": refused(
        413, error("Request exceeds the maximum size", "", "request_too_large")
    ),
    "invalid_request": refused(400, error("Invalid value: 'seven'.\nSee the manual.")),
    "rate_limit": refused(429, error("Rate limit reached: 3 per minute"), retry_after="75"),
    "quota_exhausted": refused(402, error("Insufficient credits")),
    "overloaded": refused(529, error("Overloaded", "", "overloaded_error")),
    "server_error": refused(
        503, "<html><head><title>503 Service Unavailable</title></head></html>"
    ),
    "content_filter": refused(400, error("blocked", "content_filter")),
    "tool_use_failed": refused(400, error("Failed to call a function.", "tool_use_failed")),
    "network: nothing listening here": connection_failure(ConnectionRefusedError(), LOCAL),
    "network: refused elsewhere": connection_failure(ConnectionRefusedError(), URL),
    "network: unreachable": connection_failure(
        OSError(errno.EHOSTUNREACH, "No route to host"), URL
    ),
    "network: no such host": connection_failure(
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"), URL
    ),
    "network: no TLS": connection_failure(ssl.SSLError(1, "wrong version number"), URL),
    "network: cut": cut_stream("Acme", mid_stream=True),
    "timeout: first byte": timeout_failure("first_byte", 60, URL),
    "timeout: idle": timeout_failure("idle", 60, URL),
    "timeout: said": classify_error({"error": {"code": "timeout"}}, "Acme", mid_stream=True),
    "protocol": not_an_answer("Acme", "<html>Welcome to nginx</html>"),
    "invalid_request: unsendable": request_failure("a header holds a line break", URL),
    "unknown: of hame itself": crashed(),
}

WORDS = snapshot({
    "auth": [
        "error: Acme did not accept the API key (HTTP 401). (Incorrect API key provided: sk-...abc)",
        "Check the key for this provider (its environment variable or api_key setting) and its base URL.",
    ],
    "permission": [
        "error: Acme does not let this key do that (HTTP 403). (Project does not have access to model `big`)",
        "Give the key or project access to this model, or choose another with --model.",
    ],
    "not_found: model": [
        "error: Acme does not know this model or address (HTTP 404). (The model `bog` does not exist)",
        "Check the model's name with `hame models` and the provider's base URL.",
    ],
    "not_found: missing /v1": [
        "error: Acme has nothing at http://h:1/chat/completions (HTTP 404). (404 page not found)",
        "The base URL may lack its /v1. Check the provider's base URL, and the model's name with `hame models`.",
    ],
    "context_overflow": [
        "error: The conversation is longer than the model's context window, says Acme (HTTP 400). (maximum context length is 128000 tokens)",
        "Shorten the conversation or start a new one, or choose a model with a larger window.",
    ],
    "request_too_large": [
        "error: The request is too large for Acme (HTTP 413). (Request exceeds the maximum size)",
        "Leave out images or large files, lower the output limit, or start a new conversation.",
    ],
    "invalid_request": [
        "error: Acme refused the request as invalid (HTTP 400). (Invalid value: 'seven'.)",
        "See the provider's words; another model (--model) may accept it.",
    ],
    "rate_limit": [
        "error: Acme limits how often it may be asked, and the limit is reached (HTTP 429). (Rate limit reached: 3 per minute)",
        "Wait 1 min 15 s, or choose another model with --model.",
    ],
    "quota_exhausted": [
        "error: The credit or quota with Acme is used up (HTTP 402). (Insufficient credits)",
        "Check the plan and billing with the provider, or choose another with --model.",
    ],
    "overloaded": [
        "error: Acme is overloaded (HTTP 529). (Overloaded)",
        "Try again in a moment, or choose another model with --model.",
    ],
    "server_error": [
        "error: Acme had an error of its own (HTTP 503). (503 Service Unavailable)",
        "Try again; if it stays, look at the provider's status page or choose another model.",
    ],
    "content_filter": [
        "error: Acme blocked the request with its content filter (HTTP 400).",
        "Rephrase the request, or choose another model with --model.",
    ],
    "tool_use_failed": [
        "error: The model wrote a tool call that Acme refused (HTTP 400). (Failed to call a function.)",
        "Ask again; if it stays, choose a model that is better at calling tools.",
    ],
    "network: nothing listening here": [
        "error: Nothing is listening at http://127.0.0.1:1234.",
        "Start the server there, or check the base URL and its port.",
    ],
    "network: refused elsewhere": [
        "error: https://api.acme.example refused the connection.",
        "Check the base URL and its port; the server may be down.",
    ],
    "network: unreachable": [
        "error: https://api.acme.example cannot be reached: No route to host.",
        "Check the network connection, and the proxy settings if you are behind one.",
    ],
    "network: no such host": [
        "error: The address of https://api.acme.example cannot be found: Name or service not known.",
        "Check the spelling of the base URL and the network connection.",
    ],
    "network: no TLS": [
        "error: https://api.acme.example does not speak TLS as it should: wrong version number.",
        "Check whether the base URL should begin with http:// instead of https://.",
    ],
    "network: cut": [
        "error: Acme broke off in the middle of its answer.",
        "Try again; if it stays, check the network connection and any proxy in between.",
    ],
    "timeout: first byte": [
        "error: https://api.acme.example sent nothing for 60 s.",
        "Try again; for a model that is slow to begin, raise --first-byte-timeout.",
    ],
    "timeout: idle": [
        "error: https://api.acme.example fell silent for 60 s in the middle of its answer.",
        "Try again; for a model that pauses long, raise --idle-timeout.",
    ],
    "timeout: said": [
        "error: Acme took too long to answer.",
        "Try again, or raise --first-byte-timeout and --idle-timeout for a slow model.",
    ],
    "protocol": [
        "error: Acme sent something that is not an answer. (<html>Welcome to nginx</html>)",
        "Check that the provider's base URL and wire are right; a proxy may stand in between.",
    ],
    "invalid_request: unsendable": [
        "error: The request to https://api.acme.example cannot be sent: a header holds a line break.",
        "Check the base URL, and the API key for spaces, line breaks and odd characters.",
    ],
    "unknown: of hame itself": [
        "error: hame failed: RuntimeError: boom",
        "This is a bug in hame; the log has the details.",
    ],
})


def test_every_kind_is_here_and_is_what_it_is_called():
    assert {failure.kind for failure in FAILURES.values()} == set(ErrorKind)
    for name, failure in FAILURES.items():
        assert failure.kind == name.partition(":")[0]


def test_every_kind_is_shown_with_what_to_do():
    assert {name: shown(failure).splitlines() for name, failure in FAILURES.items()} == WORDS


@pytest.mark.parametrize("name", FAILURES)
def test_at_most_one_line_of_the_providers_words_is_shown(name):
    assert len(shown(FAILURES[name]).splitlines()) == 2
    assert FAILURES[name].hint
