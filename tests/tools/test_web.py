"""web_fetch and http_request: what is asked, what the model gets, and what is shown before."""

from pathlib import Path

import pytest

from hame.base.errors import ArgumentError, ToolError
from hame.base.outcome import Failed, TextView
from hame.base.tool import ArgumentKind, Effect
from hame.base.web import WebRequest, WebResponse
from hame.tools.webpage import page_to_markdown
from hame.workspace.results import ResultStore


def size_of(path: str) -> int:
    return Path(path).stat().st_size


class ScriptedWeb:
    """Gives one answer to everything."""

    def __init__(self, body: bytes = b"", kind: str = "text/html", **more: object) -> None:
        headers = (("content-type", kind),) if kind else ()
        self.answer = WebResponse(
            url="https://x.test/", headers=headers, body=body, **{"status": 200, **more}
        )
        self.asked: list[WebRequest] = []

    async def fetch(self, request: WebRequest) -> WebResponse:
        self.asked.append(request)
        return self.answer


PAGE = """<!DOCTYPE html><html><head><title>The  page</title><style>p{}</style></head><body>
<nav><a href="/home">Home</a></nav><script>alert('x')</script>
<main><h1>Heading</h1><p>Some <b>bold</b> text with a <a href="/deep?a=1">link</a> and enough words
that this part is taken for the page itself, and not for one of the boxes that stand around it, of
which there are always far too many on any page that one may want to read.</p>
<ul><li>one</li><li>two</li></ul><pre><code>def f():
    return 1</code></pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="data:image/png;base64,AAAA" alt="a chart"><a href="javascript:alert(1)">bad</a></main>
<footer>Copyright</footer></body></html>"""


def test_a_page_becomes_its_words_links_and_tables():
    text = page_to_markdown(PAGE, "https://x.test/dir/")
    assert text.startswith("# The page\n")
    for part in (
        "# Heading", "**bold**", "[link](https://x.test/deep?a=1)", "- one", "| a | b |",
        "    return 1", "[picture: a chart]", "bad",
    ):  # fmt: skip
        assert part in text
    for part in ("alert", "p{}", "Home", "Copyright", "base64", "javascript"):
        assert part not in text


@pytest.mark.parametrize(
    "html", ["", "<", "<p", "</p></div>", "<table><td>", "<a href>", "&#0;&bogus;", "<b>" * 300]
)
def test_a_broken_page_is_read_as_far_as_it_goes(html):
    assert isinstance(page_to_markdown(html, "https://x.test/"), str)


async def test_a_page_is_fetched_as_markdown(desk):
    desk.change(web=(web := ScriptedWeb(PAGE.encode())))
    text = await desk.done("web_fetch", url=" https://x.test/ ")
    assert text.startswith("https://x.test/\n\n# The page")
    assert web.asked[0].url == "https://x.test/"


async def test_other_text_comes_as_it_is_and_in_its_own_coding(desk):
    desk.change(web=ScriptedWeb(b'{"a": 1}', "application/json"))
    assert '{"a": 1}' in await desk.done("web_fetch", url="https://x.test/")
    desk.change(web=ScriptedWeb("é".encode("latin-1"), "text/plain; charset=latin-1"))
    assert "é" in await desk.done("web_fetch", url="https://x.test/")
    desk.change(web=ScriptedWeb('<meta charset="cp1251"><p>Привет</p>'.encode("cp1251")))
    assert "Привет" in await desk.done("web_fetch", url="https://x.test/")


async def test_what_is_no_text_is_said(desk):
    desk.change(web=ScriptedWeb(b"\x89PNG\0", "image/png"))
    assert "is image/png (5 bytes), not text" in await desk.failed(
        "web_fetch", url="https://x.test/"
    )


async def test_an_error_status_is_a_failure_with_the_page(desk):
    desk.change(web=ScriptedWeb(b"<p>no such page</p>", status=404))
    text = await desk.failed("web_fetch", url="https://x.test/")
    assert "no such page" in text
    assert "[status 404]" in text


async def test_a_redirect_to_another_host_is_told(desk):
    desk.change(web=ScriptedWeb(status=302, elsewhere="https://y.test/z"))
    text = await desk.done("web_fetch", url="https://x.test/")
    assert "https://y.test/z" in text
    assert "not asked" in text


async def test_a_long_text_is_cut_and_kept_whole(desk, tmp_path):
    desk.change(
        web=ScriptedWeb(b"word " * 20_000, "text/plain", cut=True),
        blobs=(results := ResultStore(str(tmp_path / "r"))),
    )
    text = await desk.done("web_fetch", url="https://x.test/")
    assert "[cut after 100,000 bytes]" in text
    assert "40,000 characters more are left out" in text
    name = text.rsplit("result:", 1)[1].rstrip("]")
    assert size_of(results.path(name)) == 100_000


async def test_a_request_is_shown_whole_before_it_is_sent(desk):
    desk.change(web=(web := ScriptedWeb(b"ok", "text/plain")))
    arguments = {
        "url": "https://x.test/api", "method": "POST", "headers": {"X-A": "1"}, "body": '{"b": 2}',
    }  # fmt: skip
    action = await desk.prepare("http_request", **arguments)
    assert action.view == TextView('POST https://x.test/api\nX-A: 1\n\n{"b": 2}')
    assert web.asked == []
    other = await desk.prepare("http_request", **{**arguments, "body": "other"})
    assert action.digest != other.digest
    text = await desk.done("http_request", **arguments)
    assert text == "status 200\ncontent-type: text/plain\n\nok"
    assert web.asked[0].body == b'{"b": 2}'
    assert web.asked[0].headers == (("X-A", "1"),)


async def test_answers_of_every_kind_are_told_as_they_are(desk):
    desk.change(web=ScriptedWeb(b"bad", "text/plain", status=500))
    assert (await desk.failed("http_request", url="https://x.test/")).startswith("status 500")
    desk.change(web=ScriptedWeb(b"\0\1", "application/zip"))
    assert "[2 bytes of application/zip]" in await desk.done("http_request", url="https://x.test/")
    desk.change(web=ScriptedWeb(b"", "", status=301, elsewhere="https://y.test/"))
    assert "another host was not asked" in await desk.done("http_request", url="https://x.test/")


async def test_both_are_gated_as_network_by_their_url(desk):
    for name in ("web_fetch", "http_request"):
        spec = desk.tools[name].spec
        assert spec.effect is Effect.NETWORK
        assert spec.argument("url").kind is ArgumentKind.URL
    assert desk.tools["http_request"].summarize({"url": "u", "method": "post"}) == "POST u"


async def test_without_a_web_and_with_bad_headers_nothing_is_asked(desk):
    for name in ("web_fetch", "http_request"):
        with pytest.raises(ToolError, match="no access"):
            await desk.prepare(name, url="https://x.test/")
    desk.change(web=ScriptedWeb())
    with pytest.raises(ArgumentError):
        await desk.prepare("http_request", url="https://x.test/", headers={"a": 1})
    assert not isinstance(await desk.call("web_fetch", url="https://x.test/"), Failed)
