"""The loop, and only the loop.

Asks a model, runs the tools it asks for, and again, until nothing is asked. It knows no tool, vendor,
surface or settings file; everything it needs comes in as a port.
"""
