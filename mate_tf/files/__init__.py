"""Atomic writing of files, and files of JSON lines."""
