"""Whom to trust: the TLS context, built in a thread and only once somebody asks for https.

Loading the system's certificates takes some 20 ms, which a plain request to this machine need not
pay. Until the context is there, https waits for it; it never goes out unverified.
"""

import errno
import os
import ssl
import stat
import threading

from hame.base.errors import ErrorKind, Failure, ModelError


class Trust:
    """The certificate authorities of the system, and those of one more file."""

    def __init__(self, ca_file: str | None = None) -> None:
        """`ca_file` is a PEM file to trust besides the system's authorities."""
        self._ca_file = ca_file
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the context has been built."""
        return self._context is not None

    def context(self) -> ssl.SSLContext:
        """The context; blocks while it is built, so call it in a thread.

        Raises:
            ModelError: if a file of certificates cannot be read.
        """
        with self._lock:
            if self._context is None:
                self._context = self._build()
            return self._context

    def warm(self) -> None:
        """Begin to build the context, in a thread of its own."""
        if not self.is_ready:
            threading.Thread(target=self._warm, name="hame-tls", daemon=True).start()

    def _warm(self) -> None:
        try:
            self.context()
        except ModelError:
            # The request that needs the context will say so.
            return

    def _build(self) -> ssl.SSLContext:
        from httpcore2 import default_ssl_context

        try:
            context = default_ssl_context()
        except OSError as error:
            raise _unreadable("the file that SSL_CERT_FILE names", error) from error
        if self._ca_file is not None:
            try:
                _require_file(self._ca_file)
                context.load_verify_locations(self._ca_file)
            except OSError as error:
                raise _unreadable(f"the ca_file {self._ca_file}", error) from error
        return context


def _require_file(path: str) -> None:
    """See that it is a file: a pipe would be waited for without end.

    Raises:
        OSError: if it is none.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - pathlib is 8 ms of start
        raise OSError(errno.EINVAL, "it is not a file")


def no_trust() -> ssl.SSLContext:
    """A context that trusts nobody, for pools that never speak TLS: it fails closed."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _unreadable(what: str, error: OSError) -> ModelError:
    return ModelError(
        Failure(
            kind=ErrorKind.NETWORK,
            message=f"The certificates in {what} cannot be read: {error.strerror or error}.",
            hint="Name an existing PEM file of certificate authorities, or remove the setting.",
        )
    )
