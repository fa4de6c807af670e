"""What a server sends back never holds the key that it was sent."""

import json
from base64 import b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.model import Timeouts
from hame.base.ports import HttpRequest
from hame.base.secret import spellings
from hame.net.echo import Echo
from hame.testing import Reply, ScriptedServer

KEY = 'planted/key+of=no&known"shape%7f3c'


def sent(*headers: tuple[str, str]) -> HttpRequest:
    return HttpRequest(method="GET", url="https://a.test/", headers=headers)


def taken(echo: Echo, *chunks: bytes) -> bytes:
    return b"".join([*map(echo.feed, chunks), echo.rest()])


def coded(text: str) -> str:
    return b64encode(text.encode()).decode()


FORMS = {
    "plain": KEY,
    "in an address": quote(KEY, safe=""),
    "in an address, slashes kept": quote(KEY),
    "in an address, lower case": "".join(c if c.isalnum() else f"%{ord(c):02x}" for c in KEY),
    "JSON": json.dumps(KEY)[1:-1],
    "JSON of PHP": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "HTML": escape(KEY),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_taken_out_however_it_is_spelt(form):
    text = f'{{"error": "no such key: {FORMS[form]} (sorry)"}}'
    out = taken(Echo(sent(("authorization", f"Bearer {KEY}"))), text.encode())
    assert out == b'{"error": "no such key: [redacted] (sorry)"}'


@pytest.mark.parametrize("beside", ["", "u:", "us:", "use:", "user:"])
@pytest.mark.parametrize("after", ["", "\n", ":x", "..."])
def test_a_key_in_base64_is_taken_out_but_for_what_its_ends_share(beside, after):
    for encode in (b64encode, urlsafe_b64encode):
        text = encode(f"{beside}{KEY}{after}".encode())
        out = taken(Echo(sent(("x-api-key", KEY))), b"Basic " + text + b" is refused")
        assert b"[redacted]" in out
        assert len(out) < len(b"Basic [redacted] is refused") + 14


@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "api-key", "x-goog-api-key"])
def test_whatever_header_it_is_sent_in(header):
    value = f"Bearer {KEY}" if header == "Authorization" else KEY
    assert taken(Echo(sent((header, value))), KEY.encode()) == b"[redacted]"


def test_a_key_that_was_cut_short_is_taken_out_from_its_half_on():
    echo = Echo(sent(("x-api-key", KEY)))
    assert taken(echo, f"bad key {KEY[:-6]}".encode()) == b"bad key [redacted]"
    assert (
        taken(echo, f"bad key {KEY[: len(KEY) // 2]}... x".encode()) == b"bad key [redacted]... x"
    )
    assert taken(echo, b"bad key planted/...") == b"bad key planted/..."


def test_a_secret_that_is_no_text_is_spelt_as_well():
    odd = b"half \xff a key".decode(errors="surrogateescape")
    assert odd in spellings(odd)
    assert "half%20%FF%20a%20key" in spellings(odd)


def test_the_password_of_a_proxy_is_taken_out_as_well():
    echo = Echo(sent(), "http://me:pass%2Fword-12@proxy.test:8080")
    said = f"407: pass/word-12, {coded('me:pass/word-12')}".encode()
    out = taken(echo, said)
    assert out.startswith(b"407: [redacted], ")
    assert out.count(b"[redacted]") == 2


def test_headers_lose_it_as_well():
    echo = Echo(sent(("x-api-key", "a-key-of-letters")))
    given_ = {"location": "https://b.test/?k=a-key-of-letters", "x-n": "1"}
    assert echo.headers(given_) == {"location": "https://b.test/?k=[redacted]", "x-n": "1"}


def test_words_that_every_request_holds_are_no_secret():
    text = b'{"type": "Bearer", "scheme": "Basic", "key": "short"}'
    assert (
        taken(Echo(sent(("authorization", "Bearer short"), ("accept", "application/json"))), text)
        == text
    )


@given(
    st.lists(st.sampled_from([KEY, KEY[:9], "data: ", "\n\n", "p", "x"]), max_size=12), st.data()
)
def test_pieces_of_any_size_hold_as_little_and_as_much_as_the_whole(parts, data):
    whole = "".join(parts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    request = sent(("authorization", f"Bearer {KEY}"))
    out = taken(Echo(request), *chunks)
    assert KEY.encode() not in out
    assert out == taken(Echo(request), whole)


def test_what_ends_a_line_is_not_held_back():
    echo = Echo(sent(("x-api-key", KEY)))
    assert echo.feed(b"data: {}\n\n") == b"data: {}\n\n"
    assert echo.feed(b"data: pla") == b"data: "
    assert echo.feed(b"ces\n") == b"places\n"


async def test_an_answer_over_http_has_lost_it(client):
    said = Reply(
        status=401, body=f'{{"error": "{quote(KEY)}"}}'.encode(), headers=(("X-Key", KEY),)
    )
    async with ScriptedServer(pages={"/v1/models": said}) as server:
        request = HttpRequest(
            method="GET", url=f"{server.url}/v1/models", headers=(("x-api-key", KEY),)
        )
        async with client.send(request, Timeouts()) as response:
            body = b"".join([chunk async for chunk in response.chunks()])
    assert body == b'{"error": "[redacted]"}'
    assert response.headers["x-key"] == "[redacted]"
