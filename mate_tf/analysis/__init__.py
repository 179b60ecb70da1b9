"""Analyses of attention (`attention`), of its cost (`cost`), and their figures (`plots`)."""
