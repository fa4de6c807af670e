"""Changing the files that say how a project is built, so that all else in them stays as it is.

One module for each format, with the same two functions: `add_dependency(text, dependency)` and
`set_value(text, key, value)`, each from a text to the changed one.
"""
