"""The one room that opens connections.

It stands on httpcore2, the engine of httpx2: pooling, proxies and TLS are the same, and starting costs
a third less than with the client on top.
"""
