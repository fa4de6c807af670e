"""Copies of a project, in which something can be tried out."""
