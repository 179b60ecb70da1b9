"""Analyses of attention (`attention`) and of its cost (`cost`), and their figures (`plots`)."""
