"""What the model sees: a projection of the journal, never the journal itself."""

from hame.context.window import Window

__all__ = ["Window"]
