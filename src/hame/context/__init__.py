"""What the model sees: a projection of the journal, never the journal itself."""

from hame.context.projection import Projection

__all__ = ["Projection"]
