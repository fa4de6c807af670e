"""How each wire writes an answer: what real servers send, made from a scripted answer.

Written from the providers' API references and independent of the codecs in `hame.llm`, which it
checks.
"""
