"""Windows under which this Linux runs: its model servers are on this machine too.

https://learn.microsoft.com/windows/wsl/networking - with mirrored networking Windows is 127.0.0.1
itself; with the default one it is the gateway of the default route.
"""

from pathlib import Path

_KERNEL = Path("/proc/sys/kernel/osrelease")
_ROUTES = Path("/proc/net/route")


def windows_host(kernel: Path = _KERNEL, routes: Path = _ROUTES) -> str | None:
    """The address of Windows as seen from WSL; None where this is no WSL."""
    try:
        if "microsoft" not in kernel.read_text(encoding="ascii", errors="replace").lower():
            return None
        lines = routes.read_text(encoding="ascii", errors="replace").splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        # Destination and mask 0: the default route. Addresses are hexadecimal, last byte first.
        if len(fields) > 7 and fields[1] == fields[7] == "00000000" and fields[2] != "00000000":
            gateway = bytes.fromhex(fields[2])[::-1]
            return ".".join(str(part) for part in gateway)
    return None
