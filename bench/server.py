"""A model server for measuring: answers at once from a script, and stamps every request.

Run as a process of its own: `python bench/server.py STEPS KIND`, where KIND is `read`, `shell` or
`stream`. It prints its port, serves one conversation, and prints one JSON line with what it saw when its
standard input closes. Times are CLOCK_MONOTONIC seconds, the same in every process of the machine.
"""

import asyncio
import json
import sys
import time


def sse(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def tool_call(step: int, kind: str) -> dict[str, object]:
    if kind == "shell":
        name, arguments = "run_command", {"command": f"echo step {step}"}
    else:
        name, arguments = "read_file", {"path": f"data/f{step}.txt"}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"index": 0, "id": f"call_{step}", "function": function}]}


class Server:
    def __init__(self, steps: int, kind: str) -> None:
        self.steps, self.kind = steps, kind
        self.seen: list[dict[str, float]] = []
        self.bodies: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                arrived = time.monotonic()
                lines = head.decode("latin-1").lower().split("\r\n")
                length = next(int(x[15:]) for x in lines if x.startswith("content-length:"))
                self.bodies.append(await reader.readexactly(length))
                await self.answer(len(self.bodies), writer)
                self.seen.append({"arrived": arrived, "answered": time.monotonic()})
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, number: int, writer: asyncio.StreamWriter) -> None:
        if self.kind == "stream":
            events = [sse({"content": "word "}) for _ in range(self.steps)] + [sse({}, "stop")]
        elif number <= self.steps:
            events = [sse(tool_call(number, self.kind)), sse({}, "tool_calls")]
        else:
            events = [sse({"content": "Done."}), sse({}, "stop")]
        body = b"".join(events) + b"data: [DONE]\n\n"
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
        writer.write((head % len(body)).encode() + body)
        await writer.drain()

    def report(self) -> dict[str, object]:
        return {"requests": self.seen, "sizes": [len(b) for b in self.bodies], "kept": self.kept()}

    def kept(self) -> list[float]:
        """Share of each request's messages that the next request begins with, byte for byte."""
        shares: list[float] = []
        for before, after in zip(self.bodies, self.bodies[1:], strict=False):
            old, new = cacheable(before), cacheable(after)
            same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
            shares.append(1.0 if same is None and len(new) >= len(old) else (same or 0) / len(old))
        return shares


def cacheable(body: bytes) -> list[str]:
    """What a provider caches, in its order: tools, then each message."""
    request = json.loads(body)
    return [json.dumps(part) for part in (request.get("tools", []), *request["messages"])]


async def main() -> None:
    server = Server(int(sys.argv[1]), sys.argv[2])
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 26)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(json.dumps(server.report()), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
