"""hame: a coding agent, one harness around any model.

The public Python API is `open` and the nouns it hands out; they are imported when first used, so
that `import hame` costs nothing.
"""

from hame.version import __version__

__all__ = ["__version__"]
