"""Vendors and models as rows of data; a new OpenAI-compatible vendor is a new file in `data/`."""

from hame.llm.catalog.catalogue import ShippedCatalogue

__all__ = ["ShippedCatalogue"]
