"""Readers of data sets: official files to interactions."""
