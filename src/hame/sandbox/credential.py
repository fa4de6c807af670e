"""Whether a file whose name is that of a secret holds one.

Three kinds of names are also those of files that everything needs: certificates in PEM (RFC 7468),
package managers' settings, and keys that are public. A look into the file tells them apart; where it
does not, the file counts as a secret.
"""

import re

from hame.sandbox.regular import read_regular

_LIMIT = 1 << 20
"""Bytes that are looked at; bundles of certificates have some hundred thousand."""
_ENCODED = (".pem", ".key")
_PUBLIC = re.compile(rb"-----BEGIN [A-Z0-9 ]*(?:CERTIFICATE|PUBLIC KEY|CRL|PARAMETERS)")
_PRIVATE = re.compile(rb"PRIVATE KEY|PuTTY-User-Key-File")
_NPM_SECRET = re.compile(
    rb"""^[^#;\n]*(?:_auth|_password|_authtoken|username|keyfile)[ \t]*=[ \t]*["']?(?!\$\{|["'\s])""",
    re.IGNORECASE | re.MULTILINE,
)
"""A value that is not taken from the environment: https://docs.npmjs.com/cli/configuring-npm/npmrc."""


def holds_credential(path: str) -> bool:
    """Whether a file or folder with a secret's name is one."""
    name = path.rpartition("/")[2].lower()
    if name != ".npmrc" and not name.endswith(_ENCODED):
        return True
    text = read_regular(path, _LIMIT)
    if text is None:
        return True
    if name == ".npmrc":
        return _NPM_SECRET.search(text) is not None
    return _PRIVATE.search(text) is not None or _PUBLIC.search(text) is None
