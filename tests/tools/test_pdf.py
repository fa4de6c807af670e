"""PDFs as text, read by a process of their own."""

import pytest

from hame.tools import pdf

pytest.importorskip("pypdf", reason="the extra `pdf` is not installed")


def make_pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page."""
    count = len(pages)
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R"
            f" /Resources << /Font << /F1 {3 + 2 * count} 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out = b"%PDF-1.4\n"
    starts: list[int] = []
    for number, body in enumerate(objects, 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    return (
        out
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
        ).encode()
    )


async def test_pages_come_with_their_numbers(desk):
    desk.write("a.pdf", make_pdf("First page", "Second page"))
    assert await desk.done("read_file", path="a.pdf") == (
        "1\t--- page 1 ---\n2\tFirst page\n3\t--- page 2 ---\n4\tSecond page"
    )
    part = await desk.done("read_file", path="a.pdf", start_line=3, end_line=4)
    assert part.startswith("3\t--- page 2 ---\n4\tSecond page")


async def test_a_pdf_is_known_by_its_bytes_too(desk):
    desk.write("paper", make_pdf("Words") + b"\0\0")
    assert "Words" in await desk.done("read_file", path="paper")


async def test_a_pdf_of_pictures_says_that_it_has_no_text(desk):
    desk.write("scan.pdf", make_pdf("", ""))
    assert "without text, perhaps scanned" in await desk.failed("read_file", path="scan.pdf")


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\ngarbage", b"not a pdf", make_pdf("x")[:200]])
async def test_a_broken_pdf_is_said_to_be_broken(desk, data):
    desk.write("a.pdf", data)
    text = await desk.failed("read_file", path="a.pdf")
    assert text.startswith("a.pdf is a PDF, but")


async def test_without_the_library_it_says_what_is_missing(desk, monkeypatch):
    monkeypatch.setattr(pdf, "find_spec", lambda _: None)
    desk.write("a.pdf", make_pdf("x"))
    text = await desk.failed("read_file", path="a.pdf")
    assert "needs the extra `pdf`: pip install 'hame[pdf]'" in text


async def test_modules_of_the_project_are_not_run(desk):
    desk.write("pypdf.py", "raise SystemExit('run!')\n")
    desk.write("a.pdf", make_pdf("Fine"))
    assert "Fine" in await desk.done("read_file", path="a.pdf")
