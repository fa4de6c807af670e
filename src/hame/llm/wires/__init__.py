"""One folder for each wire. A wire is pure: it turns requests into bytes and frames into events.

Each package offers `CODEC`. Only `hame.llm.codecs` imports them, when one is first used.
"""
