"""The text of a PDF from standard input, page after page on standard output.

Run as a program of its own, by its path: a file made to harm can then only end this process. Pages
end with a form feed. Imports nothing of hame.
"""

import io
import logging
import sys

PAGES = 2_000


def main() -> int:
    """Read, and print; 0 when it could be read."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.disable()
    out = sys.stdout.buffer
    try:
        reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
        if reader.is_encrypted and not reader.decrypt(""):
            sys.stderr.write("it is protected by a password")
            return 1
        for page in reader.pages[:PAGES]:
            text = page.extract_text().replace("\f", "\n")
            out.write(text.encode("utf-8", "replace") + b"\f")
            out.flush()
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError, OSError) as error:
        sys.stderr.write(f"it cannot be read: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
