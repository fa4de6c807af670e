"""Finding the text to be replaced.

`exact` looks for it as it is written; `ladder` for what the model most likely meant, one step after
another, each only where it fits a single place. No step guesses: what the file holds and the model
never saw stays.
"""
