"""The nouns and contracts of hame; pure data and protocols, no I/O, no clock, no async runtime.

Every other room imports this one and this one imports no other. A noun that two rooms share lives
here; a contract between rooms is a Protocol in `hame.base.ports`.
"""
