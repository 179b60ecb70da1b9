"""Converters of interactions into TF examples: of tables, of windows of a text, of sequences."""
