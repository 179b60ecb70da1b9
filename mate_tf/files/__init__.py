"""Files of any content: atomic writing and JSON lines."""
