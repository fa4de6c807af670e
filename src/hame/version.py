"""The one place where hame's version is written."""

__version__ = "0.1.0"
