"""The words hame says to a model, and how they are put together."""
