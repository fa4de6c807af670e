"""A page of the web as Markdown that a model can read: its words, links and tables, not its furniture."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_FURNITURE = (
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "form",
    "nav", "footer", "aside", "button", "input", "select", "dialog", "head",
)  # fmt: skip
_BLANK_LINES = re.compile(r"\n{3,}")
_LEAST = 200
"""Characters that the part which calls itself the main one must have to be taken for the page."""


def page_to_markdown(html: str, url: str) -> str:
    """The page's title and its main part as Markdown; links are whole addresses."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for name in _FURNITURE:
        for element in soup.find_all(name):
            element.decompose()
    _complete_links(soup, url)
    main = soup.find("main") or soup.find("article")
    if main is None or len(main.get_text()) < _LEAST:
        main = soup
    converter = MarkdownConverter(heading_style="ATX", bullets="-", escape_misc=False)
    text = converter.convert_soup(main)
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    body = _BLANK_LINES.sub("\n\n", lines).strip()
    return f"# {title}\n\n{body}" if title and not body.startswith(f"# {title}") else body


def _complete_links(soup: "BeautifulSoup", url: str) -> None:
    for link in soup.find_all("a", href=True):
        address = urljoin(url, str(link["href"]))
        if address.startswith(("http://", "https://", "mailto:")):
            link["href"] = address
        else:
            del link["href"]
    for image in soup.find_all("img"):
        # A picture is said by its text; its data and its address are of no use to a reader.
        image.replace_with(f"[picture: {image.get('alt')}]" if image.get("alt") else "")
