"""Calls that a model prints as text: read out of an answer, or handed back as malformed.

marks.py     what opens and closes calls and thoughts
values.py    JSON and Python literals inside other text
shapes.py    the ways in which a value names a tool and its arguments
pythonic.py  calls as Python writes them
example.py   whether words show a call rather than make one
tagged.py    dialects with marks of their own: tags, special tokens, channels
loose.py     dialects without: fenced and bare JSON, Python calls, `Action:` lines
reading.py   an answer's text -> words, calls, what is broken
sieve.py     the same while the answer still arrives
protocol.py  tools described in words, for models that have no calls of their own
"""
