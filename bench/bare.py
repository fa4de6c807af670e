"""The floor: what the smallest httpx2 script costs until its request is on the wire."""

import asyncio
import sys

import httpx2


async def main() -> None:
    async with httpx2.AsyncClient() as client:
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        url = sys.argv[1] + "/chat/completions"
        async with client.stream("POST", url, json=body) as response:
            async for _ in response.aiter_bytes():
                pass


asyncio.run(main())
