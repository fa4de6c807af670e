"""The body of a web answer as text, and what is said of an answer that is none."""

import codecs
import re

from hame.base.web import WebResponse

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript",
               "application/x-yaml", "application/toml", "application/x-ndjson")  # fmt: skip


def media_type(response: WebResponse) -> str:
    """`text/html`; empty when the server does not say."""
    return response.header("content-type").partition(";")[0].strip().lower()


def is_page(response: WebResponse) -> bool:
    """Whether the body is HTML, by its type or, without one, by its beginning."""
    kind = media_type(response)
    if kind:
        return kind in {"text/html", "application/xhtml+xml"}
    return response.body.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))


def is_text(response: WebResponse) -> bool:
    """Whether the body can be shown as text."""
    kind = media_type(response)
    if kind.startswith(_TEXT_TYPES) or kind.endswith(("+json", "+xml")):
        return True
    return b"\0" not in response.body[:4_000] and not kind.startswith((
        "image/",
        "audio/",
        "video/",
        "application/pdf",
        "application/zip",
        "font/",
    ))


def body_text(response: WebResponse) -> str:
    """The body decoded as the server, or the page itself, says; else as UTF-8."""
    found = _CHARSET.search(response.header("content-type"))
    name = found[1] if found else ""
    if not name and (meta := _META.search(response.body[:2_000])):
        name = meta[1].decode("ascii", "replace")
    try:
        codec = codecs.lookup(name or "utf-8").name
    except LookupError:
        codec = "utf-8"
    return response.body.decode(codec, "replace").removeprefix("\ufeff")


def elsewhere_text(response: WebResponse) -> str:
    """What is told of a redirect to another host."""
    return (
        f"{response.url} redirects (status {response.status}) to another host, which was not asked: "
        f"{response.elsewhere}\nFetch that address if it is what you want."
    )
