"""Converters of interactions to TF examples: for tables, windows of a text, and sequences."""
